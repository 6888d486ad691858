"""The linear program over occupancy couplings."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest

import bisimetric as bm
from bisimetric import solvers
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers import linear_program
from bisimetric.solvers.linear_program import _Program
from tests.processes import run

PROBLEM = bm.Problem(bm.environments.grid_3x3(), bm.environments.small_four_rooms("a"), discount=0.95)


def test_coherence_holds_for_every_pair_and_successor() -> None:
    """Theorem 1 needs 1 + S_x + S_y rows a pair, of which one follows from the others; fewer give too low values."""
    program = _Program.of(Bellman.of(PROBLEM))
    n, m = PROBLEM.shape
    P, Q = PROBLEM.source.transitions, PROBLEM.target.transitions
    assert program.matrix.shape == (m * P.nnz + n * Q.nnz, n * m + P.nnz * Q.nnz)


@pytest.mark.parametrize("method", ["ipm", "simplex", "choose"])
def test_methods_agree(method: str) -> None:
    """Each of HiGHS' methods gives the value of the default solver."""
    answer, ours = bm.solve(PROBLEM, bm.LinearProgram(method)), bm.solve(PROBLEM)
    assert answer.status is bm.Status.SOLVED
    np.testing.assert_allclose(answer.value, ours.value, rtol=0, atol=1e-9 * ours.value.max())


def test_bad_options_are_refused() -> None:
    """The errors say what is expected."""
    with pytest.raises(bm.errors.InvalidOption, match="ipm, simplex, choose"):
        bm.LinearProgram("barrier")
    for limit in (0.0, -1, float("nan"), True, "1"):
        with pytest.raises(bm.errors.InvalidOption, match="positive number of seconds"):
            bm.LinearProgram(time_limit=limit)


def test_a_tolerance_out_of_reach_stalls() -> None:
    """Rounding is a stall, not a step limit."""
    solution = bm.solve(PROBLEM, bm.LinearProgram(), tol=1e-300, throw=False)
    assert solution.status is bm.Status.STALLED
    assert solution.relative_gap < 1e-8


