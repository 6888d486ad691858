"""The preconditioner: what it solves exactly, and that it depends on nothing but its input."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.blocks import PARALLEL_FROM
from bisimetric.linear import krylov
from bisimetric.operators import evaluation
from bisimetric.operators.bellman import Bellman, as_rows
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.modes import Preconditioner, _clusters
from bisimetric.operators.trees import is_compact, new_trees, tree_cells


def improved(source, target, discount=0.99, *, may_round=False):
    """An operator with the trees of one sweep."""
    bellman = Bellman.of(bm.Problem(source, target, discount=discount))
    trees = new_trees(bellman, may_round=may_round)
    bellman.improve(bellman.scaled_cost(), trees, cold=True)
    return bellman, trees


def product(bellman, trees, vector):
    """(I - γΠ)·vector."""
    matrix = Evaluation(bellman)._matrix(trees)
    return vector - bellman.discount * (matrix @ vector)


def rooms(side, goal="north-west"):
    """A walk that mixes slowly."""
    return bm.environments.four_rooms(side=side, goal=goal)


def sluggish(n, seed):
    """A chain whose states stay for long, each its own time."""
    random = np.random.default_rng(seed)
    stay = random.choice([0.0, 0.9, 0.999], n)
    rows = stay[:, None] * np.eye(n) + (1 - stay[:, None]) * random.dirichlet(np.full(n, 0.3), n)
    return bm.MarkovChain.normalised(rows, reward=random.random(n))


CHAINS = {
    "rooms": (rooms(4), rooms(6, "north-east")),
    "sluggish": (sluggish(15, 0), sluggish(22, 1)),
    "one state": (rooms(4), bm.MarkovChain([[1.0]], reward=[0.5])),
    "islands": (bm.MarkovChain(np.eye(40), reward=np.arange(40)), rooms(4)),
}


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("name", CHAINS)
def test_sums_of_functions_of_one_state_are_solved_exactly(name, dense):
    """(I - γΠ) M⁻¹ (a ⊕ b) = a ⊕ b for every coupling."""
    bellman, trees = improved(*CHAINS[name])
    modes = Preconditioner(bellman, trees, dense=dense)
    random = np.random.default_rng(3)
    n, m = bellman.shape
    vector = np.add.outer(random.random(n), random.random(m)).ravel()
    solved = modes(vector, np.empty(n * m))
    np.testing.assert_allclose(product(bellman, trees, solved), vector, atol=1e-11)


@pytest.mark.parametrize("name", CHAINS)
def test_arrays_and_factors_are_one_preconditioner(name):
    """Small systems have explicit inverses, for a solve in one call; large ones have sparse factors."""
    bellman, trees = improved(*CHAINS[name])
    vector = np.random.default_rng(6).random(bellman.pairs.size)
    dense, sparse = (Preconditioner(bellman, trees, dense=way)(vector, np.empty_like(vector)) for way in (True, False))
    np.testing.assert_allclose(dense, sparse, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CHAINS)
def test_the_coarse_system_is_that_of_the_blocks(name):
    """Mean flows between blocks of pairs, against sums over the coupling's cells."""
    bellman, trees = improved(*CHAINS[name])
    modes = Preconditioner(bellman, trees, dense=True)
    layout, width = modes.modes, len(modes.modes.size_y)
    block = (layout.cluster_x[:, None] * width + layout.cluster_y).ravel()
    matrix = Evaluation(bellman)._matrix(trees)
    flows = np.zeros((block.max() + 1,) * 2)
    cells = matrix.tocoo()
    np.add.at(flows, (block[cells.row], block[cells.col]), cells.data)
    flows /= np.bincount(block)[:, None]
    one = np.eye(len(flows))
    inverse = np.linalg.inv(one - bellman.discount * flows)
    np.testing.assert_allclose(modes.coarse + one, inverse, rtol=1e-6, atol=1e-9 * inverse.max())
    assert np.bincount(layout.cluster_x).tolist() == layout.size_x.tolist()


