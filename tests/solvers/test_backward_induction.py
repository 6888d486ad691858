"""Backward induction: one step of the solver for every step of the horizon."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, NotEnoughMemory
from bisimetric.solvers import BackwardInduction

ROOMS = [bm.as_chain(name) for name in ("four-rooms:p1", "four-rooms:p0")]


def test_one_step_for_each_step():
    """And the gap of the history is what is known about time 0, so it only shrinks at the end."""
    solution = bm.solve(bm.HorizonProblem(*ROOMS, horizon=7))
    assert [step.step for step in solution.history] == list(range(1, 8))
    assert solution.history[-1].gap < 1e-9 < solution.history[-2].gap
    assert solution.history[-1].interval == solution.interval
    assert solution.history[-2].interval is None


def test_only_time_0_is_kept_if_asked():
    """The same distances; couplings of time 0 are there, those of later times are refused with the remedy."""
    problem = bm.HorizonProblem(*ROOMS, horizon=7)
    solution, lean = bm.solve(problem), bm.solve(problem, BackwardInduction(keep_steps=False))
    assert (lean.value == solution.value).all()
    assert (lean.coupling[3, 3] != solution.coupling[0, 3, 3]).nnz == 0
    for ask in (lambda: lean.at(3), lambda: lean.coupling[4, 0, 0], lean.explain):
        with pytest.raises(InvalidOption, match="keep_steps=True"):
            ask()


def test_memory_is_estimated_first(monkeypatch):
    """Before anything is computed, with the remedy."""
    monkeypatch.setattr("bisimetric._support.memory.available_bytes", lambda: 10**6)
    with pytest.raises(NotEnoughMemory, match="keep_steps=False"):
        bm.solve(bm.HorizonProblem(*ROOMS, horizon=10_000))


def test_options():
    """A flag, by name or as an object; other solvers are refused."""
    with pytest.raises(InvalidOption, match="keep_steps"):
        BackwardInduction(keep_steps="no")
    problem = bm.HorizonProblem(*ROOMS, horizon=2)
    assert bm.solve(problem, "backward-induction").solver == "backward-induction"
    with pytest.raises(InvalidOption, match="solver=None"):
        bm.solve(problem, bm.PolicyIteration())
    with pytest.raises(InvalidOption, match="solves no Problem"):
        bm.solve(bm.Problem(*ROOMS, discount=0.9), BackwardInduction())
