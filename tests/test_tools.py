"""What a space offers to an agent: typed functions that any agent loop can read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_type_hints

import pytest

import holdfast
from holdfast.core.forms import Misfit
from holdfast.core.signatures import arguments_form, signature_of
from holdfast.engine.tools import Offer, joined
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.entry import Entry
from holdfast.model.query import Page
from holdfast.model.record import RecordRead
from holdfast.strategies import narrative
from holdfast.testing import raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def named(space: Any) -> dict[str, Any]:
    return {tool.__name__: tool for tool in space.tools()}


def test_types_can_be_read_from_every_tool() -> None:
    tools = named(holdfast.open("memory:").space())
    hints = get_type_hints(tools["memory_save"])
    assert hints["store"] is str
    assert hints["return"] is narrative.Saved
    hints = get_type_hints(tools["memory_read"])
    assert (hints["since"], hints["return"]) == (datetime | str | None, Page | RecordRead)
    assert hints["order"] == Literal["newest", "oldest"] | None
    for tool in tools.values():
        assert tool.__doc__
        assert get_type_hints(tool)
        arguments_form(signature_of(tool)).schema()


@pytest.mark.row("H05")
def test_an_agents_tool_reads_one_note_by_its_id() -> None:
    tools = named(holdfast.open("memory:").space())
    entry = tools["memory_save"]("narrative", "We use tabs", id="tabs").entry
    tools["memory_save"]("narrative", "We ship on Tuesdays")
    assert tools["memory_read"]("narrative", id="tabs").entries == (entry,)
    with raises(NotFound, "entry_not_found"):
        tools["memory_read"]("narrative", id="blanks")


# A name that two strategies offer


def notes_look(store: str, text: str | None = None, limit: int = 20) -> Page:
    """Look at notes."""
    return ("notes", store, text, limit)  # type: ignore[return-value]


def facts_look(id: str, store: str | None = None, limit: int = 5) -> Entry:
    """Look at one fact."""
    return ("facts", id, store, limit)  # type: ignore[return-value]


@pytest.fixture
def look() -> Callable[..., Any]:
    kinds = {"diary": "narrative", "facts": "records", "cache": "keyvalue"}
    offers = [
        Offer(strategy="narrative", tool=notes_look),
        Offer(strategy="records", tool=facts_look),
    ]
    for offer in offers:
        offer.tool.__name__ = "look"
    (tool,) = joined((), offers, kinds.__getitem__)
    return tool


def test_a_shared_name_is_one_tool_that_takes_what_any_takes(look: Callable[..., Any]) -> None:
    hints = get_type_hints(look)
    assert (look.__name__, look.__doc__) == ("look", "Look at notes. Look at one fact.")
    assert hints == {
        "store": str | None,
        "text": str | None,
        "limit": int | None,
        "id": str | None,
        "return": Page | Entry,
    }
    assert arguments_form(signature_of(look)).needs == ()


def test_the_store_says_whose_a_shared_tool_is(look: Callable[..., Any]) -> None:
    assert look("diary", text="x") == ("notes", "diary", "x", 20)
    assert look(store="facts", id="7", limit=1) == ("facts", "7", "facts", 1)
    with raises(InvalidInput, "arguments_invalid"):
        look(store="facts", id="7", text="x")
    with raises(InvalidInput, "arguments_invalid"):
        look(store="facts")
    with pytest.raises(NotFound, match="look is not for cache, which holds keyvalue"):
        look(store="cache")


def test_without_a_store_it_is_the_first_that_takes_just_these(look: Callable[..., Any]) -> None:
    assert look(id="7") == ("facts", "7", None, 5)
    assert look(id="7", text=None, limit=2) == ("facts", "7", None, 2)
    with raises(InvalidInput, "arguments_invalid"):
        look(text="x")


# What an agent sends


def call(
    text: str,
    count: int = 1,
    share: float = 0.5,
    *,
    yes: bool = False,
    kind: Literal["a", "b"] = "a",
    tags: list[str] | None = None,
    since: datetime | str | None = None,
    data: Mapping[str, Any] | None = None,
    anything: str | int = "",
) -> None: ...


FORM = arguments_form(signature_of(call))


def test_the_schema_of_a_signature() -> None:
    assert FORM.schema() == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "yes": {"type": "boolean"},
            "kind": {"enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "since": {"type": "string"},
            "data": {"type": "object"},
            "anything": {},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "given",
    [
        {"text": ""},
        {"text": "x", "count": 2, "share": 1, "yes": True, "kind": "b", "tags": ["a"]},
        {"text": "x", "tags": None, "since": None, "data": {"a": [1]}, "anything": [1]},
    ],
)
def test_what_fits_is_taken_as_it_is(given: dict[str, Any]) -> None:
    taken = FORM.read(given, ())
    assert taken == {key: value for key, value in given.items() if value is not None}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "text is missing"),
        ({"text": 7}, "text must be text"),
        ({"text": None}, "text must be text"),
        ({"text": "x", "count": "2"}, "count must be a whole number"),
        ({"text": "x", "count": True}, "count must be a whole number"),
        ({"text": "x", "count": 1.5}, "count must be a whole number"),
        ({"text": "x", "share": "all"}, "share must be a number"),
        ({"text": "x", "yes": "true"}, "yes must be true or false"),
        ({"text": "x", "kind": "c"}, "kind cannot be 'c'"),
        ({"text": "x", "tags": "a"}, "tags must be a list"),
        ({"text": "x", "data": []}, "data must be an object"),
        ({"text": "x", "txet": "x"}, "there is no such key as 'txet'"),
        ([], "this must be a mapping"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, says: str) -> None:
    with pytest.raises(Misfit, match=says) as caught:
        FORM.read(given, ())
    assert caught.value.cure
