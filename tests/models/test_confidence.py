"""How far estimated rows may be from the true ones: on simulated draws, by brute force, and at the ends."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.models.confidence import radii, within_confidence


def smallest_probability(q, divergence):
    """The smallest p with kl(q‖p) ≤ divergence, by bisection."""
    low, high = 0.0, q
    for _ in range(200):
        p = 0.5 * (low + high)
        kl = q * math.log(q / p) + ((1 - q) * math.log((1 - q) / (1 - p)) if q < 1 else 0.0) if p > 0 else math.inf
        low, high = (p, high) if kl > divergence else (low, p)
    return low


def radius_by_sets(counts, n_states, failure):
    """The bound of the module's docstring, from every set of states that were seen."""
    total, largest = sum(counts), 0.0
    for size in range(1, min(len(counts), n_states - 1) + 1):
        allowed = math.log(2 * math.sqrt(total)) + math.log(math.comb(n_states, size) * (n_states - 1) / failure)
        for chosen in combinations(counts, size):
            q = sum(chosen) / total
            largest = max(largest, q - smallest_probability(q, allowed / total))
    return min(2 * largest, 2.0)


@pytest.mark.parametrize("counts", [[7], [40, 1], [5, 5, 5], [90, 4, 3, 3], [1, 1, 1, 1, 1], [300, 200, 100]])
def test_radii_cover_all_sets_of_states(counts):
    """At least the bound over all sets, and not much more."""
    for n_states in (len(counts), len(counts) + 1, 12):
        row = np.zeros((1, n_states), np.int64)
        row[0, : len(counts)] = counts
        found = radii(sparse.csr_array(row), np.array([n_states]), 0.01)[0]
        exact = radius_by_sets(counts, n_states, 0.01)
        assert exact * (1 - 1e-12) <= found <= 1.5 * exact + 1e-9
        assert found > 0 or n_states == 1


@pytest.mark.parametrize("law", [[0.5, 0.3, 0.2, 0, 0], [0.97, 0.01, 0.01, 0.01, 0], [1, 0, 0, 0, 0]])
@pytest.mark.parametrize("draws", [3, 30, 1000])
def test_few_draws_are_outside(law, draws):
    """In 2000 samples at most the share that may fail, by a fair margin."""
    samples = np.random.default_rng(1).multinomial(draws, law, size=2000)
    errors = radii(sparse.csr_array(samples), np.full(2000, 5), 0.05)
    assert (np.abs(samples / draws - law).sum(axis=1) > errors).mean() <= 0.05


def test_radii_hold_when_one_stops_at_the_worst_time():
    """The number of draws may depend on them: here it is the time of the largest excess."""
    random, law = np.random.default_rng(2), np.array([0.5, 0.25, 0.25])
    missed = 0
    for _ in range(100):
        seen = np.cumsum(np.eye(3, dtype=np.int64)[random.choice(3, size=400, p=law)], axis=0)
        errors = radii(sparse.csr_array(seen), np.full(400, 3), 0.05)
        missed += bool((np.abs(seen / seen.sum(axis=1)[:, None] - law).sum(axis=1) > errors).any())
    assert missed <= 5


def test_nearly_certain_rows_are_known_sooner():
    """Like 1/N instead of 1/√N; and rows with few successors before those with many."""

    def radius(counts, n_states=50):
        row = np.zeros((1, n_states), np.int64)
        row[0, : len(counts)] = counts
        return radii(sparse.csr_array(row), np.array([n_states]), 0.001)[0]

    assert radius([1000]) / radius([100]) < 0.12
    assert radius([1000]) < 0.2 * radius([500, 500])
    assert radius([500, 500]) < 0.8 * radius([20] * 50)
    assert radius([500, 500], 2) < radius([500, 500])


def test_what_is_not_known_at_all():
    """Rows without data have radius 2, one state that can follow has radius 0."""
    counts = sparse.csr_array(np.array([[3, 0], [0, 0]]))
    assert radii(counts, np.array([2, 2]), 0.05)[1] == 2.0
    assert radii(counts, np.array([1, 1]), 0.05).tolist() == [0.0, 0.0]


def test_estimated_chains_get_errors_of_rows_and_start():
    """Smoothed rows are further from the shares that the radii are about."""
    log = [["a", "b", "b", "a"]] * 30 + [["c", "a", "b"]] * 10
    plain, smooth = bm.from_trajectories(log), bm.from_trajectories(log, smoothing=1.0)
    known, smoothed = (within_confidence(chain, 0.01) for chain in (plain, smooth))
    assert known.uncertain
    assert 0 < known.start_error < 2
    assert (smoothed.row_error >= known.row_error).all()
    assert smoothed.row_error.max() > known.row_error[:2].max()
    grown = within_confidence(plain, 0.01, growth=100.0)
    assert (grown.row_error < known.row_error).all()
    assert (within_confidence(plain, 0.01, successors=2).row_error < known.row_error).all()


@pytest.mark.parametrize("successors", [0, 4, 2.5, "two", [1, 2], [[1, 1, 1]]])
def test_what_is_no_number_of_successors(successors):
    """Whole numbers from 1 to the number of states."""
    chain = bm.from_trajectories([["a", "b", "c", "a"]])
    with pytest.raises(InvalidOption, match="successors"):
        within_confidence(chain, 0.05, successors)


def test_the_end_of_sequences_is_known():
    """It is absorbing by definition; states without data are not known at all."""
    chain = bm.from_trajectories([["a", "b"], ["b", "a", "b"]] * 9, end=True, states=["a", "b", "never"])
    found = within_confidence(chain, 0.01)
    assert found.row_error[chain.names.index("(end)")] == 0.0
    assert found.row_error[chain.names.index("never")] == 2.0
