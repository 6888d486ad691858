"""All workers of a solve, as the solver sees them: ask, and each answers for its rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bisimetric._support import memory
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman, Sweep
from bisimetric.operators.trees import outline_of_trees, tree_bytes


class Room(NamedTuple):
    """Where a worker is, and what is free there."""

    machine: str
    free: int | None  # bytes; None if the system does not say


class Shards(ABC):
    """Workers that hold the trees of consecutive ranges of source rows; see `shard.Shard` for what they do."""

    def __init__(self, bellman: Bellman, count: int) -> None:
        self.rows = split_rows(bellman, count)
        begins = bellman.pairs.listed.row
        self.pairs = [slice(int(begins[a]), int(begins[b])) for a, b in self.rows]
        self._latest: tuple[Floats, Any] | None = None  # a value, and what stands for it
        self._trees: Trees | None = None  # of all shards, without flows, if they were fetched since the last sweep
        self._outline = outline_of_trees(bellman, may_round=True)

    @abstractmethod
    def ask(self, method: str, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        """What this method of every shard answers, in the order of the rows; or `only` some of them are asked."""

    def require_room(self, bellman: Bellman, rooms: Sequence[Room]) -> None:
        """Raise if the workers of a machine together need more than is free there; before anything is allocated."""
        n, m = bellman.shape
        for machine, free in dict(rooms).items():
            inside = [rows for rows, room in zip(self.rows, rooms, strict=True) if room.machine == machine]
            needed = sum(tree_bytes(bellman, may_round=True, rows=rows) for rows in inside)
            what = f"solving {n} x {m} state pairs, of which {len(inside)} workers are on {machine},"
            memory.require_of(free, needed, what, "merge bisimilar states, or take more machines")

    @abstractmethod
    def put(self, array: Floats) -> Any:
        """What stands for an array in the arguments of `ask`, so that every machine gets it once."""

    @abstractmethod
    def close(self) -> None:
        """End the workers."""

    def sweep(self, value: Floats, cold: bool, ignore: float) -> list[Sweep]:
        """One sweep over all pairs."""
        self._trees = None
        return self.ask("sweep", self.share(value), cold, ignore)

    def fetch_trees(self, *, with_flows: bool = False) -> Trees:
        """The trees of all shards, in this process."""
        if self._trees is not None and not with_flows:
            return self._trees
        code, used, target, weight = (
            np.concatenate(arrays) for arrays in zip(*self.ask("trees", with_flows), strict=True)
        )
        trees = self._outline._replace(code=code, used=used, target=target, weight=weight)
        if not with_flows:
            self._trees = trees
        return trees

    def share(self, value: Floats) -> Any:
        """The same for a value, which several questions in a row are about; it must not change any more."""
        if self._latest is None or self._latest[0] is not value:
            self._latest = value, self.put(value)
        return self._latest[1]


def split_rows(bellman: Bellman, count: int) -> list[tuple[int, int]]:
    """At most `count` ranges of source rows whose trees have about the same number of cells; none is empty."""
    outline = outline_of_trees(bellman, may_round=True)
    ends = np.append(outline.offset[1:], outline.code.size)
    cuts = np.searchsorted(ends, outline.code.size * np.arange(1, count) / count) + 1
    bounds = np.unique([0, *np.minimum(cuts, len(ends)), len(ends)]).tolist()
    return list(pairwise(bounds))
