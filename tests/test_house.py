"""Rules for the sources, as tests: sizes of files and functions, homes of constants, test files, public docstrings."""

from __future__ import annotations

import ast
import enum
import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

import bisimetric as bm

PACKAGE = Path(bm.__file__).parent
TESTS = Path(__file__).parent

MOST_MODULES = 8  # directly in the package
MOST_LINES = 350
MOST_KERNEL_LINES = 450
MOST_FUNCTION_LINES = 80  # without the docstring, outside kernels/
MOST_ARGUMENTS = 10  # outside kernels/

# Functions that may take more arguments, and why.
MANY_ARGUMENTS = {
    "_distance.py:distance",  # the public shortcut: two models, four words, and the six options that its siblings share
    "many/pairwise.py:pairwise",  # two lists, four words, four options that its siblings share, who works and where
    "many/estimator.py:__init__",  # the options of `pairwise`, one for one; scikit-learn reads them from the signature
    "readers/trajectories.py:from_trajectories",  # the data, five columns, six rules by which a chain is made of them
}
# What still breaks a rule. Every name here is work to do.
DOCSTRINGS_PENDING: set[str] = set()


def relative(path: Path) -> str:
    """A source file's path in the package, or a test file's path with `tests/` before it."""
    inside = path.is_relative_to(PACKAGE)
    return path.relative_to(PACKAGE if inside else TESTS.parent).as_posix()


SOURCES = {relative(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in SOURCES.items()}


def assert_none(broken: dict[str, object], pending: set[str] | None = None) -> None:
    """Nothing breaks the rule but what is pending; both are shown."""
    pending = pending or set()
    for name, what in sorted(broken.items()):
        print(f"{'pending' if name in pending else 'broken'}: {name}: {what}")
    assert set(broken) <= pending


# ------------------------------------------------------------------ sizes


def test_there_is_something_to_look_at():
    """The parser sees the package."""
    assert {"__init__.py", "solving/solve.py", "kernels/check.py"} <= set(SOURCES)


def test_few_modules_stand_directly_in_the_package():
    """Everything else has a folder that says what it holds."""
    modules = [name for name in SOURCES if "/" not in name]
    assert len(modules) <= MOST_MODULES, modules


def test_no_file_is_too_long():
    """Sources, tests and benchmarks."""
    long = {}
    for path in [*SOURCES.values(), *TESTS.rglob("*.py"), *(TESTS.parent / "benchmarks").rglob("*.py")]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > (MOST_KERNEL_LINES if relative(path).startswith("kernels/") else MOST_LINES):
            long[relative(path)] = f"{lines} lines"
    assert_none(long)


def test_no_function_is_too_long_or_takes_too_much():
    """Outside the kernels, where arrays are single arguments."""
    large = {}
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or name.startswith("kernels/"):
                continue
            given = node.args
            arguments = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            arguments -= any(argument.arg in {"self", "cls"} for argument in given.args[:1])
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            place = f"{name}:{node.name}"
            if lines > MOST_FUNCTION_LINES or (arguments > MOST_ARGUMENTS and place not in MANY_ARGUMENTS):
                large[place] = f"{lines} lines, {arguments} arguments"
    assert_none(large)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith("__init__.py")])
def test_every_folder_says_what_it_holds(name):
    """In the docstring of its `__init__`."""
    assert ast.get_docstring(TREES[name])


def test_objects_are_whole_when_their_constructor_ends():
    """Frozen fields are set by the object's own constructor; `changed` in `_support/frozen` makes other objects."""
    patched = {}
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            sets = isinstance(node, ast.Call) and ast.unparse(node.func) in {"object.__setattr__", "object.__new__"}
            if sets and ast.unparse(node.args[0]) != "self" and name != "_support/frozen.py":
                patched[f"{name}:{node.lineno}"] = ast.unparse(node)
    assert_none(patched)


# ------------------------------------------------------------------ constants

# Names that every module of a kind has, and what they are there.
IN_EVERY_MODULE = {
    "EXPERIMENT",  # each experiment has one, its name, its quick form and the size of its picture
    "NAME",
    "QUICK",
    "READER",  # one in each reader
    "COMMAND",  # one in each file of cli/commands
    "TYPE_CHECKING",  # where importing typing would take longer than all the rest
}


def constants(tree: ast.Module) -> dict[str, str]:
    """Names in upper case that a module assigns, and the expressions that it gives them."""
    found = {}
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name) and name.id.isupper():
                    found[name.id.strip("_")] = ast.unparse(node.value)
    return found


