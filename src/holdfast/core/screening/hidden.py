"""Characters that cannot be seen, turn the reading direction, or mean nothing.

Many invisible characters are part of how a script or an emoji is written: joiners between letters
that join, in family emoji and in Persian and Indic words, variation selectors behind what has
variants, breaks without a space in Thai and Khmer, marks of direction in Hebrew and Arabic. Those
pass where they belong. Elsewhere they hide something.
"""

from __future__ import annotations

from holdfast.core.text.patterns import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.core.screening.rule import Span

# Emoji and symbols, keycaps too: what a variation selector or a joiner may follow.
_PICTURE = (
    r"\u00a9\u00ae\u203c\u2049\u2100-\u214f\u2190-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    r"\u2b00-\u2bff\u3030\u303d\u3200-\u32ff\U0001f000-\U0001faff"
)
_RTL = r"\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_JOINING = (
    r"\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u0840-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f"
    r"\u1780-\u17ff\u1800-\u18af\ufb50-\ufdff\ufe70-\ufefc\u1b00-\u1bff\ua840-\ua8ff\ua980-\ua9df"
    r"\ua9e0-\ua9ff\uaa00-\uaadf\u1a20-\u1aaf\U00011000-\U00011fff"
)
_NO_SPACES = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1a20-\u1aaf\u3040-\u30ff\u4e00-\u9fff"

# What is to be looked at more closely. A text without any of these is done.
_UNSEEN = lazily(
    r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff0-\ufffb\ufffd-\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    r"\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0010fffe\U0010ffff]"
)
# What passes where it belongs.
_FINE = lazily(
    # a tag sequence: the flag of a region
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
    # one variation selector behind a picture, a keycap or a Han character
    rf"|[{_PICTURE}#*0-9]\ufe0f|[{_PICTURE}]\ufe0e"
    r"|[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff][\ufe00-\ufe0f\U000e0100-\U000e01ef]"
    r"|[\u2200-\u22ff\u1000-\u109f\ua840-\ua87f]\ufe00|[\u1820-\u18aa][\u180b-\u180f]"
    # joiners in pictures, and between letters that join
    rf"|(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"
    rf"|(?<=[{_JOINING}])[\u200c\u200d](?![\u200b-\u200f\u2060-\u206f])"
    rf"|[\u200c\u200d](?=[{_JOINING}])(?<![\u200b-\u200f\u2060-\u206f].)"
    # breaks in scripts without spaces
    rf"|(?<=[{_NO_SPACES}])[\u200b\u2060]|[\u200b\u2060](?=[{_NO_SPACES}])"
    # vowels of Khmer that are not written, a joiner of marks in Hebrew
    r"|(?<=[\u1780-\u17ff])[\u17b4\u17b5]|(?<=[\u0590-\u05ff])\u034f"
)
_DIRECTION = lazily(rf"[{_RTL}]")
_LOST_MAX = 2


def hidden_in(text: str) -> Iterator[Span]:
    """Where unseen characters stand that do not belong there; neighbours are one finding."""
    if text.isprintable() and text.isascii():
        return
    if _UNSEEN().search(text) is None:
        return
    fine = {place for match in _FINE().finditer(text) for place in range(*match.span())}
    directed: bool | None = None
    last: Span | None = None
    lost = text.count("\ufffd") + text.count("\ufffc")
    for match in _UNSEEN().finditer(text):
        place, char = match.start(), match[0]
        if place in fine or (char in "\ufffc\ufffd" and lost <= _LOST_MAX):
            continue
        if char == "\ufeff" and place == 0:
            continue
        if char in "\u200e\u200f\u061c":
            if directed is None:
                directed = _DIRECTION().search(text) is not None
            if directed:
                continue
        code = _code(char)
        if last is not None and last[0] == code and last[2] == place:
            last = (code, last[1], place + 1)
            continue
        if last is not None:
            yield last
        last = (code, place, place + 1)
    if last is not None:
        yield last


def _code(char: str) -> str:
    number = ord(char)
    if "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069" or char in "\u200e\u200f\u061c":
        return "hidden_direction"
    if number >= 0xE0000 and number < 0xE0100:
        return "hidden_tags"
    if number < 0xA0:
        return "hidden_control"
    if 0xFDD0 <= number <= 0xFDEF or number & 0xFFFE == 0xFFFE or 0xFFF0 <= number <= 0xFFFD:
        return "hidden_unusable"
    return "hidden_invisible"
