"""The bounds of many problems are those that the checker finds for each alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.certificates import check as single
from bisimetric.certificates import side_by_side as many
from bisimetric.errors import InvalidWitness
from bisimetric.many.batch import batches, fitting
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.side_by_side import SideBySide
from bisimetric.problems.side_by_side import ManyProblems
from tests.strategies import problems


@given(st.lists(problems(), min_size=1, max_size=5))
def test_the_same_bounds_zeros_and_gaps(asked):
    """Bit by bit, for the same values and trees, and for what holds before there are any."""
    for _, together in batches(asked, fitting(asked)):
        operator = SideBySide.of(together)
        trees = operator.solve(1e-9)
        bounds, before = many.check(operator, trees), many.a_priori(operator)
        for k, part in enumerate(together.parts):
            witness = operator.witness(k, part, trees)
            alone = single.check(part, witness.bellman, witness.value, witness)
            if part.source is not part.target:  # else V(y, x) bounds V(x, y) too
                own = bounds.of(k, part.shape)
                for name in ("lower", "upper", "shortfall"):
                    np.testing.assert_array_equal(getattr(own, name), getattr(alone, name))
                assert bounds.relative_gaps[k] == alone.relative_gap
            known, own = single.a_priori(part, Bellman.of(part)), before.of(k, part.shape)
            np.testing.assert_array_equal(own.lower, known.lower)
            np.testing.assert_array_equal(own.upper, known.upper)


def test_wrong_couplings_are_refused():
    """A tree with another number of used cells than it has lacks mass."""
    chain = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]], reward=[0, 1])
    operator = SideBySide.of(ManyProblems([bm.Problem(chain, chain, discount=0.9)] * 2))
    trees = operator.solve(1e-9)
    trees.code[operator.arrays.cell_at[1] :] = trees.code[operator.arrays.cell_at[1]]
    with pytest.raises(InvalidWitness, match="problem 1"):
        many.check(operator, trees)
