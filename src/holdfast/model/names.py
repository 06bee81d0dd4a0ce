"""The rules of form for the names and ids that people and programs give."""

from __future__ import annotations

from holdfast.errors import InvalidInput
from holdfast.model.ids import is_id

NAME_CHARS_MAX = 64
GIVEN_ID_CHARS_MAX = 200
LABEL_CHARS_MAX = 200
NUMBER_CHARS_MAX = 30
NUMBER_BITS_MAX = 256

_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_ENDS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

# The verbs and nouns of the command line. A space or store of that name could not be addressed.
# The names of strategies are not among them: the default stores are called so.
_WORDS = """
add adopt agent all apply approve archive artifact attach backup batch changes clear clone close
compact compare complete completion context continue cost create curate delete demo detach diff
doctor edit end erase erasure eval expand export finish forget gc get help hide history import inbox
info init key kv links list locomo log logs longmemeval mcp memory mirror mount neighbours none note
onboard own patch pin preferences preset promote pull push read recall record reject remember remove
reopen replace reset restore resume revert review revoke rewind rollback rotate run save say screen
search send serve session set show skill space start stats status store sync timeline token undo
unmount unpin update vault verify version volume worker
"""
RESERVED = frozenset(_WORDS.split())


def check_name(name: str, what: str, *, where: str = "") -> str:
    """The name of a space or a store: 1 to 64 of a-z 0-9 - _, alphanumeric at both ends."""
    place = f"{where}: " if where else ""
    check_str(name, f"the name of a {what}")
    good = (
        0 < len(name) <= NAME_CHARS_MAX
        and _NAME.issuperset(name)
        and name[0] in _ENDS
        and name[-1] in _ENDS
    )
    if not good:
        raise InvalidInput(
            "name_invalid",
            f"{place}{shown(name)} is not a name for a {what}",
            hint="use 1 to 64 of a-z 0-9 - _, with a letter or digit at both ends",
        )
    if name in RESERVED:
        raise InvalidInput(
            "name_reserved",
            f"{place}{shown(name)} is a word of the command line and cannot name a {what}",
            hint=f"choose another name, such as {name}-{what}",
        )
    return name


def check_given_id(given_id: str) -> str:
    """An id that a caller gives: 1 to 200 printable characters without blanks at the ends.

    One in the form of our own would stand in the way of another entry's, and square brackets frame
    ids in a context.
    """
    check_str(given_id, "the id")
    if is_id(given_id) or not {"[", "]"}.isdisjoint(given_id):
        raise InvalidInput(
            "id_invalid",
            f"the id {shown(given_id)} has the form of our own ids, or a square bracket in it",
            hint="use a short word such as deploy-day",
        )
    if not 0 < len(given_id) <= GIVEN_ID_CHARS_MAX or given_id != given_id.strip():
        raise InvalidInput(
            "id_invalid",
            f"the id {shown(given_id)} is empty, longer than {GIVEN_ID_CHARS_MAX} characters, "
            "or has blanks at an end",
            hint="use a short word such as deploy-day",
        )
    if not given_id.isprintable():
        raise InvalidInput(
            "id_invalid",
            f"the id {shown(given_id)} holds characters that cannot be seen",
            hint="use letters, digits and punctuation",
        )
    return given_id


def check_label(text: str, what: str) -> str:
    """The name of a person, an agent or a session: one short printable line."""
    check_str(text, f"the name of {what}")
    if not 0 < len(text) <= LABEL_CHARS_MAX or not text.isprintable() or text != text.strip():
        raise InvalidInput(
            "label_invalid",
            f"{shown(text)} cannot be the name of {what}",
            hint=f"use one line of 1 to {LABEL_CHARS_MAX} printable characters",
        )
    return text


def check_str(text: object, what: str) -> None:
    if type(text) is not str:
        raise InvalidInput(
            "text_invalid", f"{what} is {type(text).__name__}, not text", hint="give a str"
        )


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold it: a lone surrogate is half of a character."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def check_text(text: str, what: str, *, bytes_max: int) -> str:
    """Text to remember: anything that UTF-8 can hold, not blank, within a size."""
    check_str(text, what)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as exc:
        raise InvalidInput(
            "text_not_unicode",
            f"{what} holds half of a character (a lone surrogate) at position {exc.start}",
            hint="decode the bytes as UTF-8 before saving them",
        ) from None
    if not text.strip():
        raise InvalidInput("text_empty", f"{what} is empty", hint="say what is to be remembered")
    if size > bytes_max:
        raise InvalidInput(
            "text_too_long",
            f"{what} has {size:,} bytes; the limit is {bytes_max:,}",
            hint="save the long part as a file or an artifact and remember a line about it",
        )
    return text


def shown(value: object, chars_max: int = 60) -> str:
    """The text, or any value as text, in quotes for a message: escaped, and cut when long."""
    text = value if isinstance(value, str) else _as_text(value)
    cut = text if len(text) <= chars_max else text[: chars_max - 1] + "…"
    return ascii(cut) if not cut.isprintable() else f"'{cut}'"


def told(value: object) -> str:
    """What stands where a number belongs: a number as it is, unless it is long; else as `shown`."""
    text = _as_text(value)
    is_number = type(value) in (int, float) and len(text) <= NUMBER_CHARS_MAX
    return text if is_number else shown(text)


def _as_text(value: object) -> str:
    """Python refuses to write out a number of very many digits."""
    if isinstance(value, int) and value.bit_length() > NUMBER_BITS_MAX:
        return f"a number of {value.bit_length():,} bits"
    return str(value)
