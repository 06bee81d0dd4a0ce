"""Artifacts: contents under ids, kept for a day and for as long as something names them."""

from __future__ import annotations

import asyncio
import base64
import json
import random
from pathlib import Path

import pytest
from cli_snapshot import run, run_inside
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast import aio
from holdfast.core.mentions import mentioned
from holdfast.core.ranges import lines_between, whole_characters
from holdfast.engine.workspace import parse_workspace
from holdfast.errors import InvalidInput, NotFound, Refused
from holdfast.model.message import ToolCall
from holdfast.testing import ManualClock, raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault

HOUR = 3_600


def kept(space: Space, name: str) -> bool:
    try:
        space.artifacts().content(name)
    except NotFound as error:
        assert error.code == "artifact_gone"
        return False
    return True


def saved(space: Space, content: str | bytes = "a long report", **about: Any) -> str:
    return space.artifacts().save(content, **about).artifact.id


# What is kept


@pytest.mark.row("H09")
def test_the_same_content_is_the_same_artifact(space: Space) -> None:
    artifacts = space.artifacts()
    first = artifacts.save("one\ntwo\n", title="The report", mime="text/markdown")
    again = artifacts.save("one\ntwo\n")
    assert (first.outcome, again.outcome) == ("saved", "unchanged")
    assert first.artifact.id == again.artifact.id == artifacts.save(b"one\ntwo\n").artifact.id
    assert first.artifact.id.startswith("art_")
    other = artifacts.save("one\ntwo\nthree\n").artifact
    assert other.id != first.artifact.id
    assert [each.id for each in artifacts.list()] == [other.id, first.artifact.id]
    described = artifacts.save("one\ntwo\n", summary="It has two lines")
    assert described.outcome == "described"
    found = artifacts.get(first.artifact.id)
    assert (found.title, found.mime, found.summary, found.size, found.lines) == (
        "The report",
        "text/markdown",
        "It has two lines",
        8,
        2,
    )


@pytest.mark.row("H09", "H15")
def test_an_id_tells_nothing_outside_of_its_store(tmp_path: Path, vault: Vault) -> None:
    text = "name: app\nmemory:\n  own:\n    - {name: files, strategy: artifacts}\n"
    app = vault.declare(parse_workspace(text, tmp_path / "workspace.yml"))
    with holdfast.open("memory:") as other:
        ids = {saved(vault.space()), saved(app), saved(other.space())}
    assert len(ids) == 3
    with raises(NotFound, "artifact_not_found"):
        app.artifacts().get(saved(vault.space()))


@pytest.mark.row("H09")
@pytest.mark.parametrize(
    ("asked", "text", "start", "stop", "more"),
    [
        ({}, "uno\ndós\ntrês", 0, 13, False),
        ({"lines": "2"}, "dós\n", 4, 9, True),
        ({"lines": "2-3"}, "dós\ntrês", 4, 13, False),
        ({"lines": "2-"}, "dós\ntrês", 4, 13, False),
        ({"lines": "3-9"}, "três", 9, 13, False),
        ({"lines": "4-"}, "", 13, 13, False),
        ({"bytes": "0-3"}, "uno\n", 0, 4, True),
        ({"bytes": "4-5"}, "d", 4, 5, True),  # half of a letter is left away
        ({"bytes": "6-"}, "\ns\ntrês".removeprefix("\n"), 7, 13, False),
        ({"bytes": "99-"}, "", 13, 13, False),
    ],
    ids=str,
)
def test_parts_by_lines_and_bytes(
    space: Space, asked: dict[str, str], text: str, start: int, stop: int, more: bool
) -> None:
    data = "uno\ndós\ntrês".encode()
    assert len(data) == 14
    data = data[:14]
    name = saved(space, data)
    piece = space.artifacts().read(name, **asked)
    stop, start = (stop + (stop == 13), start + (start == 13))  # `ó` and `ê` have two bytes
    assert (piece.text, piece.start, piece.stop, piece.more) == (text, start, stop, more)
    assert data[piece.start : piece.stop].decode() == text


