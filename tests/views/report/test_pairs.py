"""Couplings keep what matters, large matrices are binned, and nothing in them is made up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm
from bisimetric.views.report import pairs as module
from bisimetric.views.report.pairs import KEPT_MASS, Bins, kept_cells, matrix_and_pairs, rounded
from tests.strategies import tame_problems
from tests.views.report.models import protocols, random_solution

ROUNDING = 1e-3  # of probabilities with four digits


def cells_of(flat):
    """Pairs and probabilities of a law, largest first."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


@given(problem=tame_problems())
def test_kept_cells_are_the_largest_and_hold_the_mass(problem):
    """At least 95 % of the mass and of the mean distance; every probability is the coupling's, rounded."""
    solution = bm.solve(problem)
    _, found = matrix_and_pairs(solution, np.zeros(problem.shape), [])
    laws = solution.coupling.matrix().toarray()
    values = solution.value.ravel()
    for law, flat, count in zip(laws, found["cells"], found["count"], strict=True):
        kept = cells_of(flat)
        assert len(kept) <= count
        assert sum(kept.values()) >= KEPT_MASS * law.sum() - ROUNDING
        assert sum(w * values[k] for k, w in kept.items()) >= (KEPT_MASS - ROUNDING) * (law @ values)
        assert all(weight == pytest.approx(law[k], rel=1e-3) for k, weight in kept.items())
        assert list(kept.values()) == sorted(kept.values(), reverse=True)


def test_cells_beyond_the_mass_are_left_out():
    """Ninety-five of a hundred equal cells; small ones only if they are far apart."""
    law = sparse.csr_array(np.full((1, 100), 0.01))
    assert len(cells_of(kept_cells(law, np.ones(100), np.zeros(1), 1000)[0])) == 95
    law = sparse.csr_array([[0.6, 0.36, 0.03, 0.01]])
    assert list(cells_of(kept_cells(law, np.ones(4), np.zeros(1), 1000)[0])) == [0, 1]
    far = np.array([0.0, 0.0, 0.0, 5.0])  # the whole distance comes from the unlikely move
    assert list(cells_of(kept_cells(law, far, np.zeros(1), 1000)[0])) == [0, 1, 3]


