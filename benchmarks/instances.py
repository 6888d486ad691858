"""The problems that benchmarks run on, by name, so that a fresh process can be told which one to build."""

from __future__ import annotations

import bisimetric as bm

env = bm.environments


def problem(name: str, discount: float, seed: int = 0) -> bm.Problem:
    """`rooms-SIDE`: scalable 4-rooms, rewards in two different rooms; `dense-N`: softmax rows and a random cost."""
    family, _, size_text = name.partition("-")
    size = int(size_text)
    if family == "rooms":
        source, target = (env.four_rooms(side=size, goal=goal) for goal in ("north-west", "north-east"))
        return bm.Problem(source, target, discount=discount)
    if family == "dense":
        source, target = (env.random_chain(size, seed=2 * seed + k) for k in range(2))
        return bm.Problem(source, target, discount=discount, cost=env.random_cost(size, size, seed=seed))
    raise SystemExit(f"unknown instance {name!r}: expected rooms-SIDE or dense-N")