def test_the_coarse_system_of_compact_trees(monkeypatch):
    """It is that of ordinary trees, up to single precision; so is the Jacobi part."""
    lazy = bm.MarkovChain([[0.9, 0.05, 0.05], [0.1, 0.6, 0.3], [0.0, 0.3, 0.7]], reward=[0, 1, 3])
    made = []
    monkeypatch.setattr("bisimetric.operators.trees.COMPACT_FROM", 0)
    for may_round in (False, True):
        bellman, trees = improved(lazy, lazy, may_round=may_round)
        assert is_compact(trees) is may_round
        made.append(Preconditioner(bellman, trees, dense=True))
    assert made[0].quickness.size
    np.testing.assert_allclose(made[1].coarse, made[0].coarse, rtol=1e-4)
    np.testing.assert_allclose(made[1].quickness, made[0].quickness, rtol=1e-4)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    """Sums go cluster by cluster."""
    bellman, trees = improved(rooms(25), rooms(25, "north-east"))
    assert bellman.pairs.size > PARALLEL_FROM
    vector = np.random.default_rng(5).random(bellman.pairs.size)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("BISIMETRIC_THREADS", threads)
        modes = Preconditioner(bellman, trees, dense=False)
        found.append(modes(vector, np.empty(vector.size)))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@pytest.mark.parametrize("one_call", [0, 2**30])
@pytest.mark.parametrize("name", CHAINS)
def test_evaluations_with_it_have_a_true_residual(name, one_call, monkeypatch):
    """In one compiled call or in many, from the first product on."""
    monkeypatch.setattr(evaluation, "ONE_CALL", one_call)
    monkeypatch.setattr(evaluation, "SLOW_MODES_FROM", 1)
    monkeypatch.setattr(evaluation, "WORTH_MODES", 1)
    bellman, trees = improved(*CHAINS[name], discount=0.999)
    residual = np.random.default_rng(6).random(bellman.pairs.size)
    solved = Evaluation(bellman).solve(trees, residual, 1e-9)
    assert np.abs(product(bellman, trees, solved.x) - residual).max() <= 1.3e-9


def test_slow_walks_take_few_products():
    """Where BiCGSTAB alone takes hundreds."""
    bellman, trees = improved(rooms(10), rooms(10, "north-east"), discount=0.9999)
    residual = bellman.scaled_cost().ravel()
    solver = Evaluation(bellman)
    alone = solver._plain(trees, residual, residual.copy(), 1e-3, krylov.MAX_PRODUCTS)
    helped = solver.solve(trees, residual, 1e-3)
    assert solver.is_preconditioned
    assert 3 * helped.products < alone.products


@pytest.mark.parametrize("closeness", [1e-8, 1e-9])
def test_absorbing_pairs_next_to_discount_1(closeness):
    """1/(1 - γ) is large, not infinite."""
    chains = []
    for n in (60, 47):
        step = np.roll(np.eye(n), 1, axis=1)
        rows = 0.9 * np.eye(n) + 0.05 * (step + step.T)
        rows[0] = np.eye(n)[0]
        chains.append(bm.MarkovChain.normalised(rows, reward=np.random.default_rng(n).random(n)))
    solution = bm.solve(bm.Problem(*chains, discount=1 - closeness))
    assert solution.relative_gap <= 1e-14 / closeness


def test_wide_chains_are_not_factorised():
    """A random graph would fill its factors; against one state there is nothing else to solve."""
    wide = bm.environments.random_sparse_chain(3000, 4, seed=0)
    small = bm.environments.random_sparse_chain(30, 4, seed=1)
    for source, target, pays in ((wide, small, False), (small, small, True), (rooms(10), rooms(10), True)):
        bellman = Bellman.of(bm.Problem(source, target, discount=0.99))
        assert evaluation._preconditioner_pays(bellman, tree_cells(bellman)) is pays
    single = bm.MarkovChain([[1.0]], reward=[0.5])
    assert not evaluation._preconditioner_pays(Bellman.of(bm.Problem(small, single, discount=0.99)), 10**9)


def test_clusters_are_numbered_in_the_order_of_their_states():
    """So that threads, which share out clusters, work where they have worked on rows."""
    label, size = _clusters(as_rows(rooms(20).transitions), 20)
    middle = np.bincount(label, np.arange(len(label))) / size
    assert (np.diff(middle) > 0).all()
    np.testing.assert_array_equal(size, np.bincount(label))
