"""`SKILL.md`: front matter in YAML that names and describes a skill, and its body in Markdown.

The text is kept to the byte: what is read of it are two fields, and only they are written. Nothing
of the YAML is built: its shape is looked at, and what a common reader would not take, or could be
made to choke on (anchors, tags, depths), is refused with the line that it stands on.
"""

from __future__ import annotations

from holdfast.core.skillfiles import SKILL_FILE, check_skill_name
from holdfast.errors import InvalidInput
from holdfast.model.entry import TEXT_BYTES_MAX
from holdfast.model.names import check_str
from holdfast.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DESCRIPTION_CHARS_MAX = 1_024
COMPATIBILITY_CHARS_MAX = 500
HEAD_BYTES_MAX = 65_536
DEPTH_MAX = 8
NODES_MAX = 1_000
LINES_ADVISED = 500
TOKENS_ADVISED = 5_000
_BOM = "\ufeff"
_FENCE = "---"
_STR = "tag:yaml.org,2002:str"
_KINDS = {
    _STR: "text",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "empty",
    "tag:yaml.org,2002:timestamp": "a date",
    "tag:yaml.org,2002:seq": "a list",
    "tag:yaml.org,2002:map": "a mapping",
}
_FORMS = {
    "name": _STR,
    "description": _STR,
    "license": _STR,
    "compatibility": _STR,
    "metadata": "tag:yaml.org,2002:map",
}


class Document(Value):
    """`head` is the front matter with its fences, and `head + body` the text of the file."""

    name: str
    description: str
    head: str
    body: str

    @property
    def text(self) -> str:
        return self.head + self.body


def read_bytes(data: bytes, where: str = SKILL_FILE) -> Document:
    if len(data) > TEXT_BYTES_MAX:
        raise _wrong(
            where,
            f"it has {len(data):,} bytes; the limit is {TEXT_BYTES_MAX:,}",
            "move details into files under references/",
        )
    try:
        return read(data.decode("utf-8"), where)
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise _wrong(f"{where}:{line}", "this is not UTF-8", "save the file as UTF-8") from None


def read(text: str, where: str = SKILL_FILE) -> Document:
    """What a SKILL.md says. `where` is what the file is called in errors."""
    _check_unicode(text, where)
    inside, size = _front_matter(text, where)
    fields = _fields(inside, where)
    for key in ("name", "description"):
        if key not in fields:
            cure = f"add a line `{key}: …` between the --- lines"
            raise _wrong(f"{where}:1", f"{key}: it is missing from the front matter", cure)
    name, description = (_text_of(fields, key, where) for key in ("name", "description"))
    check_skill_name(name, f"{where}:{fields['name'].line}: name")
    check_description(description, f"{where}:{fields['description'].line}: description")
    if (
        "compatibility" in fields
        and len(fields["compatibility"].node.value) > COMPATIBILITY_CHARS_MAX
    ):
        problem = f"it has more than {COMPATIBILITY_CHARS_MAX} characters"
        raise _field(fields, "compatibility", where, problem, "say it in fewer words")
    return Document(name=name, description=description, head=text[:size], body=text[size:])


def written(name: str, description: str, body: str) -> Document:
    """A SKILL.md of these."""
    check_skill_name(name)
    check_description(description)
    _check_unicode(body, "the body")
    head = f"{_FENCE}\nname: {scalar(name)}\ndescription: {scalar(description)}\n{_FENCE}\n"
    body = body if body.startswith(("\n", "\r\n")) or not body else f"\n{body}"
    body = body if body.endswith("\n") or not body else f"{body}\n"
    return Document(name=name, description=description, head=head, body=body)


def described(document: Document, description: str) -> Document:
    """The same with another description; the rest of the front matter stays as it is."""
    check_description(description)
    inside, _ = _front_matter(document.head, SKILL_FILE)
    start = document.head.index("\n") + 1
    node = _fields(inside, SKILL_FILE)["description"].node
    low, high = start + node.start_mark.index, start + node.end_mark.index
    while high > low and document.head[high - 1] in " \t\r\n":
        high -= 1
    head = document.head[:low] + scalar(description) + document.head[high:]
    after = read(head + document.body)
    if (after.name, after.description) != (document.name, description):
        raise _wrong(
            SKILL_FILE,
            "its description cannot be replaced as the front matter is written",
            "import a whole SKILL.md instead",
        )
    return after


def check_description(description: str, where: str = "") -> str:
    check_str(description, "the description")
    place = f"{where}: " if where else ""
    if not description.strip():
        raise InvalidInput(
            "skill_description_invalid",
            f"{place}the description is empty",
            hint="say what the skill does and when to use it",
        )
    if len(description) > DESCRIPTION_CHARS_MAX:
        raise InvalidInput(
            "skill_description_invalid",
            f"{place}the description has {len(description):,} characters; "
            f"the limit is {DESCRIPTION_CHARS_MAX:,}",
            hint="say what the skill does and when to use it, and leave the how to the body",
        )
    _check_unicode(description, where or "the description")
    return description


def scalar(text: str) -> str:
    """The text as YAML on one line: plain where every reader takes it for text, else quoted."""
    plain = text[:1].isalpha() and text == text.strip() and text.isprintable()
    if plain and not {":", "#", "\\", '"', "`", "{", "}", "[", "]", ","} & set(text):
        from re import fullmatch

        if not fullmatch(r"(?i)true|false|yes|no|on|off|null|y|n", text):
            return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char == "\n":
        return "\\n"
    if char.isprintable():
        return char
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\U{ord(char):08x}"


