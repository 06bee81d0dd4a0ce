"""What can be wrong with a table of commands, found by walking all of it."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Option, commands_of, load, own_options
from holdfast.cli.kinds import FLAG
from holdfast.cli.parse import is_option
from holdfast.model.names import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.cli.grammar import Command, Param, Table

SUMMARY_CHARS_MAX = 60


def problems(table: Table) -> list[str]:
    """One line a fault. Handlers are imported, so this is not for a light test."""
    nouns = [name for noun in table.nouns for name in (noun.name, *noun.aliases)]
    found = [f"table: {name} twice" for name in _twice(nouns)]
    found += [
        f"table: no noun {one.instead}" for one in table.options if one.instead not in ("", *nouns)
    ]
    for noun in table.nouns:
        commands = commands_of(noun)
        verbs = [name for one in commands for name in (one.verb, *one.aliases)]
        found += [f"{noun.name}: {verb} twice" for verb in _twice(verbs)]
        found += [
            f"{noun.name}: {verb} is not reserved"
            for verb in verbs
            if verb and verb not in RESERVED
        ]
        found += [f"{noun.name}: no heading"] * (not noun.heading)
        found += [f"{noun.name}: {fault}" for fault in _summary(noun.summary)]
        for command in commands:
            where = f"{noun.name} {command.verb}".rstrip()
            found += [f"{where}: {fault}" for fault in _command(table, command)]
    return found


def _command(table: Table, command: Command) -> Iterator[str]:
    own = own_options(table, command)
    everywhere = [one for one in table.options if one.name not in {option.name for option in own}]
    options = [*own, *everywhere]
    yield from _summary(command.summary)
    if not callable(load(command.handler)):
        yield f"{command.handler} cannot be called"
    for name in _twice(name for option in options for name in option.names):
        yield f"option {name} twice"
    for key in _twice(one.key for one in (*command.arguments, *options) if not _instead(one)):
        yield f"{key} names two values"
    for option in own:
        yield from (f"{option.name}: {fault}" for fault in _option(option))
        if option.name != "--version" and any(option.name == one.name for one in table.options):
            yield f"{option.name} hides the option of every command"
    for param in (*command.arguments, *own):
        if param.stdin and (param.many or param.rest):
            yield f"{param.name}: one of many cannot be standard input"
        if param.candidates and not callable(load(param.candidates)):
            yield f"{param.name}: {param.candidates} cannot be called"
    yield from _order(command.arguments)


def _order(arguments: tuple[Argument, ...]) -> Iterator[str]:
    places = [2 if one.rest else 1 if one.many or not one.required else 0 for one in arguments]
    if places != sorted(places) or places.count(2) > 1 or any(one.many for one in arguments[:-1]):
        yield "arguments stand as required, optional, many, rest"


def _option(option: Option) -> Iterator[str]:
    if not option.name.startswith("--") or not all(map(is_option, option.names)):
        yield "not the form of an option"
    if option.short and len(option.short) != 2:
        yield f"{option.short} is not short"
    if option.kind is FLAG and (option.required or option.many or option.default or option.env):
        yield "a flag is there or not, and no more"
    if option.default:
        option.kind.read(option.default, 0)


def _summary(text: str) -> Iterator[str]:
    if not text or text.endswith(".") or len(text) > SUMMARY_CHARS_MAX:
        yield f"{text!r} is not a phrase of 1 to {SUMMARY_CHARS_MAX} characters without a full stop"


def _instead(param: Param) -> bool:
    return isinstance(param, Option) and bool(param.instead)


def _twice(names: Iterable[str]) -> list[str]:
    seen = list(names)
    return sorted({name for name in seen if seen.count(name) > 1})
