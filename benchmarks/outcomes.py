"""What a peer returns: distances, couplings, or both; and the exact values of couplings.

A policy π, one coupling for each pair of states, costs V^π = (I - γ π)⁻¹ c, which is never below V*. Couplings that
are off are first given the right marginals (Altschuler, Weed & Rigollet 2017, the paper's Algorithm 3). Neither is in
a peer's seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

import bisimetric as bm
from benchmarks import plain
from benchmarks.peers import Floats, by_bicgstab

Ints = npt.NDArray[np.int64]


class Outcome(NamedTuple):
    """The distances [n, m] that a peer returns, V^π of its couplings (computed on request), and its warnings."""

    value: Floats | None
    of_policy: Callable[[], Floats] | None = None
    warnings: tuple[str, ...] = ()


class Supports(NamedTuple):
    """The rows of a chain on their supports, padded to the same length with probability zero."""

    weight: Floats  # [n, d]
    column: Ints  # [n, d]

    @classmethod
    def of(cls, chain: bm.MarkovChain) -> Supports:
        """The padded rows of a chain."""
        rows = chain.transitions
        lengths = np.diff(rows.indptr)
        there = np.arange(lengths.max()) < lengths[:, None]
        weight, column = np.zeros(there.shape), np.zeros(there.shape, dtype=np.int64)
        weight[there], column[there] = rows.data, rows.indices
        return cls(weight, column)

    @classmethod
    def full(cls, chain: bm.MarkovChain) -> Supports:
        """All columns, zeros included."""
        weight = chain.transitions.toarray()
        return cls(weight, np.broadcast_to(np.arange(len(weight)), weight.shape))


def policy_value(problem: bm.Problem, plans: Floats, source: Supports, target: Supports) -> Floats:
    """V^π of plans [n, m, d, e] on these supports, after rounding to the right marginals."""
    n, m = problem.shape
    arrays = plain.Arrays(
        source.weight[:, None, :, None], target.weight[None, :, None, :], problem.cost[:, :, None, None],
        problem.discount,
    )  # fmt: skip
    rounded = plain.rounded(plans, arrays)
    successor = source.column[:, None, :, None] * m + target.column[None, :, None, :]
    width = rounded.shape[2] * rounded.shape[3]
    indptr = np.arange(n * m + 1) * width
    parts = rounded.ravel(), np.broadcast_to(successor, rounded.shape).ravel(), indptr
    coupling = sparse.csr_array(parts, shape=(n * m, n * m), copy=True)
    coupling.eliminate_zeros()
    system = sparse.eye_array(n * m, format="csr") - problem.discount * coupling
    return by_bicgstab(system, problem.cost.ravel(), problem.cost.ravel()).reshape(problem.shape)


def error(outcome: Outcome, truth: Floats) -> dict[str, float]:
    """The largest errors relative to the largest distance, of the distances and of the policy."""
    found = {}
    if outcome.value is not None:
        found["error"] = float(np.abs(outcome.value - truth).max() / truth.max())
    if outcome.of_policy is not None:
        found["policy_error"] = float(np.abs(outcome.of_policy() - truth).max() / truth.max())
    return found
