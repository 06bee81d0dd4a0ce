"""Secrets: in the form of whoever gave them out, by a checksum, or by what is said around them.

A value is a secret by what is said around it where a word such as `password` names it and it looks
like one (`values.py`). The words are those of many languages.
"""

from __future__ import annotations

from holdfast.core.screening.cards import NUMBERS
from holdfast.core.screening.rule import Rules, rule
from holdfast.core.screening.values import is_key, is_mixed, is_password, trimmed
from holdfast.core.screening.vendors import VENDORS, is_example
from holdfast.core.text.patterns import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from holdfast.core.screening.rule import Span

TOKEN_CHARS_MIN = 13
LONE_KEY_CHARS_MIN = 20

_NAMING_STEMS = (
    "pass|pwd|pw|kennwort|contrase|clave|senha|palavra|parola|mot de|mdp|wachtw|adgangs|salasana|jelsz|lösen|losen|hasł|haslo|heslo|şifre|sifre"
    "|лозинк|парол|密码|密碼|口令|暗証|パス|비밀|암호|كلمة|סיסמ|पासव|รหัส|mật|mat khau|kata sandi|sandi|κωδικ|رمز"
)
_PASSWORDS = (
    r"pass(?:word|wort|wd|phrase|code)?|pwd|(?<![a-z])pw|kennwort|contrase[ñn]a|clave|senha|palavra-passe|parola"
    r"|mots? de passe|mdp|wachtwoord|adgangskode|l[öo]senord|salasana|has[łl]o|heslo|jelsz[óo]"
    r"|[şs]ifre|лозинка|пароль|密码|密碼|口令|暗証番号|パスワード|パス|비밀번호|암호|كلمة (?:المرور|السر)|رمز عبور"
    r"|סיסמ[הא]|पासवर्ड|รหัสผ่าน|m[ậa]t kh[ẩa]u|kata sandi|κωδικ[όο]ς"
)
_KEY_STEMS = (
    "key|token|secret|bearer|credential|schlüssel|schlussel|clé|cle |clave|chave|chiave|ключ|токен|密钥|密鑰"
    "|キー|シークレット|トークン|키|토큰|anahtar|klucz"
)
_KEYS = (
    r"key|token|secret|bearer|credential|schl[üu]ssel|cl[ée] (?:d'?)?(?:api|secr[èe]te|d'acc[èe]s)"
    r"|clave (?:de )?(?:api|secreta|acceso)|chave (?:de )?(?:api|secreta|acesso)"
    r"|chiave (?:api|segreta)|ключ|токен|密钥|密鑰|キー|シークレット|トークン|키|토큰|anahtarı|klucz (?:api|tajny)"
)
# Many things are called keys. These are not for everyone.
_KEY_OF = lazily(
    r"(?:api|access|auth|client|private|encryption|signing|master|secret|license|session|service|app"
    r"|account|storage|shared|webhook|deploy|deployment|refresh|bot|web|subscription|consumer|admin"
    r"|zugangs|zugriffs|секретный|доступа)[ _-]{0,2}$"
)
# Between the name of a secret and its value: for what it is, then `is`, `=`, `:`.
_FOR = r"(?:\s(?:for|of|to|at|on|in|f[üu]r|zu|von|de|del|da|do|du|di|della|para|pour|per|voor|para|от|для|к|на|в|till|til|f[öo]r|do|dla)\s[^\n:=]{1,40}?)?"
_IS = (
    r"(?:\s{0,3}(?::=|=>|->|→|[=:：])|\s(?:is|are|was|ist|lautet|es|est|[eéè]|[eé] a|jest|to|je|on|är"
    r"|er|olan)(?=\s)|\s?[是为為は가는])\s{0,3}"
)
_VALUE = r"(?P<q>[\"'`“„«「*]{0,2})(?P<s>[^\s\"'`“”„«»「」<>,;，。；、]{4,4096})"


def _named_password(match: re.Match[str], said: str) -> bool:
    return is_password(trimmed(said), quoted=bool(match["q"]))


