"""The page about processes is true: its programs run, its backend keeps the contract."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import holdfast.kernel
from holdfast.errors import HoldfastError
from holdfast.kernel import Agent, Kernel
from holdfast.ports import values as port
from holdfast.testing.backends import BackendContract

if TYPE_CHECKING:
    from holdfast.kernel import MemoryBackend

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reference" / "processes.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
SOURCES = [
    *(ROOT / "src" / "holdfast" / "kernel").glob("*.py"),
    ROOT / "src" / "holdfast" / "core" / "jsonvalue.py",
    ROOT / "src" / "holdfast" / "core" / "keyvalue.py",
    ROOT / "src" / "holdfast" / "ports" / "values.py",
    ROOT / "src" / "holdfast" / "storage" / "redis.py",
    *(ROOT / "src" / "holdfast" / "storage" / "postgres").glob("*.py"),
    ROOT / "src" / "holdfast" / "wiring" / "backends.py",
]


async def run(block: str, names: dict[str, Any]) -> None:
    code = compile(block, "processes.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.iscoroutine(result):
        await result


async def run_all() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "processes"}
    for block in BLOCKS:
        await run(block, names)
    await names["kernel"].shutdown()
    return names


@pytest.mark.row("C01", "C09", "C10", "C12", "C13", "C14", "C16", "C17")
def test_the_programs_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = asyncio.run(run_all())
    assert capsys.readouterr().out.endswith("CopyProgress(step='prove', done=4, of=4)\n")
    assert (tmp_path / "data" / "agents.db").exists()
    assert [each.name for each in (tmp_path / "checkpoints").iterdir()] == ["counter.json"]
    assert issubclass(names["TestJsonFileBackend"], BackendContract)


def backend_of_the_page() -> Any:
    (block,) = (block for block in BLOCKS if "class JsonFileBackend" in block)
    names: dict[str, Any] = {}
    asyncio.run(run(block, names))
    return names["JsonFileBackend"]


@pytest.mark.row("C02", "C03", "C08", "C09", "C10")
class TestTheBackendOfThePage(BackendContract):
    persistent = True

    async def open(self, folder: Path) -> MemoryBackend:
        return PageBackend(folder / "values.json")


PageBackend = backend_of_the_page()


@pytest.mark.row("C07", "C09", "C11", "C12", "C13")
def test_a_kernel_runs_on_the_backend_of_the_page_and_finds_its_values_again(
    tmp_path: Path,
) -> None:
    async def handler(ctx: Any) -> Any:
        await ctx.memory.set("short", 1, ttl_s=60)
        return await ctx.memory.increment("runs")

    async def once() -> tuple[Any, Any]:
        async with Kernel(PageBackend(tmp_path / "values.json")) as kernel:
            kernel.register(Agent("counter", handler))
            process = await kernel.spawn("counter")
            result = await kernel.execute(process.id)
            return result.output, await kernel.memory.stats_async()

    for number in (1, 2, 3):
        output, stats = asyncio.run(once())
        assert output == number
        assert stats == {"backend": "jsonfile", "namespaces": 1, "totalEntries": 2}


def test_the_page_names_every_code_and_every_capability() -> None:
    codes = set(re.findall(r"`([a-z_]+)`", PAGE[PAGE.index("## Codes") :]))
    found: set[str] = set()
    kinds = {kind.__name__ for kind in HoldfastError.__subclasses__()}
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in kinds:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found.add(str(first.value))
    assert found - codes == set()
    assert found >= {"quota", "value_changed", "process_crashed", "backend_closed"}
    for capability, methods in port.METHODS_OF.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{capability}` "))
        assert all(f"`{method}`" in row for method in methods)


def test_the_page_names_every_kind_of_event() -> None:
    kernel = (ROOT / "src" / "holdfast" / "kernel" / "kernel.py").read_text("utf-8")
    kinds = set(re.findall(r'"((?:process|execution):[a-z]+)"', kernel))
    assert len(kinds) == 9
    assert all(f"`{kind}`" in PAGE for kind in kinds)


def test_the_package_gives_every_name_that_it_lists() -> None:
    for name in holdfast.kernel.__all__:
        assert getattr(holdfast.kernel, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = holdfast.kernel.nothing
