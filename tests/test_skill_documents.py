"""What a SKILL.md may be, which paths a skill may have, and what a curator plans: pure rules."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.curating import Curated, Step, plan
from holdfast.core.skillfiles import (
    FILE_BYTES_MAX,
    FILES_MAX,
    check_file_path,
    check_side_by_side,
    check_sizes,
    check_skill_name,
    name_in,
)
from holdfast.errors import InvalidInput
from holdfast.model.times import DAY_US
from holdfast.strategies.skills.document import described, read, read_bytes, written
from holdfast.testing import raises

WHOLE = """\
---
# kept as it is
name: "pdf-forms"
description: >-
  Fill in PDF forms.
  Use it for tax forms.
license: MIT
allowed-tools: Read, Bash
metadata: {author: somebody, "x": 1}
---

# PDF forms
---
not: front matter
"""


@pytest.mark.row("F01")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_document_is_read_and_kept_to_the_byte(start: str, end: str) -> None:
    text = start + WHOLE.replace("\n", end)
    document = read_bytes(text.encode())
    assert document.name == "pdf-forms"
    assert document.description == "Fill in PDF forms. Use it for tax forms."
    assert document.text == text
    assert document.body == f"{end}# PDF forms{end}---{end}not: front matter{end}"


@pytest.mark.row("F01")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.md:1: it does not begin with front matter"),
        ("# Just Markdown\n", "a.md:1: it does not begin with front matter"),
        ("---\nname: a\ndescription: b\n", "a.md:1: its front matter does not end"),
        ("---\nname: a\n---\n", "a.md:1: description: it is missing"),
        ("---\ndescription: a\n---\n", "a.md:1: name: it is missing"),
        ("---\nname: a\ndescription: do: this\n---\n", "a.md:3: mapping values are not allowed"),
        ("---\nname: a\ndescription: 7\n---\n", "a.md:3: description: this is a number, not text"),
        ("---\nname: a\ndescription:\n---\n", "a.md:3: description: this is empty, not text"),
        ("---\nname: a\ndescription: ' '\n---\n", "a.md:3: description: it is empty"),
        ("---\nname: [a]\ndescription: b\n---\n", "a.md:2: name: this is a list, not text"),
        ("---\nname: true\ndescription: b\n---\n", "a.md:2: name: this is true or false, not text"),
        ("---\nname: a\ndescription: b\nmetadata: x\n---\n", "a.md:4: metadata: this is text, not"),
        ("---\nname: a\ndescription: b\nname: c\n---\n", "a.md:4: name: it stands twice, first on"),
        ("---\nname: a\nx: &b [1]\ndescription: *b\n---\n", "a.md:3: anchors and aliases"),
        ("---\nname: a\ndescription: !!python/name:os b\n---\n", "a.md:3: tags (!)"),
        ("---\nname: A b\ndescription: c\n---\n", "a.md:2: name: 'A b' is not a name for a skill"),
        ("---\nname: a\ndescription: 'b\n---\n", "a.md:4: found unexpected end of stream"),
        ("---\nname: a\n\tdescription: b\n---\n", "a.md:3: found character '\\t'"),
        ("---\n- a\n---\n", "a.md:2: its front matter is no mapping"),
        ("---\n1: a\n---\n", "a.md:2: a key is not text"),
        ("---\nx: " + "[" * 9 + "\n---\n", "a.md:2: it nests deeper than 8"),
        ("---\nx: [" + "1," * 2000 + "]\n---\n", "a.md:2: it nests deeper than 8, or has more"),
        ("---\nname: a\ndescription: b\x01\n---\n", "a.md:3: unacceptable character"),
        ("---\nname: a\ndescription: b\n---\nx\0y\n", "a.md:5: it holds a NUL character"),
        ("---\nname: a\n...\ndescription: b\n---\n", "a.md:4: but found another document"),
        (f"---\nname: a\ndescription: {'b' * 1025}\n---\n", "a.md:3: description: the description"),
        (
            f"---\nname: a\ndescription: b\ncompatibility: {'c' * 501}\n---\n",
            "a.md:4: compatibility: it has more than 500",
        ),
        (f"---\nx: {'y' * 65_536}\n---\n", "a.md:1: its front matter is larger than"),
    ],
    ids=lambda text: re.sub(r"[^a-z]+", "-", text[:40].lower()),
)
def test_what_is_wrong_is_told_with_file_line_and_field(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(text, "a.md")
    assert caught.value.message.startswith(said)
    assert caught.value.hint


@pytest.mark.row("F01")
def test_bytes_that_are_no_text_are_told_with_their_line() -> None:
    with pytest.raises(InvalidInput, match=r"a\.md:3: this is not UTF-8"):
        read_bytes(b"---\nname: a\ndescription: \xff\n---\n", "a.md")
    with pytest.raises(InvalidInput, match=r"a\.md:5: it holds half of a character"):
        read("---\nname: a\ndescription: b\n---\n\ud800", "a.md")


@pytest.mark.row("F01")
def test_a_bomb_of_aliases_is_refused_before_anything_is_made_of_it() -> None:
    lines = ["l0: &l0 [lol]", *(f"l{n}: &l{n} [{f'*l{n - 1},' * 9}]" for n in range(1, 40))]
    with pytest.raises(InvalidInput, match=":2: anchors"):
        read("---\n" + "\n".join(lines) + "\n---\n")


WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=60)


@pytest.mark.row("F02")
@given(WORDS.filter(str.strip), WORDS)
def test_whatever_is_said_of_a_skill_is_read_back(description: str, body: str) -> None:
    document = written("a-skill", description.strip(), body)
    again = read(document.text)
    assert again == document
    assert again.description == description.strip()
    other = described(read(WHOLE), description.strip())
    assert other.description == description.strip()
    assert other.body == read(WHOLE).body
    assert "# kept as it is" in other.head
    assert "allowed-tools: Read, Bash" in other.head


@given(st.text(st.sampled_from("-\n: #'\"[]{}&*!|>%@`abc019\t\r\ufeff\x85\u2028"), max_size=60))
def test_no_front_matter_is_more_than_an_error(inside: str) -> None:
    for text in (inside, f"---\n{inside}\n---\n", f"---\nname: a\ndescription: {inside}\n---\n"):
        try:
            assert read(text).text == text
        except InvalidInput as error:
            assert error.hint


@pytest.mark.row("F02")
@pytest.mark.parametrize(
    "path",
    [
        *("../x", "a/../../x", "/etc/passwd", "a//b", "", ".", "a/", "./a", "..", "a\\b", "..\\x"),
        *(
            "C:/x",
            "c:x",
            "a/C:",
            ".git/config",
            "a/.git",
            ".holdfast/x",
            "a\0b",
            "\ud800",
            "é" * 128,
        ),
    ],
)
def test_no_path_leaves_the_skill(path: str) -> None:
    with raises(InvalidInput, "skill_path_invalid"):
        check_file_path(path)


@pytest.mark.row("F02")
@pytest.mark.parametrize(
    "paths",
    [
        ["notes.md", "Notes.md"],
        ["a/x", "A/y"],
        ["caf\u00e9.md", "cafe\u0301.md"],
        ["stra\u00dfe", "strasse"],
        ["SKILL.md"],
        ["skill.md"],
        ["SKILL.md/x"],
        ["a", "a/b"],
        ["con"],
        ["a/aux.txt"],
        ["a."],
        ["a:b"],
        ["a?"],
    ],
    ids=str,
)
def test_names_that_are_one_on_some_machine_are_refused_on_all(paths: list[str]) -> None:
    for order in (paths, paths[::-1]):
        with raises(InvalidInput, "skill_path_invalid"):
            check_side_by_side(order)


@pytest.mark.row("F02")
def test_usual_paths_and_names_are_taken() -> None:
    paths = ["references/a.md", "templates/日本.txt", "scripts/run.sh", "LICENSE.txt", "a b/c-d_e"]
    check_side_by_side([check_file_path(path) for path in paths])
    for name in ("a", "a" * 64, "pdf-forms", "v1.2_x", "2fa"):
        assert check_skill_name(name) == name
    for name in (
        "",
        "a" * 65,
        "A",
        "-a",
        "a-",
        ".a",
        "a b",
        "a/b",
        "é",
        "con",
        "a\n",
        "..",
        "nul.x",
    ):
        with raises(InvalidInput, "skill_name_invalid"):
            check_skill_name(name)
    assert name_in("Deploy the API: to Production!") == "deploy-the-api-to-production"
    assert (name_in("日本"), len(name_in("word " * 40))) == ("", 64)


@pytest.mark.row("F02")
def test_sizes_have_limits() -> None:
    check_sizes(dict.fromkeys(map(str, range(FILES_MAX)), 1))
    for sizes in (
        dict.fromkeys(map(str, range(FILES_MAX + 1)), 1),
        {"a": FILE_BYTES_MAX + 1},
        dict.fromkeys("abcde", FILE_BYTES_MAX),
    ):
        with raises(InvalidInput, "skill_too_large"):
            check_sizes(sizes)


# The curator


def seen(**fields: object) -> Curated:
    usual = {"name": "a", "exempt": False, "stale": False, "hidden": False, "put_away_us": None}
    return Curated(**{**usual, "last_us": 0, **fields})


@pytest.mark.row("F04")
@pytest.mark.parametrize(
    ("fields", "days", "step"),
    [
        ({}, 29.99, None),
        ({}, 30, "stale"),
        ({"stale": True}, 30, None),
        ({"stale": True}, 89.99, None),
        ({"stale": True}, 90, "archive"),
        ({}, 400, "archive"),
        ({"stale": True}, 1, "wake"),
        ({"exempt": True}, 400, None),
        ({"exempt": True, "stale": True}, 400, "wake"),
        ({"hidden": True, "put_away_us": 90 * DAY_US}, 400, None),
        ({"hidden": True, "put_away_us": 90 * DAY_US, "last_us": 95 * DAY_US}, 96, "restore"),
        ({"hidden": True, "put_away_us": 90 * DAY_US, "exempt": True}, 96, "restore"),
        ({"hidden": True, "last_us": 95 * DAY_US}, 96, None),  # a person put it away
    ],
    ids=str,
)
def test_the_curator_plans_by_the_days_without_use(
    fields: dict[str, object], days: float, step: str | None
) -> None:
    found = list(plan([seen(**fields)], int(days * DAY_US), 30, 90))
    last = fields.get("last_us", 0)
    assert isinstance(last, int)
    whole = (int(days * DAY_US) - last) // DAY_US
    assert found == ([] if step is None else [Step(name="a", step=step, days=whole)])  # pyright: ignore[reportArgumentType]


@pytest.mark.row("F04")
def test_no_step_touches_what_is_exempt_but_to_bring_it_back() -> None:
    for stale, hidden, away, last, days in product(
        (True, False), (True, False), (None, 50 * DAY_US), (0, 60 * DAY_US), range(0, 200, 7)
    ):
        one = seen(exempt=True, stale=stale, hidden=hidden, put_away_us=away, last_us=last)
        steps = [step.step for step in plan([one], days * DAY_US, 30, 90)]
        assert set(steps) <= {"wake", "restore"}
