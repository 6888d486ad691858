"""Value iteration with MacQueen's bounds."""

from __future__ import annotations

import itertools

import bisimetric as bm
from bisimetric.operators.bellman import Bellman

ROOMS = bm.environments.small_four_rooms


def test_the_gap_shrinks_by_the_discount() -> None:
    """T is a contraction: in every step the gap is cut by γ at least."""
    history = bm.solve(bm.Problem(ROOMS("a"), ROOMS("b"), discount=0.8), bm.ValueIteration()).history
    assert len(history) > 10
    assert all(after.gap <= 0.8 * before.gap * (1 + 1e-9) for before, after in itertools.pairwise(history))


def test_slow_is_not_stalled() -> None:
    """Close to 1 a step cuts the gap by little, which the loop must not take for a stall."""
    solver = bm.ValueIteration()
    near, far = (bm.Problem(ROOMS("a"), ROOMS("b"), discount=discount) for discount in (0.999, 0.5))
    assert solver.patience(Bellman.of(near)) > 200 > solver.patience(Bellman.of(far))
    assert bm.solve(near, solver, tol=1e-4).status is bm.Status.SOLVED


def test_it_needs_no_guess_and_uses_one() -> None:
    """Started at the answer it ends at once."""
    problem = bm.Problem(ROOMS("a"), ROOMS("b"), discount=0.9)
    cold = bm.solve(problem, bm.ValueIteration())
    warm = bm.solve(problem, bm.ValueIteration(), tol=1e-8, initial=bm.solve(problem))
    assert len(warm.history) < len(cold.history) / 5
