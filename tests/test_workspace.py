"""`workspace.yml`: what it declares, and every mistake named by line and field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from holdfast.engine.workspace import TEMPLATE, find_workspace, parse_workspace, read_text
from holdfast.errors import HoldfastError, InvalidInput, NotFound
from holdfast.testing import raises

FILE = Path("/srv/app/workspace.yml")

GOOD = """\
name: reviews
memory:
  own:
    - name: decisions
      strategy: narrative
    - name: scratch
      type: short_term
      strategy: narrative
      keep: 50
      ttl: 7d
"""


@pytest.mark.row("H01")
def test_what_a_file_declares() -> None:
    spec = parse_workspace(GOOD, FILE)
    assert (spec.name, spec.path, spec.text) == ("reviews", "/srv/app", GOOD)
    assert [(s.name, s.type, s.strategy, dict(s.options)) for s in spec.stores] == [
        ("decisions", "long_term", "narrative", {"priority": 50}),
        ("scratch", "short_term", "narrative", {"priority": 50, "keep": 50, "ttl": 7}),
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "memory:\n", "memory:\n  own:\n"])
def test_a_file_that_declares_nothing_has_the_folders_name_and_default_stores(text: str) -> None:
    spec = parse_workspace(text, FILE)
    assert spec.name == "app"
    assert "narrative" in [store.name for store in spec.stores]


def test_an_empty_list_declares_no_store() -> None:
    assert parse_workspace("memory: {own: []}", FILE).stores == ()


def test_the_template_is_good() -> None:
    assert parse_workspace(TEMPLATE.format(name="x"), FILE).stores[0].name == "narrative"


@pytest.mark.row("H01")
@pytest.mark.parametrize(
    ("text", "line", "says", "cure"),
    [
        ("nmae: x\n", 1, "there is no such key as 'nmae'", "name"),
        ("name: 7\n", 1, "name: this must be text", "quotes"),
        ("name: Bad Name\n", 1, "'Bad Name' is not a name for a space", "a-z"),
        ("name: list\n", 1, "'list' is a word of the command line", "another"),
        ("name: default\n", 1, "every vault has a space 'default'", "another"),
        ("- a\n", 1, "this must be a mapping", "name: value"),
        ("memory: []\n", 1, "memory: this must be a mapping", "name: value"),
        ("memory:\n  own: {a: b}\n", 2, "memory.own: this must be a list", "- "),
        ("memory:\n  owm: []\n", 2, "memory.owm: there is no such key", "own"),
        ("memory:\n  own:\n    - 7\n", 3, "memory.own[0]: this must be a mapping", "value"),
        ("memory:\n  own:\n    - name: a\n", 3, "memory.own[0]: strategy is missing", "strategy"),
        (
            "memory:\n  own:\n    - name: a\n      strategy: narative\n",
            4,
            "memory.own[0].strategy: there is no strategy 'narative'",
            "narrative",
        ),
        (
            "memory:\n  own:\n    - {name: a, strategy: narrative}\n    - strategy: narrative\n"
            "      name: a\n",
            5,
            "memory.own[1].name: the name 'a' stands twice",
            "rename",
        ),
        (
            "memory:\n  own:\n    - name: a\n      strategy: narrative\n      type: medium\n",
            5,
            "memory.own[0].type: there is no type 'medium'",
            "short_term",
        ),
        (
            "memory:\n  own:\n    - name: a\n      strategy: narrative\n      keep: 5\n",
            5,
            "memory.own[0].keep: a long_term narrative store has no option 'keep'",
            "priority",
        ),
        (
            "memory:\n  own:\n    - name: a\n      strategy: narrative\n      type: short_term\n"
            "      ttl: 1h\n",
            6,
            "memory.own[0].ttl: ttl is neither whole days nor `session`: '1h'",
            "30d",
        ),
        ("name: x\nname: y\n", 2, 'found duplicate key "name"', "colons"),
        ("a: [1, 2\nb: 3\n", 2, "expected ',' or ']'", "colons"),
        ("? [a]\n: b\n", 1, "is not text", "quotes"),
    ],
)
def test_mistakes_are_named_by_line_and_field(text: str, line: int, says: str, cure: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_workspace(text, FILE)
    assert caught.value.message.startswith(f"{FILE}:{line}: "), caught.value.message
    assert says in caught.value.message
    assert cure in caught.value.hint


SCHEMA = json.loads(
    (Path(__file__).parent.parent / "docs/reference/workspace.schema.json").read_text()
)


def editor_accepts(text: str) -> bool:
    """Whether an editor that knows the schema would find nothing to underline."""
    return Draft7Validator(SCHEMA).is_valid(YAML(typ="safe", pure=True).load(text))


@pytest.mark.parametrize(
    "text", [GOOD, TEMPLATE.format(name="x"), "", "memory:\n", "memory:\n  own:\n"]
)
def test_editors_accept_what_is_accepted(text: str) -> None:
    Draft7Validator.check_schema(SCHEMA)
    parse_workspace(text, FILE)
    assert editor_accepts(text)


@pytest.mark.parametrize(
    "text",
    [
        "nmae: x\n",
        "name: 7\n",
        "name: Bad Name\n",
        "memory: []\n",
        "memory: {own: {a: b}}\n",
        "memory: {own: [7]}\n",
        "memory: {own: [{name: a}]}\n",
        "memory: {own: [{name: a, strategy: narative}]}\n",
        "memory: {own: [{name: a, strategy: narrative, type: medium}]}\n",
        "memory: {own: [{name: a, strategy: narrative, keep: 5}]}\n",
        "memory: {own: [{name: a, strategy: narrative, type: short_term, ttl: 1h}]}\n",
        "memory: {own: [{name: a, strategy: narrative, priority: 101}]}\n",
    ],
)
def test_editors_underline_what_is_refused(text: str) -> None:
    with raises(
        InvalidInput, *{"name: Bad Name\n": ["name_invalid"]}.get(text, ["workspace_invalid"])
    ):
        parse_workspace(text, FILE)
    assert not editor_accepts(text)


@pytest.mark.parametrize("name", ["My App", "-x", "app.v2", "ünï", "list"])
def test_a_folder_whose_name_cannot_be_one_says_what_to_do(name: str) -> None:
    with pytest.raises(InvalidInput, match="the folder's name, since the file gives none"):
        parse_workspace("", Path("/work") / name / "workspace.yml")


def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path: Path) -> None:
    file = tmp_path / "workspace.yml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read_text(file) == GOOD


def test_what_is_not_utf8_is_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "workspace.yml"
    file.write_bytes(b"name: x\n# caf\xe9\n")
    with pytest.raises(InvalidInput, match=r"workspace.yml:2: this is not UTF-8"):
        read_text(file)


def test_unusable_files(tmp_path: Path) -> None:
    file = tmp_path / "workspace.yml"
    with raises(NotFound, "workspace_not_found"):
        read_text(file)
    file.write_bytes(b"#" * 300_000)
    with raises(InvalidInput, "workspace_too_large"):
        read_text(file)
    with raises(InvalidInput, "workspace_unreadable"):
        read_text(tmp_path)


def test_bombs_do_not_go_off() -> None:
    levels = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40))
    with raises(InvalidInput, "workspace_invalid"):
        parse_workspace(f"a0: &a0 [x]\n{levels}\n", FILE)
    with pytest.raises(InvalidInput):
        parse_workspace("[" * 5_000, FILE)


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "workspace.yml").touch()
    (tmp_path / "a" / "workspace.yml").touch()
    assert find_workspace(deep) == (tmp_path / "a" / "workspace.yml").resolve()
    assert find_workspace(tmp_path) == (tmp_path / "workspace.yml").resolve()


WORDS = st.sampled_from(
    [
        "name",
        "memory",
        "own",
        "strategy",
        "type",
        "narrative",
        ":",
        ": ",
        "- ",
        "\n",
        "  ",
        "\t",
        "&a",
    ]
    + [
        "*a",
        "{",
        "}",
        "[",
        "]",
        "'",
        '"',
        "|",
        ">",
        "%",
        "!!python/object:os.system",
        "\0",
        "7",
        "~",
    ]
)


@given(st.lists(WORDS | st.text(max_size=4), max_size=30).map("".join))
def test_any_text_is_a_declaration_or_a_clear_error(text: str) -> None:
    try:
        spec = parse_workspace(text, FILE)
    except HoldfastError as error:
        assert str(FILE) in error.message
        assert error.hint
    else:
        assert spec.name
