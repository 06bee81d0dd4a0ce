"""`holdfast init | status | verify | doctor | log | context`."""

from __future__ import annotations

import sys

import holdfast
from holdfast.cli.opening import (
    exists,
    opened_vault,
    seen_space,
    space_of,
    vault_place,
    vault_shown,
)
from holdfast.cli.output import Column, fitted, in_a_line
from holdfast.core.codec import plain
from holdfast.engine.history import LogQuery
from holdfast.engine.spaces import offered
from holdfast.model.ids import short
from holdfast.model.problem import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.vault import Status
    from holdfast.model.change import Change
    from holdfast.model.context import Context
    from holdfast.model.entry import Json


def init(call: Call, out: Output) -> None:
    was_there = exists(vault_place(call))
    with opened_vault(call, makes=True) as vault:
        status = _status_of(call, vault.status())
    encrypted = status.storage["encrypted"]
    out.emit(
        {"vault": status.where, "created": not was_there, "encrypted": encrypted}, status.where
    )
    kind = "an encrypted" if encrypted else "a plain"
    out.note(f"{'There is already' if was_there else 'Made'} {kind} vault")
    if not was_there:
        out.note('Next: holdfast note save "…"')


def status(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        found = _status_of(call, vault.status())  # before a workspace.yml is applied to no vault
        space = space_of(call, vault)
        stores: list[Json] = [store.name for store in space.stores()]
        names = ", ".join(map(str, stores)) or "no stores"
        out.emit(
            {**_fields(found), "space": space.name, "stores": stores},
            lambda: "\n".join([*_status_lines(found), f"space  {space.name}: {names}"]),
        )


def _status_of(call: Call, found: Status) -> Status:
    return found.replace(where=vault_shown(call))


def _fields(found: Status) -> dict[str, Json]:
    fields = plain(found)
    assert isinstance(fields, dict)
    return dict(fields)


def _status_lines(found: Status) -> list[str]:
    counts, storage = found.counts, found.storage
    size = storage["bytes"]
    assert isinstance(size, int)
    where = f"vault  {in_a_line(found.where)}"
    if not size:
        return [where, "       not made yet: the first write makes it"]
    kind = "encrypted" if storage["encrypted"] else "plain"
    words = ("space", "store", "session")
    return [
        where,
        f"       {kind}, {size:,} bytes on disk, schema {storage['schema']}",
        f"holds  {_many(counts['entries'], 'entry', 'entries')}, "
        + ", ".join(_many(counts[f"{word}s"], word) for word in words),
        f"log    {_many(found.seq, 'change')}",
    ]


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def verify(call: Call, out: Output) -> int:
    with opened_vault(call, needed=True) as vault:
        problems = list(vault.verify())
        counts = vault.status().counts if not problems else {}
    out.emit([plain(problem) for problem in problems], lambda: "\n".join(_problem_lines(problems)))
    if counts:
        entries, changes = counts["entries"], counts["changes"]
        out.note(f"Sound: {_many(entries, 'entry', 'entries')}, {_many(changes, 'change')}")
    return _concluded(problems, out)


def _problem_lines(problems: Sequence[Problem]) -> list[str]:
    return [f"{p.code}: {in_a_line(p.what)}: {in_a_line(p.message)}" for p in problems]


def _concluded(problems: Sequence[Problem], out: Output) -> int:
    for cure in sorted({problem.cure for problem in problems}):
        out.note(f"Cure: {cure}")
    return 1 if problems else 0


def doctor(call: Call, out: Output) -> int:
    with opened_vault(call, needed=call["repair"]) as vault:
        repaired: list[Json] = list(vault.repair()) if call["repair"] else []
        problems = list(vault.verify())
        found = _status_of(call, vault.status())
    plugins = offered()
    problems += [
        Problem(
            code="plugin_unusable",
            what=f"the package {plugin.package} {plugin.version}",
            message=plugin.problem,
            cure="update or uninstall that package",
        )
        for plugin in plugins
        if plugin.problem
    ]
    runs: dict[str, Json] = {
        "holdfast": holdfast.__version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "sqlite": found.storage["sqlite"],
        "platform": sys.platform,
    }
    out.emit(
        {
            "runs": runs,
            "status": _fields(found),
            "plugins": [plain(plugin) for plugin in plugins],
            "repaired": repaired,
            "problems": [plain(problem) for problem in problems],
        },
        lambda: "\n".join(
            [
                "runs   holdfast {holdfast}, Python {python}, SQLite {sqlite}, {platform}".format(
                    **runs
                ),
                *_status_lines(found),
                *(f"adds   {each.name}: {each.package} {each.version}" for each in plugins),
                *(f"done   {in_a_line(str(line))}" for line in repaired),
                *(_problem_lines(problems) or ["sound"]),
            ]
        ),
    )
    return _concluded(problems, out)


def log(call: Call, out: Output) -> None:
    query = LogQuery(
        after=call["after"],
        store=call["store"],
        target=call["target"],
        actor=call["actor"],
        session=call["session"],
        limit=call["limit"],
    )
    changes: Sequence[Change] = ()
    with opened_vault(call) as vault:
        if exists(vault_place(call)):  # else a workspace.yml would be applied to no vault
            changes = vault.log(query) if call["all"] else space_of(call, vault).log(query)
    if out.json:
        out.emit([plain(change) for change in changes], "")
    else:
        explained = any(change.reason for change in changes)
        columns = _COLUMNS if explained else _COLUMNS[:-1]
        rows = [_row(change) for change in changes]
        if explained:  # another column follows, which a long text would push out of sight
            rows = [{**row, "says": fitted(in_a_line(str(row["says"])), SAYS_MAX)} for row in rows]
        out.table(rows, columns, empty="No changes")


SAYS_MAX = 60
_COLUMNS = (
    Column(title="SEQ", key="seq", right=True),
    Column(title="AT", key="at"),
    Column(title="ACTOR", key="actor"),
    Column(title="WHAT", key="what"),
    Column(title="WHERE", key="where"),
    Column(title="TARGET", key="target"),
    Column(title="SAYS", key="says"),
    Column(title="WHY", key="why"),
)


def _row(change: Change) -> dict[str, object]:
    after = {"text": "(erased)"} if change.after is None else change.after
    gone = "(forgotten)" if after.get("state") == "forgotten" else ""
    return {
        "seq": change.seq,
        "at": f"{change.at:%Y-%m-%d %H:%M:%S}",
        "actor": change.actor,
        "what": f"{change.op} {change.kind}",
        "where": "/".join(filter(None, (change.space, change.store))),
        "target": after.get("given_id") or short(change.target),
        "says": after.get("text") or after.get("name") or after.get("title") or gone,
        "why": change.reason,
    }


def context(call: Call, out: Output) -> None:
    with seen_space(call) as space:
        found = space.context(call["budget"])
    if call["explain"]:
        _explain(found, out)
        return
    if call["format"] == "text":
        out.emit(plain(found), found.text)
    else:
        from json import dumps

        messages = [{"role": "system", "content": found.text}] if found.text else []
        data = plain(found) if call["format"] == "json" else messages
        out.emit(data, lambda: dumps(data, ensure_ascii=False, indent=2))
    if not found.text and not any(block.left_out for block in found.blocks):
        out.note("Nothing to show yet")
    for block in found.blocks:
        if block.left_out:
            out.note(f"{block.label}: {block.left_out} left out by the budget")


_BLOCKS = (
    Column(title="BLOCK", key="label"),
    Column(title="PRIORITY", key="priority", right=True),
    Column(title="TOKENS", key="tokens", right=True),
    Column(title="LINES", key="shown", right=True),
    Column(title="LEFT OUT", key="left_out", right=True),
    Column(title="MORE", key="reach"),
)


def _explain(found: Context, out: Output) -> None:
    """What each block costs, without what it says."""
    rows = [{name: getattr(block, name) for name in block.fields_} for block in found.blocks]
    for row in rows:
        del row["text"]
    if out.json:
        whole = {"tokens": found.tokens, "budget": found.budget, "counted_by": found.counted_by}
        out.emit({**whole, "blocks": rows}, "")
        return
    out.table(rows, _BLOCKS, empty="Nothing to show yet")
    budget = "no budget" if found.budget is None else f"a budget of {found.budget:,}"
    out.note(f"{found.tokens:,} tokens of {budget}, counted by {found.counted_by}")
