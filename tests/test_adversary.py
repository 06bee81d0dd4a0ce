"""Promises that an adversary broke. Each test states the promise and fails as long as it is broken.

`broken("S1", "…")` says how bad it is (S1 acknowledged data is lost or shown to others without a
word; S2 the vault becomes unusable, or damage is not seen; S3 a promise of the words or the docs is
not kept) and what happens today. Mend the cause, take the mark away, keep the test.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import apsw
import pytest

import holdfast
from holdfast import Caller, LogQuery
from holdfast.core.budget import estimate_tokens, fit
from holdfast.engine.space import Space
from holdfast.engine.vault import Vault
from holdfast.errors import Conflict, Damaged, HoldfastError, InvalidInput, Refused
from holdfast.model.context import Draft, Line
from holdfast.model.ids import SessionId
from holdfast.model.space import SpaceSpec, StoreSpec
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import narrative, spec, texts

RAW_KEY = "raw:" + "5a" * 32


def broken(severity: str, today: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, reason=f"{severity}: {today}")


def filled(folder: Path, key: str | None = None, count: int = 20) -> list[str]:
    with holdfast.open(folder, key=key) as vault:
        notes = vault.space().notes()
        return [notes.save(f"fact {n}", id=f"n{n}").entry.id for n in range(count)]


def damage(folder: Path, statement: str) -> None:
    """Change the rows behind the engine's back; the log is in the file afterwards."""
    conn = apsw.Connection(str(folder / "vault.db"))
    conn.execute("PRAGMA writable_schema = ON")
    conn.execute(statement)
    conn.close()


def found(folder: Path) -> list[tuple[str, str]]:
    with holdfast.open(folder) as vault:
        return [(problem.code, problem.what) for problem in vault.verify()]


# The log beside the file


@pytest.mark.parametrize("key", [None, RAW_KEY], ids=["plain", "encrypted"])
@pytest.mark.parametrize("harm", ["one bit", "cut short", "gone"])
def test_a_damaged_log_is_never_taken_for_an_older_or_an_empty_vault(
    tmp_path: Path, key: str | None, harm: str
) -> None:
    filled(tmp_path, key)
    log = tmp_path / "vault.db-wal"
    if harm == "one bit":
        data = bytearray(log.read_bytes())
        data[5000] ^= 1
        log.write_bytes(data)
    elif harm == "cut short":
        os.truncate(log, 60_000)
    else:
        log.unlink()
    try:
        with holdfast.open(tmp_path, key=key, create=False) as vault:
            assert list(vault.verify()), "acknowledged writes are gone and nobody says so"
    except Damaged:
        return


def test_a_file_without_its_log_is_not_an_empty_vault(tmp_path: Path) -> None:
    filled(tmp_path / "one")
    (tmp_path / "two").mkdir()
    shutil.copy(tmp_path / "one" / "vault.db", tmp_path / "two" / "vault.db")
    try:
        with holdfast.open(tmp_path / "two", create=False) as vault:
            assert list(vault.verify())
    except HoldfastError:
        return


# Scope


def test_a_session_is_not_shown_one_spaces_context_in_another() -> None:
    with holdfast.open("memory:") as vault:
        one = vault.declare(spec("one", "/one", narrative("narrative")))
        two = vault.declare(spec("two", "/two", narrative("narrative")))
        one.notes().save("a secret of one")
        two.notes().save("a fact of two")
        caller = Caller(session=one.start_session().id)
        assert "a secret of one" in one.seen_by(caller).context().text
        with raises(Refused, "session_elsewhere"):
            two.seen_by(caller).context()
        with raises(Refused, "session_elsewhere"):
            two.seen_by(caller).notes().save("x")


def test_two_folders_named_by_a_relative_path_do_not_share_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Path("workspace.yml")
    with holdfast.open("memory:") as vault:
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / file).write_text("name: app\n")
        monkeypatch.chdir(tmp_path / "one")
        vault.workspace(file).notes().save("of one")
        monkeypatch.chdir(tmp_path / "two")
        with raises(Refused, "space_elsewhere"):
            vault.workspace(file)


