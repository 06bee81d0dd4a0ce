"""Wrong usage is known before a vault is opened: what exits with 2 has opened none.

Every command is called with its arguments, with each of its options, and with each two of them, in
a folder that is no workspace and no versioned directory. Much of that is wrong, and nobody says
here what: whatever ends with 2 must not have looked for a vault.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations

import pytest
from cli_vault import Cli, cli_in

import holdfast
from holdfast.cli import opening
from holdfast.cli.commands import TABLE
from holdfast.cli.grammar import Command, Noun, commands_of, own_options
from holdfast.engine.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path
    from typing import Any

    from holdfast.cli.grammar import Option

# What serves, waits, asks, or runs other programs.
LEFT_OUT = {"mcp", "demo", "worker", "run logs", "review run"}
COMMANDS = [
    (noun, command)
    for noun in TABLE.nouns
    for command in commands_of(noun)
    if f"{noun.name} {command.verb}".strip() not in LEFT_OUT
]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    (tmp_path / "here").mkdir()
    made = cli_in(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path / "here")
    return made


def option_words(option: Option) -> list[list[str]]:
    if not option.kind.metavar:
        return [[option.name]]
    value = option.kind.choices[0] if option.kind.choices else VALUES.get(option.kind.metavar, "1")
    words = [f"{option.name}={value}"]
    return [words, words * 2] if option.many else [words]


VALUES = {"KEY=VALUE": "k=v", "TIME": "yesterday", "DURATION": "1h", "JSON": '{"a": 1}'}


def calls(noun: Noun, command: Command) -> Iterator[list[str]]:
    said = [noun.name, *([command.verb] if command.verb else [])]
    needed = ["1" for each in command.arguments if each.required and not each.rest]
    more = ["1" for each in command.arguments if not each.required and not each.rest]
    options = [words for each in own_options(TABLE, command) for words in option_words(each)]
    options.append(["--as-of=1"])
    yield said
    for places in (needed, needed + more):
        yield [*said, *places]
        for chosen in options:
            yield [*said, *chosen, *places]
    for one, other in combinations(options, 2):
        yield [*said, *one, *other, *needed]


@pytest.mark.row("I11")
@pytest.mark.parametrize(
    ("noun", "command"), COMMANDS, ids=[f"{n.name} {c.verb}".strip() for n, c in COMMANDS]
)
def test_what_exits_with_2_has_opened_no_vault(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, noun: Noun, command: Command
) -> None:
    opened: list[str] = []

    @contextmanager
    def watched(where: str, **given: Any) -> Generator[Vault]:
        opened.append(where)
        yield Vault(vault._core, given["caller"])  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(opening, "open_vault", watched)
    (cli.vault).mkdir()
    (cli.vault / "vault.db").touch()
    with holdfast.open("memory:", clock=cli.clock) as vault:
        for words in calls(noun, command):
            opened.clear()
            result = cli(*words, "--json")
            assert result.exit in (0, 1, 2), (words, result)
            assert "internal" not in result.stderr, (words, result)
            assert not (result.exit == 2 and opened), (words, result.stderr)


@pytest.mark.parametrize("noun", ["memory", "artifact", "volume"])
@pytest.mark.parametrize("verb", ["log", "diff", "rollback", "delete"])
def test_a_folder_that_is_no_directory_leaves_the_vault_alone(
    cli: Cli, noun: str, verb: str
) -> None:
    cli.says("note", "save", "a note")
    before = {each: each.read_bytes() for each in cli.vault.rglob("*") if each.is_file()}
    assert cli.refuses(noun, verb, exit=2) == "folder_not_initialised"
    after = {each: each.read_bytes() for each in cli.vault.rglob("*") if each.is_file()}
    assert after == before
