"""`--solver` and `--set`."""

import pytest

import bisimetric as bm
from bisimetric import solvers
from bisimetric.cli.solver_options import chosen_solver, option_types
from bisimetric.errors import InvalidOption

KNOWN = list(solvers.SOLVERS)


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("policy-iteration", None, bm.PolicyIteration()),
        ("policy-iteration", ["accuracy=0.5"], bm.PolicyIteration(accuracy=0.5)),
        (
            "sinkhorn-value-iteration",
            ["rounds=750", "step_size=1", "output=average"],
            bm.SinkhornValueIteration(rounds=750, step_size=1.0, output="average"),
        ),
        (
            "sinkhorn-policy-iteration",
            ["step_size=decaying:10", "rounds=none", "inner_steps=1e-3"],
            bm.SinkhornPolicyIteration(step_size=bm.Decaying(10.0), inner_steps=1e-3),
        ),
        (
            "sinkhorn-value-iteration",
            ["step_size=from-theorem:0.5", "initial=uniform"],
            bm.SinkhornValueIteration(step_size=bm.FromTheorem(0.5), initial="uniform"),
        ),
        (
            "sinkhorn-bellman",
            ["warm_start=false", "regularisation=0.1"],
            bm.SinkhornBellman(warm_start=False, regularisation=0.1),
        ),
        ("linear-program", ["method=simplex", "time_limit=5"], bm.LinearProgram(method="simplex", time_limit=5.0)),
    ],
)
def test_options_are_typed(name, settings, expected):
    """Numbers, flags, words, none and step sizes, by the types of the solver's fields."""
    found = chosen_solver(name, settings, KNOWN)
    assert found == expected
    for field, value in ((field, getattr(found, field)) for field in option_types(type(found))):
        assert type(value) is type(getattr(expected, field))


@pytest.mark.parametrize("name", KNOWN)
def test_every_default_can_be_written(name):
    """What `bisimetric solvers` shows for an option is accepted by --set."""
    kind = solvers.all_solvers()[name]
    settings = [f"{field}={str(getattr(kind(), field)).lower()}" for field in option_types(kind)]
    assert chosen_solver(name, settings, KNOWN) == kind()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["round=3"], "did you mean 'rounds'"),
        (["rounds"], "expected OPTION=VALUE"),
        (["rounds="], "expected OPTION=VALUE"),
        (["rounds=many"], "expected none or a whole number"),
        (["rounds=1.5"], "expected none or a whole number"),
        (["rounds=-1"], "rounds is -1"),
        (["rounds=1", "rounds=2"], "twice"),
        (["step_size=decaying:fast"], "decaying:fast"),
        (["step_size=decaying:-1"], "first is -1"),
    ],
)
def test_wrong_settings(settings, message):
    """The option, what was given, what is expected."""
    with pytest.raises(InvalidOption) as error:
        chosen_solver("sinkhorn-value-iteration", settings, KNOWN)
    assert message in str(error.value)


def test_on_the_command_line(command):
    """Options reach the solver."""
    rooms = ("distance", "grid-3x3", "open-grid:3", "--discount", 0.9, "--solver", "sinkhorn-value-iteration", "--json")
    document = command(*rooms, "--set", "rounds=3", "--set", "step_size=2").document
    assert document["steps"] == 3
    expected = bm.distance(
        "grid-3x3", "open-grid:3", discount=0.9, solver=bm.SinkhornValueIteration(rounds=3, step_size=2.0)
    )
    assert document["distance"] == expected.distance
    ran = command(*rooms, "--set", "steps=3")
    assert (ran.code, ran.out) == (2, "")
    assert "option 'steps' of sinkhorn-value-iteration is unknown" in ran.err
