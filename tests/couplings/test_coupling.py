"""Couplings: exact marginals, seeded paths, occupancies; and the other witnesses."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm
from bisimetric.couplings.occupancy import visits
from bisimetric.couplings.witness import IndependentWitness, StoredWitness
from bisimetric.errors import InvalidChain, InvalidOption, MissingStart, SolverFailed
from bisimetric.linear import direct, krylov
from bisimetric.operators.bellman import Bellman
from tests import reference, strategies


def started(problem):
    """The same problem with starts at state 0."""
    return bm.Problem(
        problem.source.with_start(0),
        problem.target.with_start(0),
        discount=problem.discount,
        cost=problem.cost,
        stop=problem.stop,
    )


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


@given(strategies.problems(max_states=4, gammas=strategies.tame_discounts))
def test_occupancy(problem):
    """ν = (1-γ)ν₀ + γΠᵀν, ν ≥ 0, and ν sums to one if nothing stops."""
    problem = started(problem)
    coupling = bm.solve(problem).coupling
    occupancy = coupling.occupancy()
    assert (occupancy >= 0).all()
    start = np.zeros(problem.shape)
    start[0, 0] = 1.0
    onward = (coupling.matrix().T @ occupancy.ravel()).reshape(problem.shape)
    np.testing.assert_allclose(
        occupancy, (1 - problem.discount) * start + problem.discount * onward, rtol=1e-12, atol=1e-15
    )
    if problem.stop is None:
        assert occupancy.sum() == pytest.approx(1.0, abs=1e-12)
    else:
        assert occupancy.sum() <= 1.0 + 1e-12


@given(strategies.tame_problems(max_states=4), st.data())
def test_occupancy_weighs_the_costs(problem, data):
    """W = <ν, c>/(1-γ), from any pair and from any joint law of the starts."""
    solution = bm.solve(problem)
    n, m = problem.shape
    pair = data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)))
    weights = np.array(data.draw(st.lists(st.integers(1, 9), min_size=n * m, max_size=n * m)))
    law = (weights / weights.sum()).reshape(n, m)
    for start, expected in ((pair, solution.value[pair]), (law, (law * solution.value).sum())):
        paid = (solution.coupling.occupancy(start) * problem.cost).sum() / (1 - problem.discount)
        assert paid == pytest.approx(expected, rel=1e-9, abs=1e-9 * solution.value.max())


@pytest.mark.parametrize("discount", [0.5, 0.999, 0.9999])
def test_occupancy_at_high_discounts(discount):
    """Accurate also where the plain iteration would take many thousand sweeps."""
    chain = bm.environments.four_rooms("p1")
    problem = bm.Problem(chain, bm.environments.four_rooms("p0"), discount=discount)
    solution = bm.solve(problem)
    occupancy = solution.coupling.occupancy()
    assert occupancy.sum() == pytest.approx(1.0, abs=1e-10)
    paid = (occupancy * problem.cost).sum() / (1 - discount)
    assert paid == pytest.approx(solution.distance, rel=1e-8)


class Counted:
    """A matrix that counts its products."""

    def __init__(self, matrix):
        self._matrix = matrix
        self.products = 0

    def __matmul__(self, vector):
        self.products += 1
        return self._matrix @ vector


@pytest.mark.parametrize("discount", [0.95, 0.999, 0.9999])
@pytest.mark.parametrize("side", [4, 6, 10])
def test_occupancy_from_one_pair_takes_few_products(side, discount):
    """A few hundred, where sweeps alone would take up to 300 000."""
    chains = [bm.environments.four_rooms(side=side, goal=goal) for goal in ("north-west", "south-east")]
    solution = bm.solve(bm.Problem(*chains, discount=discount))
    transposed = Counted(solution.coupling.matrix().T.tocsr())
    start = (1 - discount) * solution.coupling.law(None).ravel()
    law = visits(transposed, start, discount, rows=chains[0].n_states, closed=True)
    assert transposed.products < 900
    assert law.min() >= 0.0
    assert np.abs(start + discount * (transposed @ law) - law).sum() <= 1e-10 * (1 - discount)


def walk_into_a_corner(side):
    """Left, right, up or down on a square without a way out of one corner."""
    step = sparse.diags_array([np.full(side - 1, 0.25)] * 2, offsets=[-1, 1])
    walk = (sparse.kron(step, sparse.eye_array(side)) + sparse.kron(sparse.eye_array(side), step)).tolil()
    walk.setdiag(1.0 - walk.sum(axis=1))
    walk[0] = 0.0
    walk[0, 0] = 1.0
    return bm.MarkovChain(walk.tocsr())


@pytest.mark.parametrize("place", [60, 1457, 2400, 2499])
def test_occupancy_of_a_place_that_is_reached_late(place):
    """The corner is found after some ten thousand moves, and then never left."""
    discount, chain = 0.99999, walk_into_a_corner(50)
    cost = np.zeros((2500, 1))
    cost[0] = 1.0
    solution = bm.solve(bm.Problem(chain, bm.MarkovChain([[1.0]]), discount=discount, cost=cost))
    occupancy = solution.coupling.occupancy((place, 0))
    assert occupancy.sum() == pytest.approx(1.0, abs=1e-8)
    assert occupancy[0, 0] == pytest.approx((1 - discount) * solution.value[place, 0], rel=1e-6)


@pytest.mark.parametrize("left", [np.inf, np.nan, 1.0, 1e-3])
def test_occupancy_where_bicgstab_fails(monkeypatch, left):
    """Nothing of what it left is believed, also where it claims to have converged."""

    def strayed(apply, b, guess, *, rows, target):
        return krylov.Solved(np.full(b.size, left), 0.0, 1)

    monkeypatch.setattr(krylov, "bicgstab", strayed)
    for discount in (0.9, 0.99999):
        problem = bm.Problem(bm.environments.grid_3x3(), bm.environments.small_four_rooms("a"), discount=discount)
        coupling = bm.solve(problem).coupling
        law = coupling.occupancy().ravel()
        start = (1 - discount) * coupling.law(None).ravel()
        np.testing.assert_allclose(law, start + discount * (coupling.matrix().T @ law), rtol=0, atol=1e-15)


def test_an_occupancy_that_nothing_finds_is_refused(monkeypatch):
    """Where the factorisation fails as well there is no answer."""
    monkeypatch.setattr(krylov, "bicgstab", lambda apply, b, guess, **_: krylov.Solved(b, 0.0, 1))
    monkeypatch.setattr(direct.Factors, "once", lambda self, b, target: b)
    coupling = bm.solve(bm.Problem(bm.environments.grid_3x3(), bm.environments.grid_3x3(), discount=0.9)).coupling
    with pytest.raises(SolverFailed, match="an occupancy is known only to"):
        coupling.occupancy()


def cycle(n, reward):
    """A chain that goes round in n steps."""
    return bm.MarkovChain(np.roll(np.eye(n), 1, axis=1), reward=reward, start=0)


@pytest.mark.parametrize("discount", [0.8, 0.95, 0.999, 0.99999, 1 - 1e-9])
@pytest.mark.parametrize(("p", "q"), [(2, 9), (6, 18), (10, 15), (7, 6)])
def test_occupancy_of_two_cycles(p, q, discount):
    """The couple goes round in lcm(p, q) steps: a pair is visited at the times k, k + lcm, k + 2·lcm, …"""
    period = math.lcm(p, q)
    truth = np.zeros((p, q))
    for k in range(period):
        truth[k % p, k % q] = (1 - discount) * discount**k / -math.expm1(period * math.log(discount))
    solution = bm.distance(cycle(p, np.arange(p)), cycle(q, np.zeros(q)), discount=discount)
    np.testing.assert_allclose(solution.coupling.occupancy(), truth, rtol=0, atol=max(1e-12, 1e-15 / (1 - discount)))
    low, high = solution.interval
    assert low <= solution.explain(2).distance <= high


# ------------------------------------------------------------------ paths


@pytest.fixture
def coin():
    """Two chains of three states with overlapping rows."""
    source = bm.MarkovChain([[0.5, 0.5, 0], [0.25, 0.25, 0.5], [1, 0, 0]], start=0, names=list("abc"))
    target = bm.MarkovChain([[0.25, 0.75], [0.5, 0.5]], start=1, names=list("uv"))
    cost = np.array([[0.0, 1.0], [1.0, 0.5], [0.3, 0.0]])
    return bm.Problem(source, target, discount=0.9, cost=cost)


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


# ------------------------------------------------------------------ potentials and witnesses


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


def test_witnesses_hand_out_any_range():
    """Any cut of the pairs gives the same cells, for computed and for stored witnesses."""
    random = np.random.default_rng(1)
    source, target = (bm.MarkovChain(random.dirichlet(np.ones(k), k)) for k in (3, 4))
    problem = bm.Problem(source, target, discount=0.9, cost=random.random((3, 4)))
    trees = bm.solve(problem)._proof.witness
    independent = IndependentWitness(Bellman.of(problem))
    for witness in (trees, independent, StoredWitness(trees.cells(0, 12)), StoredWitness(independent.cells(0, 12))):
        whole = witness.cells(0, 12)
        assert np.diff(whole.indptr).max() <= witness.cells_per_pair
        for first, last in ((0, 5), (5, 12), (11, 12)):
            part = witness.cells(first, last)
            a, b = whole.indptr[first], whole.indptr[last]
            c, d = whole.start[first], whole.start[last]
            assert np.array_equal(part.indptr, whole.indptr[first : last + 1] - a)
            assert np.array_equal(part.start, whole.start[first : last + 1] - c)
            for name in ("left", "right", "weight"):
                assert np.array_equal(getattr(part, name), getattr(whole, name)[a:b])
            assert np.array_equal(part.potential, whole.potential[c:d])
