"""Whatever the words, the environment and the workspace.yml: a result or a clear error, no more.

Every call ends with an exit code of ours and never as `internal`; with `--json` both streams hold
nothing but JSON; what fails has a hint; and no file is touched but the vault that was named and a
new workspace.yml.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from cli_snapshot import Result, run, run_inside
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from holdfast.cli import opening
from holdfast.cli.commands import TABLE
from holdfast.cli.grammar import commands_of, own_options
from holdfast.cli.kinds import FLAG
from holdfast.cli.parse import before_dashes
from holdfast.engine.workspace import TEMPLATE, parse_workspace
from holdfast.wiring import open_vault, vault_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from holdfast.cli.grammar import Option, Param

KEY = "raw:" + "5a" * 32
NOUNS = [noun for noun in TABLE.nouns if noun.name != "demo"]  # which runs programs
COMMANDS = [(noun, command) for noun in NOUNS for command in commands_of(noun)]

# What a program can be started with: no NUL, and bytes that are no UTF-8 as lone surrogates. Paths
# lead nowhere but below the folder of the test.
TEXT = st.text(
    st.characters(exclude_characters="\0", exclude_categories=("Cs",))
    | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF),
    max_size=12,
).filter(lambda text: not text.startswith("/") and ".." not in text)
NUMBER = st.sampled_from(["0", "1", "3", "5", "20", "999", "-1", "9" * 18, "1e3", "٣", ""])
MOMENT = st.sampled_from(
    [
        *("2026-01-01", "yesterday", "now", "2h", "7d", "9999999w", "0001-01-01", "9999-12-31"),
        *("9999-12-31T23:59:59-23:59", "0001-01-01T00:00+23:59", "2026-02-30", "1"),
    ]
)
WORD = st.sampled_from(
    [
        *("", "-", "--", "=", "k=v", "k=w", "x" * 300, "\x1b[2J", "fact", "default", "app", "N"),
        *("narrative", "f0", "f1", "helper", "human:local", "60094b849e906-9", "note", "7fff-1"),
    ]
)
VALUE = WORD | NUMBER | MOMENT | TEXT
PLACE = st.sampled_from(
    [
        *("vault", "secret", "new", "new/deeper", "file", "place", ".", "a" * 300, "bad\nname"),
        *("sqlite:///vault/vault.db", "sqlite:///new.db", "sqlite:///new%20one.db", "memory:"),
        *("postgresql://x", "https://x", "file:x", "~", "vault/vault.db", "ünï"),
    ]
)
OF_KIND = {
    "N": NUMBER,
    "TOKENS": NUMBER,
    "REVISION": NUMBER,
    "MOMENT": MOMENT | NUMBER,
    "TIME": MOMENT,
    "NAME": WORD | TEXT,
    "TEXT": WORD | TEXT,
    "KEY=VALUE": st.sampled_from(["k=v", "k=w", "a=\udcff", "=", "k"]) | TEXT,
    "FOLDER": st.sampled_from([".", "place", "vault", "new", "file", "a" * 300]) | TEXT,
}
OF_NAME = {
    "--vault": PLACE,
    "--key-file": st.sampled_from(["key", "open-key", "file", "none", "."]),
}


def value_of(param: Param) -> SearchStrategy[str]:
    if param.name in OF_NAME:
        return OF_NAME[param.name]
    if param.kind.choices:
        return st.sampled_from(param.kind.choices)
    return OF_KIND.get(param.kind.metavar, VALUE)


def option_words(option: Option) -> SearchStrategy[list[str]]:
    if option.kind is FLAG:
        return st.just([option.name])
    glued = value_of(option).map(lambda text: [f"{option.name}={text}"])
    return glued | value_of(option).map(lambda text: [option.name, text])


@st.composite
def command_words(draw: DrawFn) -> list[str]:
    """A command with values that fit, mostly."""
    noun, command = draw(st.sampled_from(COMMANDS))
    words = [noun.name, *([command.verb] if command.verb else [])]
    options = [one for one in (*TABLE.options, *own_options(TABLE, command)) if not one.instead]
    for option in draw(st.lists(st.sampled_from(options), max_size=4, unique=True)):
        words += draw(option_words(option))
    for argument in command.arguments:
        if argument.required or draw(st.booleans()):
            words.append(draw(value_of(argument)))
    if draw(st.integers(0, 9)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(VALUE))
    return words


ARGV = command_words()
ANY_WORDS = st.lists(VALUE | st.sampled_from(["--help", "-h", "-qy", "-V", "--json"]), max_size=6)
ENV = st.fixed_dictionaries(
    {},
    optional={
        "HOLDFAST_VAULT": PLACE,
        "HOLDFAST_SPACE": VALUE,
        "HOLDFAST_SESSION": VALUE,
        "HOLDFAST_AGENT": VALUE,
        "HOLDFAST_USER": VALUE,
        "HOLDFAST_KEY": st.sampled_from([KEY, KEY[:-1], "raw:" + "0" * 64, "keyring:", " "]),
        "HOME": st.sampled_from(["", "relative", "file", "HERE"]),
        "XDG_DATA_HOME": st.sampled_from(["", "relative", "HERE"]),
        "NO_COLOR": VALUE,
        "TERM": VALUE,
        "COLUMNS": VALUE,
        "LANG": VALUE,
    },
)
YAML_WORDS = [
    *("name", "memory", "own", "strategy", "type", "narrative", "short_term", "keep", "ttl"),
    *(":", ": ", "- ", "\n", "  ", "\t", "*a", "{", "}", "[", "]", "'", '"', "|", "%", "!!"),
    *("\0", "7", "~", "session", "30d", "app", "\r", "#", "?", "<<", "---\n", "1e999", "0o7"),
]
STORE = (
    "name: {0}\nmemory:\n  own:\n    - {{name: {1}, type: {2}, strategy: {3}, {4}: {5}}}\n".format
)
FIELD = st.sampled_from([*YAML_WORDS, "long_term", "n", "priority", "50", "-1", "null"]) | TEXT
WORKSPACE = st.one_of(
    st.none(),
    st.sampled_from(["", "name: app\n", "memory: {own: []}\n", "\ufeffname: app\r\n"]),
    st.lists(st.sampled_from(YAML_WORDS) | TEXT, max_size=25).map("".join),
    st.builds(STORE, FIELD, FIELD, FIELD, FIELD, FIELD, FIELD),
).map(lambda text: None if text is None else text.encode(errors="surrogateescape")) | st.binary(
    max_size=40
)


class World:
    """A folder with a plain vault, an encrypted one, keys, and a file that is neither.

    It is put back before each call; what a call opens and touches is watched.
    """

    def __init__(self, base: Path) -> None:
        self.folder = base / "world"
        self._pristine = base / "pristine"
        self._opened: set[str] = set()
        self._before: dict[Path, bytes] = {}
        (self._pristine / "place").mkdir(parents=True)
        for name, key in (("vault", None), ("secret", KEY)):
            with holdfast.open(self._pristine / name, key=key) as vault:
                for number in range(3):
                    vault.space().notes().save(f"fact {number}", id=f"f{number}")
                file = self.folder / "place" / "workspace.yml"
                vault.declare(parse_workspace(TEMPLATE.format(name="app"), file))
                vault.space("app").start_session("open")
        for name, mode in (("key", 0o600), ("open-key", 0o644)):
            (self._pristine / name).write_text(KEY)
            (self._pristine / name).chmod(mode)
        (self._pristine / "file").write_text("nothing of ours")

    def renew(self, workspace: bytes | None = None, cwd: str = "place") -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._pristine, self.folder)
        if workspace is not None:
            (self.folder / cwd / "workspace.yml").write_bytes(workspace)
        self._opened.clear()
        self._before = self._contents()

    def call(
        self, argv: list[str], env: dict[str, str] | None = None, stdin: bytes = b"", cwd: str = ""
    ) -> Result:
        os.chdir(self.folder / (cwd or "place"))
        return run_inside(argv, stdin, self.environment(env or {}))

    def environment(self, env: dict[str, str]) -> dict[str, str]:
        folder = str(self.folder)
        here = {name: value.replace("HERE", folder) for name, value in env.items()}
        return {"HOLDFAST_VAULT": f"{folder}/vault", **here}

    def open(self, where: str, *, create: bool, **given: object) -> object:
        file = vault_file(where)
        if file is not None:
            self._opened.add(os.path.realpath(file))
            self._opened.add(os.path.realpath(file.parent / "preferences"))  # the vault's own
        return open_vault(where, create=create, **given)  # pyright: ignore[reportArgumentType]

    def changed(self) -> list[Path]:
        now, before = self._contents(), self._before
        return [path for path in {*before, *now} if before.get(path) != now.get(path)]

    def strangers(self) -> list[Path]:
        """What was touched beside the vaults that were opened and new files workspace.yml."""
        return [
            path
            for path in self.changed()
            if not str(path).startswith(tuple(self._opened))
            and not (path.name == "workspace.yml" and path not in self._before)
        ]

    def _contents(self) -> dict[Path, bytes]:
        return {each: each.read_bytes() for each in self.folder.rglob("*") if each.is_file()}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("base"))


@pytest.fixture
def world(base: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "open_vault", base.open)
    return base


def check(argv: list[str], result: Result) -> None:
    assert result.exit in (0, 1, 2), result
    assert "Traceback" not in result.stderr
    assert "internal" not in result.stderr, result.stderr
    if "--json" in before_dashes(argv):
        for line in result.stdout.splitlines():
            json.loads(line)
        said = [json.loads(line) for line in result.stderr.splitlines()]
        errors = [line["error"] for line in said if "error" in line]
        assert all(set(line) <= {"error", "warning"} for line in said)
        assert all(error["code"] and error["message"] and error["hint"] for error in errors)
    else:
        errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    found_by_looking = argv[:1] in (["verify"], ["doctor"])  # say it on standard output
    assert bool(errors) == (result.exit != 0) or found_by_looking, result


@given(
    argv=ARGV | ANY_WORDS,
    env=ENV,
    workspace=WORKSPACE,
    stdin=st.binary(max_size=8),
    cwd=st.sampled_from(["place", ".", "vault"]),
)
def test_any_call_ends_with_a_result_or_a_clear_error(
    world: World,
    argv: list[str],
    env: dict[str, str],
    workspace: bytes | None,
    stdin: bytes,
    cwd: str,
) -> None:
    world.renew(workspace, cwd)
    result = world.call(argv, env, stdin, cwd)
    check(argv, result)
    assert world.strangers() == []
    if result.exit == 2:
        assert world.changed() == [], "wrong usage changes nothing"


@given(workspace=WORKSPACE)
def test_any_workspace_is_applied_or_named_as_wrong(world: World, workspace: bytes | None) -> None:
    world.renew(workspace)
    for argv in (["context", "--json"], ["note", "save", "x", "--json"], ["space", "show"]):
        result = world.call(argv)
        check(argv, result)
        if '"workspace_' in result.stderr:
            assert f"{world.folder}/place/workspace.yml" in result.stderr
    assert world.strangers() == []


@given(argv=ARGV, env=ENV)
@settings(max_examples=6)
def test_a_process_of_its_own_does_the_same(
    base: World, argv: list[str], env: dict[str, str]
) -> None:
    base.renew()
    check(argv, run(argv, env=base.environment(env), cwd=base.folder))
