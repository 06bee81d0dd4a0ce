from __future__ import annotations

import pytest
from cli_snapshot import HEAVY, assert_light

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["help"],
        ["help", "completion"],
        ["completion", "--help"],
        ["completion", "bash"],
        ["--complete", "help", "comp"],
    ],
    ids=" ".join,
)
def test_words_about_the_program_import_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    assert_light(words, tmp_path, (*HEAVY, "pathlib", "datetime", "importlib", "holdfast.wiring"))


def test_what_a_command_does_not_need_is_not_imported(tmp_path: Path) -> None:
    unused = ("holdfast.cli.help", "holdfast.cli.complete", "unicodedata")
    assert_light(["version", "--space", "a", "--quiet"], tmp_path, unused)


def test_a_heavy_import_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="json"):
        assert_light(["version", "--json"], tmp_path)
