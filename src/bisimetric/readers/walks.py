"""Random walks on weighted graphs, as arrays.

With W the matrix of weights and D its row sums, the simple walk moves by D⁻¹W; a lazy one stays where it is with
probability ℓ; one with restarts returns to its start with probability r:

    simple  D⁻¹W        lazy  ℓI + (1 - ℓ)·D⁻¹W        restart  r·1·startᵀ + (1 - r)·D⁻¹W
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric.errors import InvalidChain
from bisimetric.models.rows import Floats

BYTES_PER_MOVE = 100  # memory of an entry of a walk that returns to many states
SMALL_WALK = 2000  # states up to which the stationary law is found by elimination
MOST_STEPS, STEPS_PER_LOOK = 2000, 20  # of walking towards the law, and between two looks at how fast it forgets
SLOWEST = 0.98  # walks that forget less than this in a step are left to elimination
ENOUGH = 1e-15  # 1-norm of a change, relative to what the walk still forgets


def sinks_of(weights: sparse.csr_array) -> npt.NDArray[np.bool_]:
    """[n], which states have no outgoing weight."""
    return np.asarray(weights.max(axis=1).toarray().ravel() == 0.0)


def mixed_walk(moves: sparse.csr_array, other: sparse.csr_array, share: float) -> sparse.csr_array:
    """With probability `share` a move of the other walk."""
    return sparse.csr_array(share * other + (1.0 - share) * moves)


def jumps(share: Floats, law: Floats) -> sparse.csr_array:
    """Rows that are a share [n] of a law [n]."""
    entries = int(np.count_nonzero(share)) * int(np.count_nonzero(law))
    memory.require_if_large(BYTES_PER_MOVE * entries, "a walk that returns to so many nodes", "start at a node")
    return sparse.csr_array(sparse.csr_array(share[:, None]) @ sparse.csr_array(law[None, :]))


def stationary(moves: sparse.csr_array) -> Floats:
    """The law that a walk keeps; raises InvalidChain if there are several."""
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(moves, connection="strong")
    edges = moves.tocoo()
    leaves = np.zeros(count, np.bool_)
    leaves[group[edges.row][(group[edges.row] != group[edges.col]) & (edges.data > 0.0)]] = True
    closed = np.flatnonzero(~leaves)
    if len(closed) > 1:
        raise InvalidChain(
            f"the walk has {len(closed)} parts that it never leaves, so its stationary law is not unique; "
            "start at a node, or uniformly"
        )
    inside = np.flatnonzero(group == closed[0])
    part = moves[inside][:, inside]
    law = None if len(inside) <= SMALL_WALK else _by_walking(part)
    whole = np.zeros(moves.shape[0])
    whole[inside] = _by_elimination(part) if law is None else law
    return whole


def _by_elimination(part: sparse.csr_array) -> Floats:
    """The law relative to the last state: the others solve (I - Pᵀ) π = their share of its row."""
    from scipy.sparse.linalg import spsolve

    n = part.shape[0]
    law = np.ones(n)
    if n > 1:
        columns = part.tocsc()
        system = sparse.eye_array(n - 1, format="csc") - columns[:-1, :-1].T
        law[:-1] = np.maximum(spsolve(system.tocsc(), columns[[-1], :-1].toarray().ravel()), 0.0)
    return np.asarray(law / law.sum())


def _by_walking(part: sparse.csr_array) -> Floats | None:
    """The law by lazy steps, where they forget their start fast; then elimination is slow, as on random graphs."""
    back = part.T.tocsr()
    law, before = np.full(part.shape[0], 1.0 / part.shape[0]), 1.0
    for step in range(1, MOST_STEPS + 1):
        moved = (law + back @ law) / 2.0
        change = float(np.abs(moved - law).sum())
        law = moved / moved.sum()
        if step % STEPS_PER_LOOK == 0:
            rate = (change / before) ** (1.0 / STEPS_PER_LOOK)
            if change <= ENOUGH * max(1.0 - rate, 1.0 - SLOWEST):
                return np.asarray(law)
            if rate > SLOWEST:
                return None
            before = change
    return None
