"""Occupancy couplings as the paper defines them (Calo et al. 2024, Section 3 and Appendix C), as dense arrays.

μ(xy, x'y') = ν(xy) π(x'y'|xy),    ν = (1-γ) ν_0 + γ Πᵀ ν,    pairs xy flat: μ is [nm, nm]
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from tests.reference.floats import _repair, dense


def occupancy_of(problem, plans, pair=(0, 0)):
    """μ of the transition coupling plans[x, y, i, j], started at one pair."""
    size = problem.cost.size
    moves = np.asarray(plans, float).reshape(size, size)
    start = np.zeros(problem.shape)
    start[pair] = 1.0 - problem.discount
    return np.linalg.solve(np.eye(size) - problem.discount * moves.T, start.ravel())[:, None] * moves


def coupling_of(problem, mu):
    """π_μ [n, m, n, m]: μ over its first marginal, P⊗Q where that is 0."""
    P, Q, cost, _ = dense(problem)
    law = mu.sum(axis=1, keepdims=True)
    independent = np.einsum("xi,yj->xyij", P, Q).reshape(mu.shape)
    return np.where(law > 0, mu / np.where(law > 0, law, 1.0), independent).reshape(*cost.shape, *cost.shape)


def rounded_plans(problem, plans):
    """Algorithm 3, pair by pair: valid couplings near these."""
    P, Q, _, _ = dense(problem)
    return _repair(np.asarray(plans, float), P[:, None], Q[None])


def paid(problem, mu):
    """<μ, c>."""
    return float(mu.sum(axis=1) @ problem.cost.ravel())


def violations(problem, mu):
    """δ_X(μ) and δ_Y(μ): how far the conditional laws are from P and Q, weighted by where μ is."""
    P, Q, cost, _ = dense(problem)
    n, m = cost.shape
    law, mass = mu.sum(axis=1).reshape(n, m, 1), mu.reshape(n, m, n, m)
    return (
        float(np.abs(law * P[:, None] - mass.sum(axis=3)).sum()),
        float(np.abs(law * Q[None] - mass.sum(axis=2)).sum()),
    )


def relative_entropy(mu, other):
    """D(μ|μ')."""
    return float(np.sum(mu * _log_ratio(mu, other)))


def conditional_entropy(mu, other):
    """H(μ|μ') = Σ μ log π_μ/π_μ'."""
    laws = [part.sum(axis=1, keepdims=True) for part in (mu, other)]
    given, their = (part / np.where(law > 0, law, 1.0) for part, law in zip((mu, other), laws, strict=True))
    return float(np.sum(mu * _log_ratio(given, their)))


def _log_ratio(above, below):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above > 0, np.log(above) - np.log(below), 0.0)


def theorem_1(problem, pair=(0, 0), *, literal=False):
    """The linear program of Theorem 1 from one pair: its value and an optimal μ.

    The coherence constraints hold for every (x, y, x') and every (x, y, y'); `literal` reads "for all x, x'" as their
    sums over y, and "for all y, y'" as their sums over x.
    """
    P, Q, cost, _ = dense(problem)
    n, m = cost.shape
    gamma = problem.discount
    start = np.zeros((n, m))
    start[pair] = 1.0 - gamma
    mu = np.eye((n * m) ** 2).reshape(n, m, n, m, -1)  # the last axis: coefficients
    law = mu.sum(axis=(2, 3))
    flow = law - gamma * mu.sum(axis=(0, 1))
    on_x = mu.sum(axis=3) - law[:, :, None] * P[:, None, :, None]  # [x, y, x']
    on_y = mu.sum(axis=2) - law[:, :, None] * Q[None, :, :, None]  # [x, y, y']
    if literal:
        on_x, on_y = on_x.sum(axis=1), on_y.sum(axis=0)
    equalities = [part.reshape(-1, (n * m) ** 2) for part in (flow, on_x, on_y)]
    found = optimize.linprog(
        np.repeat(cost.ravel(), n * m),
        A_eq=np.vstack(equalities),
        b_eq=np.concatenate([start.ravel(), *(np.zeros(len(part)) for part in equalities[1:])]),
        method="highs-ds",
    )
    assert found.status == 0, found.message
    return float(found.fun) / (1.0 - gamma), np.maximum(found.x, 0.0).reshape(n * m, n * m)
