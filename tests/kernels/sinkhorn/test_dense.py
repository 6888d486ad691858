"""Half projections by matrix products give what the general kernel gives."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings.factored import Factored
from bisimetric.operators.bellman import Bellman


def states(n, m, seed):
    """Two runs of the same dense problem: one takes matrix products, the other the general kernel."""
    random = np.random.default_rng(seed)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(k), k)) for k in (n, m)]
    bellman = Bellman.of(bm.Problem(*chains, discount=0.9, cost=random.random((n, m))))
    return bellman, Factored.start(bellman, "independent"), Factored.start(bellman, "independent")


@pytest.mark.parametrize("step", [0.1, 10.0, 1e3])
@pytest.mark.parametrize(("n", "m"), [(9, 9), (10, 8)])
def test_the_same_projections(n, m, step, monkeypatch):
    """Scalings and backed-up values, projection after projection."""
    bellman, ours, general = states(n, m, 7)
    assert ours.is_full()
    expected = bellman.scaled_cost()
    for k in range(12):
        by_source = k % 2 == 0
        found = ours.probe(by_source, step, expected)
        ours.project(by_source, step, expected)
        with monkeypatch.context() as patched:
            patched.setattr(Factored, "is_full", lambda self: False)
            truth = general.probe(by_source, step, expected)
            general.project(by_source, step, expected)
        np.testing.assert_allclose(found, truth, rtol=1e-11, atol=1e-11)
        expected = np.clip(found, 0.0, bellman.largest_value())
    for one, other in ((("a", "a_rest"), "source"), (("b", "b_rest"), "target")):
        mine, theirs = (sum(getattr(state.scalings, part) for part in one) for state in (ours, general))
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-9, err_msg=other)
