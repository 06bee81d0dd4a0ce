"""Help and the reference page, made from the table.

`holdfast help` lists the nouns under their headings, `holdfast help note` what a noun can do,
`holdfast help note save` all about one command; `--help` after those words says the same. A page is
a list of sections, laid out as text for a terminal or as Markdown for the documentation.
"""

from __future__ import annotations

from holdfast.cli.grammar import (
    PROGRAM,
    Argument,
    Option,
    commands_of,
    find_command,
    find_noun,
    own_options,
    said,
    usage,
)
from holdfast.cli.output import width
from holdfast.errors import UsageError
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from holdfast.cli.grammar import Call, Command, Noun, Param, Table
    from holdfast.cli.output import Output

    Rows = tuple[tuple[str, str], ...]

_COLUMNS = 80
_TERM_COLUMNS_MAX = 26


class Section(Value):
    title: str = ""
    words: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    rows: Rows = ()


def show(call: Call, out: Output) -> None:
    topic, table = call["topic"], call.table
    pages = list(_all_pages(table)) if call["all"] else [page(table, topic)]
    if call["format"] == "markdown":
        text = reference_markdown(table) if call["all"] else as_markdown(pages[0])
    else:
        text = "\n\n".join(as_text(sections, out.bold) for sections in pages)
    if out.json:
        out.emit({"topic": " ".join(topic), "text": text}, "")
    else:
        out.page(text)


def page(table: Table, topic: Sequence[str]) -> list[Section]:
    if not topic:
        return _front_page(table)
    if len(topic) > 2:
        raise UsageError(
            "argument_unexpected",
            "help is asked for one command",
            hint=f"`{PROGRAM} help {' '.join(topic[:2])}`",
        )
    noun = find_noun(table, topic[0])
    commands = commands_of(noun)
    if len(topic) == 2:
        return _command_page(table, noun, find_command(noun, commands, topic[1]))
    return _noun_page(table, noun, commands)


def _all_pages(table: Table) -> Iterator[list[Section]]:
    yield _front_page(table)
    for noun in table.nouns:
        for command in commands_of(noun):
            yield _command_page(table, noun, command)


def _front_page(table: Table) -> list[Section]:
    headings = dict.fromkeys(noun.heading for noun in table.nouns)
    nouns = [
        Section(
            title=heading,
            rows=tuple(
                (noun.name, noun.summary) for noun in table.nouns if noun.heading == heading
            ),
        )
        for heading in headings
    ]
    return [
        Section(words=(table.summary,)),
        Section(title="Usage", code=(f"{PROGRAM} COMMAND [OPTIONS]",)),
        *nouns,
        Section(title="Options of every command", rows=_option_rows(table.options)),
        Section(words=tuple(_notes(table.options))),
        Section(words=(f"`{PROGRAM} help COMMAND` explains a command and its own options.",)),
    ]


def _noun_page(table: Table, noun: Noun, commands: Sequence[Command]) -> list[Section]:
    verbs = [command for command in commands if command.verb]
    rows = tuple((" ".join((one.verb, *_places(one))), one.summary) for one in verbs)
    more = (f"`{PROGRAM} help {noun.name} VERB` explains a verb.",) if verbs else ()
    start = [
        Section(words=(_sentence(noun.summary), *_also(noun.aliases))),
        Section(title="Usage", code=(f"{PROGRAM} {noun.name} VERB [OPTIONS]",)),
    ]
    for command in commands:
        if not command.verb:
            start = _command_page(table, noun, command)
    return [*start, *_named(noun, [Section(title="Verbs", rows=rows), Section(words=more)])]


def _command_page(table: Table, noun: Noun, command: Command) -> list[Section]:
    taken = [*command.arguments, *own_options(table, command)]
    aliases = command.aliases if command.verb else noun.aliases
    writing = own_options(table, command)[len(command.options) :]
    return _named(
        noun,
        [
            Section(words=(_sentence(command.summary), *_also(aliases))),
            Section(title="Usage", code=(usage(noun, command),)),
            Section(words=tuple(filter(None, command.details.split("\n\n")))),
            Section(title="Arguments", rows=_argument_rows(command.arguments)),
            Section(title="Options", rows=_option_rows(command.options)),
            Section(title="Options for writing", rows=_option_rows(writing)),
            Section(words=tuple(_notes(taken))),
            Section(title="Examples", code=command.examples),
        ],
    )


