"""The certificate of a game: the checker's bounds on every pair of moves, combined by the game's own rule.

For every pair of moves the checker gives L ≤ T_ab V ≤ U from a coupling and a potential. The rule is monotone, and
adding a constant to its input adds it to the outcome. So the rule applied to all L and to all U bounds T V, and
MacQueen's bounds follow as for chains. A rule does not enlarge the largest rounding error of its blocks.

A pair is *proved zero* when neither state stands for others whose rows differ and the minimising player has, for every
move of the other, an answer that costs nothing and a coupling that leads only to such pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric.certificates.check import check_application, zero_candidates
from bisimetric.certificates.interval import Application, Certificate, Errors, Range, immediate_bounds, interval
from bisimetric.certificates.zeros import coupled_pairs
from bisimetric.cost.ground import cost_below
from bisimetric.couplings.witness import Witness
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import Floats, Mask, offsets
from bisimetric.operators.action_rules import count_up
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.game import GameBellman
from bisimetric.operators.trees import TreeWitness


class BlockWitness(Witness, Protocol):
    """Couplings and potentials for the pairs of moves of one block."""

    @property
    def bellman(self) -> Bellman: ...
    @property
    def value(self) -> Floats: ...


class GameProof(Protocol):
    """Couplings and potentials for every pair of moves, from a solver or from a file."""

    @property
    def bellman(self) -> GameBellman: ...
    @property
    def value(self) -> Floats: ...
    def blocks(self) -> Sequence[BlockWitness]: ...


@dataclass(frozen=True, slots=True, eq=False)
class GameWitness:
    """Couplings and potentials for every pair of moves, as the trees of every block."""

    bellman: GameBellman
    value: Floats  # [n, m], scaled
    trees: tuple[Trees, ...]

    def blocks(self) -> list[TreeWitness]:
        """One witness per block."""
        spread = self.bellman.rule.spread(self.value)
        return [
            TreeWitness(block, value, trees)
            for block, value, trees in zip(self.bellman.blocks, spread, self.trees, strict=True)
        ]


def upper_blocks(witness: GameProof) -> list[Floats]:
    """The checker's upper bounds on T_ab V, block by block."""
    return [check_application(block.bellman, block.value, block, 0.0).upper for block in witness.blocks()]


def check_game(witness: GameProof) -> Certificate:
    """The bounds that the value and the trees prove, in the units of the game."""
    bellman, value, blocks = witness.bellman, witness.value, witness.blocks()
    parts = [check_application(block.bellman, block.value, block, bellman.rows) for block in blocks]
    uppers = [part.upper for part in parts]

    def apply() -> Application:
        lower, upper = bellman.rule.outcome([part.lower for part in parts]), bellman.rule.outcome(uppers)
        worst = Errors(*(max(column) for column in zip(*(part.errors for part in parts), strict=True)))
        return Application(lower, upper, float((lower - value).min()), float((upper - value).max()), worst)

    def proved_zero(lower: Floats, upper: Floats, errors: Errors) -> Mask | None:
        candidate = zero_candidates(bellman.cost, upper, float((upper - lower).max()))
        if bellman.provable is not None:
            candidate &= bellman.provable
        return _proved_zero(bellman, blocks, uppers, candidate)

    return Certificate(*interval(bellman, bellman.cost, Range.of(value), apply, proved_zero))


def immediate(bellman: GameBellman) -> Certificate:
    """The answer V = c, where the discount is zero or all costs are."""
    return immediate_bounds(bellman.cost, bellman.cost_error)


def a_priori(bellman: GameBellman) -> Certificate:
    """The bounds that hold before any sweep: the cost itself, and the largest cost paid forever."""
    lower = cost_below(bellman.cost, bellman.cost_error)
    upper = np.full(bellman.shape, np.nextafter(bellman.largest_value() / bellman.scale, np.inf))
    return Certificate(0.5 * (lower + upper), lower, upper)


def _proved_zero(
    bellman: GameBellman, blocks: Sequence[BlockWitness], uppers: list[Floats], candidate: Mask
) -> Mask | None:
    pairs = np.flatnonzero(candidate)
    if not len(pairs):
        return None
    number = np.full(candidate.size, len(pairs), np.int32)  # one node for everything outside
    number[pairs] = np.arange(len(pairs))
    tails, heads = [], []
    for k, (block, answers) in enumerate(zip(blocks, bellman.rule.answers(uppers), strict=True)):
        inside = candidate.ravel()[answers.pairs]
        tail, cell = number[answers.pairs[inside]], answers.cells[inside]
        costly = block.bellman.cost.ravel()[cell] > 0.0
        tails.append(tail[costly])
        heads.append(np.full(int(costly.sum()), len(pairs), np.int32))
        cells, at = np.unique(cell[~costly], return_inverse=True)
        count, arcs = coupled_pairs(block.bellman, block, cells, partial(_number_pairs, bellman, number, k))
        begin = np.cumsum(count) - count
        tails.append(np.repeat(tail[~costly], count[at]))
        heads.append(arcs[np.repeat(begin[at], count[at]) + count_up(count[at])])
    tail = np.concatenate(tails)
    order = np.argsort(tail, kind="stable")
    indptr = offsets(np.bincount(tail, minlength=len(pairs)))
    outside = np.empty(len(pairs), np.bool_)
    kernels.check.lead_outside(indptr, np.concatenate(heads)[order], outside)
    candidate.ravel()[pairs] = ~outside
    return candidate


def _number_pairs(
    bellman: GameBellman, number: npt.NDArray[np.int32], block: int, flat: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    names: npt.NDArray[np.int32] = number[bellman.rule.state_pairs(block, flat)]
    return names