def homes() -> dict[str, dict[str, str]]:
    """For each constant, the modules that assign it and its expression there."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for module, tree in TREES.items():
        for name, expression in constants(tree).items():
            found[name][module] = expression
    return found


def test_one_home_and_one_meaning_for_each_constant():
    """No two modules assign the same name, whatever they assign."""
    assert_none({name: values for name, values in homes().items() if len(values) > 1 and name not in IN_EVERY_MODULE})


def test_the_table_of_constants_is_no_longer_than_needed():
    """Every name in it stands in several modules."""
    assert {name for name, values in homes().items() if len(values) > 1} >= IN_EVERY_MODULE


TYPE_IN_EVERY_MODULE = {"Config"}  # the options of an experiment


def types(tree: ast.Module) -> set[str]:
    """Classes and names of types that a module defines, without type variables."""
    found = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and not ast.unparse(node.value).startswith("TypeVar("):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            found |= {name for name in names if name[0].isupper() and not name.isupper()}
    return found


def test_one_home_and_one_meaning_for_each_type():
    """No two modules define a class or the name of a type under one name."""
    found: dict[str, list[str]] = defaultdict(list)
    for module, tree in TREES.items():
        for name in types(tree):
            found[name].append(module)
    assert {"Problem", "Floats"} <= set(found)
    assert_none({name: at for name, at in found.items() if len(at) > 1 and name not in TYPE_IN_EVERY_MODULE})


SMALL_NUMBER = 1e-2  # a smaller one in a function is a tolerance, or part of a formula that has its own name
FORMULAS = {"kernels/sinkhorn/elementary.py"}  # the coefficients of a series


def test_tolerances_have_names():
    """No small number and no multiple of the unit roundoff stands in the body of a function."""
    unnamed = {}
    for name, tree in TREES.items():
        functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for node in (inner for function in functions for part in function.body for inner in ast.walk(part)):
            small = isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value < SMALL_NUMBER
            multiple = isinstance(node, ast.BinOp) and re.fullmatch(r"[\d.]+ \* UNIT_ROUNDOFF", ast.unparse(node))
            if (small or multiple) and name not in FORMULAS:
                unnamed[f"{name}:{node.lineno}"] = ast.unparse(node)
    assert_none(unnamed)


# ------------------------------------------------------------------ tests mirror sources

# Source files and folders that are tested by their behaviour in files of other names, and where.
TESTED_ELSEWHERE = {
    "cli/commands": "cli",  # each command by what it prints and how it ends
    "experiments": "experiments",  # every test runs on all of them
}


def is_tested_elsewhere(name: str) -> bool:
    """Whether the table has a file, or a folder around it."""
    return any(name == entry or name.startswith(f"{entry}/") for entry in TESTED_ELSEWHERE)


def own_test(name: str) -> Path:
    """Where the test file of a source file is expected."""
    return TESTS / Path(name).parent / f"test_{Path(name).stem.strip('_')}.py"


def test_every_source_file_has_its_test_file():
    """`solving/exact.py` is tested in `tests/solving/test_exact.py`, or the table above says where."""
    missing = {}
    for name, path in SOURCES.items():
        if path.name != "__init__.py" and not own_test(name).exists() and not is_tested_elsewhere(name):
            missing[name] = f"no {relative(own_test(name))}"
    assert_none(missing)


def test_the_table_of_exceptions_is_true():
    """It names sources and tests that are there, and no source that has a test file of its own."""
    for name, test in TESTED_ELSEWHERE.items():
        assert not own_test(name).exists(), name
        assert (PACKAGE / name).exists(), name
        assert (TESTS / test).exists(), test


def test_every_folder_of_sources_has_its_folder_of_tests():
    """Folders of tests without sources are for what concerns several folders."""
    sources = {path.parent.relative_to(PACKAGE) for path in SOURCES.values()}
    tests = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    assert sources <= tests | {Path(".")}
    assert tests - sources <= {Path(name) for name in ("benchmarks", "laws", "reference")}


# ------------------------------------------------------------------ docstrings

PUBLIC_MODULES = ("cost", "plot", "environments", "errors", "solvers")


def public_names() -> dict[str, object]:
    """Functions and classes that users see, by the name under which they see them."""
    found = {name: getattr(bm, name) for name in bm.__all__ if name not in {"__version__", *bm.MODULES}}
    for module in PUBLIC_MODULES:
        inside = getattr(bm, module)
        found |= {f"{module}.{name}": getattr(inside, name) for name in inside.__all__}
    once = {id(thing): name for name, thing in reversed(found.items())}  # some have two names; the first is shown
    return {name: thing for name, thing in found.items() if callable(thing) and once[id(thing)] == name}


def sections(docstring: str) -> dict[str, list[str]]:
    """The lines of every numpydoc section."""
    lines, found, title = inspect.cleandoc(docstring).splitlines(), {"": []}, ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-+", below) and len(below) == len(line):
            title = line
            found[title] = []
        elif not re.fullmatch("-+", line):
            found[title].append(line)
    return found


def documented(lines: list[str]) -> set[str]:
    """The parameters that a section names, several on a line too: `chains, others : lists of chains`."""
    heads = [line.split(" : ")[0] for line in lines if line and not line.startswith(" ")]
    return {name.strip(" *`") for head in heads for name in head.split(",")}


def missing_from_docstring(thing: object) -> list[str]:
    """What the docstring of a public function or class lacks."""
    own = getattr(thing, "__doc__", None) or ""
    if not own or own.startswith(f"{getattr(thing, '__name__', '')}("):  # as dataclasses and named tuples make it
        return ["a docstring"]
    found, lacks = sections(own), []
    is_class = inspect.isclass(thing)
    if is_class and issubclass(thing, (BaseException, enum.Enum)):
        return []
    protocol = getattr(thing, "_is_protocol", False)
    parameters = set() if protocol else {name for name in inspect.signature(thing).parameters if name[0] != "_"}
    told = documented(found.get("Parameters", []))
    if is_class:
        told |= documented(found.get("Attributes", []))
    if parameters - told:
        lacks.append(f"Parameters: {', '.join(sorted(parameters - told))}")
    if told - parameters and not is_class:
        lacks.append(f"not in the signature: {', '.join(sorted(told - parameters))}")
    if not is_class and "Returns" not in found and inspect.signature(thing).return_annotation not in (None, "None"):
        lacks.append("Returns")
    solver = is_class and issubclass(thing, bm.solvers.Solver) and thing is not bm.solvers.Solver
    if (not is_class or solver) and "Examples" not in found:
        lacks.append("Examples")
    return lacks


def test_public_names_are_documented():
    """numpydoc sections, every parameter of the signature, examples on functions and solvers."""
    lacking = {name: missing_from_docstring(thing) for name, thing in public_names().items()}
    assert_none({name: lacks for name, lacks in lacking.items() if lacks}, DOCSTRINGS_PENDING)


def test_public_methods_are_documented():
    """One sentence at least on every public method and property of a public class."""
    silent = {}
    for name, thing in public_names().items():
        for attribute, member in vars(thing).items() if inspect.isclass(thing) else ():
            explained = isinstance(member, property) or inspect.isroutine(getattr(thing, attribute, None))
            if not attribute.startswith("_") and explained and not inspect.getdoc(getattr(thing, attribute)):
                silent[f"{name}.{attribute}"] = "a docstring"
    assert_none(silent, DOCSTRINGS_PENDING)


# Files of kernels/ and solvers/ that hold no algorithm.
NO_ALGORITHM = {"kernels/_compile.py", "kernels/layout.py", "solvers/base.py"}
ALGORITHMS = [
    name
    for name in SOURCES
    if name.startswith(("kernels/", "solvers/")) and not name.endswith("__init__.py") and name not in NO_ALGORITHM
]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_open_with_equation_reference_and_reason_to_stop(name):
    """In the docstring of the file: an indented formula, whose idea it is, and why it comes to an end."""
    docstring = ast.get_docstring(TREES[name]) or ""
    formulas = [line for line in docstring.splitlines() if line.startswith("    ") and re.search("[=≤≥∝←→+]", line)]
    assert formulas, "no equation"
    assert re.search(r"^References?: \S", docstring, re.MULTILINE), "no reference"
    assert re.search(r"\b(stops?|ends?|one\s+pass|nothing iterates)\b", docstring), "no reason to stop"


def test_references_are_in_the_bibliography():
    """Name and year of every reference of an algorithm."""
    bibliography = (TESTS.parent / "docs" / "references.bib").read_text(encoding="utf-8").lower()
    unknown = {}
    for name in ALGORITHMS:
        line = re.search(r"^References?: (.*?)\Z", ast.get_docstring(TREES[name]) or "", re.MULTILINE | re.DOTALL)
        for author, year in re.findall(r"(\w+)[^;0-9]*? (\d{4})\b", line[1] if line else ""):
            plain = author.lower().replace("è", "e").replace("'", "")
            if not any(plain in entry.replace("{\\`e}", "e") and year in entry for entry in bibliography.splitlines()):
                unknown[f"{name}: {author} {year}"] = "not in docs/references.bib"
    assert_none(unknown)