def _places(command: Command) -> list[str]:
    return [argument.place for argument in command.arguments]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _also(aliases: Iterable[str]) -> list[str]:
    names = ", ".join(f"`{alias}`" for alias in aliases)
    return [f"Also called {names}."] if names else []


def _argument_rows(arguments: Iterable[Argument]) -> Rows:
    return tuple((argument.name, _meaning(argument)) for argument in arguments)


def _option_rows(options: Sequence[Option]) -> Rows:
    gap = "    " if any(option.short for option in options) else ""
    return tuple(
        ((f"{option.short}, " if option.short else gap) + option.place, _meaning(option))
        for option in options
    )


def _meaning(param: Param) -> str:
    choices = param.kind.choices if isinstance(param, Argument) else ()
    facts = [
        f": {', '.join(choices)}" if choices else "",
        "; `-` reads standard input" if param.stdin else "",
    ]
    if isinstance(param, Option):
        facts += [
            "; may be repeated" if param.many else "",
            f" [default: {param.default}]" if param.default else "",
            f" [env: {param.env}]" if param.env else "",
        ]
    return param.help + "".join(facts)


def _notes(params: Iterable[Param]) -> Iterable[str]:
    """What is to be known of the kinds of values, each once."""
    return dict.fromkeys(param.kind.note for param in params if param.kind.note)


def _named(noun: Noun, sections: Iterable[Section]) -> list[Section]:
    def name(text: str) -> str:
        return text.replace("{noun}", noun.name)

    return [
        Section(
            title=section.title,
            words=tuple(map(name, section.words)),
            code=tuple(map(name, section.code)),
            rows=tuple((name(term), name(meaning)) for term, meaning in section.rows),
        )
        for section in sections
    ]


def as_text(sections: Iterable[Section], bold: Callable[[str], str]) -> str:
    blocks: list[str] = []
    for section in sections:
        blocks += ["\n".join(_wrapped(words, _COLUMNS)) for words in section.words]
        lines = [*(f"  {line}" for line in section.code), *_aligned(section.rows)]
        if lines:
            blocks.append("\n".join([bold(f"{section.title}:"), *lines]))
    return "\n\n".join(blocks)


def _aligned(rows: Rows) -> Iterator[str]:
    terms = [width(term) for term, _ in rows if width(term) <= _TERM_COLUMNS_MAX]
    column = max(terms, default=0) + 4
    for term, meaning in rows:
        first, *others = _wrapped(meaning, _COLUMNS - column)
        if width(term) > column - 4:
            yield f"  {term}"
            yield f"{' ' * column}{first}"
        else:
            yield f"  {term}{' ' * (column - 2 - width(term))}{first}"
        for line in others:
            yield f"{' ' * column}{line}"


def _wrapped(words: str, columns: int) -> list[str]:
    lines = [""]
    for word in words.split():
        if lines[-1] and width(lines[-1]) + 1 + width(word) > columns:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines


def reference_markdown(table: Table) -> str:
    """The page of documentation that describes every command."""
    parts = ["# Command line", as_markdown(_front_page(table))]
    for noun in table.nouns:
        parts += [f"## {noun.name}", _sentence(noun.summary)]
        for command in commands_of(noun):
            parts += [
                f"### {PROGRAM} {said(noun, command)}",
                as_markdown(_command_page(table, noun, command)),
            ]
    return "\n\n".join(parts) + "\n"


def as_markdown(sections: Iterable[Section]) -> str:
    blocks: list[str] = []
    for section in sections:
        if section.title and (section.code or section.rows):
            blocks.append(f"{section.title}:")
        blocks += section.words
        if section.code:
            language = "sh" if section.title == "Examples" else "text"
            blocks.append("\n".join([f"```{language}", *section.code, "```"]))
        if section.rows:
            rows = [
                f"| `{_cell(term.strip())}` | {_cell(meaning)} |" for term, meaning in section.rows
            ]
            blocks.append("\n".join(["| | |", "|---|---|", *rows]))
    return "\n\n".join(filter(None, blocks))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
