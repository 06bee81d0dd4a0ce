"""`holdfast init | status | verify | doctor | log | context`."""

from __future__ import annotations

from holdfast.cli.opening import exists, opened_space, opened_vault, space_of, vault_place
from holdfast.cli.output import Column, in_a_line
from holdfast.core.codec import plain
from holdfast.engine.history import LogQuery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.cli.grammar import Call
    from holdfast.cli.output import Output
    from holdfast.engine.vault import Status
    from holdfast.model.change import Change
    from holdfast.model.problem import Problem


def init(call: Call, out: Output) -> None:
    was_there = exists(vault_place(call))
    with opened_vault(call) as vault:
        status = vault.status()
        out.emit({"vault": status.where, "created": not was_there}, status.where)
        kind = "an encrypted" if status.storage["encrypted"] else "a plain"
        out.note(f"{'There is already' if was_there else 'Made'} {kind} vault")
        out.note('Next: holdfast note save "…"')


def status(call: Call, out: Output) -> None:
    with opened_vault(call) as vault:
        space = space_of(call, vault)
        found = vault.status()
        stores = space.stores()
        out.emit(
            {**plain_status(found), "space": space.name, "stores": [s.name for s in stores]},
            lambda: _status(found, space.name, [s.name for s in stores]),
        )
        if found.id is None:
            out.note(f"Nothing is remembered yet: the first write makes {vault_place(call)}")


def plain_status(found: Status) -> dict[str, object]:
    shown = plain(found)
    assert isinstance(shown, dict)
    return dict(shown)


def _status(found: Status, space: str, stores: list[str]) -> str:
    counts, storage = found.counts, found.storage
    size = storage["bytes"]
    assert isinstance(size, int)
    kind = "encrypted" if storage["encrypted"] else "plain"
    lines = [
        f"vault  {in_a_line(found.where)}",
        f"       {kind}, {size:,} bytes, schema {storage['schema']}, {found.seq:,} changes",
        f"holds  {_many(counts['entries'], 'entry', 'entries')}, "
        + ", ".join(_many(counts[f"{word}s"], word) for word in ("space", "store", "session")),
    ]
    if space:
        lines.append(f"space  {space}: {', '.join(stores) or 'no stores'}")
    return "\n".join(lines)


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def verify(call: Call, out: Output) -> int:
    with opened_vault(call) as vault:
        problems = list(vault.verify())
        _problems(problems, out)
        if not problems:
            counts = vault.status().counts
            out.note(f"Sound: {counts['entries']:,} entries, {counts['changes']:,} changes")
        return 1 if problems else 0


def _problems(problems: list[Problem], out: Output) -> None:
    out.emit(
        [plain(problem) for problem in problems],
        lambda: "\n".join(
            f"{p.code}: {in_a_line(p.what)}: {in_a_line(p.message)}" for p in problems
        ),
    )
    for cure in sorted({problem.cure for problem in problems}):
        out.note(f"Cure: {cure}")


def doctor(call: Call, out: Output) -> int:
    with opened_vault(call) as vault:
        if call["repair"]:
            for line in vault.repair():
                out.note(line[0].upper() + line[1:])
        problems = list(vault.verify())
        facts = vault.status()
        out.emit(
            {"status": plain(facts), "problems": [plain(problem) for problem in problems]},
            lambda: _status(facts, "", []),
        )
        for problem in problems:
            out.warn(f"{problem.what}: {problem.message}", code=problem.code, hint=problem.cure)
        return 1 if problems else 0


def log(call: Call, out: Output) -> None:
    query = LogQuery(
        after=call["after"],
        store=call["store"],
        target=call["target"],
        actor=call["actor"],
        session=call["session"],
        limit=call["limit"],
    )
    with opened_vault(call) as vault:
        changes = vault.log(query) if call["all"] else space_of(call, vault).log(query)
        rows = [_row(change) for change in changes]
        out.table(rows, _COLUMNS, empty="No changes")


_COLUMNS = (
    Column(title="SEQ", key="seq", right=True),
    Column(title="AT", key="at", show=lambda at: at[:19].replace("T", " ")),
    Column(title="ACTOR", key="actor"),
    Column(title="WHAT", key="what"),
    Column(title="TARGET", key="target", show=lambda target: target[-8:]),
    Column(title="SAYS", key="says"),
)


def _row(change: Change) -> dict[str, object]:
    shown = plain(change)
    assert isinstance(shown, dict)
    place = change.store or change.space or ""
    after = change.after
    says = "(erased)" if after is None else after.get("text") or after.get("name") or ""
    return {**shown, "what": f"{change.op} {change.kind} {place}".strip(), "says": says}


def context(call: Call, out: Output) -> None:
    with opened_space(call) as space:
        found = space.context(call["budget"])
        out.emit(plain(found), found.text)
        if not found.text:
            out.note("Nothing to show yet")
        for block in found.blocks:
            if block.left_out:
                out.note(f"{block.label}: {block.left_out} left out by the budget")
