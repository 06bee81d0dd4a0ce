"""Write `aio.pyi`, the types of the async face, from the source of the sync API.

A public method of a face becomes a coroutine of the same arguments; one made by `@contextmanager`
an async context manager; what gave an iterator gives a list; what gave a face gives the async one.
Properties stay, and plain attributes become such, since nobody sets them through a face. What this
program does not understand ends it, so that no type is ever a guess.
"""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from copy import deepcopy
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from holdfast import aio, wiring

STUB = Path(aio.__file__).with_suffix(".pyi")
OPENER = wiring.open_vault
FACES = {(face.__module__, face.__name__) for face in aio.FACES}
TOOL = ("holdfast.ports", "Tool")
ITERATORS = {("collections.abc", "Iterator"), ("collections.abc", "Generator")}

HEAD = "# Made by tools/aio_stub.py from the sync API.\n"
IMPORTS = {
    "AbstractAsyncContextManager": "contextlib",
    "Any": "typing",
    "Final": "typing",
    "Generator": "collections.abc",
    "Generic": "typing",
    "Protocol": "typing",
    "TracebackType": "types",
    "TypeVar": "typing",
}
BASE = """
_T_co = TypeVar("_T_co", covariant=True)

FACES: Final[tuple[type, ...]]
THREADS: Final[int]

class Call(Generic[_T_co]):
    def __await__(self) -> Generator[Any, None, _T_co]: ...
    async def __aenter__(self) -> _T_co: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None: ...

class Tool(Protocol):
    __name__: str
    async def __call__(self, **arguments: object) -> object: ...
"""
OURS = {"Call", "FACES", "THREADS", "Tool", "open", *(face.__name__ for face in aio.FACES)}


