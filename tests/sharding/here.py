"""Shards in this process: everything but Ray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import bisimetric as bm
from bisimetric import environments as env
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.sharding.shard import Shard
from bisimetric.sharding.shards import Shards
from bisimetric.solvers.sharded_policy_iteration import ShardedPolicyIteration


class ShardsHere(Shards):
    """One shard after the other in this process."""

    def __init__(self, bellman: Bellman, count: int) -> None:
        super().__init__(bellman, count)
        self._shards = [Shard(bellman, rows) for rows in self.rows]

    def ask(self, method: str, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        which = range(len(self._shards)) if only is None else only
        return [getattr(self._shards[k], method)(*args) for k in which]

    def put(self, array: Floats) -> Any:
        return array.copy()  # what travels does not change with the original

    def close(self) -> None:
        self._shards.clear()


@dataclass(frozen=True, slots=True)
class ShardedHere(ShardedPolicyIteration):
    """The solver over such shards."""

    def _shards(self, bellman: Bellman) -> Shards:
        return ShardsHere(bellman, self.workers)


def rooms(side: int, discount: float = 0.95) -> bm.Problem:
    """Two 4-rooms chains with different goals."""
    return bm.Problem(
        *(env.four_rooms(side=side, goal=goal) for goal in ("north-west", "north-east")), discount=discount
    )


def stopping(share: float) -> bm.Problem:
    """Sparse chains of different sizes, with stops at this share of the pairs."""
    random = np.random.default_rng(1)
    chains = [env.random_sparse_chain(n, 4, seed=n) for n in (23, 31)]
    return bm.Problem(*chains, discount=0.9, cost=random.random((23, 31)), stop=random.random((23, 31)) < share)


def dense(n: int = 24) -> bm.Problem:
    """All states follow all states."""
    random = np.random.default_rng(2)
    chains = [bm.MarkovChain.normalised(random.dirichlet(np.full(n, 0.3), n) + 1e-3) for _ in range(2)]
    return bm.Problem(*chains, discount=0.9, cost=random.random((n, n)))


def wide() -> bm.Problem:
    """Rows with many successors, so that new trees start from the pair before."""
    chains = [env.random_sparse_chain(n, 12, seed=n) for n in (37, 45)]
    return bm.Problem(*chains, discount=0.9, cost=np.random.default_rng(3).random((37, 45)))


def sluggish() -> bm.Problem:
    """States that tend to stay where they are."""
    random = np.random.default_rng(4)
    chains = []
    for n in (15, 22):
        stay = random.choice([0.0, 0.9, 0.999], n)[:, None]
        rows = stay * np.eye(n) + (1 - stay) * random.dirichlet(np.full(n, 0.3), n)
        chains.append(bm.MarkovChain.normalised(rows, reward=random.random(n)))
    return bm.Problem(*chains, discount=0.999)


def self_distance() -> bm.Problem:
    """One chain against itself: one pair of each two is solved."""
    chain = env.four_rooms(side=7)
    return bm.Problem(chain, chain, discount=0.95)


PROBLEMS = {
    "rooms": rooms(7),
    "many stops": stopping(0.4),
    "few stops": stopping(0.05),
    "dense": dense(),
    "wide": wide(),
    "sluggish": sluggish(),
    "self": self_distance(),
    "one pair": bm.Problem(bm.MarkovChain([[1.0]], reward=[1]), bm.MarkovChain([[1.0]], reward=[0]), discount=0.5),
}


def same_bits(one: bm.Solution, other: bm.Solution) -> bool:
    """Whether bounds, estimates and the gaps of all steps are equal to the last bit."""
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("lower", "upper", "value"))
    return arrays and [step.gap for step in one.history] == [step.gap for step in other.history]