def _named_key(match: re.Match[str], said: str) -> bool:
    start = match.start()
    plain = match["k"] in ("key", "ключ", "キー", "키", "schlüssel", "schlussel", "anahtarı")
    if plain and not _KEY_OF().search(match.string[max(0, start - 24) : start]):
        return _lone_key(match, said)
    return is_key(trimmed(said))


def _lone_password(_: re.Match[str], said: str) -> bool:
    return is_mixed(trimmed(said))


def _lone_key(_: re.Match[str], said: str) -> bool:
    value = trimmed(said)
    return len(value) >= LONE_KEY_CHARS_MIN and is_mixed(value) and is_key(value)


def _is_login(_: re.Match[str], said: str) -> bool:
    if _WORDS_FOR_PASSWORDS().fullmatch(said.lower()) or said[0] in "$%<{[*" or "…" in said:
        return False
    return not is_example(f"{said}······")


_WORDS_FOR_PASSWORDS = lazily(
    r"pass(?:word|wd)?\d?|pwd|pw|secret|p|x+|\*+|\.+|your.*|my.*|changeme|user|postgres|guest|root"
    r"|admin|mysql|redis|token|test|example|dev|localhost|key|credentials|hunter2"
)


def _is_basic(_: re.Match[str], said: str) -> bool:
    from base64 import b64decode

    try:
        login = b64decode(said + "=" * (-len(said) % 4))
    except ValueError:  # no number of bytes is so long in Base64
        return False
    user, colon, word = login.decode("latin-1").partition(":")
    return bool(colon and user.isprintable() and len(word) > 3 and word.isprintable()) and (
        _WORDS_FOR_PASSWORDS().fullmatch(word.lower()) is None
    )


def _is_bearer(_: re.Match[str], said: str) -> bool:
    return is_key(said)


def _is_seed(_: re.Match[str], said: str) -> bool:
    return _COMMON.isdisjoint(said.lower().replace(",", " ").split())


_COMMON = frozenset(
    (
        "the",
        "and",
        "is",
        "in",
        "of",
        "to",
        "on",
        "at",
        "for",
        "with",
        "a",
        "an",
        "it",
        "or",
        "by",
        "as",
        "from",
        "are",
        "was",
        "be",
    )
)

