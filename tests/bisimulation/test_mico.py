"""The value of the independent coupling against dense linear algebra."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.bisimulation import mico as module
from bisimetric.errors import InvalidOption, InvalidProblem, SolverFailed
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


def test_what_the_linear_solver_missed_is_refused(monkeypatch):
    """The bounds do not depend on it: no answer is better than a useless one."""
    chain = bm.environments.four_rooms("p1")
    monkeypatch.setattr(module, "independent_value", lambda bellman, accuracy, surely: bellman.scaled_cost())
    with pytest.raises(SolverFailed, match="choose a smaller discount"):
        bm.mico(chain, discount=0.99)


@pytest.mark.parametrize("discount", [0.99, 0.9999, 0.99999])
@pytest.mark.parametrize(("p", "q"), [(11, 2), (10, 10), (12, 8), (100, 60)])
def test_cycles(p, q, discount):
    """BiCGSTAB is of no use for periodic chains, and is not needed."""
    a, b = (bm.MarkovChain(np.roll(np.eye(n), 1, axis=1), reward=np.arange(n) == 0) for n in (p, q))
    found = bm.mico(a, b, discount=discount)
    period = math.lcm(p, q)
    k = np.arange(period)
    gaps = np.abs((k % p == 0) * 1.0 - (k % q == 0))
    truth = (1 - discount) * (gaps * discount**k).sum() / (1 - discount**period)
    assert found.relative_gap <= 1e-9
    assert found.value[0, 0] == pytest.approx(truth, rel=1e-9, abs=1e-9)


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
def test_discounts_close_to_one(closeness):
    """Bounds hold where rounding keeps them wide."""
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


def test_the_time_limit():
    """No answer after it; the error says so."""
    chain = bm.environments.four_rooms("p1")
    with pytest.raises(SolverFailed, match="raise time_limit"):
        bm.mico(chain, discount=0.9, time_limit=1e-9)
    with pytest.raises(InvalidOption, match="time_limit is -1"):
        bm.mico(chain, discount=0.9, time_limit=-1)
