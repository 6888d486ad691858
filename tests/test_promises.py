"""The promises of the library, held against rational arithmetic: no interval may ever miss the true distance."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import SolveInterrupted, ToleranceNotReached
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.policy_iteration import PolicyIterate
from tests import reference, strategies


def holds(certificate, truth):
    """lower ≤ V* ≤ upper as exact rationals; zeros are zeros; the value lies inside and is not negative."""
    for lower, upper, value, true in zip(
        certificate.lower.ravel(),
        certificate.upper.ravel(),
        certificate.value.ravel(),
        (v for row in truth for v in row),
        strict=True,
    ):
        assert Fraction(float(lower)) <= true <= Fraction(float(upper)), (lower, float(true), upper)
        assert 0.0 <= lower <= value <= upper
    return True


# ------------------------------------------------------------------ 1. lower ≤ V* ≤ upper


@settings(max_examples=150)
@given(strategies.problems())
def test_intervals_hold_exactly(exact_solver, problem):
    """A solve to the default tolerance never misses the rational distance, whatever the scale."""
    assert holds(exact_solver.solve(problem), reference.exact_distances(problem))


@settings(max_examples=100)
@given(strategies.problems(), st.sampled_from((0.5, 0.1, 1e-4)), st.integers(1, 3))
def test_intervals_hold_for_loose_solves(exact_solver, problem, tol, max_steps):
    """Stopping early widens the interval and keeps it true."""
    solution = exact_solver.solve(problem, tol=tol, max_steps=max_steps, throw=False)
    assert holds(solution, reference.exact_distances(problem))
    if solution.status is bm.Status.SOLVED:
        assert solution.relative_gap <= tol


@settings(max_examples=150)
@given(st.data(), strategies.problems())
def test_certify_holds_for_any_guess(data, problem):
    """Any finite array, however wrong, gives a true interval."""
    guess = data.draw(strategies.guesses(problem))
    assert holds(bm.certify(problem, guess), reference.exact_distances(problem))


@settings(max_examples=100)
@given(strategies.problems())
def test_certify_holds_next_to_the_truth(problem):
    """The rounded rational distance as a guess: rounding alone must not push the truth out of the interval."""
    truth = reference.exact_distances(problem)
    assert holds(bm.certify(problem, np.array(truth, float)), truth)


@settings(max_examples=200)
@given(strategies.discounts, st.floats(0.0, 1.0, exclude_min=True, allow_subnormal=False), strategies.scales)
def test_one_state_each(exact_solver, discount, cost, scale):
    """c/(1-γ) of a 1×1 problem; without widening for rounding, half of all intervals would miss it."""
    one = bm.MarkovChain([[1.0]])
    problem = bm.Problem(one, one, discount=discount, cost=[[cost * scale]])
    truth = Fraction(cost * scale) / (1 - Fraction(discount))
    assert holds(exact_solver.solve(problem), [[truth]])


@settings(max_examples=100)
@given(strategies.problems(start=True))
def test_intervals_between_starts_hold_exactly(exact_solver, problem):
    """solution.interval contains the rational transport between the two starts."""
    solution = exact_solver.solve(problem)
    truth = reference.exact_transport(problem.source.start, problem.target.start, reference.exact_distances(problem))
    low, high = solution.interval
    assert Fraction(low) <= truth <= Fraction(high)
    assert 0.0 <= low <= solution.distance <= high


def test_costs_that_vanish_beside_the_largest(exact_solver):
    """A cost that underflows in the scale of the largest one still bounds its distance; it is V at a stop."""
    small, huge = 1.5 * 2.0**-78, 2.0**996
    source = bm.MarkovChain([[0, 1, 0], [0, 1, 0], [0, 0, 1]])
    for stop in (None, [[True], [False], [False]]):
        problem = bm.Problem(source, bm.MarkovChain([[1]]), discount=0.5, cost=[[small], [0], [huge]], stop=stop)
        assert holds(exact_solver.solve(problem), [[Fraction(small)], [Fraction(0)], [Fraction(2 * huge)]])
    assert exact_solver.solve(problem).value[0, 0] == small


@pytest.mark.slow
@settings(max_examples=500)
@given(strategies.problems())
def test_intervals_hold_exactly_long(exact_solver, problem):
    """The same search, for longer."""
    assert holds(exact_solver.solve(problem), reference.exact_distances(problem))


@pytest.mark.slow
@settings(max_examples=500)
@given(st.data(), strategies.problems())
def test_certify_holds_for_any_guess_long(data, problem):
    """The same search, for longer."""
    guess = data.draw(strategies.guesses(problem))
    assert holds(bm.certify(problem, guess), reference.exact_distances(problem))


# ------------------------------------------------------------------ 3. zeros


@settings(max_examples=150)
@given(strategies.chains(max_states=3, reward=True), strategies.discounts)
def test_proved_zeros_are_zero(exact_solver, chain, discount):
    """lower = upper = 0 only where the rational distance is exactly 0; and all of those are found."""
    problem = bm.Problem(chain, chain, discount=discount)
    solution = exact_solver.solve(problem)
    truth = np.array(reference.exact_distances(problem))
    proved = (solution.lower == 0) & (solution.upper == 0)
    assert (truth[proved] == 0).all()
    assert (solution.value[proved] == 0).all()
    assert not exact_solver.proves_zeros or proved[truth == 0].all()


@pytest.mark.slow
@settings(max_examples=700)
@given(strategies.chains(max_states=3, reward=True), strategies.chains(max_states=3, reward=True), strategies.discounts)
def test_proved_zeros_are_zero_long(exact_solver, source, target, discount):
    """The same for longer, and between different chains."""
    problem = bm.Problem(source, target, discount=discount)
    solution = exact_solver.solve(problem)
    truth = np.array(reference.exact_distances(problem))
    proved = solution.upper == 0
    assert (truth[proved] == 0).all()
    assert not exact_solver.proves_zeros or proved[truth == 0].all()


@pytest.mark.slow
@settings(max_examples=700)
@given(strategies.problems(start=True))
def test_intervals_between_starts_hold_exactly_long(problem):
    """The same search as above, for longer."""
    truth = reference.exact_distances(problem)
    low, high = bm.solve(problem).interval
    exact = reference.exact_transport(problem.source.start, problem.target.start, truth)
    assert Fraction(low) <= exact <= Fraction(high)


@settings(max_examples=50)
@given(strategies.problems())
def test_zeros_claimed_are_zero(exact_solver, problem):
    """An upper bound of zero is a statement about the rational distance."""
    solution = exact_solver.solve(problem, tol=0.5, throw=False)
    truth = np.array(reference.exact_distances(problem))
    assert (truth[solution.upper == 0] == 0).all()


# ------------------------------------------------------------------ statuses


@pytest.fixture
def hard():
    """Several steps to solve, and no float can hold its distances."""
    random = np.random.default_rng(7)
    source, target = (bm.MarkovChain(random.dirichlet(np.full(k, 0.3), k)) for k in (5, 6))
    return bm.Problem(source, target, discount=0.97, cost=random.random((5, 6)))


def test_an_unreachable_tolerance_raises(hard):
    """tol=1e-300: the loop sees that rounding is in the way, and the error carries the certified solution."""
    with pytest.raises(ToleranceNotReached, match="asked for 1e-300") as caught:
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


# ------------------------------------------------------------------ 6. Ctrl-C


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


@pytest.mark.parametrize("calls", [0, 1, 2])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_interrupt_inside_a_sweep(monkeypatch, hard, calls, after):
    """Ctrl-C before or after the sweep's work, in the first sweep (inside init) or later: the interval is true.

    After the work the trees are new and the iterate is old; they must still go together.
    """
    usual = Bellman.improve
    count = 0

    def interrupted(self, value, trees, **options):
        nonlocal count
        count += 1
        if count <= calls:
            return usual(self, value, trees, **options)
        if after:
            usual(self, value, trees, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Bellman, "improve", interrupted)
    with pytest.raises(SolveInterrupted) as caught:
        bm.solve(hard)
    solution = caught.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert len(solution.history) == calls
    assert contains(solution, hard)
    assert solution.coupling[0, 0].sum() == pytest.approx(1.0, abs=1e-12)
    proof, truth = bm.certify_exactly(solution), reference.distances(hard)
    assert (proof.lower.astype(float) <= truth + 1e-10 * truth.max()).all()
    assert (truth - 1e-10 * truth.max() <= proof.upper.astype(float)).all()


def test_interrupt_while_finishing(monkeypatch, hard):
    """Ctrl-C in the last evaluation, after the loop: still a SolveInterrupted with a certified solution."""

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(PolicyIterate, "estimate", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        bm.solve(hard)
    assert isinstance(caught.value, SolveInterrupted)
    assert caught.value.solution.status is bm.Status.INTERRUPTED
    assert contains(caught.value.solution, hard)


REAL_INTERRUPT = """
import sys, time
import numpy as np
from scipy.sparse import eye_array, linalg
import bisimetric as bm
chain = bm.environments.four_rooms(side=32)
problem = bm.Problem(chain, chain, discount=0.9999)
try:
    bm.solve(problem, tol=1e-300, max_steps=10**6, on_step=lambda step: print("step", step.step, flush=True))
except bm.errors.SolveInterrupted as error:
    print("stopped", time.time(), flush=True)
    solution = error.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert (solution.lower <= solution.value).all() and (solution.value <= solution.upper).all()
    assert (np.diag(solution.lower) == 0.0).all()
    v = linalg.spsolve((eye_array(chain.n_states) - 0.9999 * chain.transitions).tocsc(), chain.reward)
    gap = abs(np.subtract.outer(v, v))
    assert (solution.upper >= gap - 1e-9 * gap.max()).all()
    print("certified", flush=True)
    sys.exit(0)
"""


def test_a_real_interrupt_stops_within_seconds():
    """SIGINT at about a thousand states, in the middle of a step: the solve stops and certifies what it has.

    A state is at distance 0 from itself, and no distance is below the gap between the values.
    """
    process = subprocess.Popen([sys.executable, "-c", REAL_INTERRUPT], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("step 1"), line
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    lines = [text.split() for text in rest.splitlines() if not text.startswith("step")]
    assert [words[0] for words in lines] == ["stopped", "certified"], rest
    assert float(lines[0][1]) - sent < 3.0
    assert process.returncode == 0
