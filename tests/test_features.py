"""The table of features: what it calls done is shown by tests, and nobody claims more.

A row is done when tests that carry its id show its whole meaning, through each surface that it
names. So a mark alone does not make a row done; a row that is done has marks.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "reference" / "features.md"
ROW = re.compile(r"^\| ([A-Z]\d{2}) \| ([^|]+) \| (.+) \| ?(\S*) ?\|$", re.MULTILINE)
ID = re.compile(r"\b[A-I]\d{2}\b")
DONE = "done"


def rows() -> dict[str, str]:
    """The status of every row."""
    return {row: status for row, _, _, status in ROW.findall(TABLE.read_text("utf-8"))}


def marks(source: str) -> Iterator[str]:
    """The ids in every `pytest.mark.row(…)` of a module, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="mark"), attr="row")):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), "an id is written out"
                    yield str(argument.value)
            case _:
                pass


def marked() -> dict[str, set[str]]:
    """Which test files and contract suites carry each id."""
    found: dict[str, set[str]] = {}
    for folder in (ROOT / "tests", ROOT / "src" / "holdfast" / "testing"):
        for file in folder.rglob("*.py"):
            for row in marks(file.read_text("utf-8")):
                found.setdefault(row, set()).add(file.name)
    return found


def test_the_table_has_every_row_once() -> None:
    text = TABLE.read_text("utf-8")
    lines = [line for line in text.splitlines() if re.match(r"\| [A-Z]\d", line)]
    assert len(rows()) == len(lines)
    assert set(rows().values()) <= {"", DONE}
    heads = re.findall(r"^\| id \|.*$", text, re.MULTILINE)
    assert heads == ["| id | capability | exact meaning | status |"] * len(heads)


def test_what_is_done_is_shown_by_tests() -> None:
    done = {row for row, status in rows().items() if status == DONE}
    assert done, "something is done"
    assert done - set(marked()) == set()


def test_a_test_names_rows_that_exist() -> None:
    assert {row: where for row, where in marked().items() if row not in rows()} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('@pytest.mark.row("A01", "A02")\ndef test_x(): ...', ["A01", "A02"]),
        ('@pytest.mark.row("A01")\nclass TestX: ...', ["A01"]),
        ('pytestmark = [pytest.mark.slow, pytest.mark.row("A01")]', ["A01"]),
        ('@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.row("A01"))])', ["A01"]),
        ('"""pytest.mark.row("A01")"""\nrow("A02")', []),
    ],
)
def test_marks_are_found_wherever_they_stand(source: str, found: list[str]) -> None:
    tail = "\ndef test(): ..." if source.endswith("])") else ""
    assert list(marks(source + tail)) == found


def test_other_pages_name_only_rows_that_are_done() -> None:
    done = {row for row, status in rows().items() if status == DONE}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    claims = {
        str(page.relative_to(ROOT)): set(ID.findall(page.read_text("utf-8"))) - done
        for page in pages
        if page != TABLE
    }
    assert {page: ids for page, ids in claims.items() if ids} == {}