def test_one_folder_by_two_paths_is_one_space(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "workspace.yml").write_text("name: app\n")
    (tmp_path / "link").symlink_to(tmp_path / "app")
    with holdfast.open("memory:") as vault:
        vault.workspace(tmp_path / "app" / "workspace.yml")
        assert vault.workspace(tmp_path / "link" / "workspace.yml").name == "app"


def test_a_given_id_cannot_take_the_place_of_a_whole_id() -> None:
    with holdfast.open("memory:") as vault:
        notes = vault.space().notes()
        victim = notes.save("the real one").entry
        try:
            notes.save("a spoof", id=victim.id)
        except InvalidInput:
            return
        assert notes.get(victim.id).text == "the real one"


# Times


FAR = [
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
]


@pytest.mark.parametrize("said_at", FAR, ids=["year 0", "year 10000"])
def test_a_time_that_utc_cannot_write_is_refused(said_at: datetime) -> None:
    with holdfast.open("memory:") as vault:
        notes = vault.space().notes()
        try:
            notes.save("poison", said_at=said_at)
        except InvalidInput:
            return
        vault.log(LogQuery())
        notes.read()
        list(vault.verify())


def test_what_was_said_before_1970_is_shown() -> None:
    with holdfast.open("memory:") as vault:
        space = vault.space()
        space.notes().save("born in 1961", said_at=datetime(1961, 4, 12, tzinfo=UTC))
        assert texts(space.notes()) == ["born in 1961"]
        assert "born in 1961" in space.context().text
        assert texts(space.as_of(3).notes()) == ["born in 1961"]


def test_an_entry_that_falls_out_at_once_is_not_answered_as_kept() -> None:
    with holdfast.open("memory:", clock=ManualClock()) as vault:
        space = vault.declare(spec("app", "/app", narrative("roll", "short_term", ttl=30)))
        old = datetime(2025, 11, 1, tzinfo=UTC)
        with raises(Refused, "note_too_old"):
            space.notes("roll").save("old news", id="old", said_at=old)
        assert space.notes("roll").save("new", id="old").outcome == "saved"


def test_an_answer_is_given_again_for_30_days_whatever_others_write() -> None:
    clock = ManualClock()
    with holdfast.open("memory:", clock=clock) as vault:
        notes = vault.space().notes()
        notes.save("one", key="k")
        clock.advance(days=31)
        assert notes.save("two", key="k").outcome == "saved"


# Sessions


def test_open_sessions_are_found_behind_many_that_ended() -> None:
    with holdfast.open("memory:") as vault:
        space = vault.space()
        space.start_session("still at it")
        for _ in range(25):
            space.end_session(space.start_session().id)
        assert [item.title for item in space.sessions(state="open")] == ["still at it"]


def test_a_session_named_by_its_short_form_keeps_no_context_after_its_end() -> None:
    with holdfast.open("memory:") as vault:
        space = vault.space()
        space.notes().save("one")
        session = space.start_session().id
        here = space.seen_by(Caller(session=session[-8:]))
        here.context()
        space.notes().save("two")
        space.end_session(session)
        assert "two" in here.context().text


# The past


def test_the_past_has_the_stores_that_it_declared() -> None:
    with holdfast.open("memory:") as vault:
        space = vault.declare(spec("app", "/app", narrative("one"), narrative("two")))
        space.notes("one").save("in one")
        then = vault.status().seq
        before = space.context().text
        vault.declare(spec("app", "/app", narrative("two")))
        assert texts(space.as_of(then).notes("one")) == ["in one"]
        assert space.as_of(then).context().text == before


def test_a_space_as_of_the_past_can_only_be_read() -> None:
    with holdfast.open("memory:") as vault:
        vault.space().notes().save("one")
        with raises(Refused, "past_is_fixed"):
            vault.space().as_of(1).start_session()
        with raises(Refused, "past_is_fixed"):
            vault.space().as_of(1).prefer({"recall.limit": 3})
        assert vault.space().settings().whole("recall.limit") != 3


# What verify sees


def stale(folder: Path) -> None:
    """The row of a forgotten entry is what it was before, as after a lost write of its page."""
    filled(folder, count=3)
    conn = apsw.Connection(str(folder / "vault.db"))
    row = conn.execute("SELECT * FROM entry WHERE given_id = 'n1'").fetchone()
    conn.close()
    with holdfast.open(folder) as vault:
        vault.space().notes().remove("n1")
    conn = apsw.Connection(str(folder / "vault.db"))
    conn.execute("DELETE FROM entry WHERE given_id = 'n1'")
    conn.execute(f"INSERT INTO entry VALUES ({', '.join('?' * len(row))})", row)
    conn.close()


