"""How a solve ends: solved, stalled, out of steps or interrupted, and always with a true interval."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import SolveInterrupted, ToleranceNotReached
from bisimetric.solvers.policy_iteration import PolicyIterate
from tests import reference


@pytest.fixture
def hard():
    """Several steps to solve, and no float can hold its distances."""
    random = np.random.default_rng(7)
    source, target = (bm.MarkovChain(random.dirichlet(np.full(k, 0.3), k)) for k in (5, 6))
    return bm.Problem(source, target, discount=0.97, cost=random.random((5, 6)))


def test_an_unreachable_tolerance_raises(hard):
    """tol=1e-300: the loop sees that rounding is in the way, and the error carries the certified solution."""
    with pytest.raises(ToleranceNotReached) as caught:
        bm.solve(hard, tol=1e-300)
    assert caught.value.solution.status is bm.Status.STALLED
    assert isinstance(caught.value, bm.errors.BisimetricError)
    assert contains(caught.value.solution, hard)
    assert caught.value.solution.relative_gap < 1e-9


def test_the_solver_is_not_taken_at_its_word(exact_solver):
    """On one state each a solver sees no residual at all; the checker knows that rounding leaves a gap."""
    one = bm.MarkovChain([[1.0]])
    problem = bm.Problem(one, one, discount=0.9, cost=[[1.0]])
    solution = exact_solver.solve(problem, tol=1e-300, throw=False)
    if exact_solver.name != "linear-program":  # which has the checker's own gap in its history
        assert solution.history[-1].gap <= 1e-300
    assert solution.relative_gap > 1e-300
    assert solution.status in (bm.Status.STALLED, bm.Status.STEP_LIMIT)


def test_a_missed_tolerance_is_a_status_without_throw(hard):
    """throw=False reports instead of raising."""
    assert bm.solve(hard, tol=1e-300, throw=False).status is bm.Status.STALLED
    short = bm.solve(hard, tol=1e-12, max_steps=1, throw=False)
    assert short.status is bm.Status.STEP_LIMIT
    assert len(short.history) == 1
    assert contains(short, hard)


def test_the_step_limit(hard):
    """An explicit tolerance missed at the limit raises; without one the status says it; neither looks solved."""
    with pytest.raises(ToleranceNotReached) as caught:
        bm.solve(hard, tol=1e-9, max_steps=1)
    assert caught.value.solution.status is bm.Status.STEP_LIMIT
    quiet = bm.solve(hard, max_steps=1)
    assert quiet.status is bm.Status.STEP_LIMIT
    assert quiet.relative_gap > 1e-9
    assert contains(quiet, hard)


def test_solved_means_within_the_tolerance(hard):
    """SOLVED is the checker's word, at the default tolerance and at an explicit one."""
    for tol in (None, 0.3, 1e-3, 1e-12):
        solution = bm.solve(hard, tol=tol)
        assert solution.status is bm.Status.SOLVED
        assert solution.relative_gap <= (tol or bm.PolicyIteration.default_tol)


def contains(solution, problem):
    """Whether the interval contains the oracle's distances, up to the oracle's own error."""
    truth = reference.distances(problem)
    slip = 1e-10 * truth.max()
    return bool((solution.lower <= truth + slip).all() and (truth - slip <= solution.upper).all())


# ------------------------------------------------------------------ Ctrl-C


@dataclass
class Interrupt:
    """A callback that stands for Ctrl-C at a step."""

    at: int
    seen: int = 0

    def __call__(self, step):
        self.seen = step.step
        if step.step == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [1, 2, 3])
def test_interrupt_carries_a_certified_solution(hard, at):
    """SolveInterrupted is a KeyboardInterrupt and its solution's interval is true."""
    with pytest.raises(SolveInterrupted) as caught:
        bm.solve(hard, on_step=Interrupt(at))
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception)
    solution = caught.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert len(solution.history) == at
    assert contains(solution, hard)
    assert caught.value.solution is solution


@pytest.mark.parametrize("at", [1, 2])
def test_interrupt_without_throw_returns(hard, at):
    """throw=False returns what there is."""
    solution = bm.solve(hard, on_step=Interrupt(at), throw=False)
    assert solution.status is bm.Status.INTERRUPTED
    assert contains(solution, hard)


def interrupted_solver(calls, after):
    """Policy iteration: after so many calls of `init` and `step`, Ctrl-C comes before or after the work of the next."""
    left = [calls]

    def work(call, *args):
        left[0] -= 1
        if left[0] >= 0:
            return call(*args)
        if after:
            call(*args)
        raise KeyboardInterrupt

    class Interrupted(bm.PolicyIteration):
        def init(self, *args):
            return work(super().init, *args)

        def step(self, *args):
            return work(super().step, *args)

    return Interrupted()


@pytest.mark.parametrize("calls", [0, 1, 2])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_interrupt_inside_a_step(hard, calls, after):
    """Ctrl-C before or after the work of a step, or of the start: the interval is true.

    After the work the transport trees are new and the iterate is old; they still go together.
    """
    with pytest.raises(SolveInterrupted) as caught:
        bm.solve(hard, interrupted_solver(calls, after))
    solution = caught.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert len(solution.history) == calls
    assert contains(solution, hard)
    assert solution.coupling[0, 0].sum() == pytest.approx(1.0, abs=1e-12)
    proof, truth = bm.certify_exactly(solution), reference.distances(hard)
    assert (proof.lower.astype(float) <= truth + 1e-10 * truth.max()).all()
    assert (truth - 1e-10 * truth.max() <= proof.upper.astype(float)).all()


def test_interrupt_while_finishing(hard):
    """Ctrl-C in the last evaluation, after the loop: still a SolveInterrupted with a certified solution."""

    class Unfinished(PolicyIterate):
        def estimate(self):
            raise KeyboardInterrupt

    @dataclass(frozen=True, slots=True)
    class Interrupted(bm.PolicyIteration):
        def init(self, bellman, value, tol=0.0):
            first = bm.PolicyIteration().init(bellman, value, tol)
            return Unfinished(*(getattr(first, field.name) for field in fields(first)))

    with pytest.raises(KeyboardInterrupt) as caught:
        bm.solve(hard, Interrupted())
    assert isinstance(caught.value, SolveInterrupted)
    assert caught.value.solution.status is bm.Status.INTERRUPTED
    assert contains(caught.value.solution, hard)
