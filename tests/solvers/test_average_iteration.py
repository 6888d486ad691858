"""Proximal policy iteration: any proximity gives the same answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.solvers import AverageIteration
from tests.strategies import average_problems


@given(average_problems(max_states=4, tiny=False, scale=st.just(1.0)), st.sampled_from((0.5, 1e-2, 1e-3, 1e-6)))
def test_any_proximity(problem, proximity):
    """The answer does not depend on it, nor on how many steps it takes."""
    usual, other = bm.solve(problem), bm.solve(problem, AverageIteration(proximity=proximity))
    assert other.status is bm.Status.SOLVED
    assert np.abs(usual.value - other.value).max() <= 2e-9 * max(float(usual.upper.max()), 1e-300)


@pytest.mark.parametrize("proximity", [0.0, 1.0, -1.0, "small", np.nan])
def test_what_is_no_proximity(proximity):
    """Between 0 and 1."""
    with pytest.raises(InvalidOption, match="proximity"):
        AverageIteration(proximity=proximity)


def test_slow_mixing():
    """Two halves that are left once in a million steps: η becomes smaller until that is seen."""
    slow = 1e-6
    chain = bm.MarkovChain([[1 - slow, slow], [3 * slow, 1 - 3 * slow]], reward=[0, 1])
    quick = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1])
    found = bm.average_distance(chain, quick)
    assert found.status is bm.Status.SOLVED
    expected = 0.75 * (0.5 - slow) + 0.25 * (0.5 - 3 * slow)  # coupled as well as it goes, in either half
    assert found.distance == pytest.approx(expected, abs=1e-9)