def test_the_program_needs_no_transports(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordinary problem is solved in one step, without the kernels that the other exact solvers share."""
    monkeypatch.delattr(Bellman, "improve")
    solution = bm.solve(PROBLEM, bm.LinearProgram())
    assert solution.status is bm.Status.SOLVED
    assert len(solution.history) == 1


def test_a_guess_is_not_used() -> None:
    """`initial` changes no bit, and the solver says so."""
    assert [name for name, solver in solvers.all_solvers().items() if not solver.uses_initial] == ["linear-program"]
    cold, warm = (bm.solve(PROBLEM, bm.LinearProgram(), initial=guess) for guess in (None, np.ones(PROBLEM.shape)))
    np.testing.assert_array_equal(cold.value, warm.value)


def awkward(seed: int) -> bm.Problem:
    """Probabilities and discounts of all sizes, zeros, ties and stops."""
    random = np.random.default_rng(seed)

    def chain(n: int) -> bm.MarkovChain:
        rows = 10.0 ** -random.uniform(0, random.choice([1, 12, 20]), (n, n)) * (random.random((n, n)) < 0.8)
        return bm.MarkovChain.normalised(rows + 10.0 ** -random.uniform(0, 3) * np.eye(n)[random.integers(n, size=n)])

    n, m = random.integers(1, 7, 2)
    cost = random.random((n, m)) if random.random() < 0.6 else random.integers(0, 2, (n, m)).astype(float)
    stop = random.random((n, m)) < 0.3 if random.random() < 0.2 else None
    discount = random.choice([1e-8, 0.1, 0.5, 0.9, 0.99, 0.999, 0.99999, 1 - 1e-6, 1 - 1e-9])
    return bm.Problem(chain(int(n)), chain(int(m)), discount=float(discount), cost=cost, stop=stop)


def test_awkward_problems() -> None:
    """No problem is infeasible, none takes long, and the gap is as small as rounding allows."""
    for seed in range(60):
        problem = awkward(seed)
        answer, ours = bm.solve(problem, bm.LinearProgram(), throw=False), bm.solve(problem, throw=False)
        assert answer.relative_gap <= max(1e-8, 3 * ours.relative_gap), seed
        assert (answer.lower <= ours.upper).all(), seed
        assert (ours.lower <= answer.upper).all(), seed


def test_interior_points_that_loop() -> None:
    """An interior point method without a limit never ends on this program of two states against three."""
    source = bm.MarkovChain([[1, 0], [0.9982770667095364, 0.00172293329046358]])
    likely = [9.9122737245972026e-01, 7.7786058585176399e-03, 9.9402168176210282e-04]
    target = bm.MarkovChain([likely, likely, [9.7510249951831263e-01, 2.4897467382599681e-02, 3.3099087692889384e-08]])
    cost = [
        [0.38161508968863944, 0.09467844561095946, 0.47526957121557745],
        [0.6989435799658374, 0.7745214349462153, 0.6123228315098207],
    ]
    problem = bm.Problem(source, target, discount=1e-8, cost=cost)
    assert bm.solve(problem, bm.LinearProgram()).status is bm.Status.SOLVED


def test_discount_next_to_1() -> None:
    """Against a single state V solves V = c + γPV; the shares of time are 1/3 and 2/3."""
    source, target = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]]), bm.MarkovChain([[1.0]])
    answer = bm.solve(bm.Problem(source, target, discount=1 - 1e-9, cost=[[0], [1]]), bm.LinearProgram())
    assert answer.relative_gap < 1e-5
    np.testing.assert_allclose(answer.value * 1e-9, 2 / 3, rtol=1e-5)


@pytest.mark.parametrize("n", [13, 17])
def test_a_program_that_the_simplex_method_gets_wrong(n: int) -> None:
    """The flow round a cycle is a regular system of equations, of which HiGHS 1.15 says "Unknown"."""
    cycle = bm.MarkovChain(np.roll(np.eye(n), 1, axis=1))
    cost = np.random.default_rng(n).choice([0.0, 0.5, 1.0], (n, n))
    problem = bm.Problem(cycle, cycle, discount=0.1, cost=cost)
    answer, ours = bm.solve(problem, bm.LinearProgram()), bm.solve(problem)
    assert answer.status is bm.Status.SOLVED
    np.testing.assert_allclose(answer.value, ours.value, rtol=1e-7)


def test_time_limit() -> None:
    """HiGHS keeps to it, and the error names what is faster."""
    with pytest.raises(bm.errors.SolverFailed, match="PolicyIteration"):
        bm.solve(PROBLEM, bm.LinearProgram(time_limit=1e-6))


def test_probabilities_below_the_reach_of_highs() -> None:
    """Entries that HiGHS would drop do not make the program infeasible."""
    target = bm.MarkovChain([[0, 0, 1], [0, 1, 0], [5e-13, 5e-13, 1 - 1e-12]])
    problem = bm.Problem(bm.MarkovChain([[1.0]]), target, discount=0.5, cost=[[0, 0, 0.25]])
    answer, ours = bm.solve(problem, bm.LinearProgram()), bm.solve(problem)
    assert (answer.lower <= ours.upper).all()
    assert (ours.lower <= answer.upper).all()


def test_memory_is_estimated_first(free_memory: Callable[[int], None]) -> None:
    """The program says what it would need, and what needs less."""
    free_memory(1000)
    with pytest.raises(bm.errors.NotEnoughMemory, match="PolicyIteration"):
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

    def out_of_time(call, *arguments):
        if call.__name__ == "run":
            raise TimeoutError
        return call(*arguments)

    monkeypatch.setattr(linear_program, "call_in_thread", out_of_time)
    monkeypatch.setattr(highspy.Highs, "cancelSolve", lambda highs: told.append(highs))
    with pytest.raises(TimeoutError):
        bm.solve(PROBLEM, bm.LinearProgram())
    assert len(told) == 1


ENDS = """
a, b = (bm.environments.random_chain(20, seed=seed) for seed in (1, 2))
tough = bm.Problem(a, b, discount=0.95, cost=np.random.default_rng(0).random((20, 20)))
assert bm.solve(tough, "linear-program", time_limit=0.3, throw=False).status is bm.Status.TIME_LIMIT
"""


def test_a_time_limit_ends_the_program_too():
    """HiGHS does not go on in the background, so the process ends."""
    run(ENDS, timeout=60)


def test_presolve_does_not_look_for_dependent_equations():
    """That took HiGHS a quarter of an hour on two chains of 20 states; the rows of the program are independent."""
    highs, status = linear_program._run(_Program.of(Bellman.of(PROBLEM)), "ipm", 1e-9, "on", "on", 60.0)
    assert status == "Optimal"
    assert highs.getOptionValue("presolve_rule_off")[1] == linear_program.DEPENDENT_EQUATIONS
    assert np.linalg.matrix_rank(_Program.of(Bellman.of(PROBLEM)).matrix.toarray()) == highs.getNumRow()
