"""From the words of a command line to a call: a pure function, given the world it may look at.

For whatever list of words, `parse` raises nothing but `UsageError` (or what reading standard input
raises). An option may stand anywhere after its noun, the table's own options anywhere at all. A
word is an option when it begins with one or two dashes and a letter, so -5, "- a list" and "-- so"
are text, and so is everything after a lone `--`. A value that looks like an option must be glued on
with `=`: a forgotten value never swallows the option behind it, and `--help` and `--json` mean
themselves wherever they stand before `--`.
"""

from __future__ import annotations

from holdfast.cli.grammar import (
    PROGRAM,
    Call,
    Command,
    Noun,
    commands_of,
    find_command,
    find_noun,
    nearest,
    own_options,
    said,
    usage,
)
from holdfast.cli.kinds import FLAG, TEXT, FormError
from holdfast.errors import UsageError
from holdfast.model.names import shown
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from holdfast.cli.grammar import Argument, Option, Param, Table


class Outside(Value):
    """What reading a command line may ask of the world."""

    env: Mapping[str, str]
    now_us: int
    stdin: Callable[[], str]


def parse(table: Table, words: Sequence[str], outside: Outside) -> Call:
    topic = _help_topic(table, before_dashes(words))
    scan = _scan(table, words if topic is None else ["help", *topic])
    if scan.instead or scan.noun is None:
        scan = _scan(table, [scan.instead or "help"])
    return bind(scan, outside)


def before_dashes(words: Sequence[str]) -> Sequence[str]:
    """The words among which options are options."""
    return words[: words.index("--")] if "--" in words else words


def is_option(word: str) -> bool:
    name = word.lstrip("-")
    dashes = len(word) - len(name)
    return dashes in (1, 2) and name[:1].isascii() and name[:1].isalpha()


def _scan(table: Table, words: Iterable[str]) -> Scan:
    scan = Scan(table)
    for word in words:
        scan.feed(word)
    if scan.waiting:
        raise scan.value_missing(scan.waiting.place)
    return scan


def _help_topic(table: Table, words: Sequence[str]) -> list[str] | None:
    """What `--help` asks about: as much of the command as was said, whatever is wrong after it."""
    asks = {name for option in table.options if option.instead == "help" for name in option.names}
    if asks.isdisjoint(words):
        return None
    scan = Scan(table)
    for word in words:
        try:
            scan.feed(word) if word not in asks else None
        except UsageError as exc:
            if exc.code == "command_unknown":
                raise
            break
    return said(scan.noun, scan.command).split()


