"""What is said of the whole vault, and of what a session starts with."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import COUNT, FOLDER, NAME, PAIR, choice, integer

INIT = (
    Command(
        verb="",
        summary="make the vault",
        handler="holdfast.cli.handlers.vaults:init",
        details="The first write makes it too. With a key (HOLDFAST_KEY or --key-file) the whole "
        "file is encrypted from its first byte; every later command needs the key.",
        examples=("holdfast init", "holdfast init --vault ./memory --key-file ~/.holdfast-key"),
    ),
)

STATUS = (
    Command(
        verb="",
        summary="show where the memory is and what it holds",
        handler="holdfast.cli.handlers.vaults:status",
    ),
)

VERIFY = (
    Command(
        verb="",
        summary="check that everything is as it was written",
        handler="holdfast.cli.handlers.vaults:verify",
        details="Every row against its digest, every entry against the log, the log against its "
        "seals, the full-text index against the rows. Exit code 1 when anything differs.",
    ),
)

DOCTOR = (
    Command(
        verb="",
        summary="check the machine and the vault, and repair",
        handler="holdfast.cli.handlers.vaults:doctor",
        options=(
            Option(name="--repair", help="write entries again from the log, and the index anew"),
        ),
        details="All that `holdfast verify` checks, and what it runs on. Exit code 1 when anything "
        "is wrong, after repairing too.",
    ),
)

LOG = (
    Command(
        verb="",
        summary="show what changed, by whom and why",
        handler="holdfast.cli.handlers.vaults:log",
        options=(
            Option(name="--all", help="the whole vault, not this space alone"),
            Option(name="--store", kind=NAME, help="only changes in this store"),
            Option(name="--target", kind=NAME, help="only changes of this id"),
            Option(name="--actor", kind=NAME, help="only changes by this actor, as agent:planner"),
            Option(name="--after", kind=COUNT, default="0", help="only changes after this seq"),
            Option(name="--limit", kind=integer(1, 10_000), default="20", help="how many"),
        ),
        details="The newest first. In a session (--session) only what was changed in it.",
        examples=("holdfast log", "holdfast log --target style-tabs --json"),
    ),
)

CONTEXT = (
    Command(
        verb="",
        summary="print what a session starts with",
        handler="holdfast.cli.handlers.vaults:context",
        options=(
            Option(
                name="--budget",
                kind=integer(1, metavar="TOKENS"),
                help="show no more than fits; else everything that the stores offer",
            ),
            Option(name="--explain", help="what each block costs, and what was left out"),
            Option(
                name="--format",
                kind=choice("text", "json", "messages"),
                default="text",
                help="text; or JSON: the blocks, or messages as models take them",
            ),
        ),
        details="The same bytes as long as nothing changed. In a session (--session) it is what "
        "the session was first given, until it ends.",
        examples=("holdfast context", "holdfast context --budget 500 --explain"),
    ),
)

SPACE = (
    Command(
        verb="init",
        summary="make a space of a folder",
        handler="holdfast.cli.handlers.spaces:init",
        mutates=True,
        arguments=(Argument(name="FOLDER", kind=FOLDER, help="else this folder", required=False),),
        options=(Option(name="--name", kind=NAME, help="else the folder's name"),),
        details="Writes workspace.yml unless there is one, and applies it. The name is the space's "
        "in the whole vault; two folders cannot have the same.",
        examples=("holdfast space init --name reviews",),
    ),
    Command(
        verb="show",
        summary="show a space, its stores and its mounts",
        handler="holdfast.cli.handlers.spaces:show",
    ),
    Command(
        verb="mount",
        summary="see a store of another space in this one",
        handler="holdfast.cli.handlers.spaces:mount",
        mutates=True,
        arguments=(
            Argument(
                name="SOURCE",
                kind=NAME,
                help="the other space and its store, as reviews/decisions",
                candidates="holdfast.cli.handlers.spaces:sources",
            ),
        ),
        options=(
            Option(name="--name", kind=NAME, help="what to call it here; else as there"),
            Option(name="--mode", kind=choice("ro", "rw"), help="read only, or read and write"),
            Option(
                name="--scope",
                kind=choice("space", "agent", "session"),
                help="all, or what the same agent or session wrote",
            ),
            Option(name="--kind", kind=NAME, many=True, help="only entries of this kind"),
            Option(name="--tag", kind=NAME, many=True, help="only entries with this tag"),
            Option(name="--age", kind=NAME, help="only entries no older than, as 30d"),
            Option(name="--importance", kind=integer(0, 100), help="only entries so important"),
            Option(name="--meta", kind=PAIR, many=True, help="only entries with this metadata"),
        ),
        details="Adds it to workspace.yml, where it can be changed, and applies the file.",
        examples=("holdfast space mount default/narrative --name general",),
    ),
    Command(
        verb="unmount",
        summary="take a mount away",
        handler="holdfast.cli.handlers.spaces:unmount",
        mutates=True,
        arguments=(
            Argument(
                name="NAME",
                kind=NAME,
                help="what it is called here",
                candidates="holdfast.cli.handlers.spaces:mounts",
            ),
        ),
        details="Takes it out of workspace.yml and applies the file. The store stays as it is.",
        examples=("holdfast space unmount general",),
    ),
    Command(
        verb="list",
        summary="list the spaces of the vault",
        handler="holdfast.cli.handlers.spaces:list_spaces",
    ),
    Command(
        verb="adopt",
        summary="move a space's memory to this folder",
        handler="holdfast.cli.handlers.spaces:adopt",
        mutates=True,
        details="For a folder that was moved or cloned: the space that its workspace.yml names "
        "belongs to this folder from now on, and no longer to the other.",
    ),
)

DEMO = (
    Command(
        verb="",
        summary="show an agent that remembers",
        handler="holdfast.cli.handlers.demo:run",
        details="Runs in a folder of its own, which is removed afterwards.",
    ),
)
