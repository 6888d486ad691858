"""The value of the independent coupling against dense linear algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric._bellman import Bellman
from bisimetric.bisimulation import mico as module
from bisimetric.errors import InvalidProblem
from tests import reference, strategies


@given(
    strategies.chains(max_states=4, reward=True),
    strategies.chains(max_states=4, reward=True),
    st.sampled_from((0.0, 0.5, 0.95, 0.999)),
)
def test_equals_a_dense_solve(source, target, discount):
    """Inside the interval, which is tight; never below the bisimulation metric."""
    found = bm.mico(source, target, discount=discount)
    problem = bm.Problem(source, target, discount=discount, normalised=True)
    P, Q = source.transitions.toarray(), target.transitions.toarray()
    truth = reference.evaluate(problem, np.einsum("xi,yj->xyij", P, Q))
    slip = 1e-14 / (1 - discount) * truth.max()  # of the reference
    assert (found.lower <= truth + slip).all()
    assert (truth <= found.upper + slip).all()
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()
    assert found.relative_gap <= 2e-9
    assert (bm.solve(problem).lower <= found.upper).all()


def test_self_distances_are_not_zero():
    """A state that can move in several ways is not at distance zero from itself, as in the bisimulation metric."""
    chain = bm.environments.four_rooms("p1")
    found = bm.mico(chain, discount=0.9)
    assert (np.diag(found.lower) > 0.0).all()
    assert (np.diag(bm.bisimulation_metric(chain, discount=0.9).upper) == 0.0).all()


def test_sweeps_go_on_where_the_linear_solver_failed(monkeypatch):
    """The bounds do not depend on it."""
    chain = bm.environments.four_rooms("p1")
    usual = bm.mico(chain, discount=0.9)
    monkeypatch.setattr(module.Bellman, "independent_value", lambda self, accuracy: self.scaled_cost())
    slow = bm.mico(chain, discount=0.9)
    assert slow.relative_gap <= 2e-9
    assert (slow.lower <= usual.upper).all()
    assert (usual.lower <= slow.upper).all()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_any_scale(scale):
    """Rewards times a constant give distances times that constant."""
    chain = bm.environments.four_rooms("p1")
    scaled = bm.MarkovChain(chain.transitions, reward=chain.reward * scale)
    plain = bm.mico(chain, discount=0.9).value
    np.testing.assert_allclose(bm.mico(scaled, discount=0.9).value / scale, plain, rtol=1e-8)


def test_rewards_must_be_there():
    """With the remedy."""
    with pytest.raises(InvalidProblem, match="has no reward; give it one"):
        bm.mico([[1.0]], discount=0.9)


@pytest.mark.parametrize("closeness", [1e-5, 1e-7, 1e-8, 1e-9])
@pytest.mark.parametrize("sweeps", [3, 100_000])
def test_discounts_close_to_one(closeness, sweeps, monkeypatch):
    """Bounds hold where rounding keeps them wide, also when sweeps end before they have settled."""
    monkeypatch.setattr(module, "MAX_SWEEPS", sweeps)
    monkeypatch.setattr(Bellman, "independent_value", lambda self, _: self.scaled_cost() + 0.1)
    chain = bm.MarkovChain([[0.75, 0.25], [0.25, 0.75]], reward=[0, 1])
    found = bm.mico(chain, discount=1 - closeness)
    gamma = Fraction(1 - closeness)
    step = Fraction(float(1.0 - (1 - closeness)))  # the cost of the two mixed pairs
    # By symmetry V is u on the diagonal and w beside it; it stays with probability 5/8.
    stay, move = Fraction(5, 8) * gamma, Fraction(3, 8) * gamma
    w = step * (1 - stay) / ((1 - stay) ** 2 - move**2)
    u = move * w / (1 - stay)
    for x, y in np.ndindex(2, 2):
        truth = u if x == y else w
        assert Fraction(float(found.lower[x, y])) <= truth <= Fraction(float(found.upper[x, y]))
