"""Many problems as one question."""

from __future__ import annotations

import bisimetric as bm
from bisimetric.problems.side_by_side import ManyProblems


def test_what_they_share():
    """The discount and the error of their costs."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0.1, 0.7])
    problems = ManyProblems([bm.Problem(chain, chain, discount=0.9, normalised=True)] * 2)
    assert problems.discount == 0.9
    assert problems.cost_error == problems.parts[1].cost_error > 0.0
