"""Couplings: exact marginals, seeded paths, occupancies; and the other witnesses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, MissingStart
from tests import reference, strategies


@given(strategies.problems(max_states=4, stop=False))
def test_marginals_are_exact(problem):
    """Every joint law has the two rows as its marginals, bit by bit; all mass is positive."""
    coupling = bm.solve(problem).coupling
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    if not problem.cost.any():
        return  # the independent coupling, whose products round
    for x in range(problem.shape[0]):
        for y in range(problem.shape[1]):
            law = coupling[x, y].toarray()
            assert np.array_equal(law.sum(axis=1), P[x])
            assert np.array_equal(law.sum(axis=0), Q[y])
            assert (coupling[x, y].data > 0).all()


@given(strategies.tame_problems(max_states=4))
def test_the_coupling_attains_the_distance(problem):
    """Evaluating solution.coupling gives solution.value."""
    solution = bm.solve(problem)
    n, m = problem.shape
    plans = solution.coupling.matrix().toarray().reshape(n, m, n, m)
    np.testing.assert_allclose(
        reference.evaluate(problem, plans), solution.value, rtol=0, atol=1e-9 * solution.value.max()
    )


@given(strategies.problems(max_states=4))
def test_the_matrix_holds_all_joint_laws(problem):
    """Row x·m + y of the matrix is coupling[x, y]; rows of stopped pairs are empty."""
    n, m = problem.shape
    coupling = bm.solve(problem).coupling
    rows = coupling.matrix().toarray().reshape(n, m, n, m)
    for x in range(n):
        for y in range(m):
            assert np.array_equal(rows[x, y], coupling[x, y].toarray())
            if problem.stop is not None and problem.stop[x, y]:
                assert not rows[x, y].any()


# ------------------------------------------------------------------ paths


@pytest.fixture
def coin():
    """Two chains of three states with overlapping rows."""
    source = bm.MarkovChain([[0.5, 0.5, 0], [0.25, 0.25, 0.5], [1, 0, 0]], start=0, names=list("abc"))
    target = bm.MarkovChain([[0.25, 0.75], [0.5, 0.5]], start=1, names=list("uv"))
    cost = np.array([[0.0, 1.0], [1.0, 0.5], [0.3, 0.0]])
    return bm.Problem(source, target, discount=0.9, cost=cost)


@pytest.mark.parametrize("stop", [None, [[False, True], [False, False], [True, False]]])
@pytest.mark.parametrize("kept", ["as solved", "from a file", "linear program"])
def test_its_matrix_is_a_copy(coin, tmp_path, kept, stop):
    """Whoever changes the matrix, or asks for an explanation, changes nothing that the solution keeps."""
    problem = bm.Problem(coin.source, coin.target, discount=0.9, cost=coin.cost, stop=stop)
    solution = bm.solve(problem, "linear-program" if kept == "linear program" else None)
    if kept == "from a file":
        solution.save(tmp_path / "coin.npz")
        solution = bm.load(tmp_path / "coin.npz")
    before = solution.coupling.matrix()
    solution.explain()
    solution.coupling.matrix().data[:] = 0.0
    assert (solution.coupling.matrix() != before).nnz == 0
    assert before.data.any()


def test_paths_are_seeded_and_possible(coin):
    """Same seed, same path; every move has positive probability in both chains and in the coupling."""
    coupling = bm.solve(coin).coupling
    path = coupling.simulate(200, 3)
    assert path.shape == (201, 2)
    assert path[0].tolist() == [0, 1]
    assert np.array_equal(path, coupling.simulate(200, 3))
    assert not np.array_equal(path, coupling.simulate(200, 4))
    for before, after in pairwise(path):
        assert coupling[tuple(before)][tuple(after)] > 0
        assert coin.source.transitions[before[0], after[0]] > 0
        assert coin.target.transitions[before[1], after[1]] > 0


def test_frequencies_on_a_path(coin):
    """Moves out of a pair come as often as its joint law says, within five standard deviations."""
    coupling = bm.solve(coin).coupling
    path = coupling.simulate(20_000, 0)
    flat = path[:, 0] * 2 + path[:, 1]
    matrix = coupling.matrix().toarray()
    for pair in np.unique(flat[:-1]):
        moves = flat[1:][flat[:-1] == pair]
        expected = matrix[pair] * len(moves)
        seen = np.bincount(moves, minlength=6)
        spread = np.sqrt(expected * (1 - matrix[pair]))
        assert (np.abs(seen - expected) <= 5 * spread + 1e-9).all()


def test_paths_start_where_told(coin):
    """From a pair by index or name, or drawn from a joint law."""
    coupling = bm.solve(coin).coupling
    assert coupling.simulate(0, 0, start=(2, 0)).tolist() == [[2, 0]]
    assert coupling.simulate(0, 0, start=("c", "u")).tolist() == [[2, 0]]
    law = np.zeros((3, 2))
    law[1, 1] = law[2, 0] = 0.5
    first = [tuple(coupling.simulate(0, seed, start=law)[0]) for seed in range(60)]
    assert set(first) == {(1, 1), (2, 0)}
    assert 15 <= first.count((1, 1)) <= 45


def test_paths_end_where_the_game_stops(coin):
    """The stopped pair is the last of the path."""
    stop = np.zeros((3, 2), bool)
    stop[0, 0] = True
    stopped = bm.Problem(coin.source, coin.target, discount=0.9, cost=coin.cost, stop=stop)
    path = bm.solve(stopped).coupling.simulate(10_000, 0)
    assert len(path) < 10_001
    assert path[-1].tolist() == [0, 0]
    assert not (path[:-1] == [0, 0]).all(axis=1).any()


@pytest.mark.parametrize("zero", ["cost", "discount"])
def test_stopped_pairs_without_a_solver(zero):
    """Where V = c is known at once the coupling stops as well: no moves, no occupancy after the first pair."""
    chain = bm.MarkovChain([[0, 1], [1, 0]], start=0)
    cost = np.zeros((2, 2)) if zero == "cost" else np.ones((2, 2))
    discount = 0.5 if zero == "cost" else 0.0
    solution = bm.solve(bm.Problem(chain, chain, discount=discount, cost=cost, stop=np.ones((2, 2), bool)))
    assert solution.coupling.matrix().nnz == 0
    assert solution.coupling.occupancy().sum() == 1 - discount


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda c: c[3, 0], InvalidChain, "state 3 is out of range"),
        (lambda c: c["d", 0], InvalidChain, "'d' is unknown"),
        (lambda c: c[0], InvalidOption, "not a pair"),
        (lambda c: c[0, 1, 2], InvalidOption, "not a pair"),
        (lambda c: c.simulate(-1, 0), InvalidOption, "steps is -1"),
        (lambda c: c.simulate(1.5, 0), InvalidOption, "steps is 1.5"),
        (lambda c: c.simulate(True, 0), InvalidOption, "steps is True"),
        (lambda c: c.simulate(1, -1), InvalidOption, "seed is -1"),
        (lambda c: c.simulate(1, None), InvalidOption, "seed is None"),
        (lambda c: c.occupancy((0, 2)), InvalidChain, "state 2 is out of range"),
        (lambda c: c.occupancy("ab"), InvalidOption, "not a pair"),
        (lambda c: c.occupancy(np.ones((3, 2))), InvalidOption, "sum 6, expected .* 1"),
        (lambda c: c.occupancy(np.full((2, 2), 0.25)), InvalidOption, r"shape \(2, 2\)"),
        (lambda c: c.occupancy(np.array([[1.5, -0.5], [0, 0], [0, 0]])), InvalidOption, "start"),
    ],
)
def test_what_makes_no_sense(coin, call, kind, message):
    """Pairs, starts and numbers of steps that do not exist."""
    with pytest.raises(kind, match=message):
        call(bm.solve(coin).coupling)


def test_potentials_of_pairs_by_name(coin):
    """Names and indices mean the same pair; anything else is refused as for couplings."""
    potentials = bm.solve(coin).potentials
    for one, other in zip(potentials["c", "v"], potentials[2, 1], strict=True):
        assert np.array_equal(one, other)
    with pytest.raises(InvalidOption, match="not a pair"):
        _ = potentials[0]


def test_no_start_no_default():
    """Without a start the remedy is named."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    coupling = bm.solve(bm.Problem(chain, chain, discount=0.5)).coupling
    with pytest.raises(MissingStart, match="with_start"):
        coupling.occupancy()
    np.testing.assert_allclose(coupling.occupancy((0, 1)), [[0, 1], [0, 0]], rtol=0, atol=1e-14)
    assert "2 x 2" in repr(coupling)


