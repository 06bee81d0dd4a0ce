"""The contract of a vault, whatever it is stored in: bind it to an opener and run it.

    class TestMyStorage(VaultContract):
        def open(self, folder: Path, clock: Clock) -> Vault:
            return holdfast.open(folder / "vault", clock=clock)

`survives` says whether what was written is there after `close` and another `open`.
"""

from __future__ import annotations

import threading

import pytest

from holdfast.engine.history import LogQuery
from holdfast.errors import (
    Closed,
    Conflict,
)
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import texts
from holdfast.testing.vault_notes import NotesPromises
from holdfast.testing.vault_profile import ProfilePromises
from holdfast.testing.vault_spaces import SpacesPromises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault


class VaultContract(NotesPromises, ProfilePromises, SpacesPromises):
    """All that a vault promises."""

    # The log

    def test_every_change_is_in_the_log(self, vault: Vault) -> None:
        notes = vault.space().notes()
        entry = notes.save("a fact", reason="because").entry
        other = notes.save("another", reason="no reason").entry
        notes.remove(other.id, reason="a mistake")
        log = vault.log(LogQuery(newest_first=False))
        assert [(c.seq, c.kind, c.op, c.prior) for c in log] == [
            (1, "space", "create", None),
            (2, "store", "create", None),
            (3, "entry", "add", None),
            (4, "entry", "add", None),
            (5, "entry", "forget", 4),
        ]
        added = log[2]
        assert (added.target, added.space, added.store) == (entry.id, "default", "narrative")
        assert added.reason == "because"
        assert added.after is not None
        assert added.after["text"] == "a fact"
        assert entry.revision == 3
        told = [(c.reason, c.after and (c.after["state"], c.after["text"])) for c in log[3:]]
        assert told == [("", ("forgotten", "")), ("a mistake", ("forgotten", ""))]

    def test_what_changes_nothing_leaves_no_change(self, vault: Vault) -> None:
        notes = vault.space().notes()
        entry = notes.save("a fact", id="x").entry
        before = vault.status().seq
        notes.save("a fact", id="x")
        notes.remove(entry.id)
        notes.remove(entry.id)
        with raises(Conflict, "id_taken"):
            notes.save("b", id="x")
        assert vault.status().seq == before + 1

    def test_the_log_selects(self, vault: Vault) -> None:
        notes = vault.space().notes()
        one = notes.save("one", id="first").entry
        two = notes.save("two").entry
        assert [c.target for c in vault.log(LogQuery(store="narrative"))] == [two.id, one.id]
        assert [c.target for c in vault.log(LogQuery(target="first"))] == [one.id]
        assert [c.seq for c in vault.log(LogQuery(after=2, before=4))] == [3]
        assert [c.seq for c in vault.log(LogQuery(limit=2))] == [4, 3]
        assert vault.log(LogQuery(actor="agent:nobody")) == []

    def test_time_in_the_log_never_goes_back(self, vault: Vault, clock: ManualClock) -> None:
        notes = vault.space().notes()
        first = notes.save("one").entry
        clock.advance(days=-3)
        second = notes.save("two").entry
        assert second.created == first.created
        assert texts(notes) == ["two", "one"]

    # Many at once

    def test_threads_lose_nothing(self, space: Space) -> None:
        notes = space.notes()
        failed: list[BaseException] = []

        def work(name: int) -> None:
            try:
                for number in range(25):
                    notes.save(f"{name}/{number}", id=f"{name}-{number}")
            except BaseException as exc:
                failed.append(exc)
                raise

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        found = texts(notes, limit=1000)
        assert sorted(found) == sorted(f"{n}/{i}" for n in range(8) for i in range(25))
        for name in range(8):
            mine = [text for text in found if text.startswith(f"{name}/")]
            assert mine == [f"{name}/{i}" for i in range(24, -1, -1)]

    def test_one_revision_has_one_winner(self, space: Space) -> None:
        notes = space.notes()
        entry = notes.save("a fact").entry
        outcomes: list[str] = []

        def work() -> None:
            try:
                outcomes.append(notes.remove(entry.id, expect=entry.revision).outcome)
            except Conflict as exc:
                outcomes.append(exc.code)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count("removed") == 1
        assert set(outcomes) <= {"removed", "unchanged"}

    # The whole

    def test_verify_finds_nothing_in_a_sound_vault(self, vault: Vault, clock: ManualClock) -> None:
        notes = vault.space().notes()
        for number in range(30):
            notes.save(f"fact {number} über Zürich 北京", key=f"k{number}")
            clock.advance(seconds=1)
        notes.remove(notes.read().entries[3].id)
        with vault.space().session() as here:
            here.context()
            assert list(vault.verify()) == []

    def test_closed_is_closed(self, vault: Vault) -> None:
        notes = vault.space().notes()
        vault.close()
        vault.close()
        with raises(Closed, "vault_closed"):
            notes.save("x")
        with raises(Closed, "vault_closed"):
            notes.read()

    def test_it_is_there_after_opening_again(self, tmp_path: Path, clock: ManualClock) -> None:
        if not self.survives:
            pytest.skip("what is in RAM does not survive")
        with self.open(tmp_path, clock) as vault:
            first = vault.space().notes().save("a fact", key="k1")
            log = vault.log(LogQuery())
        with self.open(tmp_path, clock) as vault:
            assert vault.space().notes().get(first.entry.id) == first.entry
            assert vault.space().notes().save("a fact", key="k1") == first
            assert vault.log(LogQuery()) == log
            assert list(vault.verify()) == []
