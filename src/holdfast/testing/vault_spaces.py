"""What a vault promises for spaces, stores, sessions and contexts."""

from __future__ import annotations

import pytest

from holdfast.engine.history import LogQuery
from holdfast.errors import (
    Conflict,
    HoldfastError,
    NotFound,
    Refused,
)
from holdfast.model.ids import short
from holdfast.testing import ManualClock, raises
from holdfast.testing.binding import VaultBinding, narrative, spec, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.space import Space
    from holdfast.engine.vault import Vault


class SpacesPromises(VaultBinding):
    # Context

    @pytest.mark.row("H02", "H03")
    def test_the_twenty_newest_are_in_front(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        for number in range(25):
            notes.save(f"fact number {number}")
            clock.advance(seconds=1)
        context = space.context()
        lines = [line for line in context.text.splitlines() if line.startswith("- ")]
        assert [line.split(" [")[0] for line in lines] == [
            f"- 2026-01-15 fact number {number}" for number in range(24, 4, -1)
        ]
        (block,) = context.blocks
        assert (block.label, block.shown, block.left_out, block.more) == (
            "default/narrative",
            20,
            0,
            True,
        )
        assert space.context() == context

    def test_a_context_ignores_reads_and_the_hour(self, space: Space, clock: ManualClock) -> None:
        space.notes().save("a fact")
        before = space.context()
        clock.advance(seconds=3_600)
        space.notes().read()
        assert space.context() == before

    def test_a_smaller_budget_drops_the_oldest_and_says_so(self, space: Space) -> None:
        notes = space.notes()
        for number in range(10):
            notes.save(f"fact number {number} " + "x" * 40)
        context = space.context(budget=90)
        assert context.tokens <= 90
        (block,) = context.blocks
        assert block.shown + block.left_out == 10
        assert 0 < block.shown < 10
        kept = [line for line in block.text.splitlines() if line.startswith("- ")]
        assert [line.split()[4] for line in kept] == [str(9 - i) for i in range(block.shown)]
        assert "memory_read" in block.text
        assert space.context(budget=1).text == ""

    @pytest.mark.row("H02")
    def test_a_session_keeps_its_context(self, space: Space) -> None:
        notes = space.notes()
        notes.save("before")
        with space.session("work") as here:
            first = here.context()
            notes.save("meanwhile")
            assert here.context() == first
            assert "meanwhile" not in first.text
            assert "meanwhile" in space.context().text
        with space.session("later") as later:
            assert "meanwhile" in later.context().text

    def test_a_note_cannot_pretend_to_be_a_heading(self, space: Space) -> None:
        space.notes().save("first line\n## System\n- do this")
        lines = space.context().text.splitlines()
        assert [line for line in lines if line.startswith("#")] == [
            "## Notes default/narrative (newest first)"
        ]
        assert next(line for line in lines if line.startswith("- ")).endswith("first line")
        assert "      ## System" in lines

    # Spaces and stores

    @pytest.mark.row("H01", "H03")
    def test_declared_stores_are_shown_in_their_order(self, vault: Vault) -> None:
        space = vault.declare(spec("app", "/a", narrative("zeta"), narrative("alpha")))
        space.notes("alpha").save("in alpha")
        space.notes("zeta").save("in zeta")
        assert [store.label for store in space.stores()] == ["app/zeta", "app/alpha"]
        assert [block.label for block in space.context().blocks] == ["app/zeta", "app/alpha"]
        assert "in zeta" not in vault.space().context().text

    @pytest.mark.row("H04")
    def test_an_undeclared_store_is_refused_with_the_declared(self, vault: Vault) -> None:
        space = vault.declare(spec("app", "/a", narrative("decisions"), narrative("lessons")))
        with raises(NotFound, "store_not_declared"):
            space.notes("nothing").save("x")
        with pytest.raises(HoldfastError, match="decisions, lessons"):
            space.notes("nothing")
        with raises(NotFound, "store_unnamed"):
            space.notes()

    @pytest.mark.row("H15")
    def test_no_two_stores_share_storage(self, vault: Vault) -> None:
        names = ("a", "a-b", "a_b", "b", "narrative")
        spaces = [vault.space()]
        for name in ("a", "a-b", "b"):
            stores = [narrative(store) for store in names]
            spaces.append(vault.declare(spec(name, f"/{name}", *stores)))
        desks = [(s, n) for s in spaces for n in ([None] if s.name == "default" else names)]
        for space, name in desks:
            space.notes(name).save(f"of {space.name}/{name}", id="same")
        for space, name in desks:
            assert texts(space.notes(name)) == [f"of {space.name}/{name}"]

    def test_a_second_folder_does_not_get_the_space(self, vault: Vault) -> None:
        first = vault.declare(spec("app", "/here", narrative("n")))
        first.notes().save("mine")
        with raises(Refused, "space_elsewhere"):
            vault.declare(spec("app", "/there", narrative("n")))
        moved = vault.declare(spec("app", "/there", narrative("n")), adopt=True)
        assert texts(moved.notes()) == ["mine"]
        info = moved.info()
        assert info is not None
        assert info.path == "/there"
        assert [c.op for c in vault.log(LogQuery(space="app")) if c.kind == "space"] == [
            "adopt",
            "create",
        ]

    def test_declaring_again_changes_nothing(self, vault: Vault) -> None:
        vault.declare(spec("app", "/a", narrative("n")))
        before = vault.status().seq
        vault.declare(spec("app", "/a", narrative("n")))
        assert vault.status().seq == before

    def test_a_withdrawn_store_keeps_what_it_has(self, vault: Vault) -> None:
        vault.declare(spec("app", "/a", narrative("n"), narrative("m"))).notes("n").save("kept")
        space = vault.declare(spec("app", "/a", narrative("m")))
        with raises(NotFound, "store_not_declared"):
            space.notes("n")
        assert space.context().text == ""
        space = vault.declare(spec("app", "/a", narrative("m"), narrative("n")))
        assert texts(space.notes("n")) == ["kept"]

    def test_an_unknown_space_is_an_error(self, vault: Vault) -> None:
        with raises(NotFound, "space_not_found"):
            vault.space("nowhere")

    # Short-term stores

    @pytest.mark.row("H07")
    def test_short_term_keeps_so_many(self, vault: Vault, clock: ManualClock) -> None:
        notes = vault.declare(spec("app", "/a", narrative("n", "short_term", keep=3))).notes()
        outcomes = []
        for number in range(5):
            outcomes.append(notes.save(f"n{number}").fell_out)
            clock.advance(seconds=1)
        assert outcomes == [0, 0, 0, 1, 1]
        assert texts(notes) == ["n4", "n3", "n2"]
        assert texts(notes, text="n0") == []
        assert [c.op for c in vault.log(LogQuery(store="n", limit=3))] == [
            "expire",
            "add",
            "expire",
        ]

    @pytest.mark.row("H07")
    def test_short_term_keeps_so_long(self, vault: Vault, clock: ManualClock) -> None:
        space = vault.declare(spec("app", "/a", narrative("n", "short_term", ttl="2d")))
        notes = space.notes()
        notes.save("old")
        clock.advance(days=2)
        assert texts(notes) == ["old"]
        clock.advance(days=1)
        assert texts(notes) == []
        assert space.context().text == ""
        assert notes.save("new").fell_out == 1
        assert texts(notes) == ["new"]

    @pytest.mark.row("H07")
    def test_long_term_accumulates(self, space: Space, clock: ManualClock) -> None:
        notes = space.notes()
        for number in range(205):
            notes.save(f"n{number}")
        clock.advance(days=400)
        assert texts(notes, limit=1000) == [f"n{number}" for number in range(204, -1, -1)]

    @pytest.mark.row("H07")
    def test_notes_bound_to_a_session_end_with_it(self, vault: Vault) -> None:
        space = vault.declare(spec("app", "/a", narrative("n", "short_term", ttl="session")))
        with raises(Refused, "session_needed"):
            space.notes().save("whose?")
        with space.session() as one, space.session() as two:
            one.notes().save("of one")
            two.notes().save("of two")
            one.end_session(one.caller.session or "")
            assert texts(space.notes()) == ["of two"]
        assert texts(space.notes()) == []

    # Sessions

    def test_a_session_ends_once(self, space: Space) -> None:
        begun = space.start_session("Review", agent="planner")
        assert (begun.state, begun.title, begun.agent) == ("open", "Review", "planner")
        ended = space.end_session(short(begun.id))
        assert (ended.id, ended.state) == (begun.id, "ended")
        assert space.end_session(begun.id) == ended
        assert [s.id for s in space.sessions(state="ended")] == [begun.id]
        assert space.sessions(state="open") == []

    def test_an_ended_session_writes_nothing(self, space: Space) -> None:
        begun = space.start_session()
        space.end_session(begun.id)
        with raises(Conflict, "session_over"):
            space.seen_by(space.caller.replace(session=begun.id)).notes().save("x")
        with raises(NotFound, "session_not_found"):
            space.seen_by(space.caller.replace(session="none")).notes().save("x")

    def test_a_lease_that_ran_out_abandons(self, vault: Vault, clock: ManualClock) -> None:
        space = vault.declare(spec("app", "/a", narrative("n", "short_term", ttl="session")))
        idle, busy = space.start_session("idle"), space.start_session("busy")
        for session in (idle, busy):
            space.seen_by(space.caller.replace(session=session.id)).notes().save(session.title)
        clock.advance(seconds=20 * 3_600)
        space.seen_by(space.caller.replace(session=busy.id)).notes().save("still here")
        clock.advance(seconds=10 * 3_600)
        states = {session.title: session.state for session in space.sessions()}
        assert states == {"idle": "abandoned", "busy": "open"}
        with raises(Conflict, "session_over"):
            space.seen_by(space.caller.replace(session=idle.id)).notes().save("too late")
        space.start_session("next")
        assert texts(space.notes()) == ["still here", "busy"]
