"""The problems that benchmarks run on, by name, so that a fresh process can be told which one to build."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import bisimetric as bm

env = bm.environments

SPARSE_SUCCESSORS = 4  # of a state in `sparse-N`


def problem(name: str, discount: float, seed: int = 0) -> bm.Problem:
    """One of

    dense-N        softmax rows and a random cost, by seed
    uniform-N      uniform rows and a random cost, by seed
    sparse-N       four random successors a state, by seed
    grid-K         the walk on an open K×K square, rewards in two corners
    rooms-SIDE     scalable 4-rooms, rewards in two rooms
    paper-40       the paper's 4-rooms p1 against p0
    classic-104    the classic 4-rooms, the reward in two hallways
    """
    family, _, size_text = name.partition("-")
    if family not in FAMILIES or not size_text.isdigit():
        raise SystemExit(f"unknown instance {name!r}: expected FAMILY-SIZE with one of {', '.join(FAMILIES)}")
    return FAMILIES[family](int(size_text), discount, seed)


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


def _paper(size: int, discount: float, seed: int) -> bm.Problem:
    return _sized(bm.Problem(env.four_rooms("p1"), env.four_rooms("p0"), discount=discount), size)


def _classic(size: int, discount: float, seed: int) -> bm.Problem:
    source = env.classic_four_rooms()
    assert source.labels is not None
    reward = np.zeros(source.n_states)
    reward[source.labels.index("door")] = 1.0
    target = bm.MarkovChain(source.transitions, reward=reward, start=source.start)
    return _sized(bm.Problem(source, target, discount=discount), size)


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
    "paper": _paper,
    "classic": _classic,
}
