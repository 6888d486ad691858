"""The Bellman operator of a game between decision processes, made of the operators of chains.

Every block of moves (see `action_rules`) is a separate `Bellman`, with the source moves as source rows and the target
moves as target rows. A move leads to states; in a block with several moves per state, a state is represented by its
first move, and the value at a pair of moves is the value at the pair of their states. All blocks share one scale.

A cost that no distance reaches cannot decide anything in the lax game, so costs are cut there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric.kernels.layout import Rows, Trees
from bisimetric.linear.ladder import Ladder
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, Ints, offsets
from bisimetric.operators.action_rules import MatchedActions, Rule, SameActions, count_up
from bisimetric.operators.bellman import Bellman, as_rows, largest_forever, power_of_two
from bisimetric.operators.trees import new_trees, tree_bytes, tree_cells
from bisimetric.problems.game import Game

BYTES_PER_MOVE_PAIR = 40  # costs, residuals and bounds at a pair of moves
BYTES_PER_FLOW = 36  # of one cell of a transport, gathered for an evaluation
ABOVE = 1.0 + 1e-9  # factor that puts a bound safely above its rounding


class GameSweep(NamedTuple):
    """T_ab V - V for all pairs of moves, block by block, and what comes of it: T V - V."""

    blocks: list[Floats]
    residual: Floats  # [n, m]


class FixedAnswers(NamedTuple):
    """A decision process for the maximising player; its moves at a pair are the rows first[pair] to first[pair + 1]."""

    moves: sparse.csr_array  # [moves, n·m]
    residual: Floats  # [moves], what a move gains over V
    first: Ints  # [n·m + 1]
    discount: float

    def after(self, change: Floats) -> FixedAnswers:
        """The process with the residuals at V + change."""
        owner = np.repeat(change, np.diff(self.first))
        return self._replace(residual=self.residual + self.discount * (self.moves @ change) - owner)

    def best(self) -> Floats:
        """[n·m], the best gain at every pair."""
        best: Floats = np.maximum.reduceat(self.residual, self.first[:-1])
        return best

    def first_best(self, best: Floats) -> Ints:
        """[n·m], the first move of every pair that has the best gain."""
        equal = self.residual == np.repeat(best, np.diff(self.first))
        number = np.where(equal, np.arange(len(equal)), len(equal))
        return np.minimum.reduceat(number, self.first[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class GameBellman:
    """Blocks of transports, and the rule that turns them into one number per pair of states."""

    blocks: tuple[Bellman, ...]
    rule: Rule
    cost: Floats  # [n, m], what the game costs at once: a lower bound of the distances, not scaled
    scale: float
    discount: float
    rows: float  # half the largest 1-norm by which a source row and a target row differ from those given, added up
    cost_error: float  # relative, of every cost
    provable: npt.NDArray[np.bool_] | None  # [n, m], pairs whose distance may be proved to be zero; None for all pairs
    ladder: Ladder = field(default_factory=Ladder, repr=False)  # for evaluations

    @classmethod
    def of(cls, game: Game) -> GameBellman:
        """The operator of a game."""
        _require_memory(game)
        moves = _same_actions(game) if game.actions == "same" else _matched_actions(game)
        rule, rows, costs = moves
        cost = rule.outcome(costs)
        error = game.cost_error
        reached = largest_forever(float(cost.max()), error, 1.0, game.discount) * ABOVE  # above every distance
        for block in costs:
            np.minimum(block, reached, out=block)
        scale = power_of_two(max(float(block.max()) for block in costs)) if cost.any() else 1.0
        moved = 0.5 * (float(game.source.row_error.max()) + float(game.target.row_error.max()))
        blocks = tuple(
            Bellman.between(source, target, block, scale, game.discount)
            for (source, target), block in zip(rows, costs, strict=True)
        )
        return cls(blocks, rule, cost, scale, game.discount, moved, error, _provable(game))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.cost.shape[0], self.cost.shape[1]

    @property
    def largest_cost(self) -> float:
        """The largest cost of a pair of moves, in the scale of this operator."""
        return max(block.largest_cost for block in self.blocks)

    def largest_value(self) -> float:
        """A bound on all distances: the largest cost of the game, paid forever."""
        return largest_forever(float(self.cost.max()), self.cost_error, self.scale, self.discount)

    def is_immediate(self) -> bool:
        """Whether V = c: the discount is zero, or all costs are."""
        return self.discount == 0.0 or not self.cost.any()

    def new_trees(self) -> tuple[Trees, ...]:
        """Allocate one transport tree per pair of moves, after a check that the memory suffices."""
        cells = sum(block.cost.size for block in self.blocks)
        flows = sum(tree_cells(block) for block in self.blocks)
        memory.require(
            sum(tree_bytes(block) for block in self.blocks) + BYTES_PER_MOVE_PAIR * cells + BYTES_PER_FLOW * flows,
            f"solving a game with {cells} pairs of moves",
            "merge bisimilar states, or compare the processes under a policy",
        )
        return tuple(new_trees(block) for block in self.blocks)

    def improve(self, value: Floats, trees: tuple[Trees, ...], *, cold: bool) -> GameSweep:
        """One sweep over all pairs of moves; trees are changed in place."""
        residuals = [
            block.spread(block.improve(spread, tree, cold=cold).residual)
            for block, spread, tree in zip(self.blocks, self.rule.spread(value), trees, strict=True)
        ]
        return GameSweep(residuals, self.rule.outcome(residuals))

    def bounds(self, residual: Floats) -> tuple[float, float]:
        """How far V* can be below and above T V, by MacQueen's bounds."""
        factor = self.discount / (1.0 - self.discount)
        return factor * float(residual.min()), factor * float(residual.max())

    def gap_of(self, span: float) -> float:
        """The gap that residuals of this span leave."""
        return span * self.discount / (1.0 - self.discount)

    def with_fixed_answers(self, trees: tuple[Trees, ...], sweep: GameSweep) -> FixedAnswers:
        """The game in which the minimising player keeps to the best answers and couplings of a sweep."""
        chosen = self.rule.answers(sweep.blocks)
        pairs = np.concatenate([pair for pair, _ in chosen])
        order = np.argsort(pairs, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        residual = np.concatenate(
            [block.ravel()[cells] for block, (_, cells) in zip(sweep.blocks, chosen, strict=True)]
        )
        first = np.searchsorted(pairs[order], np.arange(self.cost.size + 1))
        split = np.split(place, np.cumsum([len(pair) for pair, _ in chosen])[:-1])
        cells = [cells for _, cells in chosen]
        return FixedAnswers(self._flows(trees, cells, split, len(order)), residual[order], first, self.discount)

    def _flows(self, trees: tuple[Trees, ...], chosen: list[Ints], places: list[Ints], size: int) -> sparse.csr_array:
        """The flows of the trees at the chosen cells, each in its row of a matrix over flat pairs of states."""
        count = np.zeros(size, np.int64)
        for tree, cells, place in zip(trees, chosen, places, strict=True):
            count[place] = tree.used[cells]
        indptr = offsets(count)
        heads, weight = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
        for k, (block, tree) in enumerate(zip(self.blocks, trees, strict=True)):
            cells, used = chosen[k], count[places[k]]
            x, y = np.divmod(cells, block.shape[1])
            begin = tree.offset[x] + y * (block.sizes[0][x] - 1) + block.target.indptr[y]
            step = count_up(used)
            read, write = np.repeat(begin, used) + step, np.repeat(indptr[places[k]], used) + step
            heads[write] = self.rule.state_pairs(k, tree.target[read])
            weight[write] = tree.weight[read]
        return sparse.csr_array((weight, heads, indptr), shape=(size, self.cost.size))


def _require_memory(game: Game) -> None:
    if game.actions == "same":
        cells = len(game.common) * game.source.n_states * game.target.n_states
    else:
        cells = int(game.source.available.sum()) * int(game.target.available.sum())
    memory.require(
        BYTES_PER_MOVE_PAIR * cells,
        f"a game with {cells} pairs of moves",
        "merge bisimilar states, or compare under a policy",
    )


def _provable(game: Game) -> npt.NDArray[np.bool_] | None:
    merged = game.source.merged, game.target.merged
    return ~np.logical_or.outer(*merged) if merged[0].any() or merged[1].any() else None


def _same_actions(game: Game) -> tuple[Rule, list[tuple[Rows, Rows]], list[Floats]]:
    """A block per common action."""
    source, target = game.source, game.target
    rows = [(as_rows(source.transitions[a]), as_rows(target.transitions[b])) for a, b in game.common]
    costs = [game.gap(source.rewards[:, a], target.rewards[:, b]) for a, b in game.common]
    return SameActions(len(rows)), rows, costs


def _matched_actions(game: Game) -> tuple[Rule, list[tuple[Rows, Rows]], list[Floats]]:
    """One block of all available moves."""
    moves = [_moves(mdp) for mdp in (game.source, game.target)]
    mine, theirs = (mdp.rewards[mdp.available] for mdp in (game.source, game.target))
    rule = MatchedActions(moves[0][1], moves[1][1])
    return rule, [(moves[0][0], moves[1][0])], [game.gap(mine, theirs)]


def _moves(mdp: MDP) -> tuple[Rows, Ints]:
    """The rows of all available moves, state by state, leading to first moves; and where the moves of a state begin."""
    first = offsets(mdp.available.sum(axis=1))
    states, actions = np.nonzero(mdp.available)
    stacked = sparse.csr_array(sparse.vstack(mdp.transitions, format="csr")[actions * mdp.n_states + states])
    rows = as_rows(stacked)
    return rows._replace(indices=first[rows.indices].astype(np.int32)), first
