"""Imports point one way, and importing the package is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import bisimetric

ROOT = Path(bisimetric.__file__).parent

# From the ground up, by folder, or by file for those that stand directly in the package. A module may import from its
# own layer and from below, at module level, inside functions and for type checkers alike.
LAYERS: list[set[str]] = [
    {"", "errors", "_support"},  # the package itself loads nothing else, and offers its modules only its version
    {"kernels"},
    {"models", "linear"},
    {"cost", "environments"},
    {"problems"},
    {"operators"},
    {"couplings"},
    {"certificates"},
    {"sharding"},
    {"solvers"},
    {"solving"},
    {"io"},
    {"readers"},
    {"_distance", "bisimulation", "many", "objectives"},
    {"estimation"},
    {"learning"},
    {"torch", "jax"},
    {"views", "plot"},
    {"experiments"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
HEAVY = (
    "numba", "matplotlib", "textalloc", "vl_convert", "networkx", "gymnasium", "stormpy", "pandas", "pyarrow",
    "sklearn", "hmmlearn", "torch", "jax", "ray", "highspy", "ot", "rich", "joblib",
)  # fmt: skip


def module_name(path: Path) -> str:
    """Dotted name inside the package: `kernels.check`, `` for the package itself."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def statements(body):
    """Statements that run on import, without those for the type checker."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from statements(node.orelse)
            continue
        yield node
        for inner in ("body", "orelse", "finalbody", "handlers"):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from statements(getattr(node, inner, []))


@cache
def imports(name: str, *, lazy: bool = False) -> set[str]:
    """Modules that a source file imports at module level, or anywhere if `lazy`."""
    tree = ast.parse(SOURCES[name].read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree) if lazy else statements(tree.body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {full for full in inside if full.removeprefix("bisimetric.") in SOURCES}
            found |= modules if len(modules) == len(inside) else modules | {str(node.module)}
    return found


def own(name: str, *, lazy: bool = False) -> set[str]:
    """Modules of this package that a module imports at module level, or anywhere if `lazy`."""
    return {
        full.removeprefix("bisimetric").removeprefix(".")
        for full in imports(name, lazy=lazy)
        if full == "bisimetric" or full.startswith("bisimetric.")
    }


def rank(name: str) -> int:
    """The layer of a module, by its first part."""
    return RANK[name.split(".")[0]]


def test_there_is_something_to_look_at():
    """The parser sees the package, and sees imports."""
    assert {"solving.solve", "kernels.check", "solvers.base", ""} <= set(SOURCES)
    assert "certificates.interval" in own("solving.solve")
    assert "kernels" in own("operators.bellman")
    assert set(RANK) == {name.split(".")[0] for name in SOURCES}


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {""}))
def test_imports_point_down(name):
    """No module imports from a layer above its own: not in a function either, nor for the type checker."""
    above = {other for other in own(name, lazy=True) if rank(other) > rank(name)}
    assert not above, f"{name} imports {sorted(above)} from above"


def calls(name: str, function: str) -> list[str]:
    """The first arguments of all calls of a function in a module, as they are written."""
    nodes = ast.walk(ast.parse(SOURCES[name].read_text(encoding="utf-8")))
    found = [node for node in nodes if isinstance(node, ast.Call) and node.args]
    return [ast.unparse(node.args[0]) for node in found if getattr(node.func, "id", None) == function]


def test_methods_reach_up_only_through_the_front():
    """The table in the package's front says which methods work in a room above their class."""
    used = {}
    for name in SOURCES:
        for text in calls(name, "method_above"):
            method = ast.literal_eval(text)
            assert method not in used, f"{method} is looked up in {used[method]} and in {name}"
            used[method] = name
    assert set(used) == set(bisimetric.METHODS_ABOVE)
    for method, home in bisimetric.METHODS_ABOVE.items():
        module, _, function = home.rpartition(".")
        assert rank(module) > rank(used[method]), f"{used[method]} may import {module}"
        assert callable(getattr(import_module(f"bisimetric.{module}"), function))
        kind, _, attribute = method.partition(".")
        assert callable(getattr(getattr(import_module(f"bisimetric.{used[method]}"), kind), attribute))


