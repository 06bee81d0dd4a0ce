"""The grammar of the command line: commands are values, and one table of them says everything.

Parsing, help, completion and the reference page read the same table, so none can differ from the
others. A table lists nouns; a noun names, as "module:NAME", the tuple of its commands, which is
imported only when somebody says that noun; a command names its handler in the same way. The command
whose verb is "" is what the noun does by itself (`holdfast status`, `holdfast run AGENT PROMPT`).
In the words of help, `{noun}` stands for the noun, so that nouns may share their commands.
"""

from __future__ import annotations

import sys

from holdfast.cli.kinds import FLAG, TEXT
from holdfast.errors import UsageError
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from holdfast.cli.kinds import Kind

PROGRAM = "holdfast"
_WORD_CHARS_MAX = 40  # no command or option is longer, so nothing is near to what is


class Param(Value):
    """A value that a command takes; in the call under `into`, else its name in lower case."""

    name: str
    help: str
    kind: Kind
    required: bool
    many: bool = False  # may be repeated; a tuple
    rest: bool = False  # takes all that stands after `--`; a tuple
    stdin: bool = False  # `-` means standard input
    secret: bool = False  # what was given is never shown
    candidates: str = ""  # "module:function" of (call, prefix): words, or (word, meaning) pairs
    into: str = ""

    @property
    def key(self) -> str:
        return self.into or self.name.lstrip("-").replace("-", "_").lower()

    @property
    def place(self) -> str:
        """How it stands in a usage line."""
        return self.name


class Argument(Param):
    """A value told by its place. Its name is what help shows: STORE."""

    kind: Kind = TEXT
    required: bool = True

    @property
    def place(self) -> str:
        named = f"{'-- ' * self.rest}{self.name}{'...' * (self.rest or self.many)}"
        return named if self.required else f"[{named}]"


class Option(Param):
    """A value told by its name, --as-of; a flag unless it has a kind."""

    kind: Kind = FLAG
    required: bool = False
    short: str = ""
    default: str = ""  # read as if typed
    env: str = ""
    reading: bool = False  # looks at the past, so a command that mutates refuses it
    instead: str = ""  # the noun that answers in place of the command, whatever that is: "help"

    @property
    def names(self) -> tuple[str, ...]:
        return (self.short, self.name) if self.short else (self.name,)

    @property
    def place(self) -> str:
        return f"{self.name} {self.kind.metavar}".rstrip()


class Command(Value):
    verb: str
    summary: str
    handler: str  # "module:function" of (call, out), which returns an exit code or nothing
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    mutates: bool = False  # takes the table's options for writing, and refuses those for reading
    without: tuple[str, ...] = ()  # the table's options for writing that have no meaning here
    aliases: tuple[str, ...] = ()
    details: str = ""
    examples: tuple[str, ...] = ()


class Noun(Value):
    name: str
    summary: str
    commands: str | tuple[Command, ...]  # or "module:NAME" of that tuple
    heading: str = ""
    aliases: tuple[str, ...] = ()


class Table(Value):
    nouns: tuple[Noun, ...]
    summary: str = ""
    options: tuple[Option, ...] = ()  # taken by every command, before or after its words
    writing: tuple[Option, ...] = ()  # taken by every command that mutates


class Call(Value):
    """What somebody asked for: the command, and every argument and option by its key."""

    table: Table
    noun: Noun
    command: Command
    values: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]


def load(spec: str) -> Any:
    """What "module:NAME" names; without `importlib`, which costs more than the rest of a parse."""
    module, _, name = spec.partition(":")
    __import__(module)
    return getattr(sys.modules[module], name)


def commands_of(noun: Noun) -> tuple[Command, ...]:
    return load(noun.commands) if isinstance(noun.commands, str) else noun.commands


def own_options(table: Table, command: Command) -> tuple[Option, ...]:
    if not command.mutates:
        return command.options
    writing = (option for option in table.writing if option.name not in command.without)
    return (*command.options, *writing)


def find_noun(table: Table, word: str) -> Noun:
    for noun in table.nouns:
        if word == noun.name or word in noun.aliases:
            return noun
    near = nearest(word, (name for noun in table.nouns for name in (noun.name, *noun.aliases)))
    raise UsageError(
        "command_unknown",
        f"unknown command {shown(word)}",
        hint=f"did you mean `{near}`?" if near else f"`{PROGRAM} help` lists the commands",
    )


def find_command(noun: Noun, commands: Iterable[Command], word: str) -> Command:
    """The command with that verb, else the one without."""
    by_itself = None
    for command in commands:
        if word == command.verb or word in command.aliases:
            return command
        by_itself = by_itself if command.verb else command
    if by_itself is not None:
        return by_itself
    near = nearest(word, (name for one in commands for name in (one.verb, *one.aliases)))
    raise UsageError(
        "command_unknown",
        f"`{noun.name}` has no command {shown(word)}",
        hint=f"did you mean `{noun.name} {near}`?"
        if near
        else f"`{PROGRAM} help {noun.name}` lists what it has",
    )


def said(noun: Noun | None, command: Command | None) -> str:
    return " ".join(filter(None, (noun and noun.name, command and command.verb)))


def usage(noun: Noun, command: Command) -> str:
    needed = [option.place for option in command.options if option.required]
    places = [argument.place for argument in command.arguments]
    return " ".join([PROGRAM, said(noun, command), *needed, "[OPTIONS]", *places])


def nearest(word: str, names: Iterable[str]) -> str:
    """The name that was probably meant, or nothing."""
    if len(word) > _WORD_CHARS_MAX:
        return ""
    best, fewest = "", max(1, len(word) // 3) + 1
    for name in names:
        edits = 1 if len(word) > 1 and name.startswith(word) else _edits(word, name)
        if edits < fewest:
            best, fewest = name, edits
    return best


def _edits(a: str, b: str) -> int:
    """How many letters to add, drop, change or swap with a neighbour."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            edits = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                edits = min(edits, rows[-2][j - 2] + 1)
            row.append(edits)
        rows.append(row)
    return rows[-1][-1]
