"""The linear program over occupancy couplings."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest

import bisimetric as bm
from bisimetric import _memory
from bisimetric._bellman import Bellman
from bisimetric.solvers import linear_program
from bisimetric.solvers.linear_program import _Program

PROBLEM = bm.Problem(bm.environments.grid_3x3(), bm.environments.small_four_rooms("a"), discount=0.95)


def test_coherence_holds_for_every_pair_and_successor() -> None:
    """Theorem 1 needs 1 + S_x + S_y rows a pair; fewer give values that are too low."""
    program = _Program.of(Bellman.of(PROBLEM))
    n, m = PROBLEM.shape
    P, Q = PROBLEM.source.transitions, PROBLEM.target.transitions
    assert program.matrix.shape == (n * m + m * P.nnz + n * Q.nnz, n * m + P.nnz * Q.nnz)


@pytest.mark.parametrize("method", ["ipm", "simplex", "choose"])
def test_methods_agree(method: str) -> None:
    """Each of HiGHS' methods gives the value of the default solver."""
    answer, ours = bm.solve(PROBLEM, bm.LinearProgram(method)), bm.solve(PROBLEM)
    assert answer.status is bm.Status.SOLVED
    np.testing.assert_allclose(answer.value, ours.value, rtol=0, atol=1e-9 * ours.value.max())


def test_unknown_method_is_refused() -> None:
    """The error names the methods."""
    with pytest.raises(bm.errors.InvalidOption, match="ipm, simplex, choose"):
        bm.LinearProgram("barrier")


def test_a_tolerance_out_of_reach_stalls() -> None:
    """There is one step only, so a missed tolerance is a stall, not a step limit."""
    solution = bm.solve(PROBLEM, bm.LinearProgram(), tol=1e-300, throw=False)
    assert solution.status is bm.Status.STALLED
    assert solution.relative_gap < 1e-8


def test_probabilities_below_the_reach_of_highs() -> None:
    """Entries that HiGHS would drop do not make the program infeasible."""
    target = bm.MarkovChain([[0, 0, 1], [0, 1, 0], [5e-13, 5e-13, 1 - 1e-12]])
    problem = bm.Problem(bm.MarkovChain([[1.0]]), target, discount=0.5, cost=[[0, 0, 0.25]])
    answer, ours = bm.solve(problem, bm.LinearProgram()), bm.solve(problem)
    assert (answer.lower <= ours.upper).all()
    assert (ours.lower <= answer.upper).all()


def test_memory_is_estimated_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program says what it would need, and what needs less."""
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1000)
    monkeypatch.setattr(_memory, "NEGLIGIBLE", 0)
    with pytest.raises(bm.errors.NotEnoughMemory, match=r"linear program.*PolicyIteration"):
        bm.solve(PROBLEM, bm.LinearProgram())


def test_interrupt() -> None:
    """Ctrl-C reaches HiGHS; the solution so far is certified."""
    chains = [bm.environments.random_chain(11, seed=k) for k in range(2)]
    problem = bm.Problem(*chains, discount=0.95)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(bm.errors.SolveInterrupted) as caught:
            bm.solve(problem, bm.LinearProgram("simplex"))
    finally:
        timer.cancel()
    ours = bm.solve(problem)
    solution = caught.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert (solution.lower <= ours.upper).all()
    assert (ours.lower <= solution.upper).all()


def test_threads() -> None:
    """Several programs at once."""
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: bm.solve(PROBLEM, bm.LinearProgram()), range(3)))
    for solution in found:
        assert solution.status is bm.Status.SOLVED
        np.testing.assert_array_equal(solution.value, found[0].value)


AFTER_AN_INTERRUPT = """
import signal, threading
import bisimetric as bm

signal.signal(signal.SIGINT, signal.default_int_handler)
rooms, random = bm.environments.four_rooms, bm.environments.random_chain
slow = bm.Problem(rooms(side=5), rooms(side=5, goal="all"), discount=0.95)  # HiGHS is deaf for a second at first
fast = bm.Problem(random(3, seed=1), random(3, seed=2), discount=0.95)
bm.solve(fast, bm.LinearProgram())
threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
try:
    bm.solve(slow, bm.LinearProgram())
    raise SystemExit("not interrupted")
except bm.errors.SolveInterrupted:
    assert bm.solve(fast, bm.LinearProgram()).status is bm.Status.SOLVED
"""


def test_after_an_interrupt() -> None:
    """The next program is solved while HiGHS has not heard of the interrupt yet, and the process ends in peace."""
    done = subprocess.run([sys.executable, "-c", AFTER_AN_INTERRUPT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_any_exception_stops_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time limit, say: HiGHS is told, else the end of the process would wait for the whole program."""
    told = []

    def out_of_time(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(linear_program, "aside", out_of_time)
    monkeypatch.setattr(highspy.Highs, "cancelSolve", lambda highs: told.append(highs))
    with pytest.raises(TimeoutError):
        bm.solve(PROBLEM, bm.LinearProgram())
    assert len(told) == 1
