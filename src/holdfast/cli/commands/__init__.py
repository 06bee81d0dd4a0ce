"""The table of all commands: each noun with one line about it, and where its commands stand.

This module and those that declare a noun's commands import the grammar and the kinds of values,
and nothing else: they are read before anybody knows what the command will need. What a command
does is in the module that its handler names.
"""

from __future__ import annotations

from holdfast.cli.grammar import Noun, Option, Table
from holdfast.cli.kinds import COUNT, MOMENT, NAME, PATH, TEXT

_MEMORY = "Remember"
_PLACE = "Where agents work"
_VAULT = "The vault"
_HELP = "Help"

TABLE = Table(
    summary="Holdfast: the memory that AI agents keep.",
    nouns=(
        Noun(
            name="note",
            summary="save, read and remove notes",
            commands="holdfast.cli.commands.notes:NOTE",
            heading=_MEMORY,
        ),
        Noun(
            name="record",
            summary="keep facts, decisions and fixes as records",
            commands="holdfast.cli.commands.records:RECORD",
            heading=_MEMORY,
        ),
        Noun(
            name="skill",
            summary="keep how things are done",
            commands="holdfast.cli.commands.skills:SKILL",
            heading=_MEMORY,
        ),
        Noun(
            name="profile",
            summary="keep the two files that every session knows",
            commands="holdfast.cli.commands.profile:PROFILE",
            heading=_MEMORY,
        ),
        Noun(
            name="remember",
            summary="keep a fact, or forget one, in so many words",
            commands="holdfast.cli.commands.profile:REMEMBER",
            heading=_MEMORY,
        ),
        Noun(
            name="kv",
            summary="keep JSON values by key",
            commands="holdfast.cli.commands.values:KV",
            heading=_MEMORY,
        ),
        *(
            Noun(
                name=name,
                summary=f"push, pull and compare directories of type {name}",
                commands=f"holdfast.cli.commands.{module}:COMMANDS",
                heading=_MEMORY,
            )
            for name, module in (
                ("memory", "directories"),
                ("artifact", "artifacts"),
                ("volume", "directories"),
            )
        ),
        Noun(
            name="review",
            summary="learn from what was said, and decide on what waits",
            commands="holdfast.cli.commands.review:REVIEW",
            heading=_MEMORY,
        ),
        Noun(
            name="recall",
            summary="ask the whole memory one question",
            commands="holdfast.cli.commands.recall:RECALL",
            heading=_MEMORY,
        ),
        Noun(
            name="context",
            summary="print what a session starts with",
            commands="holdfast.cli.commands.vaults:CONTEXT",
            heading=_MEMORY,
        ),
        Noun(
            name="mcp",
            summary="serve the memory to agents' programs",
            commands="holdfast.cli.commands.mcp:MCP",
            heading=_MEMORY,
        ),
        Noun(
            name="run",
            summary="run agents, and see what came of it",
            commands="holdfast.cli.commands.runs:RUN",
            heading=_PLACE,
        ),
        Noun(
            name="agent",
            summary="declare the agents of a space",
            commands="holdfast.cli.commands.runs:AGENT",
            heading=_PLACE,
        ),
        Noun(
            name="session",
            summary="keep, search and read what was said",
            commands="holdfast.cli.commands.sessions:SESSION",
            heading=_PLACE,
        ),
        Noun(
            name="space",
            summary="make spaces of folders",
            commands="holdfast.cli.commands.vaults:SPACE",
            heading=_PLACE,
        ),
        Noun(
            name="preferences",
            summary="show and set what is preferred",
            commands="holdfast.cli.commands.preferences:PREFERENCES",
            heading=_PLACE,
        ),
        Noun(
            name="init",
            summary="make the vault",
            commands="holdfast.cli.commands.vaults:INIT",
            heading=_VAULT,
        ),
        Noun(
            name="status",
            summary="show where the memory is and what it holds",
            commands="holdfast.cli.commands.vaults:STATUS",
            heading=_VAULT,
        ),
        Noun(
            name="log",
            summary="show what changed, by whom and why",
            commands="holdfast.cli.commands.vaults:LOG",
            heading=_VAULT,
        ),
        Noun(
            name="verify",
            summary="check that everything is as it was written",
            commands="holdfast.cli.commands.vaults:VERIFY",
            heading=_VAULT,
        ),
        Noun(
            name="doctor",
            summary="check the machine and the vault, and repair",
            commands="holdfast.cli.commands.vaults:DOCTOR",
            heading=_VAULT,
        ),
        Noun(
            name="worker",
            summary="do what waits in the background",
            commands="holdfast.cli.commands.review:WORKER",
            heading=_VAULT,
        ),
        Noun(
            name="cost",
            summary="show what language models cost",
            commands="holdfast.cli.commands.review:COST",
            heading=_VAULT,
        ),
        Noun(
            name="gc",
            summary="remove contents that nothing leads to",
            commands="holdfast.cli.commands.directories:GC",
            heading=_VAULT,
        ),
        Noun(
            name="erasure",
            summary="show receipts of what was erased, end what is pending",
            commands="holdfast.cli.commands.directories:ERASURE",
            heading=_VAULT,
        ),
        Noun(
            name="demo",
            summary="show an agent that remembers",
            commands="holdfast.cli.commands.vaults:DEMO",
            heading=_HELP,
        ),
        Noun(
            name="completion",
            summary="print a shell's completion script",
            commands="holdfast.cli.commands.about:COMPLETION",
            heading=_HELP,
        ),
        Noun(
            name="help",
            summary="explain a command",
            commands="holdfast.cli.commands.about:HELP",
            heading=_HELP,
        ),
        Noun(
            name="version",
            summary="print the version",
            commands="holdfast.cli.commands.about:VERSION",
            heading=_HELP,
        ),
    ),
    options=(
        Option(
            name="--vault",
            kind=PATH,
            env="HOLDFAST_VAULT",
            help="the vault to use; else the one in the user's data folder",
        ),
        Option(
            name="--space",
            kind=NAME,
            env="HOLDFAST_SPACE",
            help="the space to work in; else that of the nearest workspace.yml, else `default`",
        ),
        Option(
            name="--session",
            kind=NAME,
            env="HOLDFAST_SESSION",
            help="the session that this belongs to; else it is one of its own",
        ),
        Option(name="--agent", kind=NAME, env="HOLDFAST_AGENT", help="the agent that writes"),
        Option(
            name="--user",
            kind=NAME,
            env="HOLDFAST_USER",
            help="the person whom the memory is about",
        ),
        Option(name="--as-of", kind=MOMENT, reading=True, help="answer as was known then"),
        Option(
            name="--key-file", kind=PATH, help="a file that holds the key of an encrypted vault"
        ),
        Option(name="--json", help="print JSON, errors too"),
        Option(name="--quiet", short="-q", help="say nothing but results and errors"),
        Option(name="--yes", short="-y", help="do not ask before what cannot be taken back"),
        Option(name="--help", short="-h", instead="help", help="explain the command"),
        Option(name="--version", short="-V", instead="version", help="print the version"),
    ),
    writing=(
        Option(name="--reason", kind=TEXT, help="why, for the log"),
        Option(
            name="--key",
            kind=NAME,
            into="idempotency_key",
            help="a key of your choice: the same call with the same key changes nothing more",
        ),
        Option(
            name="--expect",
            kind=COUNT.replace(metavar="REVISION"),
            help="the revision that you saw; refuse if it is no longer that",
        ),
    ),
)