class Scan:
    """Words taken one by one, and what they mean so far; completion asks what could come next."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.noun: Noun | None = None
        self.commands: tuple[Command, ...] = ()
        self.command: Command | None = None
        self.given: dict[str, list[str]] = {}
        self.words: list[str] = []
        self.rest: list[str] = []
        self.waiting: Option | None = None  # the option whose value comes next
        self.dashed = False
        self.instead = ""

    def feed(self, word: str) -> None:
        if self.waiting and (word == "--" or is_option(word)):
            written = f"{self.waiting.name}={word}"
            raise self.value_missing(written if word.isprintable() else self.waiting.place)
        if self.waiting:
            self._give(self.waiting, word)
            self.waiting = None
        elif word == "--" and not self.dashed:
            self.dashed, self.command = True, self.likely_command()
        elif self.dashed or not is_option(word):
            self._word(word)
        elif word.startswith("--"):
            self._long(word)
        else:
            self._shorts(word[1:])

    def likely_command(self) -> Command | None:
        """The command; what the noun does by itself when no verb was said."""
        return self.command or next((one for one in self.commands if not one.verb), None)

    def options(self) -> list[Option]:
        """Those that may stand here. A command's own comes before the table's of the same name."""
        command = self.likely_command()
        own = own_options(self.table, command) if command else ()
        names = {option.name for option in own}
        return [*own, *(option for option in self.table.options if option.name not in names)]

    def next_argument(self) -> Argument | None:
        command = self.likely_command()
        arguments = command.arguments if command else ()
        if self.dashed and arguments and arguments[-1].rest:
            return arguments[-1]
        places = [argument for argument in arguments if not argument.rest]
        if len(self.words) < len(places):
            return places[len(self.words)]
        return places[-1] if places and places[-1].many else None

    def value_missing(self, example: str) -> UsageError:
        name = self.waiting.name if self.waiting else ""
        return UsageError("value_missing", f"`{name}` needs a value", hint=f"write `{example}`")

    def _word(self, word: str) -> None:
        if self.noun is None:
            self.noun = find_noun(self.table, word)
            self.commands = commands_of(self.noun)
            return
        if self.command is None:
            self.command = find_command(self.noun, self.commands, word)
            if self.command.verb:
                return
        arguments = self.command.arguments
        taken = self.rest if self.dashed and arguments and arguments[-1].rest else self.words
        taken.append(word)

    def _long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        self._meet(self._option(name), value if equals else None)

    def _shorts(self, letters: str) -> None:
        while letters:
            option, letters = self._option(f"-{letters[0]}"), letters[1:]
            if letters and option.kind is not FLAG:
                self._meet(option, letters.removeprefix("="))
                return
            self._meet(option, None)

    def _option(self, name: str) -> Option:
        options = self.options()
        for option in options:
            if name in option.names:
                if option not in self.table.options:
                    self.command = self.likely_command()
                return option
        command = said(self.noun, self.likely_command())
        near = nearest(name, (option.name for option in options))
        raise UsageError(
            "option_unknown",
            f"unknown option {shown(name)}" + f" of `{command}`" * bool(command),
            hint=f"did you mean `{near}`?"
            if near
            else f"`{PROGRAM} help {command}`".replace(" `", "`")
            + " lists the options; text that begins with a dash goes after `--`",
        )

    def _meet(self, option: Option, value: str | None) -> None:
        name = option.name
        if value is not None and option.kind is FLAG:
            raise UsageError("value_unwanted", f"`{name}` takes no value", hint=f"write `{name}`")
        if value is None and option.kind is not FLAG:
            self.waiting = option
        else:
            self._give(option, value or "")

    def _give(self, option: Option, raw: str) -> None:
        self.instead = option.instead or self.instead
        raws = self.given.setdefault(option.key, [])
        if raws and option.kind is not FLAG and not option.many:
            raise UsageError("option_repeated", f"`{option.name}` is given twice", hint="keep one")
        raws.append(raw)


_NO_NOUN = Noun(name="", summary="", commands=())
_NO_COMMAND = Command(verb="", summary="", handler="")


def bind(scan: Scan, outside: Outside, *, partial: bool = False) -> Call:
    """Read what was given as what the command takes. `partial` asks for no more than is there."""
    noun, command = scan.noun or _NO_NOUN, scan.likely_command() or _NO_COMMAND
    places, unread = _places(scan.words, scan.rest, command)
    given = [*(_option_given(option, scan, outside) for option in scan.options()), *places]
    values: dict[str, Any] = {}
    from_stdin: list[Param] = []
    for param, where, raws in given:
        if param.stdin and raws == ["-"]:
            from_stdin.append(param)
        else:
            values[param.key] = _value(param, where, raws, outside.now_us)
    if not partial:
        missing = [param.place for param, _, raws in given if param.required and not raws]
        _check_complete(scan, command, missing, unread, from_stdin)
    for param in from_stdin:
        hidden = param.replace(secret=True)  # what a file holds is not for an error to show
        text = [] if partial else [outside.stdin()]
        values[param.key] = _value(hidden, param.name, text, outside.now_us)
    return Call(table=scan.table, noun=noun, command=command, values=values)


def _option_given(option: Option, scan: Scan, outside: Outside) -> tuple[Option, str, list[str]]:
    """The option, where its value comes from, and the value as it was given."""
    if option.key in scan.given:
        return option, option.name, scan.given[option.key]
    if option.env and outside.env.get(option.env):
        return option, option.env, [outside.env[option.env]]
    return option, option.name, [option.default] if option.default else []


def _places(
    words: list[str], rest: list[str], command: Command
) -> tuple[list[tuple[Argument, str, list[str]]], list[str]]:
    """Each argument with the words that it takes, and the words that none takes."""
    taken: list[tuple[Argument, str, list[str]]] = []
    for argument in command.arguments:
        if argument.rest:
            taken.append((argument, argument.name, rest))
        else:
            taken.append((argument, argument.name, words[: None if argument.many else 1]))
            words = [] if argument.many else words[1:]
    return taken, words


def _check_complete(
    scan: Scan, command: Command, missing: list[str], unread: list[str], stdin: list[Param]
) -> None:
    noun = scan.noun or _NO_NOUN
    name, hint = said(noun, command), f"usage: {usage(noun, command)}"
    if command is _NO_COMMAND:
        verbs = ", ".join(one.verb for one in scan.commands)
        hint = f"`{PROGRAM} help {name}` says what each does"
        raise UsageError("command_missing", f"`{name}` needs a verb: {verbs}", hint=hint)
    for option in scan.options():
        if option.reading and command.mutates and option.key in scan.given:
            message = f"`{option.name}` looks at the past, and `{name}` writes"
            raise UsageError("option_misplaced", message, hint=f"leave `{option.name}` out")
    if missing:
        parts = " and ".join(f"`{place}`" for place in missing)
        raise UsageError("argument_missing", f"`{name}` needs {parts}", hint=hint)
    if unread:
        if any(argument.kind is TEXT for argument in command.arguments):
            hint = "put quotes around text of several words"
        raise UsageError("argument_unexpected", f"`{name}` takes no {shown(unread[0])}", hint=hint)
    if len(stdin) > 1:
        names = " and ".join(f"`{param.name}`" for param in stdin)
        raise UsageError("stdin_twice", f"{names} cannot both be `-`", hint="keep one of them")


def _value(param: Param, where: str, raws: list[str], now_us: int) -> object:
    read = tuple(_read(param, where, raw, now_us) for raw in raws)
    if param.kind is FLAG:
        return bool(read)
    return read if param.many or param.rest else read[0] if read else None


def _read(param: Param, where: str, raw: str, now_us: int) -> object:
    _check_utf8(where, raw)
    try:
        return param.kind.read(raw, now_us)
    except ValueError as exc:
        near = nearest(raw, param.kind.choices)
        fault = "is not of its form" if param.secret else f"cannot be {shown(raw)}"
        detail = f": {exc}" if isinstance(exc, FormError) else ""
        raise UsageError(
            "value_invalid",
            f"`{where}` {fault}{detail}",
            hint=f"did you mean `{near}`?" if near else f"it takes {param.kind.form}",
        ) from None


def _check_utf8(where: str, raw: str) -> None:
    """Bytes of an argument that are no UTF-8 reach Python as lone surrogates."""
    try:
        raw.encode()
    except UnicodeEncodeError as exc:
        byte, offset = ord(raw[exc.start]) & 0xFF, len(raw[: exc.start].encode())
        raise UsageError(
            "value_not_utf8",
            f"`{where}` is not UTF-8: byte 0x{byte:02x} at offset {offset}",
            hint="convert it to UTF-8",
        ) from None
