"""The command line as a whole: every command is there, and wrong usage is one error."""

from __future__ import annotations

import pytest

from bisimetric.cli import main
from bisimetric.cli.messages import ExitCode
from bisimetric.cli.parser import COMMANDS, WIDTH, run
from bisimetric.errors import InvalidOption


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_explains_itself(name, capsys, monkeypatch):
    """Within 80 columns, with its summary in the overview."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run([name, "--help"]) == ExitCode.SUCCESS
    text = capsys.readouterr().out
    assert f"bisimetric {name}" in text
    assert max(map(len, text.splitlines())) <= WIDTH
    run(["--help"])
    assert f"  {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "nothing"),
        (["distance", "a", "b", "--discoutn", "0.9"], "did you mean --discount"),
        (["distance", "a"], "--help` explains"),
        (["distance", "a", "b", "--discount", "x"], "--discount is 'x', expected a number"),
        (["distance", "a", "b", "--horizon", "1.5"], "--horizon is '1.5', expected a whole number"),
    ],
)
def test_wrong_usage_is_our_error(arguments, said):
    """argparse would print its own words and exit."""
    with pytest.raises(InvalidOption, match=said):
        run(arguments)


def test_names_are_different():
    """No command hides another."""
    names = [command.name for command in COMMANDS]
    assert len(set(names)) == len(names)
    assert all(command.summary and command.description for command in COMMANDS)


WORK = {  # the function that a command's module runs, and arguments
    "distance": ("distance.run", ["a", "b", "--discount", "0.5"]),
    "metric": ("metric.run", ["a", "--discount", "0.5"]),
    "pairwise": ("pairwise.run", ["a", "--discount", "0.5"]),
    "convert": ("convert.run", ["a", "b.json"]),
    "compare": ("compare.run", ["a.csv", "b.csv", "--by", "run", "--state", "place"]),
    "states": ("bisimulation.run_states", ["a"]),
    "quotient": ("bisimulation.run_quotient", ["a"]),
    "aggregate": ("bisimulation.run_aggregate", ["a"]),
    "reproduce": ("reproduce.run_reproduce", ["eta"]),
    "solvers": ("listings.list_solvers", []),
    "environments": ("listings.list_environments", []),
    "warm-up": ("warm_up.compile_everything", []),
}


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
@pytest.mark.parametrize("error", [ZeroDivisionError("a defect"), MemoryError(), SystemExit(1), KeyboardInterrupt()])
def test_no_failure_has_code_one(name, error, monkeypatch, capsys):
    """Code 1 is the verdict of --fail-above, whatever goes wrong in a command."""
    function, arguments = WORK[name]

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(f"bisimetric.cli.{function}", fail)
    assert main([name, *arguments]) in (ExitCode.INVALID, ExitCode.INTERRUPTED, ExitCode.BROKEN_PIPE)
    assert capsys.readouterr().err.count("\n") <= 1
