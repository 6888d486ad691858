"""Distances equal those of naive oracles, and lie between bounds that need no solver.

V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric import solvers
from tests import reference, strategies
from tests.laws.closeness import assert_close


def test_every_solver_is_known(known_solvers):
    """A new solver must be entered in conftest.py, as exact or as approximate, so that the laws are tried on it."""
    assert set(solvers.all_solvers()) == known_solvers


# ------------------------------------------------------------------ the oracle


@given(strategies.tame_problems(max_states=6))
def test_equals_linear_programs(exact_solver, problem):
    """Policy iteration with HiGHS transports gives the same distances, inside the interval."""
    truth = reference.distances(problem)
    solution = exact_solver.solve(problem)
    assert_close(solution.value, truth, exact_solver.tol)
    slip = 1e-10 * truth.max()
    assert (solution.lower <= truth + slip).all()
    assert (truth - slip <= solution.upper).all()


@given(strategies.problems())
def test_equals_rationals(exact_solver, problem):
    """Rational policy iteration gives the same distances, whatever the scale and the discount."""
    truth = np.array(reference.exact_distances(problem))
    largest = truth.max()
    scaled = np.array([[float(v / largest) if largest else 0.0 for v in row] for row in truth])
    value = exact_solver.solve(problem).value
    assert_close(value / float(largest) if largest else value, scaled, exact_solver.tol)


@pytest.mark.slow
@settings(max_examples=200)
@given(strategies.tame_problems(max_states=10))
def test_equals_linear_programs_long(exact_solver, problem):
    """The same with more states and for longer."""
    assert_close(exact_solver.solve(problem).value, reference.distances(problem), exact_solver.tol)


def test_known_answers(exact_solver):
    """The paper's four rooms, p1 against p0 at γ = 0.95: two published numbers."""
    one, zero = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    plain = exact_solver.solve(bm.Problem(one, zero, discount=0.95))
    assert plain.distance == pytest.approx(0.4355817651, abs=max(1e-10, exact_solver.tol))
    assert plain.value[9, 21] == plain.distance
    normalised = exact_solver.solve(bm.Problem(one, zero, discount=0.95, normalised=True))
    assert normalised.value[0, 0] == pytest.approx(0.0984360076, abs=max(1e-10, exact_solver.tol / 10))


# ------------------------------------------------------------------ bounds from couplings and from values


def north_west(p, q):
    """The north-west corner coupling of two laws."""
    p, q = p.copy(), q.copy()
    plan = np.zeros((len(p), len(q)))
    i = j = 0
    while i < len(p) and j < len(q):
        moved = min(p[i], q[j])
        plan[i, j] = moved
        p[i] -= moved
        q[j] -= moved
        if p[i] <= q[j]:
            i += 1
        else:
            j += 1
    return plan


@given(strategies.tame_problems(), st.randoms(use_true_random=False))
def test_no_coupling_is_better(exact_solver, problem, random):
    """The distance is at most the value of the independent coupling, and of north-west corners in any order."""
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    (n, m), lower = problem.shape, exact_solver.solve(problem).lower
    independent = reference.evaluate(problem, np.einsum("xi,yj->xyij", P, Q))
    assert (lower <= independent + 1e-12 * independent.max()).all()  # the reference is rounded, too
    rows, columns = list(range(n)), list(range(m))
    random.shuffle(rows)
    random.shuffle(columns)
    plans = np.zeros((n, m, n, m))
    for x in range(n):
        for y in range(m):
            plans[x, y][np.ix_(rows, columns)] = north_west(P[x, rows], Q[y, columns])
    corner = reference.evaluate(problem, plans)
    assert (lower <= corner + 1e-12 * corner.max()).all()


@given(
    strategies.chains(max_states=5, reward=True),
    strategies.chains(max_states=5, reward=True),
    strategies.tame_discounts,
)
def test_no_smaller_than_the_value_gap(exact_solver, source, target, discount):
    """|v_X(x) - v_Y(y)| ≤ V(x, y) for c = |r - r'|, with v = (I - γP)⁻¹ r."""
    upper = exact_solver.solve(bm.Problem(source, target, discount=discount)).upper
    values = [
        np.linalg.solve(np.eye(c.n_states) - discount * c.transitions.toarray(), c.reward) for c in (source, target)
    ]
    gap = np.abs(np.subtract.outer(*values))
    assert (gap <= upper + 1e-12 * np.abs(np.concatenate(values)).max()).all()
