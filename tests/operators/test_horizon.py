"""The operators of the steps of a finite horizon."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.operators.horizon import HorizonBellman
from tests.reference import bellman

COIN = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
BENT = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 3])
STAY = np.eye(2)


def test_each_step_has_its_rows_and_costs_in_one_scale():
    """The scale is that of the largest cost of all times."""
    operator = HorizonBellman(bm.HorizonProblem([COIN, STAY], BENT, horizon=2, terminal=np.full((2, 2), 100.0)))
    assert operator.scale == 2.0**-6
    assert np.array_equal(operator.terminal(), np.full((2, 2), 100 / 64))
    assert not operator.moves_alike(0, 1)
    assert operator.at(0).target is operator.at(1).target
    assert operator.largest_from.tolist() == [(3 + 3 + 100) / 64, (3 + 100) / 64, 100 / 64]


def test_couplings_of_some_pairs_are_those_of_all():
    """Computed again for a few pairs, they cost what one application does."""
    problem = bm.HorizonProblem(COIN, BENT, horizon=2)
    operator, value = HorizonBellman(problem), np.array([[0.3, 0.8], [0.1, 0.4]])
    pairs = np.array([[True, False], [False, True]])
    witness = operator.couple(0, value, pairs)
    cells = witness.cells(0, 2)
    found = bellman(bm.Problem(COIN, BENT, discount=0.5, cost=np.zeros((2, 2))), value) * 2
    for k, (x, y) in enumerate(np.argwhere(pairs)):
        inside = slice(cells.indptr[k], cells.indptr[k + 1])
        to = COIN.successors(x)[cells.left[inside]], BENT.successors(y)[cells.right[inside]]
        assert np.isclose((cells.weight[inside] * value[to]).sum(), found[x, y], atol=1e-12)
