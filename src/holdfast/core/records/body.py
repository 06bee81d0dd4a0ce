"""A record's body, as Markdown or as fields, and the line by which it is found.

Fields are JSON: an object whose members, at any depth, can be asked for by a path such as
`deploy.steps[0]` or, where names have dots in them, `/deploy/a.b/0`. They are kept as JSON text,
so they are indexed, compared and shown as any text is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from holdfast.core.jsonvalue import Limits, encode
from holdfast.core.records.sections import headings
from holdfast.errors import InvalidInput, NotFound
from holdfast.model.entry import TEXT_BYTES_MAX
from holdfast.model.names import check_str, check_text, is_unicode, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from holdfast.model.entry import Json

SUBJECT_CHARS_MAX = 200
SUBJECT_MADE_CHARS = 80
SUMMARY_CHARS_MAX = 160
NAMED_MAX = 10
_LIMITS = Limits(value_bytes_max=TEXT_BYTES_MAX)
_SENTENCE_ENDS = ".!?。！？"
_NAMING = ("subject", "title", "name")


def check_body(body: str | Mapping[str, Json]) -> tuple[str, bool]:
    """The text to keep, and whether it is fields."""
    if isinstance(body, Mapping):
        encode(dict(body), _LIMITS)
        text = json.dumps(dict(body), indent=2, ensure_ascii=False)
        if not body:
            raise InvalidInput("text_empty", "the body has no fields", hint="give one or more")
        return check_text(text, "the body", bytes_max=TEXT_BYTES_MAX), True
    return check_text(body, "the body", bytes_max=TEXT_BYTES_MAX), False


def check_subject(subject: str) -> str:
    """One printable line; blanks at the ends and in a row are not kept."""
    check_str(subject, "the subject")
    line = " ".join(subject.split())
    if not is_unicode(line) or not 0 < len(line) <= SUBJECT_CHARS_MAX or not line.isprintable():
        raise InvalidInput(
            "subject_invalid",
            f"{shown(subject)} is no subject: one line of 1 to {SUBJECT_CHARS_MAX} printable "
            "characters",
            hint="say in one line what the record is about",
        )
    return line


def subject_of(text: str, *, is_fields: bool) -> str:
    """A subject for a body whose writer gave none."""
    if is_fields:
        fields = json.loads(text)
        named = [fields[name] for name in _NAMING if isinstance(fields.get(name), str)]
        line = next((name for name in named if name.strip()), next(iter(fields)))
    else:
        first = next(iter(headings(text[:10_000])), None)
        line = first.path[0] if first is not None and first.first == 0 else first_sentence(text)
    line = "".join(letter if letter.isprintable() else " " for letter in line)
    line = " ".join(line.split())
    if len(line) > SUBJECT_MADE_CHARS:
        cut = line[: SUBJECT_MADE_CHARS - 1]
        line = f"{cut[: cut.rfind(' ')] if ' ' in cut[40:] else cut}…"
    return line or "untitled"


def first_sentence(text: str, chars_max: int = SUMMARY_CHARS_MAX) -> str:
    """The first sentence that is no heading, in one line."""
    head = text[: 20 * chars_max].strip()
    lines = [line.strip() for line in head.split("\n")]
    prose = next((line for line in lines if line and not line.startswith("#")), "")
    line = " ".join((prose or " ".join(lines).lstrip("# ")).split())
    for at, letter in enumerate(line[:chars_max]):
        if letter in _SENTENCE_ENDS and (line[at + 1 : at + 2] in ("", " ") or letter > "~"):
            return line[: at + 1].removesuffix(".")
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"


def field_at(text: str, path: str | Sequence[str | int]) -> Json:
    """One field of a structured body, however deep."""
    found: Any = json.loads(text)
    seen = ""
    for step in _steps(path):
        if isinstance(found, dict) and str(step) in found:
            found = found[str(step)]
        elif isinstance(found, list) and (place := _place(step)) is not None:
            if place >= len(found):
                raise _no_field(path, seen, f"has {len(found):,} items, counted from 0")
            found = found[place]
        else:
            raise _no_field(path, seen, _told(found))
        seen = f"{seen}/{step}"
    return found


def _steps(path: str | Sequence[str | int]) -> Sequence[str | int]:
    if not isinstance(path, str):
        steps: Sequence[str | int] = list(path)
    elif path.startswith("/"):
        steps = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    else:
        spaced = path.replace(" > ", ".").replace("[", ".").replace("]", "")
        steps = [part for part in spaced.split(".") if part]
    if not steps:
        raise InvalidInput(
            "section_invalid", "the path of the field is empty", hint="such as deploy.steps[0]"
        )
    return steps


def _place(step: str | int) -> int | None:
    text = str(step)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _told(found: Any) -> str:
    if isinstance(found, dict):
        names = [shown(name) for name in list(found)[:NAMED_MAX]]
        return f"has the fields {', '.join(names)}{' and more' * (len(found) > NAMED_MAX)}"
    return f"is a list of {len(found):,}" if isinstance(found, list) else "is a plain value"


def _no_field(path: str | Sequence[str | int], seen: str, what: str) -> NotFound:
    asked = path if isinstance(path, str) else "/".join(map(str, path))
    return NotFound(
        "field_not_found",
        f"the body has no field {shown(asked)}: {shown(seen) if seen else 'it'} {what}",
        hint="name fields from the outside in, such as deploy.steps[0]",
    )