SAID = Rules(
    (
        rule(
            "secret_private_key",
            "-----begin |putty-user-key",
            r"-----begin (?:[a-z0-9]{2,12} ){0,3}private key(?: block)?-----(?:\s|\\n|\\r)"
            r"(?:[\w-]{1,20}: [^\n]{1,100}\n|\s){0,8}(?:[a-z0-9+/=]{1,76}(?:\s|\\n|\\r){0,3}){0,2}"
            r"[a-z0-9+/=]{24}[^-]{0,8000}|putty-user-key-file-\d: [^\n]{1,80}\n",
        ),
        rule(
            "secret_password",
            _NAMING_STEMS,
            rf"(?:{_PASSWORDS})(?![a-z])[\"'`*]{{0,2}}{_FOR}[\"'`*]{{0,2}}{_IS}{_VALUE}",
            _named_password,
        ),
        rule(
            "secret_key",
            _KEY_STEMS,
            rf"(?P<k>{_KEYS})s?(?![a-z])[\"'`*]{{0,2}}{_FOR}[\"'`*]{{0,2}}{_IS}(?:bearer |basic )?{_VALUE}",
            _named_key,
        ),
        rule(
            "secret_key",
            "bearer|authorization|x-api-key",
            r"(?:bearer\s{1,3}|authorization:\s{0,3}(?:token|bearer|apikey)?\s{0,3}|x-api-key:\s{0,3})"
            r"(?P<s>[\w.~+/=-]{16,4096})",
            _is_bearer,
        ),
        rule(
            "secret_login",
            "basic ",
            r"basic\s{1,3}(?P<s>[a-z0-9+/]{8,512})={0,2}(?![a-z0-9+/])",
            _is_basic,
        ),
        rule(
            "secret_login",
            "://",
            r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,30}://[^\s:/@\"'<>{}]{0,64}:(?P<s>[^\s/@\"'<>]{3,256})@[\w.\[%-]",
            _is_login,
        ),
        rule(
            "secret_login",
            "curl|wget|http",
            r"\s(?:-u|--user|-a|--auth)[ =][\"']?[\w.@+-]{1,64}:(?P<s>[^\s\"']{4,128})",
            _is_login,
        ),
        rule(
            "secret_password",
            "sshpass|--password|--pass|login |mysql",
            r"(?:sshpass\s-p\s?|--pass(?:word|wd)?[= ]|login\s\S{1,64}\spassword\s|mysql\s[^\n]{0,60}\s-p)"
            r"(?P<q>[\"']?)(?P<s>[^\s\"']{4,128})",
            _named_password,
        ),
        rule(
            "secret_password",
            "password|passwort|passwd|passphrase|pwd|kennwort",
            r"(?:password|passwort|passwd|passphrase|pwd|kennwort)(?:'s)?\s{1,2}(?P<s>[^\s\"'`<>]{6,128})",
            _lone_password,
        ),
        rule(
            "secret_password",
            "login|wifi|wi-fi|wlan|creds|credentials|zugang",
            r"(?:login|wi-?fi|wlan|creds|credentials|zugang(?:sdaten)?)\s?[:=]\s?[^\s/|,]{1,40}\s?[/|,]\s?(?P<s>[^\s\"'`<>/]{6,128})",
            _lone_password,
        ),
        rule(
            "secret_key",
            "key|token|secret",
            r"(?:api[ _-]?key|access[ _-]?key|secret[ _-]?key|token|secret)\s{1,2}(?P<s>[^\s\"'`<>]{20,4096})",
            _lone_key,
        ),
        rule(
            "secret_pin",
            "pin|cvv|cvc",
            r"(?<![a-z])(?:pin(?:[ -]?(?:code|number|nummer))?|cvv2?|cvc)"
            r"(?:\s(?:for|of|to|für|de|del)\s[^\n:=\d]{1,30}?)?"
            r"(?:\s(?:is|ist|es|est|lautet)\s|\s?[:=]\s?)(?P<s>\d{3,8})(?![\w.:/-])",
            lambda match, _: (
                "gpio" not in match.string.lower() and "pinout" not in match.string.lower()
            ),
        ),
        rule(
            "secret_number",
            "ssn|social security",
            r"(?:ssn|social security(?: number)?)[^\n\d]{0,20}(?P<s>(?!000|666|9)\d{3}-\d\d-\d{4})(?!\d)",
            lambda _, said: said not in ("123-45-6789", "078-05-1120", "111-11-1111"),
        ),
        rule(
            "secret_seed",
            "phrase|mnemonic|seed|recovery|wallet",
            r"(?:seed|recovery|backup|mnemonic|wallet)[^\n:=\"]{0,30}[:=\"]\s{0,3}\"?"
            r"(?P<s>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])",
            _is_seed,
        ),
        rule(
            "secret_key",
            "private key|privkey|private_key|secret key|eth",
            r"(?:priv(?:ate)?[ _-]?key|secret[ _-]?key)[^\n]{0,20}?(?P<s>(?:0x)?[0-9a-f]{64})(?![0-9a-f])",
            lambda _, said: not is_example(said),
        ),
        rule(
            "secret_key",
            "otpauth://",
            r"otpauth://[ht]otp/[^\s?]{1,120}\?[^\s]{0,80}?secret=(?P<s>[a-z2-7]{16,128})",
        ),
    )
)


def secrets_in(text: str) -> Iterator[Span]:
    """Where secrets stand in the text. One may be found by more than one rule."""
    if len(max(text.split(), key=len, default="")) >= TOKEN_CHARS_MIN:
        yield from VENDORS.spans(text)
    if _DIGITS().search(text):
        yield from NUMBERS.spans(text)
    yield from SAID.spans(text.replace("\u0130", "i").lower(), text)


_DIGITS = lazily(r"\d[\d -]{11}|[1-9A-Za-z]{51}")