@pytest.mark.row("H09")
def test_bytes_come_back_as_they_were(space: Space) -> None:
    data = random.Random(7).randbytes(3_000_000)  # is cut into parts
    name = saved(space, data, mime="application/zip")
    artifacts = space.artifacts()
    assert artifacts.content(name) == data
    piece = artifacts.read(name, bytes="1000000-2000000")
    assert piece.encoding == "base64"
    assert base64.b64decode(piece.text) == data[1_000_000:2_000_001]
    with raises(InvalidInput, "range_invalid"):
        artifacts.read(name, lines="1-2")


@pytest.mark.row("H09")
@pytest.mark.parametrize("wrong", ["", "-", "x", "5-2", "-3", "1-2-3", "²", "0x1", "9" * 30])
def test_what_is_no_range_is_refused(space: Space, wrong: str) -> None:
    name = saved(space)
    with raises(InvalidInput, "range_invalid"):
        space.artifacts().read(name, bytes=wrong)
    with raises(InvalidInput, "range_invalid"):
        space.artifacts().read(name, lines="0-1")


@pytest.mark.row("H09")
def test_what_cannot_be_kept_is_refused(vault: Vault, tmp_path: Path) -> None:
    text = "name: app\nmemory:\n  own:\n    - {name: files, strategy: artifacts, mib: 1}\n"
    artifacts = vault.declare(parse_workspace(text, tmp_path / "workspace.yml")).artifacts()
    with raises(InvalidInput, "artifact_too_large"):
        artifacts.save(b"x" * (1024 * 1024 + 1))
    for content, code in (
        ("", "content_empty"),
        ("\ud800", "text_not_unicode"),
        (7, "content_invalid"),
    ):
        with raises(InvalidInput, code):
            artifacts.save(content)  # type: ignore[arg-type]
    for about in ({"title": "x" * 201}, {"summary": "x" * 1_001}, {"mime": "x" * 101}):
        with raises(InvalidInput, "label_invalid"):
            artifacts.save("x", **about)
    assert artifacts.list() == ()


@given(st.binary(max_size=200), st.integers(0, 20), st.integers(1, 12), st.integers(0, 8))
def test_lines_are_those_of_the_whole(data: bytes, first: int, cut: int, count: int) -> None:
    first += 1
    lines = data.splitlines(keepends=True) if data.isascii() else data.split(b"\n")
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    lines = [line for line in lines if line]
    pieces = [data[at : at + cut] for at in range(0, len(data), cut)]
    start, stop, found = lines_between(pieces, first, first + count)
    wanted = lines[first - 1 : first + count]
    assert (data[start:stop], found) == (b"".join(wanted), len(wanted))


@given(st.text(max_size=30), st.integers(0, 40), st.integers(0, 40))
def test_a_cut_text_is_text_again(text: str, start: int, length: int) -> None:
    data = text.encode(errors="ignore")[start : start + length]
    before, after = whole_characters(data)
    assert max(before, after) <= 3
    assert data[before : len(data) - after].decode() in text


# What refers to one

ID = "art_0123456789abcdef"


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (f"see {ID}.", True),
        (f"{ID}{ID}", False),
        (f"start_{ID}", False),
        (f"x{ID}", False),
        (f"{ID}g", False),
        (ID[:-1], False),
        (ID.upper(), False),
        ("art_0123456789abcdei", False),
        ({"a": [{"b": f"({ID})"}]}, True),
        ({ID: 1}, True),
        (7, False),
        (f"art_art_ {ID[:10]} «{ID}»", True),
    ],
    ids=str,
)
def test_a_mention_is_a_whole_id(part: Any, found: bool) -> None:
    assert mentioned(part) == ({ID} if found else set())


@pytest.mark.row("H10")
def test_what_nothing_names_lapses_after_a_day(
    vault: Vault, space: Space, clock: ManualClock
) -> None:
    name = saved(space)
    clock.advance(seconds=24 * HOUR - 1)
    assert kept(space, name)
    clock.advance(seconds=1)
    assert not kept(space, name)
    assert space.artifacts().list() == ()
    assert vault.sweep() == [name]
    assert vault.sweep() == []
    change = vault.log(holdfast_log(name))[0]
    assert (change.op, change.kind, change.actor) == ("expire", "artifact", "tool:sweeper")
    assert vault.gc(spare_seconds=0).objects == 1
    again = space.artifacts().save("a long report")
    assert (again.artifact.id, again.outcome) == (name, "saved")
    assert kept(space, name)


