"""The commands that are about the program itself."""

from __future__ import annotations

from holdfast.cli.grammar import Argument, Command, Option
from holdfast.cli.kinds import NAME, choice

HELP = (
    Command(
        verb="",
        summary="explain a command, or list them all",
        handler="holdfast.cli.help:show",
        arguments=(
            Argument(
                name="COMMAND",
                kind=NAME,
                help="the command, with its verb",
                required=False,
                many=True,
                candidates="holdfast.cli.complete:topics",
                into="topic",
            ),
        ),
        options=(
            Option(name="--all", help="explain every command"),
            Option(
                name="--format",
                kind=choice("text", "markdown"),
                default="text",
                help="how to lay it out",
            ),
        ),
        examples=("holdfast help", "holdfast help completion"),
    ),
)

VERSION = (Command(verb="", summary="print the version", handler="holdfast.cli.version:show"),)

COMPLETION = (
    Command(
        verb="",
        summary="print the script that completes words at a Tab",
        handler="holdfast.cli.complete:print_script",
        arguments=(Argument(name="SHELL", kind=choice("bash", "zsh", "fish"), help="your shell"),),
        details="For bash, add the first of these lines to ~/.bashrc; for zsh, the second to "
        "~/.zshrc, after compinit; for fish, run the third once.",
        examples=(
            'eval "$(holdfast completion bash)"',
            'eval "$(holdfast completion zsh)"',
            "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
        ),
    ),
)
