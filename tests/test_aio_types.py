"""What a type checker and a reader are told of the async face is true."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aio_sample import kept

ROOT = Path(__file__).parent.parent


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("aio_stub", ROOT / "tools" / "aio_stub.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stub_is_what_the_sync_api_says() -> None:
    pytest.importorskip("ruff")
    made = tool()
    assert made.STUB.read_text("utf-8") == made.stub(), "run: python tools/aio_stub.py"


TYPED = """
from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import assert_type

from holdfast import aio
from holdfast.engine.vault import Status
from holdfast.model.problem import Problem
from holdfast.strategies.narrative import Saved


async def right(vault: aio.Vault) -> None:
    assert_type(await vault.space(), aio.Space)
    assert_type(await vault.status(), Status)
    assert_type(await vault.verify(), list[Problem])
    assert_type(vault.where, str)
    space = await vault.space("default")
    assert_type(space.session("x"), AbstractAsyncContextManager[aio.Space])
    async with space.session("x", agent="a") as here, aio.open("b", create=False) as other:
        assert_type(here, aio.Space)
        assert_type(other, aio.Vault)
        notes = await here.notes()
        task = asyncio.create_task(notes.save("x", id="y", metadata={"a": [1]}, key="k", expect=3))
        assert_type(await task, Saved)
        assert_type(await asyncio.wait_for(notes.save("x", origin="web"), 1), Saved)
        tools = await here.tools()
        assert_type(await tools[0](store="s"), object)
    opened = await aio.open("b", key="secret")
    async with opened as same:
        assert_type(same, aio.Vault)


async def wrong(vault: aio.Vault, notes: aio.Notes) -> None:
    await notes.save(1)  # reportArgumentType
    await notes.save("x", "y")  # reportCallIssue
    await notes.save("x", key=1)  # reportArgumentType
    await notes.save("x", origin="nowhere")  # reportArgumentType
    await notes.forget("x")  # reportAttributeAccessIssue
    notes.save("x")  # reportUnusedCoroutine
    vault.status().seq  # reportAttributeAccessIssue
    vault.caller = vault.caller  # reportAttributeAccessIssue
    await aio.open("b", creat=True)  # reportCallIssue
    with aio.open("b") as other:  # reportGeneralTypeIssues
        pass
    async with notes.save("x") as saved:  # reportGeneralTypeIssues
        pass
"""


def test_a_type_checker_takes_what_is_right_and_reports_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("basedpyright")
    program = tmp_path / "typed.py"
    program.write_text(TYPED, "utf-8")
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "extraPaths": [str(ROOT / "src")],
        "reportMissingModuleSource": False,
        "reportUnusedVariable": False,
        "reportUnusedExpression": False,
        "reportUnknownVariableType": False,
        "reportUnknownMemberType": False,
        "reportOptionalMemberAccess": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    said = subprocess.run(
        [sys.executable, "-m", "basedpyright", "-p", str(tmp_path), "--outputjson"],
        capture_output=True,
        text=True,
    ).stdout
    found = {
        (problem["range"]["start"]["line"], problem.get("rule"))
        for problem in json.loads(said)["generalDiagnostics"]
    }
    wanted = {
        (number, line.partition("  # ")[2])
        for number, line in enumerate(TYPED.splitlines())
        if "  # " in line
    }
    assert found == wanted


def test_the_programs_of_the_page_run(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "async.md").read_text("utf-8")
    said: list[str] = []
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page, re.DOTALL)):
        folder = tmp_path / str(number)
        folder.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", block], capture_output=True, text=True, cwd=folder
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        said.append(ran.stdout)
    assert said == ["\n", "", "The build is green\n"]
    assert kept(tmp_path / "0" / "memory") == ["Deploys go out on Tuesdays"]
    assert sorted(kept(tmp_path / "1" / "memory")) == sorted(f"fact {n}" for n in range(200))
