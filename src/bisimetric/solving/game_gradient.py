"""Derivatives of the distance between two decision processes, through the actions that decide it.

At every pair of states one pair of actions is decisive. With those fixed the game is a distance between chains, whose
derivatives are those of `couplings.gradient`; by the envelope theorem they are also those of the game, as long as no
other action ties with the decisive ones.

Reference: Danskin 1967.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric._support.frozen import frozen
from bisimetric.certificates.game import upper_blocks
from bisimetric.couplings.gradient import (
    NO_DIFFERENCE,
    Derivatives,
    StartPotentials,
    centred_rows,
    expected_after,
    refuse_infinite,
)
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, Ints, Mask, SparseField, offsets
from bisimetric.operators.trees import new_trees
from bisimetric.solving.action_coupling import few_at_once

if TYPE_CHECKING:
    from bisimetric.solving.game_solution import MDPSolution


@dataclass(frozen=True, eq=False, repr=False)
class MDPGradient(Derivatives):
    """How the distance between two decision processes changes with everything that it depends on.

    `solution.gradient` returns it for decision processes. Only the decisive actions count; all is as in `Gradient`
    otherwise. Derivatives by rewards and costs are without the factor 1 - γ of the metric.

    Attributes
    ----------
    cost : array [n, m]
        By a cost that is added at a pair of states: the discounted share of time spent there.
    source, target : tuples of scipy.sparse.csr_array, [n, n] and [m, m]
        By the probabilities of the two processes, one array per action, on the supports of the available actions; each
        row has mean zero over its support.
    source_start, target_start : array [n] and [m], or None
        By the initial laws, as in `Gradient`.
    source_reward, target_reward : array [n, A] and [m, A']
        By the rewards of all actions in all states.
    discount : float
        By the discount.
    error : float
        How far the couplings behind this gradient may be from the best ones, in units of the distance, certified.
    tied, starts_tie : array [n, m] of bool, bool
        Pairs that are visited and have several best couplings or potentials, tied actions, or equal rewards; and
        whether the starts have several best transports.
    is_unique : bool
        Whether nothing ties: then the distance is differentiable and this is its derivative.
    """

    cost: Floats
    source_start: Floats | None
    target_start: Floats | None
    source_reward: Floats
    target_reward: Floats
    discount: float
    error: float
    tied: Mask
    starts_tie: bool
    source: SparseField[tuple[sparse.csr_array, ...]] = SparseField()  # noqa: RUF009
    target: SparseField[tuple[sparse.csr_array, ...]] = SparseField()  # noqa: RUF009


class _Side:
    """The moves of one process in a block, and the derivatives by their probabilities and rewards."""

    def __init__(self, mdp: MDP) -> None:
        self._mdp = mdp
        self.by_reward = np.zeros(mdp.rewards.shape)
        self._rows: list[sparse.csr_array | None] = [None] * mdp.n_actions

    def moves(self, actions: int | None) -> tuple[Ints, Ints]:
        """The states and actions of the moves of a block: those of one action, or all available ones."""
        if actions is None:
            states, taken = np.nonzero(self._mdp.available)
            return states, taken
        return np.arange(self._mdp.n_states), np.full(self._mdp.n_states, actions)

    def add(self, states: Ints, actions: Ints, indptr: Ints, data: Floats) -> None:
        """Derivatives by the entries of the rows of moves."""
        for action in np.unique(actions).tolist():
            inside = np.flatnonzero(actions == action)
            size = np.diff(indptr)[inside]
            taken = np.repeat(indptr[inside] - offsets(size)[:-1], size) + np.arange(size.sum())
            sizes = np.zeros(self._mdp.n_states, np.int64)
            sizes[states[inside]] = size
            rows = self._mdp.transitions[action]
            stored = np.repeat(sizes > 0, np.diff(rows.indptr))
            self._rows[action] = centred_rows(data[taken], rows.indices[stored], offsets(sizes), rows.shape)

    @property
    def rows(self) -> tuple[sparse.csr_array, ...]:
        """One array per action."""
        n = self._mdp.n_states
        return tuple(sparse.csr_array((n, n)) if part is None else part for part in self._rows)


def game_gradient(solution: MDPSolution, law: Floats, starts: StartPotentials | None, lower: float) -> MDPGradient:
    """The gradient of the distance from the joint law of the starts, whose lower bound is `lower`."""
    game, bellman = solution.problem, solution._bellman
    rest, scale = 1.0 - game.discount, bellman.scale
    moves = solution.coupling.matrix()
    visits = solution.coupling.occupancy_of(moves, solution.coupling.law(law))
    flat = visits.ravel()
    tied = _action_ties(solution) & (visits > 0.0)
    sides = _Side(game.source), _Side(game.target)
    witnesses = solution._blocks()
    values = bellman.rule.spread(bellman.cost * scale if solution._witness is None else solution._witness.value)
    tight = NO_DIFFERENCE * max(float(np.abs(value).max()) for value in values)
    for k, (block, witness, value) in enumerate(zip(bellman.blocks, witnesses, values, strict=True)):
        actions = game.common[k] if game.actions == "same" else (None, None)
        (s, a), (t, b) = (side.moves(action) for side, action in zip(sides, actions, strict=True))
        source, target = np.zeros(len(block.source.data)), np.zeros(len(block.target.data))
        for pairs, inside, first, last in few_at_once(solution._decisive_cells[k], witness.cells_per_pair):
            mine, theirs = np.divmod(inside + first, block.shape[1])
            ties, cells = np.zeros(len(pairs), np.bool_), witness.cells(first, last)
            kernels.gradient.potential_sums(
                mine, theirs, inside, flat[pairs], value, block.source, block.target, cells, tight, source, target, ties
            )
            gap = game.source.rewards[s[mine], a[mine]] - game.target.rewards[t[theirs], b[theirs]]
            np.add.at(sides[0].by_reward, (s[mine], a[mine]), np.sign(gap) * flat[pairs])
            np.subtract.at(sides[1].by_reward, (t[theirs], b[theirs]), np.sign(gap) * flat[pairs])
            tied.ravel()[pairs] |= ((ties & (game.discount > 0.0)) | (gap == 0.0)) & (flat[pairs] > 0.0)
        factor = game.discount / rest / scale
        sides[0].add(s, a, block.source.indptr, source * factor)
        sides[1].add(t, b, block.target.indptr, target * factor)
    after = expected_after(moves, visits, solution.value) if game.discount > 0.0 else _next_distance(solution, law)
    total = float((visits * solution._decisive_cost).sum()) / rest
    slope = (after - total) / rest
    refuse_infinite(slope, *(part.data for side in sides for part in side.rows))
    return MDPGradient(
        frozen(visits),
        None if starts is None else starts.source,
        None if starts is None else starts.target,
        frozen(sides[0].by_reward),
        frozen(sides[1].by_reward),
        slope,
        max(total - lower, 0.0),
        frozen(tied),
        starts is not None and starts.tie,
        sides[0].rows,
        sides[1].rows,
    )


def _action_ties(solution: MDPSolution) -> Mask:
    """[n, m], where the outcome does not follow the value of the decisive actions alone, both up and down."""
    bellman = solution._bellman
    blocks = (
        [block.cost * bellman.scale for block in bellman.blocks]
        if solution._witness is None
        else upper_blocks(solution._witness)
    )
    outcome = bellman.rule.outcome(blocks)
    step = 2.0 * NO_DIFFERENCE * float(outcome.max())
    tied = np.zeros(outcome.shape, np.bool_)
    for shift in (step, -step):
        moved = [block.copy() for block in blocks]
        for block, (_, cells) in zip(moved, solution._decisive_cells, strict=True):
            block.ravel()[cells] += shift
        tied |= np.abs(bellman.rule.outcome(moved) - outcome) < 0.5 * step
    return tied


def _next_distance(solution: MDPSolution, law: Floats) -> float:
    """The expected distance after one step at discount 0: the derivative by the discount."""
    bellman = solution._bellman
    if not bellman.cost.any():
        return 0.0
    total = 0.0
    values = bellman.rule.spread(bellman.cost * bellman.scale)
    for block, value, (pairs, cells) in zip(bellman.blocks, values, solution._decisive_cells, strict=True):
        undiscounted = replace(block, discount=1.0)
        sweep = undiscounted.improve(value, new_trees(undiscounted), cold=True)
        after = sweep.residual + (value - block.cost * bellman.scale).ravel()
        total += float((law.ravel()[pairs] * after[cells]).sum())
    return total / bellman.scale
