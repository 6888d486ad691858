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
    from scipy.sparse.linalg import spsolve

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
    part = moves[inside][:, inside].tocsc()
    law = np.ones(len(inside))  # relative to the last state: the others solve (I - Pᵀ) π = their share of its row
    if len(inside) > 1:
        system = sparse.eye_array(len(inside) - 1, format="csc") - part[:-1, :-1].T
        law[:-1] = np.maximum(spsolve(system.tocsc(), part[[-1], :-1].toarray().ravel()), 0.0)
    whole = np.zeros(moves.shape[0])
    whole[inside] = law / law.sum()
    return whole
