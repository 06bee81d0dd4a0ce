"""Three-way merge of JSON and YAML files, by key."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from holdfast.core.merge.contents import merge_contents
from holdfast.core.merge.data import MISSING, DataClash, merge_data
from holdfast.core.merge.structured import read_json, style_of, write_json
from holdfast.core.merge.text import Clash

KEYS = st.sampled_from(["a", "b", "c", "d", "é", "a/b", ""])
SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, -2.5e300, 10**30, "", "x", "1", "ü\u2028"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
FORMS = st.sampled_from(
    [
        {},
        {"indent": 2},
        {"indent": "\t"},
        {"separators": (",", ":")},
        {"indent": 4, "ensure_ascii": False},
    ]
)


@st.composite
def edited(draw: st.DrawFn, value: Any) -> Any:
    """The value with some changes below it."""
    if isinstance(value, dict):
        changed = {}
        for key, element in value.items():
            what = draw(st.sampled_from(["keep", "keep", "keep", "drop", "edit"]))
            if what != "drop":
                changed[key] = draw(edited(element)) if what == "edit" else element
        for key in draw(st.lists(KEYS, max_size=2)):
            changed.setdefault(key, draw(VALUES))
        return changed
    if isinstance(value, list) and draw(st.booleans()):
        return [*value, *draw(st.lists(VALUES, max_size=2))]
    return draw(VALUES)


@st.composite
def three(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    base = draw(OBJECTS)
    return base, draw(edited(base)), draw(edited(base))


def written(value: Any, form: dict[str, Any]) -> bytes:
    return (json.dumps(value, **form) + "\n").encode()


def leaves(value: Any, at: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Each value that is not an object, by the keys that lead to it."""
    if isinstance(value, dict) and value:
        return {k: v for key in value for k, v in leaves(value[key], (*at, key)).items()}
    return {at: value}


@given(three(), FORMS)
def test_json_merges_as_it_should_whoever_is_ours(
    versions: tuple[Any, Any, Any], form: dict[str, Any]
) -> None:
    base, ours, theirs = (written(version, form) for version in versions)
    assert merge_contents("x.json", base, ours, base) == ours
    assert merge_contents("x.json", base, base, theirs) == theirs
    merged = merge_contents("x.json", base, ours, theirs)
    assert merged == merge_contents("x.json", base, theirs, ours)
    if isinstance(merged, Clash):
        return
    was, left, right, now = (leaves(read_json(text)) for text in (base, ours, theirs, merged))
    for mine, others in ((left, right), (right, left)):
        for path, value in mine.items():
            if was.get(path, MISSING) != value and others.get(path, MISSING) in (
                was.get(path, MISSING),
                value,
            ):
                if value == {}:
                    continue  # an object that one side emptied and the other filled
                assert now.get(path, MISSING) == value, path
    for path in was:
        if path and path not in left and path not in right:
            assert path not in now or now[path] == {}


@given(OBJECTS, FORMS)
def test_json_is_written_in_the_form_it_had(value: Any, form: dict[str, Any]) -> None:
    text = written(value, form)
    assert json.loads(write_json(read_json(text), style_of(text))) == value
    assume(bool(value) and "ensure_ascii" not in form)
    flat = {"k": 1, "l": "é", **dict.fromkeys(value, 0)}
    text = written(flat, form)
    assert write_json(read_json(text), style_of(text)) == text


@pytest.mark.row("A20")
def test_json_by_key_keeps_the_form() -> None:
    base = b'{\n    "name": "x",\n    "port": 1.0,\n    "tags": [\n        "a"\n    ]\n}\n'
    ours = base.replace(b'"a"', b'"a",\n        "b"').replace(b'"x"', b'"y"')
    theirs = base.replace(b'"a"', b'"a",\n        "c"').replace(b"1.0", b'1.0,\n    "new": 2e5')
    merged = merge_contents("x.json", base, ours, theirs)
    assert merged == (
        b'{\n    "name": "y",\n    "port": 1.0,\n    "new": 2e5,\n    "tags": [\n'
        b'        "a",\n        "b",\n        "c"\n    ]\n}\n'
    )


@pytest.mark.row("A20")
def test_json_keys_that_both_added_last_are_both_there() -> None:
    base, ours, theirs = b'{"a": 1}', b'{"a": 1, "z": 2}', b'{"a": 1, "b": 3}'
    assert merge_contents("x.json", base, ours, theirs) == b'{"a": 1, "b": 3, "z": 2}'
    assert merge_contents("x.json", None, b'{"z": 2}\n', b'{"b": 3}\n') == b'{"b": 3, "z": 2}\n'
    assert merge_contents("x.json", b"", b'{"z": 2}\n', b'{"b": 3}\n') == b'{"b": 3, "z": 2}\n'


