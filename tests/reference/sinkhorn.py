"""Sinkhorn value iteration in the log domain, in extended precision."""

from __future__ import annotations

import numpy as np

from tests.reference.floats import dense


def sinkhorn_rounds(problem, steps, *, inner_steps=1, first=None):
    """Algorithm 1 of Calo et al. 2024 in the log domain, all of π_k stored, in extended precision.

    Yields (log π_{k+1}, E_k, the largest exponent so far) for each step size; log π is -inf off the supports, E_k is
    the expectation of the value V_k over the successors on the projected side. One code for both sides: the target's
    round is the source's round of the transposed problem. `first` is π_1 [n, m, n, m], by default P⊗Q.
    """
    P, Q, cost, _ = (np.asarray(part, np.longdouble) for part in dense(problem))
    gamma = np.longdouble(problem.discount)
    n, m = cost.shape
    with np.errstate(divide="ignore"):
        log = np.log(P)[:, None, :, None] + np.log(Q)[None, :, None, :]
        log = log if first is None else np.log(np.asarray(first, np.longdouble))
    values = [np.zeros((n, m, n), np.longdouble), np.zeros((m, n, m), np.longdouble)]
    largest = np.zeros((n, m), np.longdouble)
    for k, step in enumerate(steps):
        eta, side = np.longdouble(step), k % 2
        rows, here, there = (P, cost, log) if side == 0 else (Q, cost.T, log.transpose(1, 0, 3, 2))
        value = values[side]
        for _ in range(inner_steps):
            value = _bellman_sinkhorn(there, rows, here, gamma, eta, value)
        values[side] = value
        expected = np.einsum("xi,xyi->xy", rows, value)
        moved = there - eta * gamma * expected
        with np.errstate(divide="ignore", invalid="ignore"):
            there = moved - _log_sum(moved)[..., None] + np.log(rows)[:, None, :, None]
        there = np.where(np.isnan(there), -np.inf, there)
        log = there if side == 0 else there.transpose(1, 0, 3, 2)
        expected = expected if side == 0 else expected.T
        largest = largest + eta * gamma * np.abs(expected)
        yield log, expected, float(largest.max())


def _bellman_sinkhorn(log, rows, cost, gamma, eta, value):
    expected = np.einsum("xi,xyi->xy", rows, value)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = cost[:, :, None] - (_log_sum(log - eta * gamma * expected) - np.log(rows)[:, None, :]) / eta
    return np.where(rows[:, None, :] > 0, found, 0)


def _log_sum(log):
    """log Σ exp over the last axis."""
    top = log.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(log - top).sum(axis=-1)) + top[..., 0]
