"""Help, version, solvers and environments, and what they must not import."""

import json
import subprocess
import sys

import pytest

import bisimetric as bm
from bisimetric import solvers
from bisimetric.cli.parser import COMMANDS

NAMES = [command.name for command in COMMANDS]


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",), *((name, "--help") for name in NAMES)])
def test_help(command, arguments):
    """Every help has examples, unwrapped, and at most 80 columns."""
    ran = command(*arguments)
    assert (ran.code, ran.err) == (0, "")
    assert "Examples:\n" in ran.out
    assert "\n  bisimetric " in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_the_overview_lists_the_commands(command):
    """Every command with a line about it."""
    text = command("--help").out
    assert all(f"\n    {name}" in text for name in NAMES)


def test_help_lists_the_exit_codes(command):
    """The help lists all exit codes."""
    for arguments in (("--help",), ("distance", "--help")):
        text = command(*arguments).out
        assert all(f"\n  {code} " in text for code in (0, 1, 2, 3, 130))


def test_version(command):
    """--version prints name and number."""
    assert command("--version").out == f"bisimetric {bm.__version__}\n"


def test_solvers(command):
    """Every solver with its description and tolerance."""
    text = command("solvers").out
    assert max(map(len, text.splitlines())) <= 80
    assert all(name in text for name in solvers.all_solvers())


def test_solvers_as_json(command):
    """--json gives the same as data."""
    known = json.loads(command("solvers", "--json").out)
    assert [solver["name"] for solver in known] == list(solvers.all_solvers())
    for solver in known:
        assert set(solver) == {"name", "description", "tolerance", "max_steps", "options"}
        assert solver["description"]
        assert solver["tolerance"] >= 0  # 0: it runs its rounds


def test_environments(command):
    """Every pattern, brackets included, with an example."""
    text = command("environments").out
    assert max(map(len, text.splitlines())) <= 80
    for entry in bm.environments.catalogue():
        assert entry.pattern in text
        assert entry.example in text


def test_environments_as_json(command):
    """--json gives the same as data, and every example can be built."""
    known = json.loads(command("environments", "--json").out)
    assert [entry["pattern"] for entry in known] == [entry.pattern for entry in bm.environments.catalogue()]
    for entry in known:
        assert bm.as_chain(entry["example"]).n_states > 0


@pytest.mark.parametrize("arguments", [["--help"], ["environments"], ["solvers"], ["distance", "--help"]])
def test_light_commands_leave_the_compiler_alone(arguments):
    """numba is loaded by the first solve only."""
    code = (
        f"import sys; from bisimetric.cli import main; main({arguments!r});"
        "sys.exit(3 if 'numba' in sys.modules or 'matplotlib' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert done.returncode == 0


def test_a_terminal_that_cannot_show_everything(process):
    """Characters that the encoding lacks are printed as escapes."""
    ran = process("environments", PYTHONIOENCODING="ascii")
    assert ran.code == 0
    assert r"3\xd73" in ran.out
