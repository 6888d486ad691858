"""A chain as seen by somebody who sees labels change, and no clock.

    P̃(x, y) = probability that y is the first state with another label after x

Steps that keep the label are not counted, so a die that is thrown once and a die made of coin tosses are the same.
From states that may keep their label forever, P̃ also leads to those that surely do, and these stay. With S the moves
that keep the label, between states that can leave, and L all others, (I - S) P̃ = L: one linear system per column of L.

The trace of labels without repetitions is the same as that of the chain. So the bisimilarity distance between two such
chains bounds the difference in the probability of every property that does not depend on the number of steps (LTL
without "next").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.frozen import changed
from bisimetric.cost.ground import label_numbers
from bisimetric.linear.direct import Factors
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.readers.convert import as_chain

BYTES_PER_JUMP = 24  # a dense cell of the jumps, and its place in a sparse matrix
JUMP_TOL = UNIT_ROUNDOFF  # target residual of a column of jumps
SLOWER = 1.125  # by which computed numbers of steps may be too small


def label_changes(model: Any) -> MarkovChain:
    """The chain whose steps are the changes of label of a given one.

    Compare two such chains where the number of steps does not matter: `bisimilarity_distance` counts steps.

    Parameters
    ----------
    model : MarkovChain, or anything that `as_chain` takes
        A chain with labels.

    Returns
    -------
    MarkovChain
        The same states, labels, names and start. Each state leads to the states with another label that may come next;
        states that keep their label forever stay where they are. It has no rewards. What rounding and long waits do to
        its probabilities is in its row errors, so certificates hold for the exact ones.

    Raises
    ------
    InvalidProblem
        The chain has no labels.
    NotEnoughMemory
        There are too many pairs of a state and one that may come next.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> slow = bm.MarkovChain([[0.8, 0.1, 0.1], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> round(bm.bisimilarity_distance(fair, slow).distance, 10)
    0.8
    >>> bm.bisimilarity_distance(fair, bm.label_changes(slow)).distance
    0.0
    """
    chain = as_chain(model)
    rows, labels = chain.transitions, label_numbers(chain, chain)[0]
    tail = np.repeat(np.arange(chain.n_states), np.diff(rows.indptr))
    keeps = labels[tail] == labels[rows.indices]
    leaves = _can_leave(rows, tail, keeps)
    states = np.flatnonzero(leaves)
    jumps: Any = sparse.csr_array(sparse.diags_array((~leaves).astype(np.float64)))
    error = np.zeros(chain.n_states)
    if len(states):
        silent = keeps & leaves[rows.indices]
        inner, leaving = _part(rows, silent)[states][:, states], _part(rows, ~silent)[states]
        found, error[states] = _jumps(inner, leaving, float(chain.row_error.max()))
        jumps = jumps + sparse.csr_array(sparse.eye_array(chain.n_states, format="csc")[:, states]) @ found
    made = MarkovChain(jumps, start=chain.start, names=chain.names, labels=chain.labels)
    return changed(made, row_error=made.row_error + error, computed=not chain.uncertain)


def _can_leave(rows: sparse.csr_array, tail: npt.NDArray[Any], keeps: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """States from which a way leads to another label: a backward search over moves that keep the label."""
    from scipy.sparse import csgraph

    n = rows.shape[0]
    direct = np.unique(tail[~keeps])
    heads = np.concatenate([tail[keeps], direct])  # moves backwards, and from one more node to where labels are left
    tails = np.concatenate([rows.indices[keeps], np.full(len(direct), n)])
    graph = sparse.csr_array((np.ones(len(heads)), (tails, heads)), shape=(n + 1, n + 1))
    found = np.zeros(n + 1, np.bool_)
    found[csgraph.breadth_first_order(graph, n, return_predecessors=False)] = True
    return found[:n]


def _part(rows: sparse.csr_array, mask: npt.NDArray[np.bool_]) -> sparse.csr_array:
    """The moves that a mask selects."""
    part = sparse.csr_array((np.where(mask, rows.data, 0.0), rows.indices, rows.indptr), shape=rows.shape, copy=True)
    part.eliminate_zeros()
    return part


def _jumps(silent: sparse.csr_array, leaving: sparse.csr_array, row_error: float) -> tuple[sparse.csr_array, float]:
    """P̃ = (I - S)⁻¹ L, and by how much a row may be off in 1-norm; rows of S and L together by `row_error`."""
    targets = np.unique(leaving.indices)
    size = silent.shape[0]
    what = f"the next labels of {size} states, each one of {len(targets)} others"
    memory.require(BYTES_PER_JUMP * size * len(targets), what, "merge bisimilar states first: quotient(chain)")
    factors = Factors(silent, 1.0)
    found: Floats = np.empty((size, len(targets)))
    off = 0.0
    for k, column in enumerate(leaving[:, targets].T.toarray()):
        found[:, k], residual = factors.solve(column, JUMP_TOL)
        off += residual
    steps = float(np.abs(factors.solve(np.ones(size), JUMP_TOL)[0]).max())
    longest = int(np.diff(silent.indptr).max(initial=0)) + 4
    np.maximum(found, 0.0, out=found)
    spread = sparse.csr_array(found)
    spread = sparse.csr_array((spread.data, targets[spread.indices], spread.indptr), shape=leaving.shape)
    return spread, SLOWER * steps * (off + longest * UNIT_ROUNDOFF + row_error)
