"""The problems of the benchmarks by name: a fresh process gets the name and builds the problem."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

import bisimetric as bm

env = bm.environments

SPARSE_SUCCESSORS = 4  # per state of `sparse-N`
ISLANDS, ISLAND_SHIFT = 10, 7  # number of islands; states by which the reward moves from one to the next
LARGE_SUCCESSORS = 5  # per state of a large chain

# They cover sparse and dense supports, distances proved zero, a chain against itself, and classes of states.
WARM_UP = ("rooms-4", "dense-12", "grid-5", "self-4", "corners-4", "corners-8")
WARM_UP_OF_PEERS = ("rooms-2", "dense-3")  # small: peers have nothing to compile, and simplex methods are slow
COMPILATION = 60.0  # CPU seconds allowed for a warm-up, besides the time limit


def problem(name: str, discount: float, seed: int = 0) -> bm.Problem:
    """One of

    dense-N        softmax rows and a random cost, by seed
    uniform-N      uniform rows and a random cost, by seed
    sparse-N       four random successors a state, by seed
    grid-K         the walk on an open K×K square, rewards in two corners
    rooms-SIDE     scalable 4-rooms, rewards in two rooms
    self-SIDE      scalable 4-rooms, reward in one room, against itself
    corners-SIDE   scalable 4-rooms, rewards in all rooms, against itself
    islands-SIDE   ten scalable 4-rooms that nothing connects, each with other rewards, starts in the first and second
    paper-40       the paper's 4-rooms p1 against p0
    classic-104    the classic 4-rooms, the reward in two hallways
    cycles-N       N and N + 10 states, one after the other and round, random rewards
    slow-cycles-N  the same with a chance to stay
    paths-N        N states each, one after the other with a chance to stay, random rewards
    """
    family, _, size_text = name.rpartition("-")
    if family not in FAMILIES or not size_text.isdigit():
        raise SystemExit(f"unknown instance {name!r}: expected FAMILY-SIZE with one of {', '.join(FAMILIES)}")
    return FAMILIES[family](int(size_text), discount, seed)


def chain(name: str) -> bm.MarkovChain:
    """A large chain by itself, with a reward in its last state alone; one of

    sparse-N       five random successors a state, with random probabilities
    even-N         five random successors a state, all equally likely
    path-N         one state after the other: N classes, found one by one
    """
    family, _, size_text = name.partition("-")
    if family not in ("sparse", "even", "path") or not size_text.isdigit():
        raise SystemExit(f"unknown instance {name!r}: expected sparse-N, even-N or path-N")
    n = int(size_text)
    if family == "path":
        rows = sparse.csr_array((np.ones(n), np.minimum(np.arange(n) + 1, n - 1), np.arange(n + 1)), shape=(n, n))
    else:
        rows = env.random_sparse_chain(n, LARGE_SUCCESSORS, seed=0).transitions
    if family == "even":
        rows = sparse.csr_array((np.full(rows.nnz, 1 / LARGE_SUCCESSORS), rows.indices, rows.indptr), shape=(n, n))
    return bm.MarkovChain(rows, reward=np.arange(n) == n - 1)


def _dense(size: int, discount: float, seed: int) -> bm.Problem:
    source, target = (env.random_chain(size, seed=2 * seed + k) for k in range(2))
    return bm.Problem(source, target, discount=discount, cost=env.random_cost(size, size, seed=seed))


def _uniform(size: int, discount: float, seed: int) -> bm.Problem:
    source, target = (env.random_chain(size, kind="uniform", seed=2 * seed + k) for k in range(2))
    cost = env.random_cost(size, size, kind="uniform", seed=seed)
    return bm.Problem(source, target, discount=discount, cost=cost)


def _sparse(size: int, discount: float, seed: int) -> bm.Problem:
    source, target = (env.random_sparse_chain(size, SPARSE_SUCCESSORS, seed=2 * seed + k) for k in range(2))
    return bm.Problem(source, target, discount=discount)


def _grid(size: int, discount: float, seed: int) -> bm.Problem:
    source, target = (env.open_grid(size, corner=corner) for corner in ("north-west", "north-east"))
    return bm.Problem(source, target, discount=discount)


def _rooms(size: int, discount: float, seed: int) -> bm.Problem:
    source, target = (env.four_rooms(side=size, goal=goal) for goal in ("north-west", "north-east"))
    return bm.Problem(source, target, discount=discount)


def _self(size: int, discount: float, seed: int) -> bm.Problem:
    chain = env.four_rooms(side=size)
    return bm.Problem(chain, chain, discount=discount)


def _corners(size: int, discount: float, seed: int) -> bm.Problem:
    chain = env.four_rooms(side=size, goal="all")
    return bm.Problem(chain, chain, discount=discount)


def _islands(size: int, discount: float, seed: int) -> bm.Problem:
    island = env.four_rooms(side=size)
    assert island.reward is not None
    rows = sparse.block_diag([island.transitions] * ISLANDS, format="csr")
    reward = np.concatenate([np.roll(island.reward, ISLAND_SHIFT * k) for k in range(ISLANDS)])
    chain = bm.MarkovChain(rows, reward=reward, start=0)
    return bm.Problem(chain, chain.with_start(island.n_states), discount=discount)


def _paper(size: int, discount: float, seed: int) -> bm.Problem:
    return _sized(bm.Problem(env.four_rooms("p1"), env.four_rooms("p0"), discount=discount), size)


def _classic(size: int, discount: float, seed: int) -> bm.Problem:
    source = env.classic_four_rooms()
    assert source.labels is not None
    reward = np.zeros(source.n_states)
    reward[source.labels.index("door")] = 1.0
    target = bm.MarkovChain(source.transitions, reward=reward, start=source.start)
    return _sized(bm.Problem(source, target, discount=discount), size)


def _cycles(size: int, discount: float, seed: int) -> bm.Problem:
    return _around(size, discount, (0.0, 0.0), closed=True)


def _slow_cycles(size: int, discount: float, seed: int) -> bm.Problem:
    return _around(size, discount, (0.1, 0.3), closed=True)


def _paths(size: int, discount: float, seed: int) -> bm.Problem:
    return _around(size, discount, (0.1, 0.3), closed=False)


def _around(size: int, discount: float, stay: tuple[float, float], *, closed: bool) -> bm.Problem:
    chains = []
    for k, chance in enumerate(stay):
        n = size + 10 * k if closed else size
        to = (np.arange(n) + 1) % n if closed else np.minimum(np.arange(n) + 1, n - 1)
        on = sparse.csr_array((np.ones(n), to, np.arange(n + 1)), shape=(n, n))
        rows = sparse.csr_array((1.0 - chance) * on + chance * sparse.eye_array(n))
        chains.append(bm.MarkovChain.normalised(rows, reward=np.random.default_rng(n).random(n)))
    return bm.Problem(*chains, discount=discount)


def _sized(made: bm.Problem, size: int) -> bm.Problem:
    if made.shape[0] != size:
        raise SystemExit(f"this instance has {made.shape[0]} states, not {size}")
    return made


FAMILIES: dict[str, Callable[[int, float, int], bm.Problem]] = {
    "dense": _dense,
    "uniform": _uniform,
    "sparse": _sparse,
    "grid": _grid,
    "rooms": _rooms,
    "self": _self,
    "corners": _corners,
    "islands": _islands,
    "paper": _paper,
    "classic": _classic,
    "cycles": _cycles,
    "slow-cycles": _slow_cycles,
    "paths": _paths,
}
