"""What the package installs is what its sources import: its dependencies and its extras, no more and no less."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import bisimetric

ROOT = Path(__file__).parent.parent
PACKAGE = Path(bisimetric.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"bench", "browser", "docs", "test", "dev", "all"}  # tools, peers, and what tests hand to readers
LARGE_EXTRAS = {"torch", "jax", "ray"}  # too large for everybody's tests; BISIMETRIC_EXTRAS says where they are there
MODULES = {"scikit-learn": "sklearn", "vl-convert-python": "vl_convert"}  # by distribution, where the names differ


def module_of(requirement: str) -> str:
    """The module that a requirement installs."""
    name = re.split(r"[^A-Za-z0-9_.-]", requirement)[0]
    return MODULES.get(name, name)


def imported() -> set[str]:
    """Modules of other packages that the sources import, on first use too, but not only for the type checker."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typed = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if node in typed:
                continue
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"bisimetric"}


def test_what_is_installed_is_what_is_imported():
    """Neither an extra that nothing uses, nor an import that nothing installs."""
    extras = PROJECT["optional-dependencies"]
    offered = [one for name, needs in extras.items() if name not in FOR_DEVELOPERS for one in needs]
    assert {module_of(one) for one in [*PROJECT["dependencies"], *offered]} == imported()


def test_every_extra_is_in_the_installed_set_of_the_tests():
    """So that no test of an adapter has to be skipped; and what builds the site, which tests look at."""
    extras = PROJECT["optional-dependencies"]
    (own,) = (one for one in extras["test"] if one.startswith("bisimetric["))
    expected = set(extras) - FOR_DEVELOPERS - LARGE_EXTRAS | {"docs"}
    assert set(own.removeprefix("bisimetric[").removesuffix("]").split(",")) == expected
