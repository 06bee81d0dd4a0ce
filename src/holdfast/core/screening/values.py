"""Whether a value looks like a secret: as far as its letters, digits and form can tell.

A secret is chosen so that nobody guesses it, so it mixes kinds of characters. Words, names of
things, versions, times, paths, names of variables and what stands for a value do not count.
"""

from __future__ import annotations

from math import log2

from holdfast.core.screening.vendors import is_example
from holdfast.core.text.patterns import lazily

WORD_CHARS_MIN, WORD_CHARS_MAX = 6, 256
KEY_CHARS_MIN = 16
KEY_BITS_MIN = 3.0

# What stands where a value would be: a variable, a place where it is kept, a mask, a method.
_STANDS_FOR = lazily(
    r"[$%<{\[(*.…•#/~]|\\|x{3,}|(?:os|process|import\.meta)\.env|env[.:\[(]|getenv|config[.\[(]"
    r"|(?:self|this|settings|secrets|vars|var|args|options|params|req|request|ctx|data|input)[.\[(]"
    r"|(?:vault|op|ssm|keyring|keychain|pass|file|https?|s3|gs|arn|secret|gopass|bitwarden):"
    r"|(?:required|optional|string|nullable|min|max)(?:[|:,]|$)|your[_-]|my[_-]|some[_-]|the[_-]|insert|enter|change[_-]?me|replace|redacted|placeholder"
    r"|dummy|example|sample|fake|test[_-]?(?:pass|key|token|secret)|todo|tbd|n/a|none|null|undefined"
    r"|sha-?\d|md[45]\b|argon2|bcrypt|scrypt|pbkdf2|hmac|aes-?\d|rsa-?\d|ed25519|ecdsa|oauth"
    r"|[hr]s\d{3}\b|utf-?\d|base\d\d|totp|hotp|2fa|mfa|1password|last ?pass|bitwarden|keepass"
    r"|ipv\d|v\d+(?:\.\d+)*\b|\d{4}-\d\d-\d\d|\d{1,2}[:h]\d\d\b|\d+(?:st|nd|rd|th)\b"
    r"|\d+[-–]?(?:chars?|characters|bits?|bytes|days?|hours?|minutes?|weeks?|months?|years?|min|kb|mb|x)\b"
)
_ENDS = ".,;:!?…)]}>\"'`”’»。，；！？）」"
_SLUG_PART = lazily(r"[-_./:@+]")
_CALL = lazily(r"[\w.]+\(|\w+\[|[\w.-]+/[\w./-]+$|[\w-]+@[\w-]+\.\w+$")


def trimmed(value: str) -> str:
    """The value without the punctuation of the sentence that it ends."""
    return value.rstrip(_ENDS)


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether the value given for a password is one. In quotes one word is enough."""
    if not WORD_CHARS_MIN <= len(value) <= WORD_CHARS_MAX or _stands_for_another(value):
        return value.isdigit() and len(value) in (4, 5)
    kinds = _kinds(value)
    if kinds >= 2:
        return not _is_slug(value) or (quoted and any(map(str.isdigit, value)))
    return value.isdigit() or (quoted and value.isalpha() and value.lower() not in _SAYINGS)


def is_key(value: str) -> bool:
    """Whether the value given for a key or token is one: long, mixed and without order."""
    return (
        KEY_CHARS_MIN <= len(value) <= 4_096
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and not _stands_for_another(value)
        and not is_example(value)
        and not _is_slug(value)
        and bits(value) >= KEY_BITS_MIN
    )


def is_mixed(value: str) -> bool:
    """Whether nobody would write it but as a secret: digits among letters of both sizes or signs."""
    return (
        len(value) >= WORD_CHARS_MIN
        and _kinds(value) >= 3
        and any(map(str.isdigit, value))
        and not _stands_for_another(value)
        and not is_example(f"{value}·{value}" if len(value) < 12 else value)
        and not _is_slug(value)
    )


def bits(value: str) -> float:
    """The entropy of a value's characters, in bits a character."""
    size = len(value)
    counts = [value.count(char) for char in set(value)]
    return -sum(count / size * log2(count / size) for count in counts)


def _stands_for_another(value: str) -> bool:
    low = value.lower()
    return (
        _STANDS_FOR().match(low) is not None
        or _CALL().match(value) is not None
        or "..." in value
        or "***" in value
        or "…" in value
        or len(set(value)) < 3
    )


def _kinds(value: str) -> int:
    """How many kinds of characters it mixes. A capital that begins a word is none of its own."""
    rest = value[1:]
    lower, upper = any(map(str.islower, value)), any(map(str.isupper, rest))
    digit = any(map(str.isdigit, value))
    other = any(not char.isalnum() and char not in "-_'’" for char in value)
    return lower + (upper and lower) + digit + other + (upper and not lower)


def _is_slug(value: str) -> bool:
    """Names of things, such as `billing-api-v2` and `projects/12/secrets`: words and numbers."""
    parts = [part for part in _SLUG_PART().split(value) if part]
    return all(
        (part.isalpha() and len(part) <= 24 and _kinds(part) < 2)
        or (part.isdigit() and len(part) <= 4)
        or (part[0] in "vV" and part[1:].isdigit() and len(part) <= 4)
        for part in parts
    ) and any(part.isalpha() for part in parts)


_SAYINGS = frozenset(
    (
        *("password", "passwort", "kennwort", "contrasena", "required", "optional"),
        *("string", "secret", "hidden", "missing", "invalid", "incorrect"),
        *("expired", "wrong", "hashed", "stored", "forgotten", "changed"),
        *("unknown", "disabled", "enabled", "default", "number", "boolean"),
        *("integer", "object", "private", "public", "strong", "simple"),
        *("shared", "unique", "nothing", "whatever", "varchar"),
    )
)
