"""A second package adds a strategy: built, installed, declared, used on every surface, and refused
with its name where it is broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_snapshot import environment, run

from holdfast.errors import NotFound
from holdfast.strategies import STRATEGIES, keyvalue, narrative, transcript
from holdfast.strategies.plugins import lacks
from holdfast.testing import raises
from holdfast.testing.strategies import StrategyContract

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.engine.space import Space

SOURCE = Path(__file__).parent / "data" / "plugin"
WORKSPACE = """\
name: app
memory:
  own:
    - {name: words, strategy: tally, most: 2}
    - {name: notes, strategy: narrative}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package was installed into, as pip does it, without a network."""
    place = tmp_path_factory.mktemp("plugin")
    shutil.copytree(SOURCE, place / "source")
    target = place / "target"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-build-isolation", "--disable-pip-version-check", "--target", str(target)),
            str(place / "source"),
        ],
        check=True,
        capture_output=True,
    )
    return target


def python(target: Path, folder: Path, program: str) -> Any:
    """What a program prints as JSON, with the package on its path."""
    paths = [str(target), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PROGRAM = """
import json, holdfast
from pathlib import Path
from holdfast_tally import Tally
with holdfast.open("vault") as vault:
    space = vault.workspace(Path("workspace.yml"))
    tally = Tally(space.desk("tally", "words"))
    for word in ("bread", "tide", "bread", "sail"):
        tally.count(word)
    tools = {tool.__name__: tool for tool in space.tools()}
    told = tools["tally_count"]("tide", store="words")
    print(json.dumps({
        "counts": tally.counts(), "context": space.context().text, "told": told,
        "recalled": [hit.text for hit in space.recall("bread").hits],
        "problems": list(vault.verify()), "tools": sorted(tools),
    }))
"""


def test_a_package_adds_a_strategy_that_works_on_every_surface(
    tmp_path: Path, installed: Path
) -> None:
    (tmp_path / "workspace.yml").write_text(WORKSPACE)
    found = python(installed, tmp_path, PROGRAM)
    assert found["counts"] == {"bread": 2, "tide": 2, "sail": 1}
    assert found["told"] == 2
    assert found["recalled"] == ["bread"]
    assert found["problems"] == []
    assert {"tally_count", "memory_save"} <= set(found["tools"])
    heading = "## Words of app/words (the most frequent)"
    assert found["context"] == f"{heading}\n- bread: 2\n- tide: 2\nMore: memory_recall\n"

    env = {"HOLDFAST_VAULT": "vault", "PYTHONPATH": f"{installed}{os.pathsep}{_path()}"}
    shown = shell(tmp_path, env, "context")
    assert shown["text"].splitlines() == found["context"].splitlines()
    then = shell(tmp_path, env, "recall", "sail")
    assert [hit["label"] for hit in then["hits"]] == ["app/words"]
    doctor = shell(tmp_path, env, "doctor")
    assert [(p["name"], p["package"], p["problem"]) for p in doctor["plugins"]] == [
        ("tally", "holdfast-tally", "")
    ]


def _path() -> str:
    return environment()["PYTHONPATH"]


def shell(folder: Path, env: Mapping[str, str], *words: str, exit: int = 0) -> Any:
    done = run([*words, "--json"], env=env, cwd=folder)
    assert done.exit == exit, done.stderr
    return json.loads(done.stdout or done.stderr)


def test_without_the_package_its_store_is_a_clear_error_and_others_work(
    tmp_path: Path, installed: Path
) -> None:
    (tmp_path / "workspace.yml").write_text(WORKSPACE)
    python(installed, tmp_path, PROGRAM)
    env = {"HOLDFAST_VAULT": "vault"}
    shell(tmp_path, env, "note", "save", "still works", "--store", "notes")
    missing = shell(tmp_path, env, "context", exit=1)["error"]
    assert missing["code"] == "strategy_missing"
    assert "'tally'" in missing["message"]
    assert shell(tmp_path, env, "verify") == []


@pytest.mark.parametrize(
    ("breaks", "code", "said"),
    [
        ({"module": "import no_such_module"}, "plugin_broken", "No module named 'no_such_module'"),
        ({"module": "def"}, "plugin_broken", "SyntaxError"),
        ({"module": "1 / 0"}, "plugin_broken", "ZeroDivisionError"),
        ({"module": "NAME = 'other'"}, "plugin_unfit", "its NAME is 'other'"),
        ({"module": "NAME = 'tally'"}, "plugin_unfit", "its HOLDS is none of"),
        ({"points": "tally = holdfast_tally:gone"}, "plugin_broken", "AttributeError"),
        ({"points": "narrative = holdfast_tally"}, "plugin_clash", "which is built in"),
        ({"twice": "holdfast_other"}, "plugin_clash", "both offer the strategy tally"),
    ],
    ids=str,
)
def test_what_is_broken_or_clashes_names_the_package(
    tmp_path: Path, installed: Path, breaks: dict[str, str], code: str, said: str
) -> None:
    target = tmp_path / "target"
    shutil.copytree(installed, target)
    (info,) = target.glob("*.dist-info")
    if "module" in breaks:
        (target / "holdfast_tally.py").write_text(breaks["module"])
    if "points" in breaks:
        (info / "entry_points.txt").write_text(f"[holdfast.strategies]\n{breaks['points']}\n")
    if "twice" in breaks:
        other = target / "holdfast_other-1.0.dist-info"
        shutil.copytree(info, other)
        text = (other / "METADATA").read_text().replace("Name: holdfast-tally", "Name: zz-other")
        (other / "METADATA").write_text(text)
    program = """
