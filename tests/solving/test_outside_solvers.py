"""Solvers written outside the package: first class, and unable to make an answer lie."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption

ROOMS = [bm.environments.four_rooms(name) for name in ("p1", "p0")]
PROBLEM = bm.Problem(*ROOMS, discount=0.9)


@dataclass(frozen=True)
class Sweeping(bm.Solver):
    """Value iteration, by the book."""

    name, default_tol, default_max_steps = "sweeping", 1e-6, 1000

    def init(self, operator, value, tol):
        return bm.solvers.sweep(operator, operator.scaled_cost() if value is None else value)

    def step(self, operator, iterate):
        return bm.solvers.sweep(operator, operator.plus(iterate.value, 1.0 * iterate.sweep.residual), iterate)


class Boastful(Sweeping):
    """Does nothing, and believes itself done."""

    name = "boastful"

    def step(self, operator, iterate):
        return replace(iterate, gap=0.0)


class Shapeless(Sweeping):
    """Sweeps a value of another problem."""

    name = "shapeless"

    def init(self, operator, value, tol):
        return bm.solvers.sweep(operator, np.zeros((3, 3)))


class Undefined(Sweeping):
    """Sweeps what is not a number."""

    name = "undefined"

    def init(self, operator, value, tol):
        return bm.solvers.sweep(operator, np.full(operator.shape, np.nan))


class Mistaken(Sweeping):
    """Returns a value instead of an iterate."""

    name = "mistaken"

    def step(self, operator, iterate):
        return iterate.value


@dataclass(frozen=True)
class Nameless(bm.Solver):
    """Lacks what a solver must say of itself."""

    def init(self, operator, value, tol):
        return bm.solvers.sweep(operator, operator.scaled_cost())

    def step(self, operator, iterate):
        return iterate


def test_an_honest_one():
    """Gets the answer of the package's own."""
    mine, ours = bm.solve(PROBLEM, Sweeping()), bm.solve(PROBLEM)
    assert mine.status is bm.Status.SOLVED
    assert (mine.lower <= ours.upper).all()
    assert (ours.lower <= mine.upper).all()


def test_a_boastful_one():
    """Its belief ends nothing: neither SOLVED nor STALLED is said of a wide interval."""
    solution = bm.solve(PROBLEM, Boastful(), max_steps=40)
    assert solution.status is bm.Status.STEP_LIMIT
    assert solution.relative_gap > 0.1


@pytest.mark.parametrize(
    ("solver", "says"),
    [(Shapeless, "expected (40, 40)"), (Undefined, "not finite"), (Mistaken, "sweep makes one"), (Nameless, "no name")],
)
def test_mistakes_are_said(solver, says):
    """With what was expected."""
    with pytest.raises(InvalidOption) as caught:
        bm.solve(PROBLEM, solver())
    assert says in str(caught.value)


def test_callbacks_have_no_deadline():
    """A solve without a limit inside `on_step` of one that has run out of time is solved."""
    found = []

    def inside(step):
        if not found:
            found.append(bm.solve(PROBLEM, Sweeping()).status)

    solution = bm.solve(PROBLEM, Sweeping(), time_limit=1e-3, on_step=inside)
    assert solution.status is bm.Status.TIME_LIMIT
    assert found in ([], [bm.Status.SOLVED])


@pytest.mark.parametrize(
    "options", [{"throw": "no"}, {"quotient": None}, {"on_step": 3}, {"solver": bm.PolicyIteration}]
)
def test_options_are_checked(options):
    """Before anything is computed."""
    with pytest.raises(InvalidOption, match="expected"):
        bm.solve(PROBLEM, **options)
