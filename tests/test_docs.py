"""The documentation is true: its programs run, its commands end well, its links lead somewhere."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cli_snapshot import environment

import holdfast
from holdfast.cli.commands import TABLE
from holdfast.cli.grammar import commands_of, said
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

ROOT = Path(__file__).parent.parent
TOOLS = ROOT / "tools"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = [said(noun, command) for noun in TABLE.nouns for command in commands_of(noun)]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^(?: {4}.*\n|\n)+", re.MULTILINE)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in FENCE.findall(page.read_text("utf-8")) if kind == language]


def shell_blocks(page: Path) -> list[str]:
    """Blocks of shell that begin with our program: fenced, and in the README also indented."""
    found = [*blocks(page, "sh"), *blocks(page, "bash")]
    if page.name == "README.md":
        text = FENCE.sub("", page.read_text("utf-8"))
        found += [inspect.cleandoc(block) for block in INDENTED.findall(text)]
    return [block for block in found if block.startswith("holdfast ")]


def prose(page: Path) -> str:
    """The page without its code."""
    return CODE.sub("", FENCE.sub("", page.read_text("utf-8")))


def reference() -> ModuleType:
    """tools/reference.py as a module; it finds its words beside it."""
    spec = importlib.util.spec_from_file_location("reference", TOOLS / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(TOOLS))
    try:
        spec.loader.exec_module(made)
    finally:
        sys.path.remove(str(TOOLS))
    return made


# Programs


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name_of)
def test_the_programs_of_a_page_run_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    with asyncio.Runner() as runner:
        for text in blocks(page, "python"):
            code = compile(text, name_of(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, names)  # a coroutine where the block awaits
            if inspect.iscoroutine(result):
                runner.run(result)


@pytest.mark.parametrize("page", [p for p in PAGES if shell_blocks(p)], ids=name_of)
def test_the_commands_of_a_page_end_well(page: Path, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "holdfast"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m holdfast "$@"\n')
    program.chmod(0o755)
    home, folder = tmp_path / "home", tmp_path / "folder"
    folder.mkdir()
    (home / ".config" / "fish" / "completions").mkdir(parents=True)
    (home / ".holdfast-key").write_text("a passphrase")
    (home / ".holdfast-key").chmod(0o600)
    env = environment({"HOME": str(home), "HOLDFAST_VAULT": str(tmp_path / "vault")})
    env["PATH"] = f"{program.parent}{os.pathsep}{env['PATH']}"
    waiting: list[str] = []  # for what a later block makes: `kv get` stands before `kv set`
    failed: dict[str, str] = {}
    for block in shell_blocks(page):
        for each in [block, *waiting]:
            here = folder / each.split()[1] if page.name == "cli.md" else folder  # one for a noun
            here.mkdir(exist_ok=True)
            done = subprocess.run(
                ["sh", "-eux", "-c", each], cwd=here, env=env, capture_output=True, timeout=120
            )
            failed[each] = done.stderr.decode() if done.returncode else ""
        waiting = [each for each in [*waiting, block] if failed[each]]
    assert waiting == [], "\n".join(failed.values())


# The reference


def test_the_reference_is_current() -> None:
    made = reference()
    assert made.differences(made.codes()) == []
    for page, text in made.pages().items():
        assert page.read_text("utf-8") == text, "run: python tools/reference.py"


def test_a_code_without_words_and_words_without_a_code_are_found() -> None:
    made = reference()
    found = made.Codes({code: {"Refused"} for code in made.WORDS}, {*made.PROBLEMS}, {*made.ADVICE})
    assert made.differences(found) == []
    found.errors["brand_new"] = found.errors.pop("id_taken")
    found.problems.add("brand_new_too")
    assert made.differences(found) == [
        "brand_new: add it to tools/error_words.py",
        "brand_new_too: add it to tools/error_words.py",
        "id_taken: nothing raises it any more",
    ]


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('raise NotFound("a_code", "…")', ["a_code"]),
        ('raise NotFound(message="…", code="a_code")', ["a_code"]),
        ('CODE = "a_code"\nraise NotFound(CODE, "…")', ["a_code"]),
        ('code, why = ("a_code", 1) if x else ("b_code", 2)\nNotFound(code, why)', "a_code b_code"),
        ('_KINDS = {1: (NotFound, "a_code", "…")}', ["a_code"]),
        ("raise NotFound(error.code, error.message)", []),
        ('class Mine(NotFound):\n    pass\nraise Mine("a_code", "…")', ["a_code"]),
        (
            "class Mine(NotFound):\n    def __init__(self, field):\n"
            '        super().__init__("a_code", "…")\nraise Mine("no code")',
            ["a_code"],
        ),
        ('class NotFound(dict): pass\nNotFound("no code")', []),
    ],
)
def test_codes_are_found_however_they_are_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, codes: list[str] | str
) -> None:
    made = reference()
    head = "from holdfast.errors import NotFound\n" if "class NotFound" not in source else ""
    (tmp_path / "one.py").write_text(head + source)
    (tmp_path / "errors.py").write_text("class HoldfastError(Exception): pass\n")
    with (tmp_path / "errors.py").open("a") as errors:
        errors.write("class NotFound(HoldfastError): pass\n")
    monkeypatch.setattr(made, "SOURCE", tmp_path)
    assert sorted(made.codes().errors) == (codes.split() if isinstance(codes, str) else codes)


def test_a_code_that_cannot_be_read_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = reference()
    (tmp_path / "errors.py").write_text(
        'class HoldfastError(Exception): pass\nHoldfastError(f"{some}_thing", "…")\n'
    )
    monkeypatch.setattr(made, "SOURCE", tmp_path)
    with pytest.raises(SystemExit, match=r"which code is f'\{some\}_thing'"):
        made.codes()


def test_the_page_of_errors_has_every_class() -> None:
    text = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    kinds, waiting = set[str](), [HoldfastError]
    for kind in waiting:
        kinds.add(kind.__name__)
        waiting += kind.__subclasses__()
    assert {kind for kind in kinds if f"\n## {kind}\n" in text} >= kinds - {"HandlerExited"}


def test_every_command_has_its_place_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    headings = re.findall(r"^### holdfast (.+)$", text, re.MULTILINE)
    assert headings == COMMANDS


def test_every_name_of_the_package_is_in_the_reference() -> None:
    pages = [page for page in PAGES if page.parent.name == "reference"]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    assert [name for name in holdfast.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_every_table_has_its_place_in_the_design() -> None:
    schema = (ROOT / "src/holdfast/storage/sqlite/schema.sql").read_text("utf-8")
    tables = set(re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", schema, re.MULTILINE))
    text = (ROOT / "docs" / "design" / "engine.md").read_text("utf-8")
    listed = text.partition("## The tables")[2].partition("\n## ")[0]
    named = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`.*?) \|", listed, re.MULTILINE)))
    assert sorted(named) == sorted(tables - {"entry_places", "message_places"})


def test_decisions_are_numbered_in_a_row() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        assert page.read_text("utf-8").startswith(f"# {int(page.name[:4])}. ")


# What all pages keep


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{target} leads nowhere"
        assert linked.is_relative_to(ROOT)
        if anchor:
            assert anchor in anchors(linked), f"{target} has no such heading"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_name_no_machine(page: Path) -> None:
    text = page.read_text("utf-8")
    assert str(ROOT) not in text
    assert re.findall(r"(?<![\w.~$])/(?:home|root|Users|tmp)/\S*", text) == []
    assert re.findall(r"https?://(?!(?:www\.)?example\.|x\b)\S+", text) == []


def test_commands_that_the_pages_name_exist() -> None:
    """In what is said of today; the table of features speaks of what is to come, too, and pages
    of the design write file formats that begin with our name."""
    unknown: list[str] = []
    for page in PAGES:
        if page.name == "features.md" or page.parent.name == "design":
            continue
        named = re.findall(r"`holdfast ([a-z][a-z ]*)", page.read_text("utf-8"))
        unknown += [f"{name_of(page)}: holdfast {words}" for words in named if not exists(words)]
    assert unknown == []


def exists(words: str) -> bool:
    """Whether these are the first words of a command."""
    noun, *rest = words.split()
    found = [each for each in TABLE.nouns if each.name == noun]
    verbs = {command.verb for each in found for command in commands_of(each)}
    return bool(verbs) and (not rest or rest[0] in verbs or "" in verbs)


def test_commands_that_a_cure_names_exist() -> None:
    """A hint that names a command is followed to the letter."""
    unknown: list[str] = []
    for file in sorted((ROOT / "src" / "holdfast").rglob("*.py")):
        for text in cures(ast.parse(file.read_text("utf-8"))):
            named = re.findall(r"(?:^|`|, or |, then |: )holdfast ([a-z][a-z ]*)", text)
            unknown += [
                f"{name_of(file)}: holdfast {words}" for words in named if not exists(words)
            ]
    assert unknown == []


def cures(module: ast.Module) -> list[str]:
    """The texts of `hint=` and `cure=`, of constants that hold such, and those in backticks."""
    found: list[str] = []
    for node in ast.walk(module):
        match node:
            case ast.keyword(arg="hint" | "cure", value=value):
                found += [text for each in ast.walk(value) for text in texts(each)]
            case ast.Assign(targets=[ast.Name(id="RESTORE" | "REPAIR")], value=value):
                found += texts(value)
            case _:
                found += [text for text in texts(node) if "`holdfast " in text]
    return found


def texts(node: ast.AST) -> list[str]:
    found = node.value if isinstance(node, ast.Constant) else None
    return [found] if isinstance(found, str) else []
