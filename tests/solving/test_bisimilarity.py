"""The question about bisimilarity distances without a discount: how solves end, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, InvalidProblem, ToleranceNotReached
from bisimetric.operators.bellman import Bellman
from tests.bisimulation.labelled import coin, distances, fading


def test_rounding_widens_the_interval_and_the_status_says_so():
    """Where the chains go on for 10⁶ steps the default tolerance is out of reach; the interval holds."""
    solution = distances(coin(0.5, 1e-9), coin(0.5 + 1e-6, 1e-9))
    assert solution.status is bm.Status.STALLED
    assert 1e-9 < solution.relative_gap < 1e-7
    with pytest.raises(ToleranceNotReached):
        distances(coin(0.5, 1e-9), coin(0.5 + 1e-6, 1e-9), tol=1e-12)


def test_inexact_rows_end_a_solve_too():
    """Long waits make the rows of label changes inexact; no step gets below that, so the solve ends soon."""

    def waits(heads):
        move = [1 - 1e-7, 1e-7 * heads, 1e-7 * (1 - heads), 0]
        rows = [move, [0.5, 0.25, 0, 0.25], [0.5, 0, 0.25, 0.25], [0, 0, 0, 1]]
        return bm.label_changes(bm.MarkovChain(rows, labels=["toss", "heads", "tails", "end"], start=0))

    solution = distances(waits(0.5), waits(0.3))
    assert solution.status is bm.Status.STALLED
    assert len(solution.history) < 30
    assert solution.interval[0] <= 3 / 7 <= solution.interval[1]
    assert solution.relative_gap < 1e-6


def test_rare_events_after_rare_events():
    """A mean of 10²⁰ steps cannot be told in floating point: the interval is all that is known, at once."""

    def rare(heads):
        end = 1e-10
        return bm.MarkovChain(
            [[1 - end, end, 0, 0], [1 - end, 0, end * heads, end * (1 - heads)], [0, 0, 1, 0], [0, 0, 0, 1]],
            labels=[".", ".", "h", "t"],
            start=0,
        )

    solution = distances(rare(0.5), rare(0.25))
    assert solution.interval[0] <= 0.25 <= solution.interval[1]
    assert solution.status in (bm.Status.STALLED, bm.Status.SOLVED)


def test_what_is_refused():
    """Solvers that need a discount, chains without labels, discounts beyond one."""
    with pytest.raises(InvalidOption, match="needs a discount below 1"):
        distances(coin(0.5), coin(0.6), solver="linear-program")
    with pytest.raises(InvalidProblem, match="labels"):
        bm.bisimilarity_distance(coin(0.5), bm.MarkovChain([[1.0]]), discount=1)
    with pytest.raises(InvalidProblem, match=r"in \[0, 1\]"):
        bm.bisimilarity_distance(coin(0.5), coin(0.6), discount=1.5)
    solution = distances(coin(0.5), coin(0.6))
    with pytest.raises(InvalidProblem, match="discount"):
        bm.certify_exactly(solution)


@pytest.mark.slow
def test_stops_in_time():
    """With a step limit the interval is still one, and a time limit before the first sweep leaves what is known."""
    source, target = (fading(12, seed) for seed in (1, 2))
    whole = distances(source, target)
    short = distances(source, target, max_steps=1)
    assert (short.lower <= whole.upper).all()
    assert (short.upper >= whole.lower).all()
    none = distances(source, target, time_limit=1e-9)
    assert none.status is bm.Status.TIME_LIMIT
    assert (none.lower <= whole.upper).all()
    guessed = bm.solve(whole.problem, initial=whole)
    assert np.abs(guessed.value - whole.value).max() <= 1e-9


def test_couplings_that_no_distance_needs_are_computed_when_they_are_read(monkeypatch):
    """All distances are known at once, so that no transport delays the answer; couplings hold all the same."""
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(8), 8), labels=list("abababab"), start=0) for _ in range(2)]
    swept, improve = [], Bellman.improve
    monkeypatch.setattr(Bellman, "improve", lambda *given, **options: swept.append(1) or improve(*given, **options))
    solution = bm.bisimilarity_distance(*chains)
    assert solution.interval == (1.0, 1.0)
    assert not swept
    joint = solution.coupling[0, 0]
    np.testing.assert_allclose(joint.sum(axis=1), chains[0].transitions.toarray()[0])
    assert len(swept) == 1
    assert solution.coupling[0, 1] is not None
    assert len(swept) == 1