def test_a_short_file_favours_pairs_that_matter():
    """With room for 40 cells, the pair with the largest share keeps its 19 and the others 5 each."""
    laws = sparse.csr_array(np.full((4, 20), 0.05))
    counts = [len(flat) // 2 for flat in kept_cells(laws, np.ones(20), np.array([0.1, 0.9, 0.0, 0.0]), 40)]
    assert counts == [5, 19, 5, 5]
    assert sum(counts) <= 40


def test_empty_laws_stay_empty():
    """Pairs at which the game ends, at both ends and in between."""
    laws = sparse.csr_array([[0, 0], [0.5, 0.5], [0, 0], [1, 0], [0, 0]])
    assert [len(flat) // 2 for flat in kept_cells(laws, np.ones(2), np.zeros(5), 100)] == [0, 2, 0, 1, 0]


@given(states=st.integers(1, 1000))
def test_bins_are_even_and_in_order(states):
    """Every state is in one bin, bins differ by one state at most, few states have bins of their own."""
    bins = Bins.of(states)
    sizes = np.diff(bins.edges)
    assert (bins.edges[0], bins.edges[-1]) == (0, states)
    assert sizes.min() >= 1
    assert np.ptp(sizes) <= 1
    assert len(sizes) <= module.MOST_BINS
    assert bins.is_exact == (states <= module.MOST_BINS)
    assert (np.diff(bins.of_state()) >= 0).all()


@pytest.fixture
def few_bins(monkeypatch):
    """Anything over five states is large."""
    monkeypatch.setattr(module, "MOST_BINS", 5)


@pytest.mark.usefixtures("few_bins")
def test_bins_hold_means_and_bounds():
    """Over the pairs of each bin; its pair is inside it."""
    solution = random_solution(12, 7, 3)
    shares = np.random.default_rng(0).random(solution.value.shape)
    matrix, pairs = matrix_and_pairs(solution, shares / shares.sum(), [0])
    assert matrix["binned"]
    edges = matrix["rows"], matrix["columns"]
    place = 0
    for x0, x1 in zip(edges[0], edges[0][1:], strict=False):
        for y0, y1 in zip(edges[1], edges[1][1:], strict=False):
            inside = np.s_[x0:x1, y0:y1]
            assert matrix["value"][place] == pytest.approx(solution.value[inside].mean())
            assert matrix["low"][place] == solution.lower[inside].min()
            assert matrix["high"][place] == solution.upper[inside].max()
            x, y = divmod(matrix["pair"][place], 7)
            assert shares[x, y] == shares[inside].max()
            assert matrix["pair"][place] in pairs["id"]
            place += 1
    assert place == len(matrix["value"]) == 25
    assert [solution.value.flat[k] for k in pairs["id"]] == pairs["value"]


@pytest.mark.usefixtures("few_bins")
def test_without_shares_a_bin_stands_for_its_nearest_pair():
    """Where no pair of a bin contributes to the distance."""
    solution = random_solution(12, 7, 3)
    matrix, _ = matrix_and_pairs(solution, np.zeros(solution.value.shape), [])
    inside = solution.value[matrix["rows"][1] : matrix["rows"][2], matrix["columns"][3] : matrix["columns"][4]]
    assert solution.value.flat[matrix["pair"][5 + 3]] == inside.min()


@pytest.mark.usefixtures("few_bins")
def test_pairs_that_a_binned_page_mentions_have_values(monkeypatch):
    """Those wanted come first with their couplings; pairs without couplings are there with values."""
    monkeypatch.setattr(module, "MOST_COUPLINGS_BINNED", 4)
    solution = random_solution(12, 7, 3)
    _, pairs = matrix_and_pairs(solution, np.zeros(solution.value.shape), [33, 2])
    assert pairs["id"][:2] == [33, 2]
    assert [cells is not None for cells in pairs["cells"]].count(True) == 4
    reached = {number for flat in pairs["cells"] for number in (flat or [])[::2]}
    others = dict(zip(*pairs["others"], strict=True))
    assert reached <= set(pairs["id"]) | set(others)
    assert not set(pairs["id"]) & set(others)
    for number, value in others.items():
        assert value == pytest.approx(solution.value.flat[number], rel=1e-5)


@pytest.mark.usefixtures("few_bins")
def test_bins_without_a_solved_pair():
    """They have no numbers and stand for no pair."""
    rows = np.zeros((12, 12))
    rows[np.arange(12), (np.arange(12) + 1) % 6 + 6 * (np.arange(12) >= 6)] = 1
    chain = bm.MarkovChain(rows, reward=np.arange(12), start=0)
    solution = bm.distance(chain, chain.with_start(2), discount=0.5, pairs="reachable")
    matrix, pairs = matrix_and_pairs(solution, np.zeros((12, 12)), [2])
    last = [matrix[name][-1] for name in ("value", "low", "high", "pair")]
    assert last == [None, None, None, -1]
    assert None not in pairs["value"]


def test_numbers_with_few_digits():
    """Short in JSON, close, and zero stays zero."""
    array = np.array([0.0, 1.0, 1 / 3, 1.23456e-7, 0.99996, 5e-324])
    assert rounded(array[:5]).tolist() == [0.0, 1.0, 0.3333, 1.235e-07, 1.0]
    assert np.isfinite(rounded(array)).all()


def test_shares_follow_the_pairs():
    """By number, in the order of the pairs."""
    shares = np.arange(25).reshape(5, 5) / 300
    _, pairs = matrix_and_pairs(protocols(), shares, [])
    assert pairs["share"] == pytest.approx(shares.ravel().tolist(), rel=1e-3)


def test_couplings_of_full_support_are_read_near_the_start(monkeypatch):
    """Where all of them together are too large, the page holds those that likely moves lead to."""
    solution = random_solution(30, 30, 30, solver=bm.SinkhornValueIteration(rounds=2), tol=None)
    assert module.estimated_cells(solution) == 30**4
    monkeypatch.setattr(module, "MOST_MATRIX_CELLS", 1000)
    monkeypatch.setattr(module, "MOST_SINGLE_COUPLINGS", 50)
    _, pairs = matrix_and_pairs(solution, np.zeros(solution.value.shape), [0])
    held = [k for k, cells in enumerate(pairs["cells"]) if cells is not None]
    assert len(held) == 50
    assert max(pairs["cells"][0][::2], key=lambda k: solution.coupling[0, 0].toarray().flat[k]) in held
    assert pairs["count"][0] == 900
    assert sum(pairs["cells"][0][1::2]) >= KEPT_MASS - 0.01
