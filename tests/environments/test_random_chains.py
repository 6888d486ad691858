"""Random chains and costs."""

import numpy as np
import pytest

from bisimetric.environments import random_chain, random_cost, random_sparse_chain
from bisimetric.errors import InvalidOption

KINDS = ["softmax", "uniform"]


def same(one, other):
    """Whether two chains have the same transitions and rewards."""
    return (one.transitions != other.transitions).nnz == 0 and np.array_equal(one.reward, other.reward)


@pytest.mark.parametrize("kind", KINDS)
def test_seed_decides(kind):
    """The same seed gives the same chain, another seed another one."""
    assert same(random_chain(8, kind=kind, seed=3), random_chain(8, kind=kind, seed=3))
    assert not same(random_chain(8, kind=kind, seed=3), random_chain(8, kind=kind, seed=4))
    assert np.array_equal(random_cost(3, 4, kind=kind, seed=3), random_cost(3, 4, kind=kind, seed=3))
    assert not np.array_equal(random_cost(3, 4, kind=kind, seed=3), random_cost(3, 4, kind=kind, seed=4))


@pytest.mark.parametrize("kind", KINDS)
def test_dense_rows(kind):
    """Every transition is positive, rows sum to one, start is 0."""
    chain = random_chain(30, kind=kind, seed=0)
    assert chain.transitions.nnz == 900
    assert np.array_equal(chain.transitions.sum(axis=1), np.ones(30))
    assert np.flatnonzero(chain.start).tolist() == [0]


def test_softmax_rows_are_a_softmax_of_small_normals():
    """The logs of a row, centred, have standard deviation 0.1; rewards are standard normal."""
    chain = random_chain(300, kind="softmax", seed=0)
    logs = np.log(chain.transitions.toarray())
    assert np.std(logs - logs.mean(axis=1, keepdims=True)) == pytest.approx(0.1, rel=0.02)
    assert chain.reward.mean() == pytest.approx(0, abs=0.2)
    assert chain.reward.std() == pytest.approx(1, abs=0.15)


def test_uniform_rows_are_normalised_uniforms():
    """Entries over the row's largest are uniform: mean a half, variance a twelfth; so are the rewards."""
    chain = random_chain(300, kind="uniform", seed=0)
    entries = chain.transitions.toarray()
    scaled = entries / entries.max(axis=1, keepdims=True)
    assert scaled.mean() == pytest.approx(0.5, abs=0.01)
    assert scaled.var() == pytest.approx(1 / 12, abs=0.005)
    assert (chain.reward.min() >= 0, chain.reward.max() < 1) == (True, True)
    assert chain.reward.mean() == pytest.approx(0.5, abs=0.06)


def test_default_kind_is_softmax():
    """For chains and costs alike."""
    assert same(random_chain(5, seed=1), random_chain(5, kind="softmax", seed=1))
    assert np.array_equal(random_cost(5, 6, seed=1), random_cost(5, 6, kind="softmax", seed=1))


def test_costs():
    """Softmax costs are half-normals scaled to maximum 1, uniform ones lie in [0, 1)."""
    cost = random_cost(200, 300, kind="softmax", seed=2)
    assert cost.shape == (200, 300)
    assert (cost.min() >= 0, cost.max()) == (True, 1)
    assert cost.mean() / np.sqrt((cost**2).mean()) == pytest.approx(np.sqrt(2 / np.pi), abs=0.01)
    cost = random_cost(200, 300, kind="uniform", seed=2)
    assert (cost.min() >= 0, cost.max() < 1) == (True, True)
    assert cost.mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("n", "successors"), [(1, 1), (7, 1), (50, 5), (9, 9), (9, 8)])
def test_sparse_chains_have_distinct_successors(n, successors):
    """Exactly that many per state: a repeated one would merge and show."""
    chain = random_sparse_chain(n, successors, seed=5)
    assert (np.diff(chain.transitions.indptr) == successors).all()
    assert np.array_equal(chain.transitions.sum(axis=1), np.ones(n))
    assert np.flatnonzero(chain.start).tolist() == [0]
    assert (chain.reward.min() >= 0, chain.reward.max() < 1) == (True, True)


def test_sparse_successors_are_uniform():
    """Each state is chosen equally often, within five standard deviations."""
    n, successors = 2000, 4
    indices = random_sparse_chain(n, successors, seed=0).transitions.indices
    halves = np.bincount(indices * 10 // n, minlength=10)
    expected = n * successors / 10
    assert np.abs(halves - expected).max() < 5 * np.sqrt(expected)


def test_sparse_seed_decides():
    """The same seed gives the same chain, another seed another one."""
    assert same(random_sparse_chain(20, 3, seed=1), random_sparse_chain(20, 3, seed=1))
    assert not same(random_sparse_chain(20, 3, seed=1), random_sparse_chain(20, 3, seed=2))


def test_large_sparse_chain():
    """A hundred thousand states take a moment."""
    assert random_sparse_chain(100_000, 5, seed=0).transitions.nnz == 500_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_chain(0, seed=0), "n is 0"),
        (
            lambda: random_chain(3, kind="normal", seed=0),
            "kind is 'normal'",
        ),
        (lambda: random_chain(3, seed=None), "seed is None"),
        (lambda: random_cost(3, -1, seed=0), "m is -1"),
        (lambda: random_cost(3, 3, kind="unifrom", seed=0), "did you mean 'uniform'"),
        (lambda: random_sparse_chain(3, 4, seed=0), "successors is 4"),
        (lambda: random_sparse_chain(3, 0, seed=0), "successors is 0"),
        (lambda: random_sparse_chain(3, 1, seed=-1), "seed is -1"),
    ],
)
def test_bad_options_are_explained(call, message):
    """Sizes are positive, kinds are known, and there is no unseeded draw."""
    with pytest.raises(InvalidOption, match=message):
        call()
