"""How often coupled chains visit each pair of states."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm
from bisimetric.couplings import occupancy
from bisimetric.couplings.occupancy import visits
from bisimetric.errors import SolverFailed
from bisimetric.linear import direct, krylov, splitting
from bisimetric.linear.splitting import Split
from tests import strategies


def started(problem):
    """The same problem with starts at state 0."""
    return bm.Problem(
        problem.source.with_start(0),
        problem.target.with_start(0),
        discount=problem.discount,
        cost=problem.cost,
        stop=problem.stop,
    )


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


@pytest.mark.parametrize("in_one_call", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_only_pairs_that_the_start_leads_to_count(monkeypatch, seed, in_one_call):
    """In one compiled call or in several, without the pairs that the start does not lead to."""
    if not in_one_call:
        monkeypatch.setattr(splitting, "IN_ONE_CALL", 0)
    random = np.random.default_rng(seed)
    matrix = sparse.csr_array(np.triu(random.random((60, 60)) * (random.random((60, 60)) < 0.2)) + np.eye(60))
    matrix = sparse.csr_array(matrix / matrix.sum(axis=1)[:, None])
    b = np.zeros(60)
    b[[20, 30]] = 0.5
    expected = np.linalg.solve(np.eye(60) - 0.9 * matrix.toarray().T, b)
    found = visits(matrix, b, 0.9, closed=True)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)
    assert (occupancy.reached(matrix, b) == np.flatnonzero(expected > 0.0)).all()
    assert (found[expected == 0.0] == 0.0).all()
    assert (visits(matrix, np.zeros(60), 0.9, closed=True) == 0.0).all()


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


@pytest.mark.parametrize("discount", [0.95, 0.999, 0.9999])
@pytest.mark.parametrize("side", [4, 6, 10])
def test_occupancy_from_one_pair_takes_few_products(monkeypatch, side, discount):
    """A few hundred, where sweeps alone would take up to 300 000."""
    chains = [bm.environments.four_rooms(side=side, goal=goal) for goal in ("north-west", "south-east")]
    solution = bm.solve(bm.Problem(*chains, discount=discount))
    matrix = solution.coupling.matrix()
    solve, products = Split.solve, []

    def counted(*system):
        solved = solve(*system)
        products.append(solved.products)
        return solved

    monkeypatch.setattr(Split, "solve", counted)
    start = (1 - discount) * solution.coupling.law(None).ravel()
    law = visits(matrix, start, discount, closed=True)
    assert sum(products) < 840
    assert len(products) == 1
    assert law.min() >= 0.0
    assert np.abs(start + discount * (matrix.T @ law) - law).sum() <= 1e-10 * (1 - discount)


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

    monkeypatch.setattr(Split, "solve", lambda self, b, target: krylov.Solved(np.full(b.size, left), 0.0, 1))
    for discount in (0.9, 0.99999):
        problem = bm.Problem(bm.environments.grid_3x3(), bm.environments.small_four_rooms("a"), discount=discount)
        coupling = bm.solve(problem).coupling
        law = coupling.occupancy().ravel()
        start = (1 - discount) * coupling.law(None).ravel()
        np.testing.assert_allclose(law, start + discount * (coupling.matrix().T @ law), rtol=0, atol=1e-15)


def test_an_occupancy_that_nothing_finds_is_refused(monkeypatch):
    """Where the factorisation fails as well there is no answer."""
    monkeypatch.setattr(Split, "solve", lambda self, b, target: krylov.Solved(b, 0.0, 1))
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


@pytest.mark.parametrize("rare", [1e-4, 1e-6, 1e-7, 1e-8, 1e-9])
def test_long_run_of_rare_moves(rare):
    """Where some pairs take many steps, errors are relative to the mass that is there, not to the longest tour."""
    source = bm.MarkovChain([[1 - rare, rare], [rare / 2, 1 - rare / 2]], reward=[0, 1], start=0)
    target = bm.MarkovChain([[1 - 3 * rare, 3 * rare], [rare, 1 - rare]], reward=[0, 1], start=0)
    solution = bm.average_distance(source, target, throw=False)
    share = solution.coupling.occupancy()
    np.testing.assert_allclose(share.sum(axis=1), [1 / 3, 2 / 3], atol=1e-5)
    np.testing.assert_allclose(share.sum(axis=0), [1 / 4, 3 / 4], atol=1e-5)
    gradient = solution.gradient()
    assert (gradient.cost * np.array([[0, 1], [1, 0]])).sum() == pytest.approx(solution.distance, abs=1e-5)


@pytest.mark.parametrize("rare", [1e-5, 1e-8, 1e-11, 1e-12, 1e-14])
def test_slow_transients_are_counted_or_refused(rare):
    """Shares of the long run sum to one, or there is no answer."""
    source = bm.MarkovChain([[1 - rare, 0.3 * rare, 0.7 * rare], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 2], start=0)
    target = bm.MarkovChain([[1 - rare, 0.6 * rare, 0.4 * rare], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 2], start=0)
    coupling = bm.average_distance(source, target, throw=False).coupling
    try:
        share = coupling.occupancy()
    except SolverFailed:
        assert rare < 1e-10
    else:
        assert share.sum() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("rare", [1e-5, 1e-7, 1e-8])
def test_visits_of_rare_pairs_without_a_discount(rare):
    """A pair that is hardly ever reached, but stays for long, is visited about once."""
    labels = ["a", "d", "b", "c"]
    ends = [[0, 0, 1, 0], [0, 0, 0, 1]]
    source = bm.MarkovChain(
        [[0, rare, 0.5 - rare, 0.5], [0, 1 - rare, rare / 2, rare / 2], *ends], labels=labels, start=0
    )
    target = bm.MarkovChain(
        [[0, rare, 0.4 - rare, 0.6], [0, 1 - rare, 0.4 * rare, 0.6 * rare], *ends], labels=labels, start=0
    )
    visited = bm.bisimilarity_distance(source, target).coupling.occupancy()
    assert visited[1, 1] == pytest.approx(1.0, abs=1e-5)
