"""Rules of the house that a program can keep: where imports point, how modules begin."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "holdfast"
MODULES = sorted(SOURCE.rglob("*.py"))

# What a part may import of the project, beside itself. Whoever is not named is a surface.
MAY_IMPORT = {
    "errors": set[str](),
    "model": {"errors"},
    "core": {"errors", "model"},
    "ports": {"errors", "model", "core"},
    "storage": {"errors", "model", "core", "ports"},
    "providers": {"errors", "model", "core", "ports"},
    "strategies": {"errors", "model", "core", "ports"},
    "engine": {"errors", "model", "core", "ports", "strategies"},
    "wiring": {
        "errors",
        "model",
        "core",
        "ports",
        "strategies",
        "engine",
        "storage",
        "providers",
        "kernel",
    },
    "kernel": {"errors", "model", "core", "ports", "engine", "strategies"},
    "aio": {"errors", "model", "core", "ports", "strategies", "engine", "wiring"},
    "mcp": {"errors", "model", "core", "ports", "engine", "wiring", "aio"},
    "cli": {
        "errors",
        "model",
        "core",
        "ports",
        "engine",
        "wiring",
        "aio",
        "kernel",
        "mcp",
        "__main__",
    },
    "testing": {"errors", "model", "core", "ports", "strategies", "engine", "kernel"},
    "__main__": {"cli"},
    "__init__": {"errors", "model", "core", "engine", "kernel", "wiring", "aio"},
}
STANDARD_ONLY = {"errors", "model", "core", "ports"}


def part_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(file: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                found += [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found.append(module)
                if module == "holdfast":
                    found += [f"holdfast.{alias.name}" for alias in names]
            case _:
                pass
    return found


@pytest.mark.parametrize("file", MODULES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_imports_point_one_way(file: Path) -> None:
    part = part_of(file)
    assert part in MAY_IMPORT, f"{part} has no place in the design's order"
    for name in imports_of(file):
        top, _, rest = name.partition(".")
        if top == "holdfast" and rest:
            wanted = rest.partition(".")[0]
            assert wanted == part or wanted in MAY_IMPORT[part], f"{part} imports {name}"
        elif top != "holdfast" and part in STANDARD_ONLY:
            assert top in sys.stdlib_module_names, f"{part} imports {name}"


@pytest.mark.parametrize("file", MODULES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_a_module_opens_with_what_it_holds_true(file: Path) -> None:
    text = file.read_text("utf-8")
    assert text.startswith('"""'), "the first line says what the module is"
    assert "from __future__ import annotations" in text
    assert len(text.splitlines()) <= 600


@pytest.mark.parametrize("file", MODULES, ids=lambda f: str(f.relative_to(SOURCE)))
def test_functions_fit_a_screen_and_nothing_is_swallowed(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            assert node.end_lineno - node.lineno <= 70, f"{node.name} is longer than a screen"
        if isinstance(node, ast.ExceptHandler):
            kind = node.type
            broad = kind is None or (isinstance(kind, ast.Name) and kind.id == "Exception")
            assert not broad, f"line {node.lineno} catches everything"


def test_only_wiring_names_implementations() -> None:
    for file in MODULES:
        for part in ("storage", "providers"):
            if part_of(file) not in ("wiring", part):
                named = f"holdfast.{part}"
                assert not [name for name in imports_of(file) if name.startswith(named)]


def test_every_module_can_be_imported_alone() -> None:
    """No module depends on another having been imported before it."""
    names = [
        ".".join(("holdfast", *file.relative_to(SOURCE).with_suffix("").parts))
        for file in MODULES
        if file.name not in ("__init__.py", "__main__.py")
    ]
    program = """
import sys
for name in sys.argv[1:]:
    for known in [module for module in sys.modules if module.startswith("holdfast")]:
        del sys.modules[known]
    __import__(name)
"""
    done = subprocess.run([sys.executable, "-c", program, *names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
