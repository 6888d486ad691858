"""Lists of pairs and their trees: solves on some pairs against solves on all; also run without JIT and with checks."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.check import ListedCertificate, check
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.trees import TreeWitness, new_trees

pytestmark = pytest.mark.kernels


def question(n, *, share=0.0, symmetric=True, dense=False):
    """One chain against itself; the game stops at a share of the pairs."""
    random = np.random.default_rng(n)
    matrix = random.dirichlet(np.full(n, 1.0 if dense else 0.3), n)
    matrix[0] = np.eye(n)[-1]
    cost, stop = random.random((n, n)), random.random((n, n)) < share
    if symmetric:
        cost, stop = cost + cost.T, stop | stop.T
        np.fill_diagonal(cost, 0.0)
        np.fill_diagonal(stop, False)
    chain = bm.MarkovChain(matrix)
    return bm.Problem(chain, chain, discount=0.9, cost=cost, stop=stop if share else None)


QUESTIONS = {
    "symmetric, odd": question(5),
    "symmetric, even": question(6),
    "two states": question(2),
    "symmetric, large supports": question(11, dense=True),
    "symmetric, stopping": question(6, share=0.3),
    "stopping": question(6, share=0.5, symmetric=False),
    "a row without pairs": bm.Problem(
        question(4).source,
        question(4).source,
        discount=0.9,
        cost=np.arange(16.0).reshape(4, 4),
        stop=np.arange(16).reshape(4, 4) % 8 < 4,
    ),
}


@pytest.fixture(params=QUESTIONS.values(), ids=QUESTIONS.keys())
def problem(request):
    """Each of the fixed problems."""
    return request.param


def test_numbers(problem):
    """Every pair at which V is not known is listed once, or its mirror image is; the numbers say where."""
    bellman = Bellman.on_open_pairs(problem)
    n, m = problem.shape
    x, y = bellman.pairs.states(0, bellman.pairs.size)
    assert np.array_equal(bellman.pairs.numbers(x, y), np.arange(bellman.pairs.size))
    found = np.zeros((n, m), np.bool_)
    found[x, y] = True
    assert found.sum() == bellman.pairs.size
    if bellman.pairs.symmetric:
        assert not (found & found.T).any()
        assert np.array_equal(bellman.pairs.numbers(y, x), np.arange(bellman.pairs.size))
        found |= found.T
    assert np.array_equal(found, ~bellman.stop)
    every = np.divmod(np.arange(n * m), m)
    assert np.array_equal(bellman.pairs.numbers(*every).reshape(n, m) >= 0, found)
    counts = np.diff(bellman.pairs.listed.row)
    assert problem.stop is not None or counts.max() - counts.min() <= 1
    for first, last in ((0, 1), (1, bellman.pairs.size), (bellman.pairs.size - 1, bellman.pairs.size)):
        assert np.array_equal(bellman.pairs.states(first, last), [x[first:last], y[first:last]])


def test_vectors_and_matrices(problem):
    """A vector spread over all pairs and gathered again is the same; what is known stays."""
    bellman = Bellman.on_open_pairs(problem)
    vector = np.random.default_rng(0).random(bellman.pairs.size)
    matrix = bellman.spread(vector)
    assert np.array_equal(bellman.pairs.gather(matrix), vector)
    assert np.array_equal(matrix[bellman.stop], bellman.scaled_cost()[bellman.stop])
    assert not bellman.pairs.symmetric or np.array_equal(matrix, matrix.T)
    assert np.array_equal(bellman.plus(matrix, vector), bellman.spread(2 * vector))
    assert np.array_equal(bellman.consistent(matrix), matrix)


def test_sweeps_and_evaluations(problem):
    """T V - V and the value of a coupling are those of the operator on all pairs."""
    some, whole = Bellman.on_open_pairs(problem), Bellman.of(problem)
    assert not some.pairs.is_complete
    value = some.spread(np.random.default_rng(1).random(some.pairs.size) + 1.0)
    trees, all_trees = new_trees(some), new_trees(whole)
    sweep, full = some.improve(value, trees, cold=True), whole.improve(value, all_trees, cold=True)
    swept = full.residual.reshape(problem.shape)
    np.testing.assert_allclose(sweep.residual, some.pairs.gather(swept), atol=1e-13)
    again = some.improve(value, trees, cold=False)
    np.testing.assert_allclose(again.residual, sweep.residual, atol=1e-13)
    assert again.pivots == 0
    solved = Evaluation(some).solve(trees, sweep.residual, 1e-13)
    coupling = bm.Coupling(problem, TreeWitness(some, value, trees).at_rest(), lambda: np.zeros(problem.shape))
    moves = coupling.matrix().toarray()
    moves[some.stop.ravel()] = 0.0
    right = some.spread(sweep.residual)
    right[some.stop] = 0.0
    expected = np.linalg.solve(np.eye(value.size) - 0.9 * moves, right.ravel()).reshape(problem.shape)
    np.testing.assert_allclose(solved.x, some.pairs.gather(expected), rtol=1e-9, atol=1e-11)


def twins():
    """Four states with a twin each, whose rows go to either: a cost that does not tell them apart, one that does."""
    random = np.random.default_rng(3)
    rows = np.array([[2, 1, 1, 0], [1, 1, 1, 1], [1, 0, 2, 1], [1, 0, 0, 3]]) / 4  # exact, and so are their products
    chain = bm.MarkovChain(np.kron(rows, [[0.5, 0.5], [0.25, 0.75]]))
    cost = np.kron(random.random((4, 4)), np.ones((2, 2)))
    cost += cost.T
    cost[np.kron(np.eye(4), np.ones((2, 2))) > 0] = 0.0
    told = cost.copy()
    told[0, 1] = told[1, 0] = 1.0
    stop = np.zeros((8, 8), np.bool_)
    stop[0, 1] = stop[1, 0] = True
    return [
        bm.Problem(chain, chain, discount=0.9, cost=cost),
        bm.Problem(chain, chain, discount=0.9, cost=told, stop=stop),
        bm.Problem(chain, chain, discount=0.9, cost=cost, stop=stop),
    ]


@pytest.mark.parametrize("problem", [*QUESTIONS.values(), *twins()])
def test_the_same_certificate(problem):
    """The checker says of one value what it says on all pairs: bounds, gaps and zeros that are proved."""
    some, whole = Bellman.on_open_pairs(problem), Bellman.of(problem)
    value = some.scaled_cost()
    bounds = []
    for bellman in (some, whole):
        trees = new_trees(bellman)
        bellman.improve(value, trees, cold=True)
        bounds.append(check(problem, bellman, value, TreeWitness(bellman, value, trees)))
    listed, full = bounds
    assert isinstance(listed, ListedCertificate)
    spread = listed.around()
    outside = ~some.stop
    np.testing.assert_allclose(spread.lower[outside], full.lower[outside], atol=1e-12)
    np.testing.assert_allclose(spread.upper[outside], full.upper[outside], atol=1e-12)
    assert np.array_equal(spread.lower[some.stop], problem.cost[some.stop])
    assert np.array_equal(spread.upper == 0.0, full.upper == 0.0)
    assert (listed.gap, listed.relative_gap) == (spread.gap, spread.relative_gap)
    assert ((spread.lower <= spread.value) & (spread.value <= spread.upper)).all()
    far = spread.upper + 1.0
    assert np.array_equal(listed.around(far * 2.0, 2.0).value, spread.upper)


def test_zeros_are_proved():
    """Twins are at distance zero, unless those that are told apart may be met."""
    free, told, stopping = (bm.solve(problem).upper == 0.0 for problem in twins())
    assert np.array_equal(free, np.kron(np.eye(4), np.ones((2, 2))) > 0)
    assert np.array_equal(stopping, free)
    assert np.array_equal(told, np.eye(8) > 0)


def test_couplings_of_all_pairs(problem):
    """Also of those that were not solved: mirrored, equal states together, none at a stop."""
    solution = bm.solve(problem)
    stop = np.zeros(problem.shape, np.bool_) if problem.stop is None else problem.stop
    matrix = problem.source.transitions.toarray()
    for x, y in np.ndindex(problem.shape):
        law = solution.coupling[x, y].toarray()
        if stop[x, y]:
            assert not law.any()
            continue
        np.testing.assert_allclose(law.sum(axis=1), matrix[x], atol=1e-15)
        np.testing.assert_allclose(law.sum(axis=0), matrix[y], atol=1e-15)
        f, g = solution.potentials[x, y]
        reach = solution.value[np.ix_(matrix[x] > 0, matrix[y] > 0)]
        assert (np.add.outer(f, g) <= reach + 1e-6).all()


@pytest.mark.parametrize("solver", [bm.PolicyIteration(), bm.ValueIteration()], ids=lambda solver: solver.name)
def test_the_same_distances(problem, solver):
    """On all pairs and on some."""
    some = bm.solve(problem, solver, tol=1e-8)

    class OnAllPairs(type(solver)):
        open_pairs = False

    whole = bm.solve(problem, OnAllPairs(), tol=1e-8)
    assert (some.lower <= whole.upper).all()
    assert (whole.lower <= some.upper).all()
    assert some.relative_gap <= 1e-8