class Source:
    """A module: its tree, and what each name at its top stands for, as (module, name)."""

    def __init__(self, module: str) -> None:
        spec = find_spec(module)
        assert spec is not None, module
        assert spec.origin is not None, module
        self.module = module
        self.top = _unfolded(ast.parse(Path(spec.origin).read_text("utf-8")).body)
        self.names: dict[str, tuple[str, str]] = {}
        for node in self.top:
            self._learn(node)

    def _learn(self, node: ast.stmt) -> None:
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    self.names[alias.asname or alias.name] = (module, alias.name)
            case ast.Import(names=names):
                for alias in names:
                    self.names[alias.asname or alias.name] = (alias.name, "")
            case ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                self.names[name] = (self.module, name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                self.names[name] = (self.module, name)
            case _:
                pass

    def class_named(self, name: str) -> ast.ClassDef:
        return next(n for n in self.top if isinstance(n, ast.ClassDef) and n.name == name)

    def meant(self, node: ast.expr) -> tuple[str, str] | None:
        """What a name, or a name in a module, stands for; None for what is built in."""
        match node:
            case ast.Name(id=name) if name in self.names:
                return self.names[name]
            case ast.Name(id=name) if hasattr(builtins, name):
                return None
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.names:
                module, inner = self.names[name]
                return (f"{module}.{inner}" if inner else module), attribute
            case _:
                raise SystemExit(f"{self.module}: what is {ast.unparse(node)}?")


source = cache(Source)


def _unfolded(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, with those that stand under `if TYPE_CHECKING` beside them."""
    return [
        inner
        for node in body
        for inner in (_unfolded(node.body) if isinstance(node, ast.If) else [node])
    ]


class Types(ast.NodeTransformer):
    """Annotations of a module as the stub writes them, and the imports that they need."""

    def __init__(self, imports: dict[str, str], where: Source, hidden: set[str]) -> None:
        self.imports = imports
        self.where = where
        self.hidden = hidden  # names that mean something else where the annotation will stand
        self.is_result = False

    def argument(self, node: ast.expr | None) -> ast.expr | None:
        self.is_result = False
        return node and self.visit(deepcopy(node))

    def result(self, node: ast.expr | None) -> ast.expr:
        """What a result is in the async face: what came one by one is a list."""
        item = self.item(node)
        if item is not None:
            return ast.Subscript(self._builtin("list"), item)
        assert node is not None
        return self.visit(deepcopy(node))

    def item(self, node: ast.expr | None) -> ast.expr | None:
        """What an iterator gives; None where the result is no iterator."""
        self.is_result = True
        match node:
            case None:
                raise SystemExit(f"{self.where.module}: a result has no annotation")
            case ast.Subscript(value=ast.Name() as name, slice=given) if (
                self.where.meant(name) in ITERATORS
            ):
                first = given.elts[0] if isinstance(given, ast.Tuple) else given
                return self.visit(deepcopy(first))
            case _:
                return None

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._written(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._written(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str):
            return self.visit(ast.parse(node.value, mode="eval").body)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if self.where.meant(node.value) == ("typing", "Literal"):
            return ast.Subscript(self._written(node.value), node.slice)
        return ast.Subscript(self.visit(node.value), self.visit(node.slice))

    def _written(self, node: ast.expr) -> ast.expr:
        meant = self.where.meant(node)
        if meant is None:
            return self._builtin(ast.unparse(node))
        module, name = meant
        if meant in FACES or meant == TOOL:
            if not self.is_result:
                raise SystemExit(f"{self.where.module}: a face takes no other as argument: {name}")
            return ast.Name(name)
        if name in OURS or self.imports.setdefault(name, module) != module:
            raise SystemExit(f"{self.where.module}: two things are called {name}")
        return ast.Name(name)

    def _builtin(self, name: str) -> ast.expr:
        if name not in self.hidden:
            return ast.Name(name)
        self.imports["builtins"] = ""
        return ast.Attribute(ast.Name("builtins"), name)


def signature(found: ast.FunctionDef, types: Types) -> ast.arguments:
    given = deepcopy(found.args)
    lists = (given.posonlyargs, given.args, given.kwonlyargs, [given.vararg, given.kwarg])
    for argument in (one for some in lists for one in some if one is not None):
        argument.annotation = types.argument(argument.annotation)
    given.defaults = [ast.Constant(...) for _ in given.defaults]
    given.kw_defaults = [value and ast.Constant(...) for value in given.kw_defaults]
    return given


def method(found: ast.FunctionDef, types: Types) -> str:
    """One public method, or entering and leaving."""
    name = found.name.replace("__e", "__ae")
    arguments = ast.unparse(signature(found, types))
    match [ast.unparse(mark) for mark in found.decorator_list]:
        case []:
            result = ast.unparse(types.result(found.returns))
            return f"async def {name}({arguments}) -> {result}: ..."
        case ["property"]:
            result = ast.unparse(types.result(found.returns))
            return f"@property\ndef {name}({arguments}) -> {result}: ..."
        case ["contextmanager"] if item := types.item(found.returns):
            result = f"AbstractAsyncContextManager[{ast.unparse(item)}]"
            return f"def {name}({arguments}) -> {result}: ..."
        case marks:
            raise SystemExit(f"{types.where.module}: what does {marks} make of {name}?")


def attributes(found: ast.ClassDef, types: Types) -> dict[str, str]:
    """The public attributes that the class declares, or that `__init__` takes from what it got."""
    kinds = {name: types.result(kind) for name, kind in _declared(found).items()}
    for node in found.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            given = {argument.arg: argument.annotation for argument in node.args.args}
            for line in node.body:
                match line:
                    case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                        if not name.startswith("_") and name not in kinds:
                            kinds[name] = _kind_of(value, given, types)
                    case _:
                        pass
    return {
        name: f"@property\ndef {name}(self) -> {ast.unparse(kind)}: ..."
        for name, kind in kinds.items()
    }


def _declared(found: ast.ClassDef) -> dict[str, ast.expr]:
    return {
        node.target.id: node.annotation
        for node in found.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not node.target.id.startswith("_")
    }


def _kind_of(value: ast.expr, given: dict[str, ast.expr | None], types: Types) -> ast.expr:
    """The type of an argument, or of a declared attribute or property of an argument."""
    match value:
        case ast.Name(id=name) if given.get(name):
            return types.result(given[name])
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if kind := given.get(name):
            module, of = types.where.meant(kind) or ("builtins", "object")
            there = source(module)
            owner = there.class_named(of)
            results = [
                n.returns
                for n in owner.body
                if isinstance(n, ast.FunctionDef)
                if n.name == attribute
            ]
            for found in (*results, _declared(owner).get(attribute)):
                if found is not None:
                    return Types(types.imports, there, types.hidden).result(found)
        case _:
            pass
    raise SystemExit(f"{types.where.module}: say the type of {ast.unparse(value)} in the class")


def face(sync: type, imports: dict[str, str]) -> str:
    members: dict[str, str] = {}
    hidden = {name for name in dir(sync) if not name.startswith("_")} | {"open"}
    for base in sync.__mro__[:-1]:
        types = Types(imports, source(base.__module__), hidden)
        found = types.where.class_named(base.__name__)
        for name, text in attributes(found, types).items():
            members.setdefault(name, text)
        for node in found.body:
            if isinstance(node, ast.FunctionDef) and _is_public(node.name):
                members.setdefault(node.name, method(node, types))
    lines = "\n".join(members.values()).replace("\n", "\n    ")
    return f"\nclass {sync.__name__}:\n    {lines}\n"


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__enter__", "__exit__")


def opener(imports: dict[str, str]) -> str:
    where = source(OPENER.__module__)
    found = next(
        n for n in where.top if isinstance(n, ast.FunctionDef) and n.name == OPENER.__name__
    )
    types = Types(imports, where, {"open"})
    arguments = ast.unparse(signature(found, types))
    result = f"Call[{ast.unparse(types.result(found.returns))}]"
    return f"\ndef open(  # noqa: A001\n    {arguments}\n) -> {result}: ...\n"


def stub() -> str:
    imports = dict(IMPORTS)
    body = BASE + opener(imports) + "".join(face(sync, imports) for sync in aio.FACES)
    lines = [f"from {at} import {name}" if at else f"import {name}" for name, at in imports.items()]
    text = HEAD + "\n".join(lines) + "\n" + body
    return _ruff("format", "-", text=_ruff("check", "--fix-only", "--select=I", "-", text=text))


def _ruff(*words: str, text: str) -> str:
    """The text, as ruff leaves it for a file at the stub's place."""
    command = [sys.executable, "-m", "ruff", *words, f"--stdin-filename={STUB}", "--quiet"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