def test_a_row_older_than_the_log_is_named(tmp_path: Path) -> None:
    stale(tmp_path)
    assert [what for _, what in found(tmp_path) if what.startswith("entry ")]


def test_repair_never_brings_back_what_was_forgotten(tmp_path: Path) -> None:
    stale(tmp_path)
    with holdfast.open(tmp_path) as vault:
        list(vault.repair())
        assert vault.space().notes().get("n1").state == "forgotten"


LOST = {
    "a tombstone": "DELETE FROM entry WHERE given_id = 'gone'",
    "a session": "DELETE FROM session",
    "the newest change": "DELETE FROM change WHERE seq = (SELECT max(seq) FROM change)",
    "a body": "UPDATE change SET body = NULL, salt = NULL WHERE seq = 3",
    "the time of a seal": "UPDATE seal SET at_us = at_us + 1",
    "the record of a step": "UPDATE migration SET digest = x'00', name = 'other'",
    "a unique index": "DROP INDEX entry_given_id",
    "a rule of a column": "UPDATE sqlite_schema SET sql = replace(sql, 'abandoned', 'abandonee')"
    " WHERE name = 'session'",
}


@pytest.mark.parametrize("harm", LOST)
def test_verify_misses_nothing_that_is_gone_or_altered(tmp_path: Path, harm: str) -> None:
    with holdfast.open(tmp_path) as vault:
        notes = vault.space().notes()
        notes.save("will be gone", id="gone")
        notes.remove("gone")
        for number in range(260):
            notes.save(f"n{number}")
        vault.tidy()
        vault.space().start_session("s")
    damage(tmp_path, LOST[harm])
    assert found(tmp_path)


@pytest.mark.parametrize("word", ["after", "number"])
def test_verify_survives_a_flipped_letter_in_a_body(tmp_path: Path, word: str) -> None:
    filled(tmp_path, count=5)
    damage(tmp_path, f"UPDATE change SET body = replace(body, '\"{word}\"', '\"x\"') WHERE seq = 4")
    assert ("row_damaged", "change 4") in found(tmp_path)


def test_a_damaged_row_is_an_error_of_ours(tmp_path: Path) -> None:
    filled(tmp_path, count=5)
    damage(tmp_path, "UPDATE entry SET extra = '[]' WHERE given_id = 'n3'")
    with holdfast.open(tmp_path) as vault, pytest.raises(Damaged):
        vault.space().notes().read()


def rotten(folder: Path, given: str) -> None:
    """A letter of a row's JSON is another in the file, as on a disk that rots: no index knows."""
    conn = apsw.Connection(str(folder / "vault.db"))
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ((extra,),) = conn.execute("SELECT extra FROM entry WHERE given_id = ?", (given,))
    conn.close()
    data = (folder / "vault.db").read_bytes()
    assert data.count(extra.encode()) == 1
    (folder / "vault.db").write_bytes(data.replace(extra.encode(), f"x{extra[1:]}".encode()))