import json
from holdfast.errors import HoldfastError
from holdfast.engine.spaces import offered
from holdfast.strategies import STRATEGIES
try:
    found = STRATEGIES["tally"].NAME
except HoldfastError as exc:
    found = [exc.code, exc.message, exc.hint]
print(json.dumps([found, [each.problem for each in offered()], STRATEGIES["narrative"].NAME]))
"""
    found, problems, narrative_name = python(target, tmp_path, program)
    assert narrative_name == "narrative"
    assert said in problems[0]
    assert "holdfast-tally" in problems[0]
    if "points" in breaks and "narrative" in breaks["points"]:
        assert found[0] == "strategy_missing"  # nothing else is of that name
    else:
        assert found[0] == code
        assert said in found[1]
        assert "holdfast-tally" in found[1]
        assert found[2]


def test_a_declaration_with_a_broken_package_says_file_and_line(
    tmp_path: Path, installed: Path
) -> None:
    target = tmp_path / "target"
    shutil.copytree(installed, target)
    (target / "holdfast_tally.py").write_text("import no_such_module")
    (tmp_path / "workspace.yml").write_text(WORKSPACE)
    env = {"HOLDFAST_VAULT": "vault", "PYTHONPATH": f"{target}{os.pathsep}{_path()}"}
    error = shell(tmp_path, env, "status", exit=1)["error"]
    assert error["code"] == "workspace_invalid"
    assert (
        f"{tmp_path}/workspace.yml:4: memory.own[0].strategy: the strategy tally of the package"
        in (error["message"])
    )
    assert "holdfast-tally 1.0" in error["message"]
    done = run(["doctor"], env={**env, "HOLDFAST_SPACE": "default"}, cwd=tmp_path)
    assert done.exit == 1
    assert "plugin_unusable: the package holdfast-tally 1.0" in done.stdout


def test_an_unknown_strategy_is_told_from_a_package_that_is_missing() -> None:
    with raises(NotFound, "strategy_missing"):
        STRATEGIES["no-such"]
    assert "no-such" not in STRATEGIES
    assert {"narrative", "skills"} <= set(STRATEGIES)


def test_no_command_looks_for_packages_that_it_does_not_need(tmp_path: Path) -> None:
    program = """
import sys, json, holdfast
with holdfast.open("vault") as vault:
    space = vault.space()
    space.notes().save("a fact")
    space.context(), space.tools(), space.recall("fact")
print(json.dumps("importlib.metadata" in sys.modules))
"""
    assert python(tmp_path, tmp_path, program) is False


def test_what_is_no_strategy_is_told_by_what_it_lacks() -> None:
    assert lacks("narrative", narrative) == ""
    assert lacks("Bad Name", narrative).startswith("'Bad Name' is no name")
    assert lacks("narrative", object()) == "its NAME is None"

    class Half:
        NAME, HOLDS, OPTIONS = "half", "entries", {"short_term": {}, "long_term": {}}

    assert lacks("half", Half) == "it has no check, block, accept, tools"
    Half.OPTIONS = {"long_term": {}}
    assert lacks("half", Half).startswith("its OPTIONS are not one mapping")


# The contract, bound to what is built in


class TestNarrative(StrategyContract):
    name = narrative.NAME

    def save(self, space: Space, store: str, text: str) -> None:
        space.notes(store).save(text)


class TestSkills(StrategyContract):
    name = "skills"

    def save(self, space: Space, store: str, text: str) -> None:
        name = f"s{abs(hash(text)) % 10**9}"
        space.skills(store).save(name, text, f"Body of {text}", anyway=True)


class TestKeyValue(StrategyContract):
    name = keyvalue.NAME
    shows = False
    logs = False

    def save(self, space: Space, store: str, text: str) -> None:
        space.kv(store=store).set(text[:20], text)


class TestTranscript(StrategyContract):
    name = transcript.NAME
    shows = False

    def save(self, space: Space, store: str, text: str) -> None:
        with space.session() as here:
            here.transcript(store).say("user", text)