def test_formatting_that_the_lines_keep_is_kept() -> None:
    base = b'{\n  "list": [1, 2],\n\n  "a": 1,\n  "b": {"x": 1}\n}\n'
    ours, theirs = base.replace(b'"a": 1', b'"a": 2'), base.replace(b'"x": 1', b'"x": 2')
    merged = merge_contents("x.json", base, ours, theirs)
    assert merged == b'{\n  "list": [1, 2],\n\n  "a": 2,\n  "b": {"x": 2}\n}\n'


def test_two_orders_of_the_same_keys_give_one_result() -> None:
    base = b'{"a": 1}'
    ours, theirs = b'{"a": 2, "n": {"x": 1, "y": 2}}', b'{"a": 1, "n": {"y": 2, "x": 1}, "z": 0}'
    merged = merge_contents("x.json", base, ours, theirs)
    assert merged == b'{"a": 2, "n": {"x": 1, "y": 2}, "z": 0}'
    assert merged == merge_contents("x.json", base, theirs, ours)


def test_a_clash_names_the_key() -> None:
    base, ours, theirs = b'{"a": {"b/c": 1}}', b'{"a": {"b/c": 2}}', b'{"a": {"b/c": 3}}'
    clash = merge_contents("x.json", base, ours, theirs)
    assert clash == Clash(reason="keys", where="/a/b~1c")
    assert merge_contents("x.json", base, b"{}", theirs) == Clash(reason="keys", where="/a")


def test_elements_of_a_list_are_merged_in_themselves() -> None:
    base = b'[{"id": 1, "a": 0, "b": 0}, {"id": 2}]'
    ours, theirs = base.replace(b'"a": 0', b'"a": 1'), base.replace(b'"b": 0', b'"b": 1')
    both = b'[{"id": 1, "a": 1, "b": 1}, {"id": 2}]'
    assert merge_contents("x.json", base, ours, theirs) == both


def test_a_list_without_repeats_gets_none() -> None:
    base, ours, theirs = b'["a"]', b'["x", "a"]', b'["a", "x"]'
    assert merge_contents("x.json", base, ours, theirs) == b'["x", "a"]'
    base, ours, theirs = b'["a", "a"]', b'["x", "a", "a"]', b'["a", "a", "x"]'
    assert merge_contents("x.json", base, ours, theirs) == b'["x", "a", "a", "x"]'


def test_one_and_true_and_one_point_zero_are_three_values() -> None:
    assert merge_data(read_json(b"[1]"), read_json(b"[1.0]"), read_json(b"[1]")) == read_json(
        b"[1.0]"
    )
    with pytest.raises(DataClash):
        merge_data(read_json(b"1"), read_json(b"1.0"), read_json(b"true"))


@pytest.mark.parametrize(
    "broken",
    [b'{"a": 1, "a": 2}', b'{"a": NaN}', b"{", b'\xef\xbb\xbf{"a": 1}', b'{"a": 1}{}', b"\xff"],
)
def test_what_is_not_json_is_merged_as_text(broken: bytes) -> None:
    base = b'{"a": 1}\n'
    merged = merge_contents("x.json", base, broken + b"\n", b"# head\n" + base)
    assert merged == b"# head\n" + broken + b"\n"


def test_half_characters_and_depth_do_not_crash() -> None:
    base, ours, theirs = b'{"a":1}', b'{"a":1,"b":"\\ud800"}', '{"a":1,"c":"é"}'.encode()
    merged = merge_contents("x.json", base, ours, theirs)
    assert isinstance(merged, bytes)
    assert json.loads(merged) == {"a": 1, "b": "\ud800", "c": "é"}
    for depth in (60, 300, 100_000):
        deep = b'{"a":' * depth + b"1" + b"}" * depth
        merged = merge_contents("x.json", base, deep, b'{"a":1,"b":2}')
        if depth == 60:
            assert merged == deep[:-1] + b',"b":2}'
        else:
            assert merged == Clash(reason="too_deep")


def load(text: bytes) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(text.decode())
    except YAMLError as error:
        raise ValueError(str(error)) from error


YAML_BASE = b"""\
# how it runs
name: app   # the name
memory:
  own:
    - notes
  mounts: {}
agents:
  main:
    port: 80
"""


