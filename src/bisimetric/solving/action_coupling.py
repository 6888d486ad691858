"""Couplings and potentials of a solved game, for single pairs of states and actions and as one matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.text import printable, text_table
from bisimetric._support.viewed import InNotebooks
from bisimetric.couplings.coupling import CELLS_PER_BLOCK
from bisimetric.couplings.joint_law import (
    COUPLING_HEAD,
    POTENTIALS_HEAD,
    JointLaw,
    coupling_rows,
    first_laws,
    first_pair,
    potential_rows,
)
from bisimetric.couplings.occupancy import visits
from bisimetric.couplings.witness import successors
from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import Cells
from bisimetric.models.chain import state_index
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import ROW_SUM_TOL, Floats, Ints, real_array
from bisimetric.operators.action_rules import MovePairs, count_up
from bisimetric.problems.game import Game

if TYPE_CHECKING:
    from bisimetric.solving.game_solution import MDPSolution

BYTES_PER_COUPLING_CELL = 24  # row, column and weight of a cell while a coupling is turned into a matrix


class _MoveTransport(NamedTuple):
    """One transport of a game: successors of both sides, and their coupling and potential."""

    states: tuple[int, int]
    names: tuple[str, str]  # of the actions
    mine: Ints
    theirs: Ints
    cells: Cells


@dataclass(frozen=True, slots=True, eq=False)
class ActionCoupling(InNotebooks):
    """coupling[s, t] and coupling[s, t, a, b]: joint laws of the successors, sparse [n, m] arrays.

    The first is under the decisive actions of the pair, the second under any two actions that may meet. Over all pairs
    of states and actions they prove `upper`.
    """

    solution: MDPSolution

    def __getitem__(self, place: tuple[int | str, ...]) -> JointLaw:
        move = _transport_at(self.solution, place)
        return JointLaw.of(_sides(self.solution.problem), move.states, (move.mine, move.theirs), move.cells, move.names)

    def matrix(self) -> sparse.csr_array:
        """All joint laws under the decisive actions as one sparse [n·m, n·m] matrix over flat pairs s·m + t."""
        solution = self.solution
        n, m = solution.problem.shape
        witnesses, rule = solution._blocks(), solution._bellman.rule
        memory.require(
            BYTES_PER_COUPLING_CELL * n * m * max(witness.cells_per_pair for witness in witnesses),
            f"the coupling of {n} x {m} state pairs as a matrix",
            "look at single pairs with coupling[s, t]",
        )
        rows, columns, weights = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for k, (block, witness) in enumerate(zip(solution._bellman.blocks, witnesses, strict=True)):
            for pairs, inside, first, last in few_at_once(solution._decisive_cells[k], witness.cells_per_pair):
                cells = witness.cells(first, last)
                count = np.diff(cells.indptr)[inside]
                chosen = np.repeat(cells.indptr[inside], count) + count_up(count)
                heads = rule.state_pairs(k, successors(cells, block.source, block.target, first)[chosen])
                rows.append(np.repeat(pairs, count))
                columns.append(heads.astype(np.int64))
                weights.append(cells.weight[chosen])
        places = np.concatenate(rows), np.concatenate(columns)
        return sparse.csr_array((np.concatenate(weights), places), shape=(n * m, n * m))

    def occupancy(self, start: object = None) -> Floats:
        """Discounted share of time that the coupled processes spend at each pair under the decisive actions, [n, m].

        `start` is a pair of states or a joint law [n, m]; by default the starts of the processes. It sums to 1. Its
        errors add up to 1e-10 at most, or to 7e-15/(1 - discount); else SolverFailed is raised.
        """
        return self.occupancy_of(self.matrix(), self.law(start))

    def occupancy_of(self, moves: sparse.csr_array, law: Floats) -> Floats:
        """The occupancy [n, m] from a joint law [n, m] of the start; `moves` is what `matrix()` returns."""
        discount = self.solution.problem.discount
        b = (1.0 - discount) * law.ravel()
        return visits(moves, b, discount, closed=True).reshape(law.shape)

    def law(self, start: object = None) -> Floats:
        """The joint law [n, m] of a pair of states, of a law that is given, or of the starts of the processes."""
        game = self.solution.problem
        if start is None:
            return self.solution._starts.law(game.shape)
        if isinstance(start, np.ndarray) and start.ndim == 2:
            law = real_array(start, "start", InvalidOption, ndim=2)
            if law.shape != game.shape or law.min() < 0 or not abs(law.sum() - 1) <= ROW_SUM_TOL:
                raise InvalidOption(
                    f"start has shape {law.shape} and sum {law.sum():.12g}, expected {game.shape} and 1"
                )
            return law
        if not isinstance(start, (tuple, list)) or len(start) != 2:
            raise InvalidOption(f"{start!r} is not a pair of states, expected (source state, target state)")
        law = np.zeros(game.shape)
        law[_states(game, start)] = 1.0
        return law

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return COUPLING_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """Where a few pairs lead as text: the start, or the first pair, and what follows."""
        return coupling_rows(first_laws(first_pair(_sides(self.solution.problem)), self.__getitem__))

    def summary(self) -> str:
        """A line about the whole coupling."""
        n, m = self.solution.problem.shape
        return f"{n} x {m} state pairs; coupling[s, t] or coupling[s, t, a, b]"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\nActionCoupling({self.summary()})"


@dataclass(frozen=True, slots=True, eq=False)
class ActionPotentials(InNotebooks):
    """potentials[s, t] and potentials[s, t, a, b] = (f, g) on the successors, with f + g ≤ L there.

    L is a lower bound of the distances, and at every pair of states the game with c + γ(<f, P> + <g, P'>) for every
    pair of actions is at least L: that proves it.
    """

    solution: MDPSolution

    def __getitem__(self, place: tuple[int | str, ...]) -> tuple[Floats, Floats]:
        solution = self.solution
        _, _, mine, theirs, cells = _transport_at(solution, place)
        if solution._witness is None:
            return np.zeros(len(mine)), np.zeros(len(theirs))
        floor = solution._witness.value[np.ix_(mine, theirs)] - solution.certificate.shortfall
        scale = solution._bellman.scale
        return (floor - cells.potential).min(axis=1) / scale, cells.potential / scale

    def head(self) -> tuple[str, ...]:
        """The names of the columns of the table that is printed."""
        return POTENTIALS_HEAD

    def rows(self) -> list[tuple[str, ...]]:
        """The potentials of one pair as text: of the start if there is one, else of the first."""
        models = _sides(self.solution.problem)
        pair = first_pair(models)
        move = _transport_at(self.solution, pair)
        return potential_rows(models, pair, (move.mine, move.theirs), self[pair])

    def summary(self) -> str:
        """A line about all of them."""
        n, m = self.solution.problem.shape
        return f"{n} x {m} state pairs; potentials[s, t] or potentials[s, t, a, b]"

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\nActionPotentials({self.summary()})"


def _transport_at(solution: MDPSolution, place: object) -> _MoveTransport:
    """The transport at two states, under their decisive actions or under two given ones."""
    if not isinstance(place, tuple) or len(place) not in (2, 4):
        raise InvalidOption(f"{place!r} is neither (state, state) nor (state, state, action, action)")
    game = solution.problem
    s, t = _states(game, place[:2])
    if len(place) == 2:
        a, b = (int(action) for action in solution.decisive[s, t])
    else:
        a, b = (mdp.action_index(action) for action, mdp in zip(place[2:], _sides(game), strict=True))
    for role, mdp, state, action in (("source", game.source, s, a), ("target", game.target, t, b)):
        if not mdp.available[state, action]:
            raise InvalidOption(
                f"action {printable(mdp.action_name(action))} is not available in state {state} of the {role}"
            )
    block, cell = _cell(game, s, t, a, b)
    cells = solution._blocks()[block].cells(cell, cell + 1)
    names = game.source.action_name(a), game.target.action_name(b)
    return _MoveTransport((s, t), names, _successors(game.source, s, a), _successors(game.target, t, b), cells)


def few_at_once(chosen: MovePairs, cells_per_pair: int) -> Iterator[tuple[Ints, Ints, int, int]]:
    """Pairs of states with their pairs of moves, in parts: those with moves first..last, counted from `first`."""
    order = np.argsort(chosen.cells, kind="stable")
    pairs, moves = chosen.pairs[order], chosen.cells[order]
    step = max(1, CELLS_PER_BLOCK // max(cells_per_pair, 1))
    end = int(moves[-1]) + 1 if len(moves) else 0
    for first in range(0, end, step):
        last = min(first + step, end)
        a, b = np.searchsorted(moves, (first, last))
        if a < b:
            yield pairs[a:b], moves[a:b] - first, first, last


def _states(game: Game, pair: tuple[object, ...] | list[object]) -> tuple[int, int]:
    """The indices of a source and a target state, each given by index or by name."""
    s, t = (state_index(state, mdp.n_states, mdp.names) for state, mdp in zip(pair, _sides(game), strict=True))
    return s, t


def _sides(game: Game) -> tuple[MDP, MDP]:
    return game.source, game.target


def _cell(game: Game, s: int, t: int, a: int, b: int) -> tuple[int, int]:
    """The block of a pair of moves and its flat place in there."""
    if game.actions == "same":
        if (a, b) not in game.common:
            names = game.source.action_name(a), game.target.action_name(b)
            raise InvalidOption(f"actions {names} do not meet, expected the same action twice")
        return game.common.index((a, b)), s * game.target.n_states + t
    mine = int(game.source.available[:s].sum() + game.source.available[s, :a].sum())
    theirs = int(game.target.available[:t].sum() + game.target.available[t, :b].sum())
    return 0, mine * int(game.target.available.sum()) + theirs


def _successors(mdp: MDP, state: int, action: int) -> Ints:
    rows = mdp.transitions[action]
    successors: Ints = rows.indices[rows.indptr[state] : rows.indptr[state + 1]].astype(np.int64)
    return successors
