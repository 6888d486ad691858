"""The loop: options, callbacks, progress. What it promises is in tests/laws."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric import solvers
from bisimetric.errors import InvalidOption, InvalidProblem, ToleranceNotReached
from bisimetric.solvers import GameIteration
from tests import reference

CHAIN = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]], reward=[0, 1])
PROBLEM = bm.Problem(CHAIN, CHAIN, discount=0.9)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"tol": 0.0}, InvalidOption, "tol is 0.0"),
        ({"tol": -1e-3}, InvalidOption, "tol is"),
        ({"tol": np.nan}, InvalidOption, "tol is"),
        ({"tol": np.inf}, InvalidOption, "tol is"),
        ({"tol": True}, InvalidOption, "tol is True"),
        ({"tol": "1e-6"}, InvalidOption, "tol is"),
        ({"tol": [1e-6]}, InvalidOption, "tol is"),
        ({"max_steps": 0}, InvalidOption, "max_steps is 0"),
        ({"max_steps": 1.5}, InvalidOption, "max_steps is"),
        ({"max_steps": True}, InvalidOption, "max_steps is"),
        ({"solver": "policy-iterations"}, InvalidOption, "or a name: policy-iteration"),
        ({"solver": GameIteration()}, InvalidOption, "solves no Problem"),
        ({"time_limit": 0.0}, InvalidOption, "number of seconds"),
        ({"time_limit": "1"}, InvalidOption, "number of seconds"),
        ({"solver": bm.PolicyIteration}, InvalidOption, "expected a solver"),
        ({"initial": np.ones((3, 2))}, InvalidProblem, r"initial has shape \(3, 2\)"),
        ({"initial": np.full((2, 2), np.nan)}, InvalidProblem, "is nan"),
        ({"initial": 3.0}, InvalidProblem, "expected 2 dimension"),
        ({"initial": "cold"}, InvalidProblem, "dtype"),
    ],
)
def test_options_out_of_range(options, kind, message):
    """Refused before anything is computed, also where the answer is known at once."""
    free = bm.Problem(CHAIN, CHAIN, discount=0.9, cost=np.zeros((2, 2)))
    for problem in (PROBLEM, free):
        with pytest.raises(kind, match=message):
            bm.solve(problem, **options)


@pytest.mark.parametrize(
    "call",
    [bm.solve, lambda thing: bm.certify(thing, [[0.0]]), bm.certify_exactly],
    ids=["solve", "certify", "exactly"],
)
def test_things_that_are_no_problem(call):
    """The message names the type that came and the one expected."""
    with pytest.raises(InvalidProblem, match=r"expected a (Problem|Solution)"):
        call(CHAIN)


def test_every_step_is_reported():
    """on_step sees exactly the history, as it grows."""
    seen = []
    solution = bm.solve(PROBLEM, on_step=seen.append)
    assert tuple(seen) == solution.history
    assert len(seen) >= 1


def test_errors_in_a_callback_pass_through():
    """Only Ctrl-C is treated specially."""

    def fail(step):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        bm.solve(PROBLEM, on_step=fail)


def test_a_good_start_saves_steps():
    """The solution of a similar problem as `initial` takes fewer steps than a cold start."""
    one, zero = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    cold = bm.solve(bm.Problem(one, zero, discount=0.95))
    assert len(bm.solve(cold.problem, initial=cold).history) < len(cold.history)


def test_looser_tolerances_take_no_more_steps():
    """The loop stops as soon as the gap is small enough."""
    one, zero = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    problem = bm.Problem(one, zero, discount=0.99)
    steps = [len(bm.solve(problem, tol=tol).history) for tol in (0.5, 1e-3, 1e-9)]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]


@pytest.mark.slow
def test_large_supports():
    """Rows with 300 successors, checked_value row by row from a greedy start, against linear programs."""
    random = np.random.default_rng(11)
    n, busy = 300, 2
    chains = []
    for _ in range(2):
        matrix = sparse.lil_array(sparse.eye(n))
        for x in range(busy):
            matrix[x] = random.dirichlet(np.ones(n))
        chains.append(bm.MarkovChain(matrix.tocsr()))
    cost = random.random((n, n))
    problem = bm.Problem(*chains, discount=0.9, cost=cost)
    solution = bm.solve(problem)
    value = solution.value
    # Pairs of absorbing states pay forever; the others solve the equation, transports by HiGHS.
    quiet = cost / (1 - 0.9)
    np.testing.assert_allclose(value[busy:, busy:], quiet[busy:, busy:], rtol=1e-9)
    P, Q = (chain.transitions.toarray() for chain in chains)
    for x, y in ((1, 0), (0, 150), (299, 1)):
        expected = cost[x, y] + 0.9 * reference.transport(P[x], Q[y], value)
        assert value[x, y] == pytest.approx(expected, rel=1e-8)
        law = solution.coupling[x, y]
        assert np.array_equal(law.sum(axis=1), P[x])
        assert np.array_equal(law.sum(axis=0), Q[y])


@pytest.mark.slow
def test_more_successors_than_sixteen_bits_number():
    """A state with 70,000 successors against a single state: one coupling, but the widest trees."""
    n = 70_000
    cost = np.random.default_rng(0).random((n, 1))
    matrix = sparse.vstack([np.full((1, n), 1 / n), sparse.eye(n, format="csr")[1:]], format="csr")
    problem = bm.Problem(bm.MarkovChain(matrix), bm.MarkovChain([[1.0]]), discount=0.5, cost=cost)
    value = bm.solve(problem).value[:, 0]
    np.testing.assert_allclose(value[1:], 2 * cost[1:, 0], rtol=1e-9)
    assert value[0] == pytest.approx(cost[0, 0] + 0.5 * value.mean(), rel=1e-9)


def test_solves_from_several_threads_agree():
    """Concurrent solves of one problem give the same bits as one alone."""
    random = np.random.default_rng(2)
    chains = [bm.MarkovChain(random.dirichlet(np.full(50, 0.05), 50)) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.9, cost=random.random((50, 50)))
    alone = bm.solve(problem).value.tobytes()
    results = []
    workers = [threading.Thread(target=lambda: results.append(bm.solve(problem).value.tobytes())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [alone] * 4


@pytest.mark.parametrize("name", solvers.all_solvers())
def test_solvers_by_name(name):
    """A name stands for the solver with its default options."""
    named, made = bm.solve(PROBLEM, name), bm.solve(PROBLEM, solvers.all_solvers()[name]())
    assert named.solver == name
    assert np.array_equal(named.value, made.value)


def test_the_time_limit():
    """What was reached by then is certified; an explicit tolerance that is missed raises, as with steps."""
    chains = [bm.environments.four_rooms(side=16, goal=goal) for goal in ("north-west", "south-east")]
    problem = bm.Problem(*chains, discount=0.999)
    solution = bm.solve(problem, time_limit=0.02, quotient=False)
    assert solution.status is bm.Status.TIME_LIMIT
    assert not solution.reached_tol
    truth = bm.solve(problem, tol=1e-6, time_limit=600.0)
    assert truth.status is bm.Status.SOLVED
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()
    with pytest.raises(ToleranceNotReached, match="raise time_limit") as caught:
        bm.solve(problem, tol=1e-9, time_limit=1e-6)
    assert caught.value.solution.status is bm.Status.TIME_LIMIT
    assert bm.solve(problem, tol=1e-9, time_limit=1e-6, throw=False).status is bm.Status.TIME_LIMIT


def test_siblings_take_the_same_options():
    """distance, solve and the metrics: solver, tol, max_steps, time_limit, throw, on_step."""
    shared = {"solver", "tol", "max_steps", "time_limit", "throw", "on_step"}
    for function in (bm.distance, bm.solve, bm.bisimulation_metric, bm.bisimilarity_distance):
        parameters = inspect.signature(function).parameters
        assert shared <= set(parameters)
        assert all(parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in shared - {"solver"})
