"""Random chains and costs, the same for the same seed.

    softmax   rows are the softmax of 0.1·N(0,1), rewards N(0,1); costs |N(0,1)| scaled to maximum 1
    uniform   rows are uniform(0,1) normalised, rewards and costs uniform(0,1)
    sparse    each state has k distinct successors, every set of k equally likely, weighted as in uniform

Distinct successors come from Floyd's sampling: for j = n−k, …, n−1 draw t from 0 … j and take t, or j if t is taken
already. This needs k draws per state and works on all states at once. Weights are drawn from (0, 1], so none is zero.

References: O'Connor, McGoff & Nobel 2022, §7.1 (softmax); Calo et al. 2024, as they ran it (uniform); Bentley
& Floyd 1987, "A sample of brilliance" (sampling).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.options import one_of, shown, whole
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats

RowKind = Literal["softmax", "uniform"]
ROW_KINDS = ("softmax", "uniform")
SOFTMAX_SCALE = 0.1  # standard deviation of the logits
BYTES_PER_DENSE_ENTRY = 40  # memory of a dense array and its chain together
BYTES_PER_TRANSITION = 48


def random_chain(n: int, *, kind: RowKind = "softmax", seed: int) -> MarkovChain:
    """A chain of n states with dense random rows and random rewards; start 0.

    Parameters
    ----------
    n : int
        The number of states, at least 1.
    kind : {"softmax", "uniform"}
        "softmax": rows are the softmax of 0.1·N(0,1), rewards N(0,1). "uniform": rows are uniform(0,1) normalised,
        rewards uniform(0,1).
    seed : int
        The seed, at least 0; the same seed gives the same chain.

    Returns
    -------
    MarkovChain
        The chain.

    Raises
    ------
    InvalidOption
        If an option is out of range.
    NotEnoughMemory
        If n² numbers do not fit into memory.

    Examples
    --------
    >>> from bisimetric.environments import random_chain
    >>> random_chain(20, kind="uniform", seed=1).transitions.shape
    (20, 20)
    """
    n_states = whole(n, "n", at_least=1)
    _require_dense(n_states, n_states)
    rng = _generator(seed)
    if one_of(kind, "kind", ROW_KINDS) == "softmax":
        weights = np.exp(SOFTMAX_SCALE * rng.standard_normal((n_states, n_states)))
        reward = rng.standard_normal(n_states)
    else:
        weights = 1.0 - rng.random((n_states, n_states))
        reward = rng.random(n_states)
    weights /= weights.sum(axis=1, keepdims=True)
    return MarkovChain(weights, reward=reward, start=0)


def random_cost(n: int, m: int, *, kind: RowKind = "softmax", seed: int) -> Floats:
    """A random cost between n and m states.

    Parameters
    ----------
    n, m : int
        The numbers of states, at least 1.
    kind : {"softmax", "uniform"}
        "softmax": |N(0,1)| scaled to maximum 1. "uniform": uniform(0,1).
    seed : int
        The seed, at least 0.

    Returns
    -------
    array [n, m]
        The cost, from 0 to 1.

    Raises
    ------
    InvalidOption
        If an option is out of range.
    NotEnoughMemory
        If n·m numbers do not fit into memory.

    Examples
    --------
    >>> from bisimetric.environments import random_cost
    >>> float(random_cost(3, 4, seed=0).max())
    1.0
    """
    shape = whole(n, "n", at_least=1), whole(m, "m", at_least=1)
    _require_dense(*shape)
    rng = _generator(seed)
    if one_of(kind, "kind", ROW_KINDS) == "uniform":
        return rng.random(shape)
    cost: Floats = np.abs(rng.standard_normal(shape))
    cost /= cost.max()
    return cost


def random_sparse_chain(n: int, successors: int, *, seed: int) -> MarkovChain:
    """A chain of n states with a few random successors each; start 0.

    Parameters
    ----------
    n : int
        The number of states, at least 1.
    successors : int
        The number of different successors of every state, from 1 to n.
    seed : int
        The seed, at least 0.

    Returns
    -------
    MarkovChain
        The chain; probabilities are uniform(0,1) normalised, rewards uniform(0,1).

    Raises
    ------
    InvalidOption
        If an option is out of range.
    NotEnoughMemory
        If the transitions do not fit into memory.

    Examples
    --------
    >>> from bisimetric.environments import random_sparse_chain
    >>> random_sparse_chain(1000, 5, seed=0).transitions.nnz
    5000
    """
    n_states = whole(n, "n", at_least=1)
    degree = whole(successors, "successors", at_least=1, at_most=n_states)
    memory.require_if_large(
        BYTES_PER_TRANSITION * n_states * degree, f"{shown(n_states)} x {shown(degree)} transitions", "ask for fewer"
    )
    rng = _generator(seed)
    target = np.empty((n_states, degree), dtype=np.int64)
    for k, j in enumerate(range(n_states - degree, n_states)):
        drawn = rng.integers(j, size=n_states, endpoint=True)
        taken = (target[:, :k] == drawn[:, None]).any(axis=1)
        target[:, k] = np.where(taken, j, drawn)
    weights = 1.0 - rng.random((n_states, degree))
    weights /= weights.sum(axis=1, keepdims=True)
    indptr = degree * np.arange(n_states + 1)
    transitions = sparse.csr_array((weights.ravel(), target.ravel(), indptr), shape=(n_states, n_states))
    return MarkovChain(transitions, reward=rng.random(n_states), start=0)


def _require_dense(n: int, m: int) -> None:
    memory.require_if_large(
        BYTES_PER_DENSE_ENTRY * n * m, f"a dense array of {shown(n)} x {shown(m)} numbers", "ask for fewer states"
    )


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(whole(seed, "seed", at_least=0))
