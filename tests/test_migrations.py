"""The schema is the sum of its steps; steps are recorded; strangers are refused."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.errors import Damaged, Unsupported
from holdfast.storage.migrate import Step, migrate, steps_in
from holdfast.storage.sqlite import schema
from holdfast.storage.sqlite.rows import vault_from, vault_row
from holdfast.testing import raises


def shape(conn: apsw.Connection) -> list[tuple[str, str]]:
    """Every object of the schema with its text, white space folded."""
    wanted = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
    return [(name, " ".join(sql.split())) for name, sql in conn.execute(wanted)]


def test_the_schema_is_the_sum_of_the_steps() -> None:
    stepwise, whole = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    for step in steps_in(schema.HERE):
        stepwise.execute(step.sql)
    whole.execute((schema.HERE / "schema.sql").read_text("utf-8"))
    assert shape(stepwise) == shape(whole)


def test_every_step_is_recorded_with_its_digest(tmp_path: Path) -> None:
    holdfast.open(tmp_path).close()
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    steps = steps_in(schema.HERE)
    assert schema.applied_steps(conn) == {step.number: step.digest for step in steps}
    assert conn.pragma("user_version") == len(steps)


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        vault.space().notes().save("a fact")
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    conn.execute("INSERT INTO migration VALUES (99, 'later', x'00', 0)")
    conn.pragma("user_version", 99)
    before = conn.execute("SELECT count(*) FROM change").get
    with raises(Unsupported, "schema_newer"):
        holdfast.open(tmp_path)
    assert conn.execute("SELECT count(*) FROM change").get == before


def test_a_step_that_changed_after_it_was_applied_is_noticed() -> None:
    steps = (Step(number=1, name="one", sql="CREATE TABLE a (x)"),)
    with raises(Damaged, "schema_differs"):
        migrate(steps, {1: b"other"}, where="x", back_up=lambda _: None, apply=lambda _: None)


def test_a_step_and_its_record_commit_together(tmp_path: Path) -> None:
    conn = apsw.Connection(":memory:")
    bad = Step(number=1, name="bad", sql="CREATE TABLE a (x); INSERT INTO nowhere VALUES (1)")
    with pytest.raises(apsw.SQLError):
        schema._apply(conn, bad)
    assert shape(conn) == []
    assert schema.applied_steps(conn) == {}
    assert conn.pragma("user_version") == 0


def test_a_backup_is_made_before_a_file_with_content_changes(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        saved = vault.space().notes().save("a fact").entry
    file = tmp_path / "vault.db"
    steps = (
        *steps_in(schema.HERE),
        Step(number=len(steps_in(schema.HERE)) + 1, name="more", sql="CREATE TABLE more (x)"),
    )
    conn = apsw.Connection(str(file))
    migrate(
        steps,
        schema.applied_steps(conn),
        where=str(file),
        back_up=lambda number: schema.back_up(conn, file, number),
        apply=lambda step: schema._apply(conn, step),
    )
    conn.close()
    with raises(Unsupported, "schema_newer"):
        holdfast.open(tmp_path)
    backup = file.with_name(f"vault.db.schema-{len(steps) - 1}.backup")
    with holdfast.open(f"sqlite:///{backup}") as vault:
        assert vault.space().notes().get(saved.id) == saved
        assert list(vault.verify()) == []


def test_a_vault_of_an_older_text_analysis_is_indexed_again(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        vault.space().notes().save("a remarkable fact")
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    (row,) = conn.execute("SELECT number, id, created_us, secret, text_version FROM vault")
    older = vault_from(row).replace(text_version=0)
    conn.execute("UPDATE vault SET text_version = 0, digest = ?", (vault_row(older)[-1],))
    conn.execute("DELETE FROM entry_terms")
    conn.execute("INSERT INTO entry_terms (rowid, terms) VALUES (3, 'terms of old')")
    conn.close()
    with holdfast.open(tmp_path) as vault:
        assert list(vault.verify()) == []
        assert [e.text for e in vault.space().notes().read(text="remarkable").entries] == [
            "a remarkable fact"
        ]


def test_a_vault_of_a_newer_text_analysis_is_refused(tmp_path: Path) -> None:
    with holdfast.open(tmp_path) as vault:
        vault.space().notes().save("a fact")
    conn = apsw.Connection(str(tmp_path / "vault.db"))
    conn.execute("UPDATE vault SET text_version = 99")
    conn.close()
    with raises(Unsupported, "index_newer"):
        holdfast.open(tmp_path)
