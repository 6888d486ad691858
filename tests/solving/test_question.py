"""A new kind of question: what it provides is all that the loop needs."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.interval import Certificate
from bisimetric.errors import InvalidOption, InvalidProblem, SolveInterrupted, ToleranceNotReached
from bisimetric.solvers.base import Iterate, Solver
from bisimetric.solving.kinds import KINDS
from bisimetric.solving.question import Question
from bisimetric.solving.solution import Answer


@dataclass(frozen=True)
class Rents:
    """A third kind of problem: what rents are worth, V = c + γV, one for each row."""

    rent: np.ndarray  # [n, 1]
    discount: float


class Discounting:
    """Its operator, which knows nothing of pairs, rows or trees."""

    scale = 4.0

    def __init__(self, rents):
        self.rents = rents

    def gap_of(self, span):
        return span * self.rents.discount / (1 - self.rents.discount)

    def apply(self, value):
        return self.scale * self.rents.rent + self.rents.discount * value


@dataclass(frozen=True, slots=True)
class Repeat(Solver):
    """Its solver: apply the operator again and again."""

    name = "repeat"
    default_tol = 1e-9
    default_max_steps = 10_000
    operates_on = Discounting

    def init(self, bellman, value, tol=0.0):
        return self.step(bellman, Iterate(np.zeros_like(bellman.rents.rent) if value is None else value, None, 0.0))

    def step(self, bellman, iterate):
        value = bellman.apply(iterate.value)
        return Iterate(value, None, bellman.gap_of(float(np.abs(value - iterate.value).max())))


@dataclass(frozen=True, eq=False)
class Worth(Answer):
    """Its answer."""

    solver: str
    status: bm.Status
    history: tuple
    certificate: Certificate
    tol: float | None

    @property
    def models(self):
        model = SimpleNamespace(start=None, names=None, n_states=len(self.value))
        return model, model

    @property
    def discounting(self):
        return "as the rents are"


class RentQuestion(Question):
    """What the loop asks for."""

    default_solver = Repeat()
    answers = Worth

    @property
    def operator(self):
        return Discounting(self.problem)

    def guess(self, initial):
        return None if initial is None else np.asarray(initial, float)

    def start(self, guess):
        return None if guess is None else guess * Discounting.scale

    def immediate(self):
        rent = self.problem.rent
        return Certificate(rent, rent, rent) if self.problem.discount == 0 else None

    def a_priori(self):
        return self._within(self.problem.rent, self.problem.rent.max() / (1 - self.problem.discount))

    def check(self, iterate):
        residual = (
            (self.operator.apply(iterate.value) - iterate.value) / Discounting.scale / (1 - self.problem.discount)
        )
        value, slip = iterate.value / Discounting.scale, 1e-13 * np.abs(iterate.value).max()
        return self._within(value + residual.min() - slip, value + residual.max() + slip)

    def answer(self, course, certificate, iterate):
        return Worth(course.solver, course.status, course.history, certificate, course.tol)

    def _within(self, lower, upper):
        lower, upper = np.broadcast_arrays(lower, upper, subok=True)
        return Certificate((lower + upper) / 2, lower, upper)


RENTS = Rents(np.array([[1.0], [2.0], [4.0]]), 0.875)
TRUTH = RENTS.rent * 8


@pytest.fixture(autouse=True)
def third_kind(monkeypatch):
    """One line in the table of kinds."""
    monkeypatch.setitem(KINDS, Rents, RentQuestion)


def test_the_loop_solves_a_third_kind():
    """Its own answer comes back, certified to the tolerance, with the steps that were reported."""
    seen = []
    answer = bm.solve(RENTS, tol=1e-6, on_step=seen.append)
    assert isinstance(answer, Worth)
    assert (answer.solver, answer.status) == ("repeat", bm.Status.SOLVED)
    assert answer.history == tuple(seen)
    assert answer.relative_gap <= 1e-6
    assert ((answer.lower <= TRUTH) & (answer.upper >= TRUTH)).all()


def test_a_guess_and_an_immediate_answer():
    """The loop starts where the question says, and runs no solver where none is needed."""
    assert len(bm.solve(RENTS, initial=TRUTH).history) < len(bm.solve(RENTS).history)
    today = bm.solve(Rents(RENTS.rent, 0.0))
    assert (today.history, today.gap) == ((), 0.0)


def test_limits_and_interrupts():
    """The loop's promises are the same for every kind."""
    with pytest.raises(ToleranceNotReached) as missed:
        bm.solve(RENTS, tol=1e-9, max_steps=3)
    assert missed.value.solution.status is bm.Status.STEP_LIMIT
    assert len(missed.value.solution.history) == 3

    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as stopped:
        bm.solve(RENTS, on_step=interrupt)
    for answer in (missed.value.solution, stopped.value.solution):
        assert ((answer.lower <= TRUTH) & (answer.upper >= TRUTH)).all()
    assert bm.solve(RENTS, tol=1e-300, throw=False).status is bm.Status.STALLED


def test_many_of_a_third_kind():
    """Those that no time was left for are answered when they are read."""
    for options in ({}, {"time_limit": 1e-9}):
        for answer in bm.solve_many([RENTS] * 3, **options):
            assert isinstance(answer, Worth)
            assert ((answer.lower <= TRUTH) & (answer.upper >= TRUTH)).all()


def test_solvers_of_other_kinds_are_refused():
    """A solver says which operators it takes."""
    with pytest.raises(InvalidOption, match="solver=None"):
        bm.solve(RENTS, bm.PolicyIteration())
    with pytest.raises(InvalidOption, match="solver=None"):
        bm.distance("grid-3x3", "grid-3x3", discount=0.5, solver=Repeat())


def test_a_kind_is_known_by_its_problem(monkeypatch):
    """Without its line in the table it is no problem."""
    monkeypatch.delitem(KINDS, Rents)
    with pytest.raises(InvalidProblem, match="Rents"):
        bm.solve(RENTS)


def test_nothing_may_be_left_out():
    """A question that lacks a part cannot be asked."""

    class Half(RentQuestion):
        check = Question.check

    with pytest.raises(TypeError, match="check"):
        Half(RENTS, Repeat(), quotient=False)