def test_only_the_front_loads_modules_of_the_package_by_name():
    """A module's name in a string would hide where an import points."""
    users = set()
    for name in SOURCES:
        loaded = calls(name, "import_module") + calls(name, "__import__")
        users |= {name for text in loaded if "bisimetric" in text or "package" in text}
    assert users == {"_support.lazy"}


def test_modules_take_names_from_where_they_live():
    """Nobody inside the package goes through its lazy front, which would hide where an import points."""
    assert own("") == {"_support.lazy"}
    for name, path in SOURCES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if name and isinstance(node, ast.ImportFrom) and node.module == "bisimetric":
                assert all(alias.name == "__version__" or alias.name in SOURCES for alias in node.names), name


def test_no_circles():
    """Module-level imports form no circle, inside a layer either."""
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> None:
        assert name not in path, f"circle: {' → '.join([*path, name])}"
        if name in done or name not in SOURCES:
            return
        path.append(name)
        for other in own(name):
            if other != name:
                visit(other)
        path.pop()
        done.add(name)

    for name in SOURCES:
        visit(name)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.split(".")[0] == "kernels"])
def test_kernels_know_nothing_of_the_package(name):
    """Kernels import kernels, anywhere in the file; else only what loads names late, stops Ctrl-C, or stops clocks."""
    others = {full for full in imports(name, lazy=True) if full.split(".")[0] == "bisimetric"}
    allowed = (
        "bisimetric.kernels",
        "bisimetric._support.compiling",
        "bisimetric._support.lazy",
        "bisimetric._support.memory",
        "bisimetric._support.threads",
    )
    assert all(full.startswith(allowed) for full in others)


def test_numba_stays_in_its_folder():
    """Nobody else imports it, lazily either."""
    users = {name for name in SOURCES if any(full.split(".")[0] == "numba" for full in imports(name, lazy=True))}
    assert users
    assert all(name.split(".")[0] == "kernels" for name in users)


@pytest.mark.parametrize("library", ["matplotlib", "sklearn", "textalloc", "vl_convert"])
def test_drawing_stays_in_its_folder(library):
    """Only views import it, lazily; a few others name its types, and one extends them: it is loaded on first use."""
    typed = {"estimation.comparison", "_support.viewed", "experiments.experiment"}
    extends = {"many.estimator"} if library == "sklearn" else set()
    users = {name for name in SOURCES if any(full.split(".")[0] == library for full in imports(name, lazy=True))}
    assert users - typed - extends
    assert all(name.split(".")[0] == "views" for name in users - typed - extends)
    assert not any(full.split(".")[0] == library for name in users - extends for full in imports(name))


def test_the_checker_is_independent():
    """kernels/check.py shares no code with the kernels whose proposals it checks."""
    assert imports("kernels.check", lazy=True) <= {
        "__future__.annotations",
        "__future__",
        "numpy",
        "bisimetric.kernels._compile",
        "bisimetric.kernels.layout",  # declarations
    }


BASES = {
    "solvers.policy_iteration",  # of the sharded one
    "solvers.base",
    "solvers.sinkhorn",
    "solvers.sinkhorn.alternating",
    "solvers.sinkhorn.entropic",
    "solvers.sinkhorn.phases",
    "solvers.sinkhorn.step_size",
}


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith("solvers.") and name != "solvers.base"])
def test_solvers_do_not_import_one_another(name):
    """A solver knows the base, perhaps that of its family, and the operator."""
    assert not {other for other in own(name) if other.startswith("solvers") and other not in BASES}


LOADED = f"""
import sys
import bisimetric
print(*[name for name in {HEAVY!r} if name in sys.modules])
"""


def test_import_is_light():
    """`import bisimetric` loads neither numba nor any extra."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    assert done.stderr == ""


def test_the_package_offers_what_it_lists():
    """Names are loaded when one is used; the table, what type checkers see and what is offered agree."""
    tree = ast.parse(SOURCES[""].read_text(encoding="utf-8"))
    typed = {
        (str(node.module).removeprefix("bisimetric").removeprefix("."), alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    table = {(home, name) for name, home in bisimetric.HOMES.items()}
    assert typed == table | {("", name) for name in bisimetric.MODULES}
    assert dir(bisimetric) == sorted(bisimetric.__all__)
    assert all(getattr(bisimetric, name) is not None for name in bisimetric.__all__)
    assert not {name for name in SOURCES if name in bisimetric.HOMES}, "a module would hide the function of its name"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bisimetric.nothing