# ------------------------------------------------------------------ potentials


def assert_potentials_prove(problem, solution):
    """f + g ≤ V on the supports, and c + γ(<f, P> + <g, Q>) comes close to the distance from below."""
    V = solution.value
    slip = 1e-8 * V.max()
    for x in range(problem.shape[0]):
        for y in range(problem.shape[1]):
            f, g = solution.potentials[x, y]
            rows = problem.source.successors(x), problem.target.successors(y)
            assert (f[:, None] + g[None, :] <= V[np.ix_(*rows)] + slip).all()
            p = problem.source.transitions[[x]].data
            q = problem.target.transitions[[y]].data
            bound = problem.cost[x, y] + problem.discount * (f @ p + g @ q)
            assert abs(bound - V[x, y]) <= slip


@given(strategies.problems(max_states=4, stop=False))
def test_potentials_prove_the_lower_bound(problem):
    """They belong to the distances, not to something a solver stopped at."""
    assume(problem.cost.any())
    solution = bm.solve(problem)
    assert_potentials_prove(problem, solution)
    assert "Potentials" in repr(solution.potentials)


@pytest.mark.parametrize("discount", [0.25, 0.9, 0.999])
def test_potentials_where_the_first_step_is_the_last(discount):
    """States that all move alike: residuals are constant, so a solver may stop a constant away from the distances."""
    random = np.random.default_rng(4)
    chains = [bm.MarkovChain(np.tile(random.dirichlet(np.ones(k)), (k, 1))) for k in (3, 4)]
    problem = bm.Problem(*chains, discount=discount, cost=random.random((3, 4)))
    assert_potentials_prove(problem, bm.solve(problem))
