"""Secrets in what goes by: found in whatever pieces they come, and replaced by `***`.

A secret is looked for as it is, and as URLs, JSON and Base64 write it; of a secret of several lines
each longer line too. What overlaps is masked as one. The beginning of a secret at the end of a
piece is held back until the next piece tells, so no part of it goes by before the rest is known.
"""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote, quote_plus

from holdfast.errors import InvalidInput
from holdfast.model.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Spans = list[tuple[int, int]]

MASK = b"***"
SECRET_CHARS_MIN = 4
LINE_CHARS_MIN = 8
_BASE64_MIN = 6  # bytes whose Base64 is long enough to be told from other text


def check_secret(name: str, value: str) -> str:
    if len(value.strip()) < SECRET_CHARS_MIN:
        raise InvalidInput(
            "secret_too_short",
            f"the secret {shown(name)} has fewer than {SECRET_CHARS_MIN} characters, which would "
            "be found in all kinds of text",
            hint="give it with --var if it is no secret",
        )
    return value


def forms_of(secrets: Iterable[str]) -> tuple[bytes, ...]:
    """All that is looked for, the longest first."""
    found: set[bytes] = set()
    for secret in secrets:
        lines = [line.strip() for line in secret.splitlines()]
        for text in (secret, secret.strip(), *lines):
            if text in (secret, secret.strip()) or len(text) >= LINE_CHARS_MIN:
                found.update(_written(text))
    return tuple(sorted((form for form in found if form), key=lambda form: (-len(form), form)))


def _written(text: str) -> Iterator[bytes]:
    from json import dumps

    data = text.encode(errors="surrogateescape")
    yield data
    yield data.replace(b"\n", b"\r\n")
    yield quote(data, safe="").encode()
    yield quote(data).encode()
    yield quote_plus(data).encode()
    yield dumps(text)[1:-1].encode()
    yield dumps(text, ensure_ascii=False)[1:-1].encode(errors="surrogateescape")
    if len(data) >= _BASE64_MIN:
        yield from _in_base64(data)


def _in_base64(data: bytes) -> Iterator[bytes]:
    """Wherever it begins in what is encoded: less the digits that its neighbours have a part in."""
    for before in range(3):
        digits = b64encode(b"\0" * before + data)
        start = -(-before * 8 // 6)
        whole = (before + len(data)) * 8 // 6
        yield digits[start:whole]
        yield digits[start:whole].replace(b"+", b"-").replace(b"/", b"_")


def spans(data: bytes, forms: Iterable[bytes]) -> Spans:
    """Where the forms lie, those that touch or overlap as one, in order."""
    found: Spans = []
    for form in forms:
        at = data.find(form)
        while at >= 0:
            found.append((at, at + len(form)))
            at = data.find(form, at + 1)
    merged: Spans = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def masked(data: bytes, forms: Iterable[bytes]) -> bytes:
    masker = Masker(forms)
    return masker.feed(data) + masker.end()


def masked_text(text: str, forms: Iterable[bytes]) -> str:
    data = text.encode(errors="surrogateescape")
    return masked(data, forms).decode(errors="surrogateescape")


class Masker:
    """One stream. What `feed` gives back may be shown; `end` gives the rest."""

    def __init__(self, forms: Iterable[bytes]) -> None:
        self._forms = tuple(forms)
        self._kept = b""
        self._covered = 0  # so many bytes of what is kept belong to a mask that was said

    def feed(self, piece: bytes) -> bytes:
        if not self._forms:
            return piece
        data = self._kept + piece
        return self._said(data, len(data) - self._begun(data))

    def end(self) -> bytes:
        return self._said(self._kept, len(self._kept))

    def _begun(self, data: bytes) -> int:
        """How much of the end could be the beginning of a secret."""
        longest = 0
        for form in self._forms:
            for length in range(min(len(form) - 1, len(data)), longest, -1):
                if data.endswith(form[:length]):
                    longest = length
                    break
        return longest

    def _said(self, data: bytes, upto: int) -> bytes:
        found = spans(data, self._forms)
        if self._covered:
            found = _with_beginning(found, self._covered)
        parts: list[bytes] = []
        at, covered = 0, 0 if upto else self._covered
        for start, end in found:
            if start >= upto:
                break
            parts.append(data[at:start])
            if start > 0 or not self._covered:
                parts.append(MASK)
            at, covered = min(end, upto), max(0, end - upto)
        parts.append(data[at:upto])
        self._kept, self._covered = data[upto:], covered
        return b"".join(parts)


def _with_beginning(found: Spans, covered: int) -> Spans:
    end = covered
    rest = list(found)
    while rest and rest[0][0] < end:
        end = max(end, rest.pop(0)[1])
    return [(0, end), *rest]
