"""Kernels on many problems do to each what is done to one."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.kernels.layout import Report
from bisimetric.operators.side_by_side import SideBySide
from bisimetric.problems.side_by_side import ManyProblems
from tests.reference.floats import distances

pytestmark = pytest.mark.kernels

A = bm.MarkovChain([[0.5, 0.5, 0], [0, 0.25, 0.75], [1, 0, 0]])
B = bm.MarkovChain([[0.5, 0.5], [0.125, 0.875]])
COST = np.array([[0.0, 3.0], [1.0, 1.5], [2.0, 0.0]])


@pytest.mark.parametrize("stop", [None, np.array([[False, True], [False, False], [False, False]])])
def test_values_reports_and_work_outside_the_range(stop):
    """The fixed points, valid couplings, lowest ≤ highest; problems outside first..last are not touched."""
    first = bm.Problem(A, B, discount=0.75, cost=COST, stop=stop)
    second = bm.Problem(B, A, discount=0.75, cost=COST.T / 1024, stop=None if stop is None else stop.T)
    operator = SideBySide.of(ManyProblems([first, second, first]))
    trees = operator.solve(1e-9)
    truth = distances(first)
    for k, expected in enumerate((truth, truth.T / 1024, truth)):
        found = trees.estimate[6 * k : 6 * k + 6] / operator.arrays.scale[k]
        np.testing.assert_allclose(found, expected.ravel(), atol=1e-8)
        assert 1 <= trees.steps[k] <= kernels.side_by_side.STEPS_OF_ONE
    upper, lower, reports = np.full(18, -1.0), np.full(18, -1.0), np.full((3, 6), -1.0)
    cells = operator.cells(trees)
    kernels.side_by_side.check(1, 2, operator.arrays, 0.75, trees.value, cells, upper, lower, reports)
    assert (reports[[0, 2]] == -1.0).all()
    assert (upper[:6] == -1.0).all()
    assert (upper[12:] == -1.0).all()
    assert (lower[6:12] <= upper[6:12] + 1e-12).all()
    report = Report(*reports[1])
    assert report.lowest <= report.highest
    assert report.invalid == 0
    assert report.marginal_error == 0.0
