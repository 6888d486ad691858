"""Rounded couplings: valid, and evaluated without storing them."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.check import check_application
from bisimetric.couplings import rounded
from bisimetric.couplings.rounded import RoundedWitness
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.base import sweep


@pytest.mark.parametrize("stop", [False, True])
def test_stored_couplings_have_the_same_value(monkeypatch, stop):
    """Evaluations of small problems store the rounded couplings; it changes nothing but rounding."""
    source, target = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    problem = bm.Problem(source, target, discount=0.9, stop=np.eye(source.n_states) > 0 if stop else None)
    stored = bm.solve(problem, bm.SinkhornValueIteration(rounds=30))
    monkeypatch.setattr(rounded, "STORED", 0)
    made = bm.solve(problem, bm.SinkhornValueIteration(rounds=30))
    np.testing.assert_allclose(stored.value, made.value, atol=1e-10)
    np.testing.assert_allclose(stored.upper, made.upper, atol=1e-9)


def test_unsettled_pairs_get_exact_potentials():
    """One pair with scalings of nonsense: its lower bound is as good as an optimal transport's, the others' stay."""
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(6), 6)) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.8, cost=random.random((6, 6)))
    solution = bm.solve(problem, bm.SinkhornValueIteration(rounds=300))
    bellman, value = Bellman.of(problem), solution._proof.value
    state = solution._proof.witness.factored
    before = check_application(bellman, value, RoundedWitness.of(state, value), 0.0).lower
    state.scalings.b[6 * 6 * 2 : 6 * 6 * 2 + 6] += [0.0, 9e3, -9e3, 0.0, 7e3, 0.0]  # of the pair (2, 0)
    state.scalings.a[6 * 6 * 2 : 6 * 6 * 2 + 6] -= [0.0, 9e3, -9e3, 0.0, 7e3, 0.0]
    state.forget_weights()
    rough, mended = (
        check_application(bellman, value, witness, 0.0).lower
        for witness in (RoundedWitness(state, value), RoundedWitness.of(state, value))
    )
    swept = sweep(bellman, value)
    exact = (value + bellman.spread(swept.sweep.residual.copy()))[2, 0]
    assert rough[2, 0] < exact - 0.1
    assert mended[2, 0] == pytest.approx(exact, abs=1e-9)
    others = np.ones((6, 6), bool)
    others[2, 0] = False
    assert np.array_equal(mended[others], before[others])


def test_potentials_take_the_better_side():
    """Scalings of one side ruined: the other side's give the bound; either alone is a valid one."""
    random = np.random.default_rng(1)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(5), 5)) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.8, cost=random.random((5, 5)))
    solution = bm.solve(problem, bm.SinkhornValueIteration(rounds=300))
    bellman, value = Bellman.of(problem), solution._proof.value
    state = solution._proof.witness.factored
    good = check_application(bellman, value, RoundedWitness(state, value), 0.0).lower
    for part in ("a", "b"):
        kept = getattr(state.scalings, part).copy()
        getattr(state.scalings, part)[:] = 0.0
        found = check_application(bellman, value, RoundedWitness(state, value), 0.0).lower
        getattr(state.scalings, part)[:] = kept
        assert (found <= good + 1e-12).all()
        assert (found >= good - 0.02 * value.max()).all()