@pytest.mark.row("A20")
def test_yaml_by_key_keeps_comments() -> None:
    ours = YAML_BASE.replace(b"app", b"tool").replace(b"    - notes\n", b"    - notes\n    - a\n")
    theirs = YAML_BASE.replace(b"    - notes\n", b"    - notes\n    - b\n") + b"new: 1\n"
    theirs = theirs.replace(b"    port: 80\n", b"    port: 81 # open\n")
    both = YAML_BASE.replace(b"app", b"tool")
    both = both.replace(b"    - notes\n", b"    - notes\n    - a\n    - b\n")
    both = both.replace(b"    port: 80\n", b"    port: 81 # open\n") + b"new: 1\n"
    assert merge_contents("w.yml", YAML_BASE, ours, theirs, load) == both
    assert merge_contents("w.yml", YAML_BASE, theirs, ours, load) == both


@pytest.mark.row("A20")
def test_yaml_keys_that_both_added_at_one_place_are_both_there() -> None:
    ours = YAML_BASE.replace(b"    port: 80\n", b"    port: 80\n    host: b\n")
    theirs = YAML_BASE.replace(b"    port: 80\n", b"    port: 80\n    env: {A: 1}\n")
    merged = merge_contents("w.yaml", YAML_BASE, ours, theirs, load)
    assert merged == YAML_BASE + b"    env: {A: 1}\n    host: b\n"


def test_yaml_that_lines_would_garble_is_a_clash() -> None:
    base = b"a:\n  x: 1\n"
    one, two = base + b"b:\n  y: 1\n", base + b"b:\n  z: 1\n"
    assert merge_contents("w.yml", base, one, two, load) == base + b"b:\n  y: 1\n  z: 1\n"
    two = base + b"c: 2\nb:\n  z: 1\n"
    assert merge_contents("w.yml", base, one, two, load) == Clash(reason="keys")
    assert merge_contents("w.yml", base, b"a:\n  x: 2\n", b"a:\n  x: 3\n", load) == Clash(
        reason="keys", where="/a/x"
    )


def test_yaml_without_a_reader_is_text() -> None:
    assert merge_contents("w.yml", b"a: 1\n", b"a: 1\nb: 2\n", b"a: 1\nb: 3\n") == (
        b"a: 1\nb: 2\nb: 3\n"
    )


def test_binaries_and_new_files_are_not_mixed() -> None:
    assert merge_contents("a.png", b"\0a", b"\0b", b"\0c") == Clash(reason="binary")
    assert merge_contents("a.py", None, b"one\n", b"two\n") == Clash(reason="both_added")
    assert merge_contents("a.py", None, b"one\n", b"one\n") == b"one\n"
    assert merge_contents("A.MD", None, b"- one\n", b"- two\n") == b"- one\n- two\n"


@given(
    st.sampled_from(["a.md", "a.json", "a.yml", "a.txt", "a"]),
    st.none() | st.binary(max_size=30),
    st.binary(max_size=30),
    st.binary(max_size=30),
)
def test_any_bytes_merge_or_clash(
    name: str, base: bytes | None, ours: bytes, theirs: bytes
) -> None:
    merged = merge_contents(name, base, ours, theirs, load)
    assert merged == merge_contents(name, base, theirs, ours, load)
    assert isinstance(merged, (bytes, Clash))
    assert merge_contents(name, base, ours, ours, load) == ours
    if base is not None:
        assert merge_contents(name, base, ours, base, load) == ours


PLAIN = st.sampled_from(["a: 1", "b: [1, 2]", "c:", "  - x", "  - y: 2", "# note", "", "d: {e: f}"])


@st.composite
def yaml_texts(draw: st.DrawFn) -> bytes:
    return "".join(line + "\n" for line in draw(st.lists(PLAIN, max_size=6, unique=True))).encode()


@given(yaml_texts(), yaml_texts(), yaml_texts())
def test_merged_yaml_is_yaml_and_has_the_keys_of_both(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    try:
        was, left, right = (load(text) or {} for text in (base, ours, theirs))
    except ValueError:
        return
    merged = merge_contents("a.yaml", base, ours, theirs, load)
    if isinstance(merged, Clash) or not all(isinstance(v, dict) for v in (was, left, right)):
        return
    now = load(merged) or {}
    for key in left.keys() | right.keys():
        if key not in was:
            assert key in now
    for key in was:
        if key not in left and key not in right:
            assert key not in now
