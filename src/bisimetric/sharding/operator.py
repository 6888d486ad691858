"""The operator, the evaluation and the witness of a solve whose trees are held by shards.

A sweep sends V and gets T V - V; a product of an evaluation sends a vector and gets one. Everything else, among it all
inner products, is done here as it is without shards, over the same source rows in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.blocks import for_even_split
from bisimetric.couplings.witness import ScatteredWitness
from bisimetric.kernels.layout import Cells, Report, Trees
from bisimetric.linear import krylov
from bisimetric.linear.krylov import ONE_CALL, Solved
from bisimetric.linear.ladder import storable
from bisimetric.models.rows import Floats, Ints, Mask
from bisimetric.operators.bellman import Bellman, Sweep
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.modes import Preconditioner
from bisimetric.operators.trees import TreeWitness, outline_of_trees
from bisimetric.sharding.shards import Shards


@dataclass(frozen=True, slots=True, eq=False)
class ShardedBellman(Bellman):
    """An operator whose sweeps are made by shards."""

    shards: Shards = None  # type: ignore[assignment]  # fields of the base have defaults; `over` sets it

    @classmethod
    def over(cls, shards: Shards, bellman: Bellman) -> ShardedBellman:
        """The same operator over these shards."""
        given = {field.name: getattr(bellman, field.name) for field in fields(Bellman) if field.init}
        return cls(**given, shards=shards)

    def improve(
        self,
        value: Floats,
        trees: Trees,
        *,
        cold: bool,
        ignore: float = 0.0,
        skip: Mask | None = None,
        rows: tuple[int, int] | None = None,
    ) -> Sweep:
        """One sweep over all pairs by all shards; `trees` is only an outline of theirs."""
        parts = self.shards.sweep(value, cold, ignore)
        residual = np.concatenate([part.residual for part in parts])
        lowest, highest = min(part.lowest for part in parts), max(part.highest for part in parts)
        return Sweep(residual, lowest, highest, sum(part.pivots for part in parts), parts[0].largest)


class ShardedEvaluation(Evaluation):
    """Evaluations whose products are made by shards; small systems are fetched, and solved as without shards."""

    def __init__(self, bellman: ShardedBellman) -> None:
        super().__init__(bellman)
        self._sharded = bellman

    def solve(self, trees: Trees, residual: Floats, target: float, *, shift: float = 0.0) -> Solved:
        if trees.code.size <= ONE_CALL:
            trees = self._sharded.shards.fetch_trees(with_flows=True)
        return super().solve(trees, residual, target, shift=shift)

    def _new_preconditioner(self, trees: Trees) -> Preconditioner:
        if trees.used.size:
            return super()._new_preconditioner(trees)
        return ShardedPreconditioner(self._sharded, trees)

    def _product(self, trees: Trees) -> krylov.MatrixProduct:
        if trees.used.size:
            return super()._product(trees)
        bellman, shards = self._sharded, self._sharded.shards
        n = bellman.shape[0]

        def apply(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
            parts = shards.ask("product", shards.put(vector))
            for pairs, part in zip(shards.pairs, parts, strict=True):
                out[pairs] = part
            sums = np.empty((n, 2))
            row = bellman.pairs.listed.row
            for_even_split(lambda i, j: kernels.evaluation.row_products(i, j, row, out, other, sums), n, cost=out.size)
            product, square = np.add.reduce(sums, axis=0).tolist()
            return product, square

        return apply

    def _matrix(self, trees: Trees) -> sparse.csr_array | None:
        if not trees.used.size:
            if not storable(trees.code.size, self._sharded.pairs.size):
                return None
            trees = self._sharded.shards.fetch_trees(with_flows=True)
        return super()._matrix(trees)


class ShardedPreconditioner(Preconditioner):
    """The preconditioner of such evaluations."""

    def __init__(self, bellman: ShardedBellman, trees: Trees) -> None:
        self._shards = bellman.shards
        super().__init__(bellman, trees, dense=False)

    def _flows(self, trees: Trees) -> Floats:
        parts = self._shards.ask("flows", self.modes, bool(self.quickness.size))
        if self.quickness.size:
            self.quickness = np.concatenate([quickness for _, quickness in parts])
        total: Floats = np.add.reduce([flows for flows, _ in parts])
        return total


@dataclass(frozen=True, slots=True, eq=False)
class ShardedWitness(TreeWitness, ScatteredWitness):
    """The couplings and potentials of all shards."""

    bellman: ShardedBellman

    def cells(self, first: int, last: int) -> Cells:
        """Couplings and potentials of the pairs first..last, for which all trees are fetched."""
        return TreeWitness(self.bellman, self.value, self._fetched()).cells(first, last)

    def some_cells(self, x: Ints, y: Ints, number: Ints) -> Cells:
        """The same for the pairs (x, y) with these numbers."""
        return TreeWitness(self.bellman, self.value, self._fetched()).some_cells(x, y, number)

    def reports(self, value: Floats, upper: Floats, lower: Floats) -> list[Report]:
        """The checker's word, from the checker at every shard."""
        shards = self.bellman.shards
        found = []
        for pairs, checked in zip(shards.pairs, shards.ask("check", shards.share(value)), strict=True):
            upper[pairs], lower[pairs] = checked.upper, checked.lower
            found += checked.reports
        return found

    def at_rest(self) -> TreeWitness:
        """The couplings in this process, as an answer holds them; the shards are not needed any more."""
        trees = self._fetched()
        self.bellman.shards.close()
        given = {field.name: getattr(self.bellman, field.name) for field in fields(Bellman) if field.init}
        return TreeWitness(Bellman(**given), self.value, trees, everywhere=True)

    def _fetched(self) -> Trees:
        needed = outline_of_trees(self.bellman, may_round=True).code.nbytes
        memory.require(needed, "fetching the couplings of all workers", "take a machine with more memory")
        return self.bellman.shards.fetch_trees()
