"""Distances in floats: policy iteration with transports by scipy's linprog (HiGHS).

HiGHS' tolerances are absolute, so costs are shifted and scaled to [0, 1].
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, sparse


def distances(problem, *, rounds=1000):
    """V* by policy iteration; trustworthy to about 1e-10 when no probability is tiny and γ ≤ 0.99 or so."""
    P, Q, _, stop = dense(problem)
    plans = np.einsum("xi,yj->xyij", P, Q)
    best = evaluate(problem, plans)
    for _ in range(rounds):
        candidates = transports(P, Q, best)
        gain = ((plans - candidates) * best).sum(axis=(2, 3))
        switch = (gain > 1e-13 * np.ptp(best)) & ~stop
        plans = np.where(switch[:, :, None, None], candidates, plans)
        value = evaluate(problem, plans)
        if not switch.any() or np.abs(value - best).max() <= 1e-14 * best.max():
            return value
        best = value
    raise AssertionError("policy iteration did not end")


def evaluate(problem, plans):
    """The value of the coupling plans[x, y, i, j]: V = c + γΠV, by one dense solve."""
    _, _, cost, stop = dense(problem)
    size = cost.size
    moves = np.where(stop.ravel()[:, None], 0.0, plans.reshape(size, size))
    largest = cost.max() or 1.0
    value = np.linalg.solve(np.eye(size) - problem.discount * moves, cost.ravel() / largest)
    return value.reshape(cost.shape) * largest


def bellman(problem, value):
    """T V: one application of the operator, transports by linear programs."""
    P, Q, cost, stop = dense(problem)
    transported = (transports(P, Q, value) * value).sum(axis=(2, 3))
    return np.where(stop, cost, cost + problem.discount * transported)


def transports(P, Q, value):
    """An optimal plan for every pair of rows, [n, m, n, m]: all the linear programs as one block-diagonal program."""
    n, m = value.shape
    span = np.ptp(value)
    if span == 0.0:
        return np.einsum("xi,yj->xyij", P, Q)
    cost = (value - value.min()) / span
    rows = sparse.kron(sparse.eye(n), np.ones((1, m)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye(m))
    constraints = sparse.kron(sparse.eye(n * m), sparse.vstack([rows, columns]), format="csr")
    marginals = np.array([np.concatenate([P[x], Q[y]]) for x in range(n) for y in range(m)])
    result = optimize.linprog(
        np.tile(cost.ravel(), n * m),
        A_eq=constraints,
        b_eq=marginals.ravel(),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    plans = result.x.reshape(n, m, n, m)
    np.testing.assert_allclose(plans.sum(axis=3), np.broadcast_to(P[:, None], (n, m, n)), atol=1e-9)
    np.testing.assert_allclose(plans.sum(axis=2), np.broadcast_to(Q[None], (n, m, m)), atol=1e-9)
    return _repair(plans, P[:, None], Q[None])


def _repair(plans, rows, columns):
    """Round plans to these marginals: shrink excess mass, spread missing mass (Altschuler, Weed & Rigollet 2017)."""
    plans = np.maximum(plans, 0.0)
    plans = plans * np.minimum(1.0, _ratio(rows, plans.sum(axis=3)))[..., :, None]
    plans = plans * np.minimum(1.0, _ratio(columns, plans.sum(axis=2)))[..., None, :]
    short, wide = rows - plans.sum(axis=3), columns - plans.sum(axis=2)
    return plans + short[..., :, None] * _ratio(wide, wide.sum(axis=-1, keepdims=True))[..., None, :]


def _ratio(above, below):
    below = np.broadcast_to(below, np.broadcast_shapes(np.shape(above), np.shape(below)))
    return np.divide(above, below, out=np.zeros(below.shape), where=below > 0)


def transport(p, q, value):
    """min <π, value> over the couplings of p and q."""
    p, q, value = np.asarray(p), np.asarray(q), np.asarray(value)
    low, span = value.min(), np.ptp(value)
    if span == 0.0:
        return float(low)
    n, m = value.shape
    rows = sparse.kron(sparse.eye(n), np.ones((1, m)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye(m))
    result = optimize.linprog(
        ((value - low) / span).ravel(),
        A_eq=sparse.vstack([rows, columns], format="csr"),
        b_eq=np.concatenate([p, q]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    assert abs(result.x.sum() - 1.0) < 1e-9
    return float(low + span * result.fun)


def dense(problem):
    """Rows [n, n] and [m, m], costs [n, m] and stops [n, m] as plain arrays."""
    stop = np.zeros(problem.shape, bool) if problem.stop is None else problem.stop
    return problem.source.transitions.toarray(), problem.target.transitions.toarray(), problem.cost, stop
