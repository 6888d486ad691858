"""Hypothesis strategies: chains with awkward rows, costs of any scale, problems of a bounded size."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm

TINY = (1e-12, 1e-17, 1e-200)  # a chain keeps the first, rounds the second to zero; the third is far below rounding
SPECIAL_DISCOUNTS = (0.5, 0.95, 0.99, 0.999, 0.9999)

discounts = st.one_of(st.floats(0.1, 0.9999), st.sampled_from(SPECIAL_DISCOUNTS))
tame_discounts = st.one_of(st.floats(0.1, 0.99), st.sampled_from((0.5, 0.95, 0.99)))


# ------------------------------------------------------------------ rows


@st.composite
def tied_rows(draw, n):
    """Equal probabilities 1/k on k states, the rest exact zeros."""
    states = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n))
    row = np.zeros(n)
    row[sorted(states)] = 1.0 / len(states)
    return row


@st.composite
def deterministic_rows(draw, n):
    """All mass on one state."""
    return np.eye(n)[draw(st.integers(0, n - 1))]


@st.composite
def counted_rows(draw, n):
    """Small whole weights: many ties, zeros and equal partial sums."""
    weights = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any))
    return np.array(weights) / sum(weights)


@st.composite
def float_rows(draw, n):
    """Like a draw from a Dirichlet law: no structure."""
    weights = np.array(draw(st.lists(st.floats(1e-3, 1.0), min_size=n, max_size=n)))
    return weights / weights.sum()


@st.composite
def tiny_rows(draw, n):
    """Rows with some very small probabilities, which rounding may remove."""
    row = draw(tied_rows(n)).copy()
    for state in draw(st.sets(st.integers(0, n - 1), max_size=n)):
        row[state] = max(row[state], draw(st.sampled_from(TINY)))
    return row / row.sum()


def rows(n, *, tiny=True):
    """Any row of n probabilities."""
    kinds = [tied_rows(n), deterministic_rows(n), counted_rows(n), float_rows(n)]
    return st.one_of(*kinds, tiny_rows(n)) if tiny else st.one_of(*kinds)


# ------------------------------------------------------------------ chains


@st.composite
def matrices(draw, n, *, tiny=True):
    """A stochastic matrix: free rows, rows from a pool of two, absorbing states, or a cycle."""
    kind = draw(st.sampled_from(("free", "free", "repeated", "absorbing", "periodic")))
    if kind == "periodic":
        return np.roll(np.eye(n), 1, axis=1)
    if kind == "repeated":
        pool = [draw(rows(n, tiny=tiny)) for _ in range(2)]
        return np.array([draw(st.sampled_from(pool)) for _ in range(n)])
    matrix = np.array([draw(rows(n, tiny=tiny)) for _ in range(n)])
    if kind == "absorbing":
        held = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n)))
        matrix[held] = np.eye(n)[held]
    return matrix


def stored_with_zeros(matrix):
    """A CSR array that stores every entry, zeros too."""
    n, m = matrix.shape
    return sparse.csr_array((matrix.ravel(), np.tile(np.arange(m), n), np.arange(0, n * m + 1, m)), shape=(n, m))


@st.composite
def chains(draw, *, max_states=3, min_states=1, tiny=True, reward=False, start=False):
    """A chain, given dense, sparse, or sparse with its zeros stored."""
    n = draw(st.integers(min_states, max_states))
    matrix = draw(matrices(n, tiny=tiny))
    form = draw(st.sampled_from((np.asarray, sparse.coo_array, stored_with_zeros)))
    rewards = draw(st.lists(st.sampled_from((0.0, 0.5, 1.0, -2.0, 0.1)), min_size=n, max_size=n))
    law = draw(st.one_of(st.integers(0, n - 1), rows(n, tiny=tiny)))
    return bm.MarkovChain(form(matrix), reward=rewards if reward else None, start=law if start else None)


# ------------------------------------------------------------------ decision processes


@st.composite
def availabilities(draw, n, n_actions):
    """Which actions are available where; at least one in every state."""
    subsets = st.sets(st.integers(0, n_actions - 1), min_size=1, max_size=n_actions)
    mask = np.zeros((n, n_actions), bool)
    for s in range(n):
        mask[s, sorted(draw(subsets))] = True
    return mask


@st.composite
def mdps(draw, *, n_actions=2, max_states=3, tiny=False, partial=False, start=False):
    """A decision process with rewards that tie often; with `partial`, some actions are missing here and there."""
    n = draw(st.integers(1, max_states))
    given = [draw(matrices(n, tiny=tiny)) for _ in range(n_actions)]
    form = draw(st.sampled_from((np.asarray, sparse.coo_array)))
    entries = st.one_of(st.sampled_from((0.0, 0.5, 1.0, -2.0, 0.1)), st.floats(-1.0, 1.0, allow_subnormal=False))
    rewards = np.array(draw(st.lists(entries, min_size=n * n_actions, max_size=n * n_actions)))
    return bm.MDP(
        [form(matrix) for matrix in given],
        rewards.reshape(n, n_actions),
        available=draw(availabilities(n, n_actions)) if partial else None,
        start=draw(st.integers(0, n - 1)) if start else None,
    )


# ------------------------------------------------------------------ costs and problems


@st.composite
def base_costs(draw, n, m):
    """Costs in [0, 1] with zeros and ties."""
    entries = st.one_of(st.sampled_from((0.0, 0.25, 0.5, 1.0)), st.floats(0.0, 1.0, allow_subnormal=False))
    return np.array(draw(st.lists(entries, min_size=n * m, max_size=n * m))).reshape(n, m)


scales = st.one_of(
    st.just(1.0),
    st.integers(-300, 300).map(lambda k: float(f"1e{k}")),
    st.integers(-990, 990).map(lambda k: 2.0**k),
)


@st.composite
def stop_masks(draw, n, m):
    """Where the game stops; often nowhere."""
    bits = st.lists(st.booleans(), min_size=n * m, max_size=n * m)
    mask = draw(st.one_of(st.none(), bits))
    return None if mask is None else np.array(mask).reshape(n, m)


@st.composite
def problems(draw, *, max_states=3, tiny=True, stop=True, start=False, gammas=discounts, scale=scales):
    """Any problem of at most max_states × max_states pairs."""
    source, target = (draw(chains(max_states=max_states, tiny=tiny, start=start)) for _ in range(2))
    n, m = source.n_states, target.n_states
    return bm.Problem(
        source,
        target,
        discount=draw(gammas),
        cost=draw(base_costs(n, m)) * draw(scale),
        stop=draw(stop_masks(n, m)) if stop else None,
    )


@st.composite
def horizon_problems(draw, *, max_states=3, max_horizon=4, tiny=True, start=False, scale=scales):
    """Any problem over a few steps; chains and costs may change from step to step."""
    steps, changing = draw(st.integers(1, max_horizon)), draw(st.booleans())
    first = [draw(chains(max_states=max_states, tiny=tiny, start=start)) for _ in range(2)]
    n, m = (chain.n_states for chain in first)
    lists = [[chain, *(draw(matrices(chain.n_states, tiny=tiny)) for _ in range(steps - 1))] for chain in first]
    factor = draw(scale)
    costs = [draw(base_costs(n, m)) * factor for _ in range(steps)]
    return bm.HorizonProblem(
        *(lists if changing else first),
        horizon=steps,
        discount=draw(st.one_of(st.just(1.0), st.just(0.0), discounts)),
        cost=costs if draw(st.booleans()) else costs[0],
        terminal=draw(st.one_of(st.none(), base_costs(n, m).map(lambda cost: cost * factor))),
    )


@st.composite
def average_problems(draw, *, max_states=3, tiny=True, start=False, scale=scales):
    """Any problem of the long run: absorbing, reducible and periodic chains, and those of `chains`."""
    source, target = (draw(multichains(max_states=max_states, tiny=tiny, start=start)) for _ in range(2))
    cost = draw(base_costs(source.n_states, target.n_states)) * draw(scale)
    return bm.AverageProblem(source, target, cost=cost)


@st.composite
def multichains(draw, *, max_states=3, tiny=True, start=False):
    """A chain of one or two parts with transient states before them, or any other."""
    if draw(st.booleans()):
        return draw(chains(max_states=max_states, tiny=tiny, start=start))
    sizes = draw(st.lists(st.integers(1, max(1, max_states // 2)), min_size=1, max_size=2))
    parts = [draw(matrices(size, tiny=tiny)) for size in sizes]
    first = max_states - sum(sizes)
    n = first + sum(sizes)
    matrix = np.zeros((n, n))
    for part, begin in zip(parts, first + np.cumsum([0, *sizes[:-1]]), strict=True):
        matrix[begin : begin + len(part), begin : begin + len(part)] = part
    for state in range(first):
        matrix[state] = draw(rows(n, tiny=tiny))
    return bm.MarkovChain(matrix, start=draw(st.integers(0, n - 1)) if start else None)


def tame_problems(max_states=5, **options):
    """Problems on which linear programs in floats can be trusted."""
    return problems(max_states=max_states, tiny=False, gammas=tame_discounts, scale=st.just(1.0), **options)


@st.composite
def guesses(draw, problem):
    """Any finite [n, m] array as a guess of the distances: close, zero, negative, huge, tiny."""
    n, m = problem.shape
    reach = float(problem.cost.max()) / (1.0 - problem.discount)
    kind = draw(st.sampled_from(("inside", "zero", "cost", "any")))
    if kind == "zero":
        return np.zeros((n, m))
    if kind == "cost":
        return problem.cost.copy()
    entries = st.floats(0.0, 1.0) if kind == "inside" else st.floats(allow_nan=False, allow_infinity=False)
    values = np.array(draw(st.lists(entries, min_size=n * m, max_size=n * m))).reshape(n, m)
    return values * reach if kind == "inside" else values


# ------------------------------------------------------------------ copies of states


@st.composite
def with_copies(draw, model, *, max_copies=3, exact=None):
    """A model with copies of the states of `model`, and the original of every copy: (model, owners).

    If `exact`, a copy sends all its mass for a state to one of that state's copies. Otherwise it spreads the mass
    evenly, which rounds.
    """
    n = model.n_states
    counts = draw(st.lists(st.integers(1, max_copies), min_size=n, max_size=n))
    owners = np.array(draw(st.permutations(np.repeat(np.arange(n), counts).tolist())))
    exact = draw(st.booleans()) if exact is None else exact
    if isinstance(model, bm.MarkovChain):
        reward = None if model.reward is None else model.reward[owners]
        return bm.MarkovChain(draw(_copy_rows(model.transitions, owners, exact)), reward=reward), owners
    matrices = [draw(_copy_rows(matrix, owners, exact)) for matrix in model.transitions]
    return bm.MDP(matrices, model.rewards[owners], available=model.available[owners]), owners


@st.composite
def _copy_rows(draw, transitions, owners, exact):
    given_rows = transitions.toarray()
    matrix = np.zeros((len(owners), len(owners)))
    for s, owner in enumerate(owners):
        for state in range(len(given_rows)):
            copies = np.flatnonzero(owners == state)
            to = [draw(st.sampled_from(copies.tolist()))] if exact else copies
            matrix[s, to] += given_rows[owner, state] / len(to)
    return matrix
