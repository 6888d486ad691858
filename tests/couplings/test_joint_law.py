"""A joint law is a sparse array that prints names."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import bisimetric as bm
from tests import strategies

FAIR = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], names=["toss", "done"], start=0)
BENT = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], names=["toss", "done"], start=0)
LAW = bm.distance(FAIR, BENT, discount=0.9).coupling["toss", "toss"]


def test_names_in_print():
    """The pair, and its successors with their probabilities, largest first."""
    lines = repr(LAW).splitlines()
    assert lines[0] == "successors of toss and toss"
    assert [line.split() for line in lines[2:]] == [
        ["done", "done", "0.5"],
        ["toss", "toss", "0.25"],
        ["toss", "done", "0.25"],
    ]
    assert str(LAW) == repr(LAW)


@pytest.mark.parametrize(
    "derived",
    [
        lambda law: law.T,
        lambda law: 2 * law,
        lambda law: law + law,
        lambda law: law[0:1],
        lambda law: law.tocoo(),
        lambda law: law.astype(np.float32),
        lambda law: sparse.hstack([law, law]),
        lambda law: pickle.loads(pickle.dumps(law)),
        lambda law: law.copy(),
    ],
)
def test_it_is_a_sparse_array(derived):
    """What is computed from it has the numbers that scipy's own has."""
    plain = sparse.csr_array(LAW)
    assert sparse.issparse(derived(LAW))
    np.testing.assert_array_equal(derived(LAW).toarray(), derived(plain).toarray())
    repr(derived(LAW))
    str(derived(LAW))


def test_products_and_sums():
    """As with any array."""
    assert (LAW @ np.ones(2)).tolist() == [0.5, 0.5]
    assert LAW.sum(axis=0).tolist() == [0.25, 0.75]
    assert LAW.sum() == 1.0


def test_a_coupling_prints_the_names_of_its_states():
    """From the start on; where nothing follows it says so."""
    text = repr(bm.distance(FAIR, BENT, discount=0.9).coupling)
    assert {"toss", "done"} <= set(text.split())
    assert "2 x 2 state pairs" in text
    stop = bm.Problem(FAIR, BENT, discount=0.9, stop=[[True, False], [False, False]])
    assert "nothing follows" in repr(bm.solve(stop).coupling)
    lake = bm.bisimulation_metric("gym:FrozenLake-v1", discount=0.9).coupling
    assert "(0,0)" in repr(lake)
    assert "under" in repr(lake["(0,0)", "(0,1)"])
    assert "under left and left" in repr(lake["(0,0)", "(0,1)", "left", "left"])


def test_dense_laws_are_cut():
    """With the number of cells that are left out."""
    chains = [bm.environments.random_chain(40, seed=seed) for seed in (1, 2)]
    solution = bm.distance(*chains, discount=0.5)
    law = solution.coupling[0, 0]
    assert len(law.rows()) == 20
    assert f"{law.nnz - 20} more" in repr(law)
    assert "more" in repr(solution.coupling)


@given(strategies.problems())
def test_everything_can_be_printed(problem):
    """Awkward chains, stops, all scales, as text and as HTML."""
    solution = bm.solve(problem, throw=False)
    for thing in (problem, problem.source, solution, solution.coupling, solution.potentials, solution.coupling[0, 0]):
        assert repr(thing)
        assert thing._repr_html_()


def test_pairs_that_were_not_solved_are_not_shown():
    """The first pair of a coupling is one that was solved."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.5, pairs="reachable")
    assert repr(solution.coupling)
    assert solution.potentials._repr_html_()


def test_couplings_in_the_long_run_print_names_too():
    """They are couplings like any other."""
    text = repr(bm.average_distance(FAIR, BENT).coupling)
    assert text.splitlines()[0].split()[:2] == ["source", "target"]
    assert "LongRunCoupling(2 x 2" in text