def holdfast_log(target: str) -> Any:
    from holdfast.engine.history import LogQuery

    return LogQuery(target=target)


@pytest.mark.row("H10")
def test_a_name_in_an_entry_keeps_it_and_the_last_that_goes_starts_the_clock_again(
    vault: Vault, space: Space, clock: ManualClock
) -> None:
    name = saved(space)
    notes = space.notes()
    first = notes.save(f"The report is {name}").entry
    second = notes.save("Another", metadata={"from": {"artifact": name}}).entry
    clock.advance(days=30)
    assert kept(space, name)
    assert space.artifacts().get(name).references == 2
    assert vault.gc(spare_seconds=0).objects == 0
    notes.remove(first.id)
    clock.advance(days=30)
    assert kept(space, name)
    notes.remove(second.id)
    assert space.artifacts().get(name).references == 0
    clock.advance(seconds=24 * HOUR - 1)
    assert kept(space, name)
    clock.advance(seconds=1)
    assert not kept(space, name)


@pytest.mark.row("H10")
def test_counts_are_true_after_edits_hiding_and_coming_back(
    vault: Vault, space: Space, clock: ManualClock
) -> None:
    name, core = saved(space), vault._core
    entry = space.notes().save("nothing yet", id="n").entry
    store = space.notes().store  # with its row

    def count() -> int:
        return space.artifacts().get(name).references

    def move(event: Any, **changes: Any) -> None:
        from holdfast.engine.work import mutate
        from holdfast.model.write import Caller, Write

        def unit(work: Any) -> None:
            work.move(store, work.find(store, "n"), event, **changes)

        mutate(core, Caller(), Write(), "test", {}, unit)

    assert count() == 0
    move("update", text=f"now it is {name} and {name}")
    assert count() == 1
    move("hide")  # it can come back, so it still refers
    clock.advance(days=2)
    assert count() == 1
    move("show")
    move("update", text="and now it is not")
    assert count() == 0
    move("update", subject=f"about {name}", text=entry.text)
    assert count() == 1
    move("update", subject="", tags=(name,))
    assert count() == 1
    move("forget")
    assert count() == 0
    assert space.artifacts().get(name).until is not None


@pytest.mark.row("H10")
def test_counts_are_true_after_a_session_ends_and_after_entries_fall_out(
    vault: Vault, tmp_path: Path, clock: ManualClock
) -> None:
    text = """\
name: app
memory:
  own:
    - {name: files, strategy: artifacts, hours: 48}
    - {name: bound, type: short_term, strategy: narrative, ttl: session}
    - {name: rolling, type: short_term, strategy: narrative, keep: 1}
"""
    app = vault.declare(parse_workspace(text, tmp_path / "workspace.yml"))
    name = saved(app)
    with app.session() as here:
        here.notes("bound").save(f"for now {name}")
        assert here.artifacts().get(name).references == 1
    assert app.artifacts().get(name).references == 0
    app.notes("rolling").save(f"this rolls {name}")
    assert app.artifacts().get(name).references == 1
    app.notes("rolling").save("and out it went")
    assert app.artifacts().get(name).references == 0
    clock.advance(seconds=48 * HOUR - 1)
    assert kept(app, name)
    clock.advance(seconds=1)
    assert not kept(app, name)


@pytest.mark.row("H10")
def test_a_later_message_keeps_it_and_the_call_that_made_it_does_not(
    space: Space, clock: ManualClock
) -> None:
    with space.session() as here:
        here.transcript().say(
            "assistant",
            "",
            calls=[ToolCall(id="c1", name="mcp__holdfast__artifact_save", arguments={"text": "x"})],
        )
        name = saved(here)
        here.transcript().say("tool", f'{{"id": "{name}"}}', call="c1", tool="artifact_save")
        assert here.artifacts().get(name).references == 0
        said = here.say("assistant", f"I kept the report as {name}")
        assert here.artifacts().get(name).references == 1
        clock.advance(days=3)
        assert kept(here, name)
        space.transcript().rewind(said.message.session, said.message.place - 1)
        assert here.artifacts().get(name).references == 0
    clock.advance(days=1)
    assert not kept(space, name)


@pytest.mark.row("H10")
def test_the_answer_of_the_call_that_made_it_is_told_by_the_call_too(space: Space) -> None:
    with space.session() as here:
        here.transcript().say("assistant", "", calls=[ToolCall(id="c1", name="artifact_save")])
        name = saved(here)
        here.transcript().say("tool", f"made {name}", call="c1")
        assert here.artifacts().get(name).references == 0


