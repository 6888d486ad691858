"""Imports point one way, and importing the package is light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bisimetric

ROOT = Path(bisimetric.__file__).parent

# From the ground up. A module may import from its own layer and from below, at module level. What is not
# listed (adapters, experiments) stands on top of the solve and below the command.
LAYERS: list[set[str]] = [
    {"_version", "_text", "_errors", "errors", "_background", "_frozen"},
    {"_options", "_stochastic", "_rounding", "kernels"},
    {"_chain", "_mdp", "_memory", "_parallel", "_partition"},
    {"_cost", "cost", "environments", "_krylov", "_direct", "_modes", "_step_size"},
    {"_linear"},
    {"_evaluation"},
    {"_problem"},
    {"_optimal", "_game", "_meeting", "_pairs"},
    {"_bellman"},
    {"_coupling", "_game_bellman", "_reachable"},
    {"_sinkhorn"},
    {"_averaging"},
    {"_certificate", "_game_certificate", "_lifting"},
    {"_starts", "solvers"},
    {"_solution", "_game_solution"},
    {"_lumping"},
    {"_task"},
    {"_solve"},
    {"_convert", "io", "views", "plot", "everything else"},
    {"_api"},
    {"cli", "", "__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
HEAVY = (
    "numba", "matplotlib", "plotly", "networkx", "gymnasium", "stormpy", "pandas", "pyarrow", "sklearn", "hmmlearn",
    "torch", "jax", "ray", "highspy", "ot", "typer", "rich", "joblib",
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


def own(name: str) -> set[str]:
    """Modules of this package that a module imports at module level."""
    return {
        full.removeprefix("bisimetric").removeprefix(".")
        for full in imports(name)
        if full == "bisimetric" or full.startswith("bisimetric.")
    }


def rank(name: str) -> int:
    """The layer of a module, by its first part."""
    return RANK.get(name.split(".")[0], RANK["everything else"])


def test_there_is_something_to_look_at():
    """The parser sees the package, and sees imports."""
    assert {"_solve", "kernels.check", "solvers.base", ""} <= set(SOURCES)
    assert "_certificate" in own("_solve")
    assert "kernels" in own("_bellman")
    assert set(RANK) - {"everything else", "__main__"} <= {name.split(".")[0] for name in SOURCES}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_imports_point_down(name):
    """No module imports from a layer above its own."""
    above = {other for other in own(name) if rank(other) > rank(name)}
    assert not above, f"{name} imports {sorted(above)} from above"


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
    """Kernels import kernels, anywhere in the file; their compiler also what keeps Ctrl-C away."""
    others = {full for full in imports(name, lazy=True) if full.split(".")[0] == "bisimetric"}
    if name == "kernels._compile":
        others = {full for full in others if not full.startswith("bisimetric._background")}
    assert all(full.startswith("bisimetric.kernels") for full in others)


def test_numba_stays_in_its_folder():
    """Nobody else imports it, lazily either."""
    users = {name for name in SOURCES if any(full.split(".")[0] == "numba" for full in imports(name, lazy=True))}
    assert users
    assert all(name.split(".")[0] == "kernels" for name in users)


@pytest.mark.parametrize("library", ["matplotlib", "sklearn"])
def test_drawing_stays_in_its_folder(library):
    """Only views import it, lazily; a few others name its types."""
    typed = {"_solution", "experiments._experiment"}
    users = {name for name in SOURCES if any(full.split(".")[0] == library for full in imports(name, lazy=True))}
    assert users - typed
    assert all(name.split(".")[0] == "views" for name in users - typed)
    assert not any(full.split(".")[0] == library for name in users for full in imports(name))


def test_the_checker_is_independent():
    """kernels/check.py shares no code with the kernels whose proposals it checks."""
    assert imports("kernels.check", lazy=True) <= {
        "__future__.annotations",
        "__future__",
        "numpy",
        "bisimetric.kernels._compile",
        "bisimetric.kernels.layout",  # declarations
    }


BASES = {"solvers.base", "solvers.alternating", "solvers.entropic"}


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
    """Names are loaded when one is used; the list and what type checkers see agree."""
    tree = ast.parse(SOURCES["_api"].read_text(encoding="utf-8"))
    typed = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == set(bisimetric.__all__)
    assert set(bisimetric.__all__) <= set(dir(bisimetric))
    assert all(getattr(bisimetric, name) is not None for name in bisimetric.__all__)
    folders = {name.split(".")[0] for name in SOURCES} - {""}
    assert set(bisimetric.MODULES) == {name for name in folders if not name.startswith("_")}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = bisimetric.nothing
