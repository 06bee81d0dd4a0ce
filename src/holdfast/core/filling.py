"""Places in an agent's command and settings that are filled in when it runs.

`{prompt}`, `{memory}`, `{context}`, `{artifact}` and their like stand for texts and paths of the
run; `${{ vars.NAME }}` and `${{ secrets.NAME }}` for what its caller gives. All are filled in one
pass, so what is filled in is never read again, and an argument stays one argument whatever is put
into it. Braces around anything else are text.
"""

from __future__ import annotations

import re

from holdfast.errors import InvalidInput
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PLACES = (
    *("prompt", "prompt_file", "memory", "context", "conversation", "artifact", "volume", "mcp"),
    "run",
)
_PLACE = re.compile(
    r"\$\{\{\s*(?P<kind>[a-z]+)\.(?P<name>[A-Za-z0-9_]+)\s*\}\}"
    r"|\{(?P<place>" + "|".join(PLACES) + r")(?::(?P<which>[a-z0-9-]+))?\}"
)
_KINDS = {"vars": "variable", "secrets": "secret"}


def names_in(texts: Iterable[str], kind: str) -> list[str]:
    """The names of the variables or secrets that the texts ask for, in their order."""
    return list(
        dict.fromkeys(
            found["name"]
            for text in texts
            for found in _PLACE.finditer(text)
            if found["kind"] == kind
        )
    )


def asks_for(texts: Iterable[str], place: str) -> bool:
    """Whether a text has the place in it, for one thing or for a named one."""
    return any(found["place"] == place for text in texts for found in _PLACE.finditer(text))


def filled(text: str, places: Mapping[str, str], given: Mapping[str, Mapping[str, str]]) -> str:
    """The text with all its places filled. `places` has `memory`, `artifact:site` and their like;
    `given` the variables under `vars`, and the secrets under `secrets`."""

    def fill(found: re.Match[str]) -> str:
        kind, name = found["kind"], found["name"]
        if kind is None:
            which = found["which"]
            return _place(f"{found['place']}:{which}" if which else found["place"], places)
        if kind not in _KINDS:
            raise InvalidInput(
                "template_unknown",
                f"{shown(found[0])} stands for nothing",
                hint="write ${{ vars.NAME }} or ${{ secrets.NAME }}",
            )
        if name not in given[kind]:
            option = "--var" if kind == "vars" else "--secret"
            raise InvalidInput(
                "variable_missing",
                f"the agent asks for the {_KINDS[kind]} {shown(name)}, which was not given",
                hint=f"give {option} {name}=…, an --env-file with it, or set it in the environment",
            )
        return given[kind][name]

    return _PLACE.sub(fill, text)


def _place(name: str, places: Mapping[str, str]) -> str:
    if name not in places:
        known = ", ".join(f"{{{each}}}" for each in places)
        raise InvalidInput(
            "place_empty",
            f"the agent's command asks for {{{name}}}, and this run has none",
            hint=f"there is {known}",
        )
    return places[name]


def variables_in(text: str) -> dict[str, str]:
    """What a file of `NAME=value` lines says: `#` comments, `export`, and quotes as in a shell."""
    found: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip().removeprefix("export ").lstrip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise InvalidInput(
                "env_file_invalid",
                f"line {number} is not NAME=value",
                hint="write one variable a line; # begins a comment",
            )
        found[name.strip()] = _unquoted(value.strip())
    return found


_QUOTED = re.compile(r"""'([^']*)'\s*(?:\#.*)?|"((?:[^"\\]|\\.)*)"\s*(?:\#.*)?""")


def _unquoted(value: str) -> str:
    found = _QUOTED.fullmatch(value)
    if found and found[1] is not None:
        return found[1]
    if found:
        inside = found[2]
        escapes = {"\\n": "\n", '\\"': '"', "\\\\": "\\", "\\$": "$"}
        return re.sub(r"\\[n\"\\$]", lambda found: escapes[found[0]], inside)
    return value.partition(" #")[0].rstrip()