@pytest.mark.row("H10")
def test_sweeping_is_nobodys_wait(vault: Vault, space: Space, clock: ManualClock) -> None:
    name = saved(space)
    clock.advance(days=2)
    space.start_session()
    vault._core.background.wait()
    assert vault.log(holdfast_log(name))[0].op == "expire"


@pytest.mark.row("H10")
def test_what_was_forgotten_is_gone_whatever_names_it(space: Space) -> None:
    name = saved(space)
    space.notes().save(f"see {name}")
    assert space.artifacts().forget(name).outcome == "forgotten"
    assert not kept(space, name)
    with raises(NotFound, "artifact_gone"):
        space.artifacts().forget(name)


@pytest.mark.row("H10")
def test_a_reference_that_the_index_lacks_is_named_and_made_again(
    vault: Vault, space: Space
) -> None:
    name = saved(space)
    entry = space.notes().save(f"see {name}").entry
    vault._core.storage.write(lambda tx: tx._conn.execute("DELETE FROM mention"))
    found = {(each.code, each.what) for each in vault.verify()}
    assert {code for code, _ in found} == {"references_differ"}
    assert {f"the reference of entry number {entry.number} to {name}"} < {what for _, what in found}
    assert "1 references to artifacts were made anew" in list(vault.repair())
    assert list(vault.verify()) == []
    assert space.artifacts().get(name).references == 1


# Surfaces


@pytest.mark.row("H09")
def test_a_session_sees_what_the_newest_are_about(space: Space, clock: ManualClock) -> None:
    ids = []
    for number in range(12):
        ids.append(saved(space, f"Report {number}\nand more", title=f"R{number}"))
        clock.advance(seconds=1)
    (block,) = space.context().blocks
    lines = block.text.splitlines()
    assert lines[0] == "## Artifacts default/artifacts (newest first; artifact_get reads one)"
    assert lines[1:11] == [
        f"- 2026-01-15 {ids[n]} text/plain, 2 lines: R{n} — Report {n}" for n in range(11, 1, -1)
    ]
    assert lines[11] == "More: artifact_get(store='artifacts')"


@pytest.mark.row("H09")
def test_an_agents_tools_save_and_read_parts(space: Space) -> None:
    tools: dict[str, Any] = {tool.__name__: tool for tool in space.tools()}
    name = tools["artifact_save"](text="x" * 40_000, title="Long").artifact.id
    piece = tools["artifact_get"](name)
    assert (piece.text, piece.stop, piece.more) == ("x" * 16_000, 16_000, True)
    assert tools["artifact_get"](name, bytes="16000-").text == "x" * 24_000
    other = tools["artifact_save"](base64="AAEC").artifact
    assert (other.size, other.lines, other.mime) == (3, None, "application/octet-stream")
    assert [each.id for each in tools["artifact_get"]()] == [other.id, name]
    with raises(InvalidInput, "content_invalid"):
        tools["artifact_save"](base64="nope!")


@pytest.mark.row("H09")
def test_the_shell_saves_a_file_and_standard_input_and_reads_ranges(tmp_path: Path) -> None:
    env = {"HOLDFAST_VAULT": str(tmp_path / "vault")}
    data = bytes(range(256)) * 10
    (tmp_path / "chart.png").write_bytes(data)
    first = run(["artifact", "save", "chart.png"], env=env, cwd=tmp_path)
    name = first.stdout.strip()
    assert first.stderr.startswith("Saved; kept until ")
    again = run(["artifact", "save", "-", "--title", "Other", "--json"], data, env=env)
    assert json.loads(again.stdout)["artifact"]["id"] == name
    info = json.loads(run_inside(["artifact", "get", name, "--info", "--json"], env=env).stdout)
    assert (info["title"], info["mime"], info["size"]) == ("Other", "image/png", 2_560)
    whole = run_raw(["artifact", "get", name], env)
    assert whole == data
    assert run_raw(["artifact", "get", name, "--bytes", "10-19"], env) == data[10:20]
    text = run_inside(["artifact", "save", "-"], "one\ntwo\nthree\n", env=env).stdout.strip()
    assert run_inside(["artifact", "get", text, "--lines", "2-"], env=env).stdout == "two\nthree\n"
    listed = run_inside(["artifact", "get"], env=env).stdout
    assert listed.index(text) < listed.index(name)
    wrong = run_inside(["artifact", "get", "art_x"], env=env)
    assert (wrong.exit, "[artifact_not_found]" in wrong.stderr) == (1, True)
    missing = run_inside(["artifact", "save", "nowhere"], env=env)
    assert (missing.exit, "[file_unreadable]" in missing.stderr) == (1, True)