# Reading


class _Field(Value):
    """A key's line in the file, and its value as the YAML's reader sees it."""

    line: int
    node: Any


def _front_matter(text: str, where: str) -> tuple[str, int]:
    """What stands between the fences, and the length of all up to the body."""
    start = text.index("\n") + 1 if "\n" in text else len(text)
    if text[:start].removeprefix(_BOM).rstrip() != _FENCE:
        cure = "begin it with ---, a line `name: …`, a line `description: …`, and ---"
        raise _wrong(f"{where}:1", "it does not begin with front matter", cure)
    at = start
    while at < len(text):
        stop = text.find("\n", at) + 1 or len(text)
        if text[at:stop].rstrip() == _FENCE:
            inside = text[start:at]
            if len(inside.encode()) > HEAD_BYTES_MAX:
                problem = f"its front matter is larger than {HEAD_BYTES_MAX:,} bytes"
                raise _wrong(f"{where}:1", problem, "move text to the body")
            return inside, stop
        at = stop
    raise _wrong(f"{where}:1", "its front matter does not end", "close it with a line ---")


def _fields(inside: str, where: str) -> dict[str, _Field]:
    """The nodes of the front matter's keys."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.nodes import MappingNode

    try:
        _check_shape(inside, where)
        root = _yaml().compose(inside)
    except MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line = 1 if mark is None else mark.line + 2
        problem = (exc.problem or "this is not YAML").strip().splitlines()[0]
        raise _wrong(
            f"{where}:{line}", problem, "put the value in quotes if it has a colon in it"
        ) from None
    except (YAMLError, RecursionError, ValueError) as exc:
        problem = str(exc).strip().splitlines()[0] if str(exc) else type(exc).__name__
        place = getattr(exc, "position", None)
        line = 1 if place is None else inside.count("\n", 0, place) + 2
        raise _wrong(f"{where}:{line}", problem, "write plain `key: value` lines") from None
    if not isinstance(root, MappingNode):
        raise _wrong(f"{where}:2", "its front matter is no mapping", "write `name: …` lines")
    fields: dict[str, _Field] = {}
    nodes: Any = root.value
    for key, value in nodes:
        if key.tag != _STR:
            raise _wrong(f"{where}:{_line(key)}", "a key is not text", "put it in quotes")
        if key.value in fields:
            problem = f"{key.value}: it stands twice, first on line {fields[key.value].line}"
            raise _wrong(f"{where}:{_line(key)}", problem, "keep one")
        fields[key.value] = _Field(line=_line(key), node=value)
    for key, kind in _FORMS.items():
        if key in fields and fields[key].node.tag != kind:
            found = _KINDS.get(fields[key].node.tag, "something else")
            wanted = "text" if kind == _STR else "a mapping"
            cure = "put it in quotes" if kind == _STR else "write `key: value` lines below it"
            raise _field(fields, key, where, f"this is {found}, not {wanted}", cure)
    return fields


def _check_shape(inside: str, where: str) -> None:
    """Refuse what is not a plain mapping of no great depth, before anything is made of it."""
    depth = nodes = 0
    for event in _yaml().parse(inside):
        line = event.start_mark.line + 2
        if getattr(event, "anchor", None) is not None:
            problem = "anchors and aliases (& and *) are not allowed in front matter"
            raise _wrong(f"{where}:{line}", problem, "write the value out, or put it in quotes")
        if getattr(event, "tag", None) is not None:
            problem = "tags (!) are not allowed in front matter"
            raise _wrong(f"{where}:{line}", problem, "put the value in quotes")
        kind = type(event).__name__
        nodes += kind in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent")
        depth += kind in ("SequenceStartEvent", "MappingStartEvent")
        depth -= kind in ("SequenceEndEvent", "MappingEndEvent")
        if depth > DEPTH_MAX or nodes > NODES_MAX:
            problem = f"it nests deeper than {DEPTH_MAX}, or has more than {NODES_MAX:,} values"
            raise _wrong(f"{where}:{line}", problem, "move text to the body")


def _yaml() -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True)


def _text_of(fields: dict[str, _Field], key: str, where: str) -> str:
    value: str = fields[key].node.value
    if not value.strip():
        raise _field(fields, key, where, "it is empty", f"write `{key}: …`")
    return value if key == "name" else value.strip()


def _line(node: Any) -> int:
    return node.start_mark.line + 2


def _field(
    fields: dict[str, _Field], key: str, where: str, problem: str, cure: str
) -> InvalidInput:
    return _wrong(f"{where}:{fields[key].line}", f"{key}: {problem}", cure)


def _check_unicode(text: str, where: str) -> None:
    check_str(text, where)
    try:
        size = len(text.encode())
    except UnicodeEncodeError as exc:
        line = text.count("\n", 0, exc.start) + 1
        raise _wrong(
            f"{where}:{line}", "it holds half of a character (a lone surrogate)", "save it as UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _wrong(f"{where}:{line}", "it holds a NUL character", "take it out")
    if size > TEXT_BYTES_MAX:
        raise _wrong(
            where,
            f"it has {size:,} bytes; the limit is {TEXT_BYTES_MAX:,}",
            "move details into files under references/",
        )


def _wrong(where: str, problem: str, cure: str) -> InvalidInput:
    return InvalidInput("skill_document_invalid", f"{where}: {problem}", hint=cure)