def test_a_row_whose_json_rotted_is_an_error_of_ours_and_is_mended(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        notes = vault.space().notes()
        for number in range(5):
            notes.save(f"fact {number}", id=f"n{number}", metadata={"of": number})
    rotten(tmp_path, "n3")
    with holdfast.open(tmp_path) as vault:
        space = vault.space()
        entry = next(what for code, what in found(tmp_path) if code == "row_damaged")
        for call in (
            lambda: space.notes().read(),
            lambda: space.notes().get("n3"),
            lambda: space.search("fact"),
            lambda: space.recall("fact"),
            lambda: space.notes().remove("n3"),
        ):
            with pytest.raises(Damaged):
                call()
        assert [line for line in vault.repair() if line.startswith("entry ")] == [
            f"{entry.partition(' (')[0]} was written again from the log"
        ]
        assert list(vault.verify()) == []
        assert texts(space.notes()) == [f"fact {number}" for number in range(4, -1, -1)]
        assert len(space.search("fact").hits) == 5


def test_what_rotted_in_the_row_and_in_the_log_stays_named(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        notes = vault.space().notes()
        for number in range(5):
            notes.save(f"fact {number}", id=f"n{number}", metadata={"of": number})
    damage(tmp_path, "UPDATE change SET body = 'x' WHERE seq = 6")
    rotten(tmp_path, "n3")
    with holdfast.open(tmp_path) as vault:
        list(vault.repair())
        assert {code for code, _ in found(tmp_path)} >= {"row_damaged"}
        assert vault.space().notes().get("n2").text == "fact 2"
        with pytest.raises(Damaged):
            vault.space().notes().get("n3")


def test_repair_goes_on_past_a_row_that_nothing_can_mend(tmp_path: Path) -> None:
    filled(tmp_path, count=5)
    damage(
        tmp_path,
        "UPDATE entry SET extra = '[]' WHERE given_id = 'n3';"
        " UPDATE change SET body = 'x' WHERE seq = 6",
    )
    damage(tmp_path, "DELETE FROM entry_terms")
    with holdfast.open(tmp_path) as vault:
        list(vault.repair())
        assert vault.space().notes().get("n2").text == "fact 2"


def test_a_vault_without_a_write_can_be_repaired() -> None:
    with holdfast.open("memory:") as vault:
        list(vault.repair())


# Files that are not ours


@pytest.mark.parametrize("version", [0, 1, 9])
def test_another_programs_database_is_left_alone(tmp_path: Path, version: int) -> None:
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    conn.execute(f"CREATE TABLE theirs (a); PRAGMA user_version = {version}")
    conn.close()
    with pytest.raises(HoldfastError), holdfast.open(tmp_path) as vault:
        vault.status()
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    assert conn.execute("SELECT name FROM sqlite_schema").fetchall() == [("theirs",)]
    assert conn.pragma("user_version") == version
    conn.close()


@pytest.mark.parametrize("where", ["sqlite:///a%00b.db", "{}/\udcff"])
def test_a_place_that_cannot_be_named_is_refused(tmp_path: Path, where: str) -> None:
    with pytest.raises(InvalidInput):
        holdfast.open(where.format(tmp_path)).close()


@pytest.mark.parametrize("newer", ["schema", "index"])
def test_a_vault_that_a_newer_program_took_over_is_not_written_by_an_open_older_one(
    tmp_path: Path, newer: str
) -> None:
    with holdfast.open(tmp_path) as vault:
        vault.space().notes().save("one", id="one")
        if newer == "schema":
            damage(tmp_path, "PRAGMA user_version = 99")
        else:
            storage = vault._core.storage
            info = storage.read(lambda snapshot: snapshot.vault())
            assert info is not None
            moved = info.replace(text_version=info.text_version + 1)
            storage.write(lambda tx: tx.make_vault(moved))
        with pytest.raises(HoldfastError):
            vault.space().notes().remove("one")


# Fork


@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_the_vault_again_or_is_told_why_not(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        notes = vault.space().notes()
        notes.save("one")
        children: list[int] = []

        def unit(_: object) -> None:
            child = os.fork()
            if child == 0:
                os._exit(_reopen(tmp_path))
            children.append(child)

        vault._core.storage.write(unit)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert codes == [0]


def _reopen(folder: Path) -> int:
    """0 when the vault can be written, or says that a fork is the matter."""
    from holdfast.storage.sqlite import recipe

    recipe.FOREIGN_WAIT_MS = 20
    try:
        with holdfast.open(folder) as vault:
            vault.space().notes().save("from the child")
    except HoldfastError as error:
        return 0 if error.code == "vault_forked" else 1
    except BaseException:  # noqa: BLE001 - the child must not run the tests of the parent
        return 2
    return 0


# Context


def _draft(label: str, priority: int, *lines: str) -> Draft:
    return Draft(
        label=label,
        priority=priority,
        heading=f"## {label}",
        lines=tuple(Line(text=line, tokens=estimate_tokens(line)) for line in lines),
        more=False,
        reach="More: memory_read(store='" + "s" * 60 + "')",
    )


def test_a_block_that_fits_whole_is_shown() -> None:
    drafts = [_draft("large", 90, "x" * 4000), _draft("small", 50, "one", "two")]
    assert fit(drafts, 20, estimate_tokens).blocks[1].shown == 2


def test_a_context_names_what_it_left_out() -> None:
    with holdfast.open("memory:") as vault:
        vault.space().notes().save("x" * 4000)
        assert "narrative" in vault.space().context(40).text


def test_a_context_shows_ids_that_name_one_note() -> None:
    made = iter(range(1, 10_000))

    def random(count: int) -> bytes:
        return next(made).to_bytes(count - 6, "big") + b"\7" * 6

    with holdfast.open("memory:", random=random) as vault:
        notes = vault.space().notes()
        notes.save("one")
        notes.save("two")
        lines = vault.space().context().text.splitlines()[1:3]
        assert [notes.get(line.rpartition("[")[2][:-1]).text for line in lines] == ["two", "one"]


# Input


def _nested(depth: int) -> dict[str, object]:
    top: dict[str, object] = {}
    inner = top
    for _ in range(depth):
        inner["k"] = inner = {}  # type: ignore[assignment]
    return top


def test_metadata_has_a_depth() -> None:
    with holdfast.open("memory:") as vault, pytest.raises(InvalidInput):
        vault.space().notes().save("x", metadata=_nested(600))  # type: ignore[arg-type]


def test_an_answer_given_again_equals_the_first() -> None:
    with holdfast.open("memory:") as vault:
        notes = vault.space().notes()
        mine = [1]
        first = notes.save("x", metadata={"list": mine}, key="k")  # type: ignore[dict-item]
        mine.append(2)
        again = notes.save("x", metadata={"list": [1]}, key="k")
        with raises(InvalidInput, "metadata_invalid"):
            notes.save("y", metadata={"pair": (1, 2)})  # type: ignore[dict-item]
        assert first == again


def test_an_expected_revision_is_never_ignored() -> None:
    with holdfast.open("memory:") as vault:
        notes = vault.space().notes()
        notes.save("one", id="a")
        with pytest.raises((Conflict, InvalidInput)):
            notes.save("one", id="a", expect=999)


def _session(vault: Vault) -> Space:
    return vault.space().seen_by(Caller(session=vault.space().start_session().id))


def _tool(vault: Vault, name: str) -> Callable[..., object]:
    return next(tool for tool in vault.space().tools() if tool.__name__ == name)


def _declare(name: object, *stores: StoreSpec) -> Callable[[Vault], object]:
    wanted = SpaceSpec(name=name, path="/x", text="", stores=stores)  # type: ignore[arg-type]
    return lambda vault: vault.declare(wanted).context()


WRONG: dict[str, Callable[[Any], object]] = {
    "log after": lambda vault: vault.log(LogQuery(after=2**63)),
    "log before": lambda vault: vault.log(LogQuery(before=-(2**70))),
    "as of": lambda vault: vault.space().as_of(2**63).context(),
    "budget": lambda vault: _session(vault).context(2**63),
    "half a token": lambda vault: _session(vault).context(1.5),  # type: ignore[arg-type]
    "cursor": lambda vault: (
        vault.space().notes().read(order="oldest", cursor="fffffffffffffffff-1")
    ),
    "sessions limit": lambda vault: vault.space().sessions(limit=2**63),
    "sessions state": lambda vault: vault.space().sessions(state="closed"),
    "surrogate id": lambda vault: vault.space().notes().get("\udcff"),
    "surrogate space": lambda vault: vault.space("\udcff"),
    "surrogate reason": lambda vault: vault.space().notes().save("x", reason="\udcff"),
    "surrogate session": lambda vault: (
        vault.space().seen_by(Caller(session=SessionId("\udcff"))).context()
    ),
    "metadata text": lambda vault: vault.space().notes().save("x", metadata="text"),
    "no text": lambda vault: vault.space().notes().save(None),
    "no title": lambda vault: vault.space().start_session(None),
    "no user": lambda vault: vault.space().seen_by(Caller(user=None)).start_session(),  # type: ignore[arg-type]
    "tool's time": lambda vault: _tool(vault, "memory_read")("narrative", since="last week"),
    "space name": _declare("../x"),
    "no space name": _declare(None),
    "options": _declare("x", narrative("n", priority="high")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_is_an_error_of_ours(name: str) -> None:
    with holdfast.open("memory:") as vault, pytest.raises(HoldfastError):
        WRONG[name](vault)