def run_raw(args: list[str], env: dict[str, str]) -> bytes:
    import subprocess

    from cli_snapshot import command, environment

    done = subprocess.run(command(args), capture_output=True, env=environment(env), check=True)
    return done.stdout


@pytest.mark.row("H11")
def test_a_read_only_mount_lets_nobody_write(vault: Vault, tmp_path: Path) -> None:
    source = "name: lib\nmemory:\n  own:\n    - {name: files, strategy: artifacts}\n"
    reader = """\
name: app
memory:
  mounts:
    - {name: files, source: lib/files, mode: ro}
"""
    lib = vault.declare(parse_workspace(source, tmp_path / "lib" / "workspace.yml"))
    app = vault.declare(parse_workspace(reader, tmp_path / "app" / "workspace.yml"))
    name = saved(lib)
    assert app.artifacts("files").read(name).text == "a long report"
    with raises(Refused, "mount_read_only"):
        app.artifacts("files").save("more")
    with raises(Refused, "mount_read_only"):
        app.artifacts("files").forget(name)
    assert lib.artifacts().get(name).size == 13


@pytest.mark.row("H08", "H09")
def test_a_long_note_is_told_of_artifacts(space: Space) -> None:
    text = "x" * 501
    told = space.notes().save(text).advice
    assert [each.code for each in told] == ["note_is_document"]
    assert "artifact_save" in told[0].message
    name = saved(space, text)
    assert space.notes().save(f"The x of this house: {name}").advice == ()


def test_awaited(tmp_path: Path) -> None:
    async def whole() -> None:
        async with aio.open(tmp_path / "vault") as vault:
            artifacts = await (await vault.space()).artifacts()
            name = (await artifacts.save("awaited")).artifact.id
            assert (await artifacts.read(name)).text == "awaited"

    asyncio.run(whole())


@pytest.mark.row("H09")
def test_as_of_an_earlier_moment(vault: Vault, space: Space, clock: ManualClock) -> None:
    name = saved(space, title="Then")
    before = vault.status().seq
    clock.advance(seconds=HOUR)
    other = saved(space, "another")
    clock.advance(seconds=24 * HOUR)
    assert vault.sweep() == [name, other]  # by a rule, so the past has it still
    past = space.as_of(before)
    assert [each.id for each in past.artifacts().list()] == [name]
    assert past.artifacts().read(name).text == "a long report"
    assert "Then" in past.context().text


@pytest.mark.row("H09", "I07")
def test_what_is_forgotten_is_out_of_the_past_and_of_the_log(vault: Vault, space: Space) -> None:
    name = saved(space, title="Then")
    past = space.as_of(vault.status().seq)
    assert past.artifacts().get(name).title == "Then"
    space.artifacts().forget(name)
    assert past.artifacts().list() == ()
    with raises(NotFound, "artifact_not_found"):
        past.artifacts().read(name)
    assert "Then" not in past.context().text
    assert "Then" not in repr(vault.log(holdfast_log(name)))
    assert saved(space) == name
    assert past.artifacts().get(name).title == "Then"


@pytest.mark.row("A26", "H09")
def test_collecting_beside_saving_loses_nothing(vault: Vault, space: Space) -> None:
    """An old object that nobody keeps may go while the same content is saved again."""
    name = saved(space)
    space.artifacts().forget(name)
    storage, seen = vault._core.storage, []
    packed = storage.packed

    def collect_first(content: bytes) -> tuple[str, bytes]:
        if not seen:
            seen.append(1)
            vault.gc(spare_seconds=0)
        return packed(content)

    storage.packed = collect_first  # type: ignore[method-assign]
    saved(space, "a long report")
    saved(space, "another one, to be packed")
    assert space.artifacts().content(name) == b"a long report"
