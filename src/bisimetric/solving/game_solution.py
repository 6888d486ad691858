"""The answer to a game: certified distances, the actions that decide them, and the proofs for every pair of actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import frozen
from bisimetric._support.text import discount_text, printable
from bisimetric.certificates.game import GameWitness, upper_blocks
from bisimetric.certificates.interval import Certificate
from bisimetric.couplings.witness import IndependentWitness, Witness
from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import Cells
from bisimetric.models.chain import state_index
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.operators.action_rules import Ints
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from bisimetric.solving.solution import Answer, Model, Status, Step


@dataclass(frozen=True, eq=False, repr=False)
class MDPSolution(Answer):
    """Distances between all states of two decision processes, each inside a certified interval."""

    kind: ClassVar[str] = "mdp"
    problem: Game
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    bellman: GameBellman
    witness: GameWitness | None  # None where nothing had to be solved, or an interrupt came before the first sweep
    tol: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "certificate", self.certificate.published(None))

    @cached_property
    def decisive(self) -> Ints:
        """[n, m, 2], the action of the source and the action of the target that make up the distance."""
        blocks = [block.cost for block in self.bellman.blocks] if self.witness is None else upper_blocks(self.witness)
        chosen = self.bellman.rule.decisive(blocks, self.bellman.rule.leaders(blocks))
        actions = np.empty((self.value.size, 2), np.int64)
        for k, (pairs, cells) in enumerate(chosen):
            if self.problem.actions == "same":
                actions[pairs] = self.problem.common[k]
            else:
                mine, theirs = np.divmod(cells, self.bellman.blocks[k].shape[1])
                actions[pairs, 0] = np.nonzero(self.problem.source.available)[1][mine]
                actions[pairs, 1] = np.nonzero(self.problem.target.available)[1][theirs]
        return frozen(actions).reshape(*self.value.shape, 2)

    @property
    def coupling(self) -> ActionCoupling:
        """coupling[s, t] is the joint law of the successors under the decisive actions, coupling[s, t, a, b] any."""
        return ActionCoupling(self)

    @property
    def potentials(self) -> ActionPotentials:
        """The potentials that prove `lower`, at the decisive actions or at any: [s, t] or [s, t, a, b]."""
        return ActionPotentials(self)

    @property
    def models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    @property
    def discounting(self) -> str:
        return f"{discount_text(self.problem.discount)} (normalised)"


class _Transport(NamedTuple):
    """One transport of a game: successors of both sides, and what the witness says about it."""

    mine: Ints
    theirs: Ints
    cells: Cells


@dataclass(frozen=True, slots=True, eq=False)
class ActionCoupling:
    """coupling[s, t] and coupling[s, t, a, b]: joint laws of the successors, sparse [n, m] arrays.

    Together, over all pairs of states and all actions that may meet, they prove `upper`.
    """

    solution: MDPSolution

    def __getitem__(self, place: tuple[int | str, ...]) -> sparse.csr_array:
        mine, theirs, cells = _transport_at(self.solution, place)
        return sparse.csr_array(
            (cells.weight, (mine[cells.left], theirs[cells.right])), shape=self.solution.problem.shape
        )

    def __repr__(self) -> str:
        n, m = self.solution.problem.shape
        return f"ActionCoupling({n} x {m} state pairs; coupling[s, t] or coupling[s, t, a, b])"


@dataclass(frozen=True, slots=True, eq=False)
class ActionPotentials:
    """potentials[s, t] and potentials[s, t, a, b] = (f, g) on the successors, with f + g ≤ L there.

    L is a lower bound of the distances, and at every pair of states the game with c + γ(<f, P> + <g, P'>) for every
    pair of actions is at least L: that proves it.
    """

    solution: MDPSolution

    def __getitem__(self, place: tuple[int | str, ...]) -> tuple[Floats, Floats]:
        solution = self.solution
        mine, theirs, cells = _transport_at(solution, place)
        if solution.witness is None:
            return np.zeros(len(mine)), np.zeros(len(theirs))
        floor = solution.witness.value[np.ix_(mine, theirs)] - solution.certificate.shortfall
        scale = solution.bellman.scale
        return (floor - cells.potential).min(axis=1) / scale, cells.potential / scale

    def __repr__(self) -> str:
        n, m = self.solution.problem.shape
        return f"ActionPotentials({n} x {m} state pairs; potentials[s, t] or potentials[s, t, a, b])"


def _transport_at(solution: MDPSolution, place: object) -> _Transport:
    """The transport at two states, under their decisive actions or under two given ones."""
    if not isinstance(place, tuple) or len(place) not in (2, 4):
        raise InvalidOption(f"{place!r} is neither (state, state) nor (state, state, action, action)")
    game = solution.problem
    s, t = (state_index(state, mdp.n_states, mdp.names) for state, mdp in zip(place, _sides(game), strict=False))
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
    witness: Witness = IndependentWitness(solution.bellman.blocks[block])
    if solution.witness is not None:
        witness = solution.witness.blocks()[block]
    return _Transport(_successors(game.source, s, a), _successors(game.target, t, b), witness.cells(cell, cell + 1))


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
