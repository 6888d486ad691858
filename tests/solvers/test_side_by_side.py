"""Policy iteration for many problems proposes what it does for one."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.operators.side_by_side import SideBySide
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solvers.side_by_side import ManyPolicyIteration

RANDOM = np.random.default_rng(8)


def test_one_iterate_within_the_tolerance():
    """Values and estimates are in the scale of each problem; there is no second step."""
    chains = [bm.MarkovChain(RANDOM.dirichlet(np.ones(3), 3)) for _ in range(6)]
    parts = [
        bm.Problem(a, b, discount=0.9, cost=scale * RANDOM.random((3, 3)))
        for a, b, scale in zip(chains[:3], chains[3:], (1e-9, 1.0, 1e9), strict=True)
    ]
    operator, solver = SideBySide.of(ManyProblems(parts)), ManyPolicyIteration()
    iterate = solver.init(operator, None, 1e-9)
    assert iterate.gap <= 1e-9
    assert solver.step(operator, iterate) is iterate
    for k, part in enumerate(parts):
        found = iterate.estimate()[9 * k : 9 * k + 9].reshape(3, 3) / operator.arrays.scale[k]
        np.testing.assert_allclose(found, bm.solve(part).value, rtol=1e-9)
