"""Transition matrices in any form."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


@pytest.mark.parametrize("form", [np.asarray, list, tuple, lambda matrix: matrix.tolist()])
def test_matrices_become_chains(form):
    """Arrays and nested lists."""
    assert bm.as_chain(form(np.eye(2))).transitions.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_format(form, kind):
    """Arrays and matrices of scipy."""
    rows = np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75], [1.0, 0.0, 0.0]])
    assert bm.as_chain(getattr(sparse, f"{form}_{kind}")(rows)) == bm.MarkovChain(rows)
    with pytest.raises(InvalidChain, match=r"MDP\(transitions, rewards\)"):
        bm.as_mdp(getattr(sparse, f"{form}_{kind}")(rows))


def test_duplicate_entries_of_a_sparse_matrix_are_summed():
    """As scipy means them."""
    matrix = sparse.coo_array(([0.5, 0.5, 1.0], ([0, 0, 1], [1, 1, 1])))
    assert bm.as_chain(matrix).transitions.toarray().tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize(
    "log",
    [
        [["s1", 0, "home"], ["s1", 1, "shop"]],
        np.array([["s1", "home"], ["s1", "shop"]]),
        np.array([["s1", 0], ["s1", 1]], dtype=object),
        np.array([[1, 0, 3], [1, 1, 4]]),
        ["home", "shop"],
    ],
)
def test_a_log_of_events_is_no_matrix(log):
    """The error says what reads it."""
    with pytest.raises(InvalidChain, match="from_trajectories"):
        bm.as_chain(log)


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ([[3, 1], [0, 2]], r"MarkovChain\.normalised"),
        ([[1.0, 0.0], [1.0]], "ragged"),
        ([[np.nan, 1.0], [0.0, 1.0]], "nan"),
        ([[-0.5, 1.5], [0.0, 1.0]], "expected a probability"),
        ([1.0], "expected 2 dimension"),
        (np.zeros((2, 2, 2)), r"MDP\(transitions, rewards\), with transitions \[A, n, n\]"),
        ([], "expected 2 dimension"),
        (np.eye(2) * 1j, "complex"),
        (np.ma.masked_array(np.eye(2), np.eye(2)), "masked"),
    ],
)
def test_wrong_matrices(thing, message):
    """One line each."""
    with pytest.raises(InvalidChain, match=message):
        bm.as_chain(thing)


@pytest.mark.parametrize("form", [np.asarray, list])
def test_other_orders_of_a_decision_process(form):
    """[n, A, n] and [n, n, A] are recognised, with the remedy, which works."""
    right = np.tile(np.eye(3), (2, 1, 1))
    rewards = np.zeros((3, 2))
    for order, axis in (("A, n", 1), ("n, A", 2)):
        wrong = np.moveaxis(right, 0, axis)
        with pytest.raises(
            InvalidChain, match=rf"looks like \[n, {order}\], expected \[A, n, n\].*transitions, {axis}, 0"
        ):
            bm.MDP(form(wrong), rewards)
        assert bm.MDP(np.moveaxis(wrong, axis, 0), rewards).n_actions == 2


NUMBERS = st.sampled_from([0.0, 1.0, 0.5, -1.0, np.nan, np.inf, 1e308, 1e-320]) | st.floats()
DENSE = arrays.arrays(st.sampled_from([np.float64, np.float32, np.int8, np.bool_, np.complex64, object]),
                      arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3), fill=None)  # fmt: skip
LISTS = st.recursive(
    NUMBERS | st.none() | st.text(max_size=1) | st.integers(), lambda inner: st.lists(inner, max_size=3)
)


@given(DENSE | LISTS | DENSE.filter(lambda array: array.ndim == 2).map(pd.DataFrame))
def test_any_array(thing):
    """A model, or an error of ours."""
    for make in (bm.as_chain, bm.MarkovChain.normalised, lambda matrix: bm.MDP(matrix, matrix)):
        with suppress(BisimetricError):
            make(thing)
    with suppress(BisimetricError):
        bm.MarkovChain(np.eye(2), reward=thing, start=thing, labels=thing)
