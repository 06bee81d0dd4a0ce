"""Numbers that prove themselves: payment cards by their checksum, keys by theirs."""

from __future__ import annotations

from holdfast.core.screening.rule import Rules, rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# By the first digits: how many digits a card has.
_ISSUERS = (
    ("4", (13, 16, 19)),
    *((str(number), (16,)) for number in range(51, 56)),
    *((str(number), (16,)) for number in range(2221, 2721)),
    ("34", (15,)),
    ("37", (15,)),
    ("6011", (16, 19)),
    ("65", (16, 19)),
    *((str(number), (16, 19)) for number in range(644, 650)),
    *((str(number), (16, 19)) for number in range(3528, 3590)),
    ("36", (14,)),
    ("38", (14,)),
    ("39", (14,)),
    *((str(number), (14,)) for number in range(300, 306)),
    ("62", (16, 17, 18, 19)),
    *((str(number), (16,)) for number in range(2200, 2205)),
)
# Numbers that payment services give out for tests.
_FOR_TESTS = frozenset(
    (
        *("4242424242424242", "4111111111111111", "4000056655665556", "5555555555554444"),
        *("2223003122003222", "5200828282828210", "5105105105105100", "378282246310005"),
        *("371449635398431", "6011111111111117", "6011000990139424", "3056930009020004"),
        *("36227206271667", "3566002020360505", "6200000000000005", "4000000000000002"),
        *("4000000000009995", "4012888888881881", "30569309025904", "38520000023237"),
        *("3530111333300000", "378734493671000", "4222222222222", "4000002500003155"),
        *("4000000000003220"),
    )
)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _is_card(_: re.Match[str], said: str) -> bool:
    digits = "".join(filter(str.isdigit, said))
    return (
        any(digits.startswith(first) and len(digits) in sizes for first, sizes in _ISSUERS)
        and digits not in _FOR_TESTS
        and len(set(digits)) > 3
        and luhn(digits)
    )


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_wif(_: re.Match[str], said: str) -> bool:
    """A Bitcoin key ends with a checksum over itself."""
    from hashlib import sha256

    number = 0
    for char in said:
        number = number * 58 + _BASE58.index(char)
    data = number.to_bytes(38 if len(said) == 52 else 37, "big")
    return sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


NUMBERS = Rules(
    (
        rule(
            "secret_card",
            "",
            r"(?<![\w.,:/#+=-])(?:[2-6]\d{3}(?:[ -]\d{4}){3}(?:[ -]\d{3})?|3\d{3}[ -]\d{6}[ -]\d{4,5}"
            r"|[2-6]\d{12,18})(?![\w-]|[.,]\d)",
            _is_card,
        ),
        rule(
            "secret_bitcoin_key",
            "5|K|L",
            r"(?<![A-Za-z0-9])(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9])",
            _is_wif,
        ),
    )
)
