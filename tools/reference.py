"""Write what of the reference follows from the source: commands, errors, preferences, and the
schema of `workspace.yml`.

Commands come from the table that parsing and help read. Codes come from the source's syntax trees:
every call of an error's class, every (class, code) pair in a table, every problem that `verify` can
find, every advice. What each means and how it is cured stands in `error_words.py`; a code without
words, words without a code, or a code that this program cannot read, ends it.

    python tools/reference.py
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from error_words import ADVICE, DERIVED, PAGE, PROBLEMS, WORDS
from preference_words import PAGE as PREFERENCES_PAGE

from holdfast.cli.commands import TABLE
from holdfast.cli.help import reference_markdown
from holdfast.core.preference_table import TABLE as PREFERENCES
from holdfast.core.preferences import PRESETS, schema
from holdfast.engine.workspace.schema import workspace_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "holdfast"
REFERENCE = ROOT / "docs" / "reference"
MADE = "<!-- Made by tools/reference.py. -->\n\n"
ERRORS, BASE = "holdfast.errors", "HoldfastError"


class Codes(NamedTuple):
    """What the source can say: which classes raise each code, and the codes that are no errors."""

    errors: dict[str, set[str]]
    problems: set[str]
    advice: set[str]


class Module:
    """One module: its tree, and the names of errors' classes that it can use."""

    def __init__(self, file: Path) -> None:
        self.name = ".".join(("holdfast", *file.relative_to(SOURCE).with_suffix("").parts))
        self.tree = ast.parse(file.read_text("utf-8"))
        self.classes = {
            node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ClassDef)
        }
        self.imported = {
            alias.asname or alias.name: f"{node.module}:{alias.name}"
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        self.constants = {
            target.id: node.value.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def meant(self, name: str) -> str:
        """A class by the module that defines it."""
        return f"{self.name}:{name}" if name in self.classes else self.imported.get(name, "")


def error_classes(modules: list[Module]) -> dict[str, str]:
    """Every class of error, by module and name, and the name that it has in the reference."""
    found = {f"{ERRORS}:{BASE}": BASE}
    grew = True
    while grew:
        grew = False
        for module in modules:
            for name, bases in module.classes.items():
                key = f"{module.name}:{name}"
                if key not in found and any(module.meant(base) in found for base in bases):
                    found[key], grew = name, True
    return found


def fixed_codes(modules: list[Module], classes: dict[str, str]) -> dict[str, str]:
    """The classes that give every error of theirs the same code, as their `__init__` says."""
    found: dict[str, str] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and f"{module.name}:{node.name}" in classes:
                for call in ast.walk(node):
                    match call:
                        case ast.Call(
                            func=ast.Attribute(value=ast.Call(func=ast.Name("super"))),
                            args=[ast.Constant(str(code)), *_],
                        ):
                            found[f"{module.name}:{node.name}"] = code
                        case _:
                            pass
    return found


def codes() -> Codes:
    modules = [Module(file) for file in sorted(SOURCE.rglob("*.py"))]
    classes = error_classes(modules)
    fixed = fixed_codes(modules, classes)
    found = Codes({}, set(), set())
    for key, code in fixed.items():
        found.errors.setdefault(code, set()).add(classes[key])
    for module in modules:
        for node in ast.walk(module.tree):
            match node:
                case ast.Call(func=ast.Name(name)) if module.meant(name) in classes:
                    if module.meant(name) not in fixed:
                        for code in said(module, first(node)):
                            found.errors.setdefault(code, set()).add(name)
                case ast.Tuple([ast.Name(name), ast.Constant(str(code)), *_]) if (
                    module.meant(name) in classes
                ):
                    found.errors.setdefault(code, set()).add(name)
                case _:
                    pass
    found.problems.update(made(modules, "Problem"))
    found.advice.update(made(modules, "Advice"))
    return found


def made(modules: list[Module], name: str) -> list[str]:
    """The codes of the values that the source makes, by their class or through a function."""
    found: list[str] = []
    for module in modules:
        for node in ast.walk(module.tree):
            match node:
                case ast.FunctionDef(name=maker, args=given, body=body):
                    parameters = [argument.arg for argument in given.args]
                    for call in calls(body, name):
                        code = first(call)
                        if isinstance(code, ast.Name) and code.id in parameters:
                            place = parameters.index(code.id)
                            found += handed_on(modules, module, maker, place)
                        else:
                            found += said(module, code)
                case _:
                    pass
    return found


def handed_on(modules: list[Module], home: Module, maker: str, place: int) -> list[str]:
    """The codes that callers of a function give it, in its module and in those that import it."""
    return [
        code
        for module in modules
        if module is home or module.imported.get(maker) == f"{home.name}:{maker}"
        for call in calls([module.tree], maker)
        for code in said(module, call.args[place])
    ]


def calls(nodes: Sequence[ast.AST], name: str) -> list[ast.Call]:
    return [
        each
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == name
    ]


def first(call: ast.Call) -> ast.expr | None:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    return call.args[0] if call.args else next(iter(named), None)


def said(module: Module, code: ast.expr | None) -> list[str]:
    """The codes that an expression can be; none where it hands on another's."""
    match code:
        case ast.Constant(str(text)):
            return [text]
        case ast.Name(name) if isinstance(module.constants.get(name), str):
            return [str(module.constants[name])]
        case ast.JoinedStr() if ast.unparse(code)[2:-1] in DERIVED:
            return DERIVED[ast.unparse(code)[2:-1]]
        case ast.Attribute(attr="code"):
            return []
        case ast.Name(name):
            return assigned(module, name)
        case _:
            text = "nothing" if code is None else ast.unparse(code)
            raise SystemExit(f"{module.name}: which code is {text}?")


def assigned(module: Module, name: str) -> list[str]:
    """The texts that a variable can hold: given to it alone, or as the first of a tuple."""
    values: list[ast.AST] = []
    for node in ast.walk(module.tree):
        match node:
            case ast.Assign([ast.Name(target)], value) if target == name:
                values += ast.walk(value)
            case ast.Assign([ast.Tuple([ast.Name(target), *_])], value) if target == name:
                values += [each.elts[0] for each in ast.walk(value) if isinstance(each, ast.Tuple)]
            case _:
                pass
    constants = [each.value for each in values if isinstance(each, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def differences(found: Codes) -> list[str]:
    """One line for each code without words, and each words without a code."""
    pairs = ((found.errors, WORDS), (found.problems, PROBLEMS), (found.advice, ADVICE))
    lines: list[str] = []
    for have, words in pairs:
        lines += [f"{code}: add it to tools/error_words.py" for code in have if code not in words]
        lines += [f"{code}: nothing raises it any more" for code in words if code not in have]
    return sorted(lines)


def docstrings() -> dict[str, str]:
    """What each class of error says of itself, in the order of the source."""
    modules = [Module(file) for file in sorted(SOURCE.rglob("*.py"), key=_errors_first)]
    classes = error_classes(modules)
    return {
        node.name: " ".join((ast.get_docstring(node) or "").split())
        for module in modules
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and f"{module.name}:{node.name}" in classes
    }


def _errors_first(file: Path) -> tuple[bool, Path]:
    return file.name != "errors.py", file


def errors_markdown(found: Codes) -> str:
    parts = [PAGE.strip()]
    for name, words in docstrings().items():
        raised = sorted(code for code, classes in found.errors.items() if name in classes)
        if raised:
            parts += [f"## {name}", words, table([(code, *WORDS[code]) for code in raised])]
    parts += ["## What verify finds", table([(code, *PROBLEMS[code]) for code in sorted(PROBLEMS)])]
    parts += ["## Advice", "Given with a note that was saved. Nothing is refused."]
    parts += [table([(code, *ADVICE[code]) for code in sorted(ADVICE)])]
    return "\n\n".join(parts) + "\n"


def table(rows: list[tuple[str, str, str]]) -> str:
    lines = [f"| `{code}` | {meaning} | {cure} |" for code, meaning, cure in rows]
    return "\n".join(["| code | what happened | what to do |", "|---|---|---|", *lines])


def preferences_markdown() -> str:
    parts = [PREFERENCES_PAGE.strip()]
    groups = dict.fromkeys(one.name.partition(".")[0] for one in PREFERENCES)
    for group in groups:
        each = [one for one in PREFERENCES if one.name.startswith(f"{group}.")]
        lines = ["| preference | meaning | takes | strict | balanced | aggressive | disabled |"]
        lines += ["|---|---|---|---|---|---|---|"]
        for one in each:
            values = " | ".join(f"`{json.dumps(one.in_preset(name))}`" for name in PRESETS)
            lines.append(f"| `{one.name}` | {one.help} | {one.form} | {values} |")
        parts += [f"## {group}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[Path, str]:
    found = codes()
    if wrong := differences(found):
        raise SystemExit("\n".join(wrong))
    return {
        REFERENCE / "cli.md": MADE + reference_markdown(TABLE),
        REFERENCE / "errors.md": MADE + errors_markdown(found),
        REFERENCE / "workspace.schema.json": workspace_schema(),
        REFERENCE / "preferences.md": MADE + preferences_markdown(),
        REFERENCE / "preferences.schema.json": json.dumps(schema(PREFERENCES), indent=2) + "\n",
    }


if __name__ == "__main__":
    for file, text in pages().items():
        file.write_text(text, "utf-8")
    sys.exit(0)
