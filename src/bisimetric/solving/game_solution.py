"""The answer to a game: certified distances, the actions that decide them, and the proofs for every pair of actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from bisimetric._support.frozen import frozen
from bisimetric._support.options import whole
from bisimetric._support.text import discount_text
from bisimetric.certificates.game import GameProof, upper_blocks
from bisimetric.certificates.interval import Certificate
from bisimetric.couplings.explanation import Explanation
from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.couplings.witness import IndependentWitness, StoredWitness, Witness
from bisimetric.kernels.layout import Cells
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats, Ints
from bisimetric.operators.action_rules import MovePairs
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from bisimetric.solving.action_coupling import ActionCoupling, ActionPotentials
from bisimetric.solving.chain_gradient import start_derivatives
from bisimetric.solving.game_gradient import MDPGradient, game_gradient
from bisimetric.solving.history import Status, Step
from bisimetric.solving.solution import Answer, Solution


@dataclass(frozen=True, slots=True, eq=False)
class StoredBlock:
    """Couplings and potentials of one block of a game, as read from a file."""

    bellman: Bellman
    value: Floats
    stored: StoredWitness

    @property
    def cells_per_pair(self) -> int:
        return self.stored.cells_per_pair

    def cells(self, first: int, last: int) -> Cells:
        return self.stored.cells(first, last)


@dataclass(frozen=True, slots=True, eq=False)
class StoredGameWitness:
    """Couplings and potentials for every pair of moves, as read from a file."""

    bellman: GameBellman
    value: Floats  # [n, m], scaled
    stored: tuple[StoredWitness, ...]  # one per block

    @property
    def cells_per_pair(self) -> int:
        """The most cells that a pair of moves has."""
        return max(witness.cells_per_pair for witness in self.stored)

    def blocks(self) -> list[StoredBlock]:
        """One witness per block."""
        spread = self.bellman.rule.spread(self.value)
        return [
            StoredBlock(block, value, stored)
            for block, value, stored in zip(self.bellman.blocks, spread, self.stored, strict=True)
        ]


@dataclass(frozen=True, eq=False, repr=False)
class MDPSolution(Answer):
    """Distances between all states of two decision processes, each inside a certified interval; immutable.

    `bisimulation_metric` returns it for decision processes.

    Attributes
    ----------
    value, lower, upper : [n, m] arrays
        The best estimates of the distances and certified bounds on them.
    gap, relative_gap : float
        max(upper - lower), and that divided by max(upper).
    distance, interval : float, (float, float)
        The distance between the starts of the two processes and certified bounds on it.
    problem : Game
        The two processes (`source`, `target`), the discount, and which actions meet (`actions`).
    solver : str
        The name of the solver.
    status : Status
        How the solve ended.
    history : tuple of Step
        One line per step of the solver.
    tol : float or None
        The relative gap that was aimed for.
    certificate : Certificate
        `value`, `lower` and `upper` as one object.

    Examples
    --------
    >>> import bisimetric as bm
    >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
    >>> mdp = bm.MDP([stay, go], [[0, 0], [1, 0]], start=0, actions=["stay", "go"])
    >>> solution = bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.5)
    >>> solution.interval[0] <= solution.distance <= solution.interval[1]
    True
    >>> [mdp.actions[a] for a in solution.decisive[0, 1]]
    ['stay', 'stay']
    """

    kind: ClassVar[str] = "mdp"
    problem: Game
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    _bellman: GameBellman
    _witness: GameProof | None  # None where V = c, or where an interrupt came before the first sweep was finished
    tol: float | None

    @cached_property
    def decisive(self) -> Ints:
        """[n, m, 2], the action of the source and the action of the target whose cost makes up the distance."""
        actions = np.empty((self.value.size, 2), np.int64)
        for k, (pairs, cells) in enumerate(self._decisive_cells):
            if self.problem.actions == "same":
                actions[pairs] = self.problem.common[k]
            else:
                mine, theirs = np.divmod(cells, self._bellman.blocks[k].shape[1])
                actions[pairs, 0] = np.nonzero(self.problem.source.available)[1][mine]
                actions[pairs, 1] = np.nonzero(self.problem.target.available)[1][theirs]
        return frozen(actions).reshape(*self.value.shape, 2)

    @property
    def coupling(self) -> ActionCoupling:
        """The couplings that prove `upper`: [s, t] under the decisive actions, [s, t, a, b] under any."""
        return ActionCoupling(self)

    @property
    def potentials(self) -> ActionPotentials:
        """The potentials that prove `lower`: [s, t] at the decisive actions, [s, t, a, b] at any."""
        return ActionPotentials(self)

    def explain(self, k: int = 10, *, start: object = None) -> Explanation:
        """List the pairs of states that contribute most to the distance, with their decisive actions.

        Under the decisive actions and their couplings the two processes are chains that move together. A pair
        contributes the discounted share of time spent there times the gap between the two rewards; the contributions of
        all pairs add up to the distance. `explanation.path` is the most likely way on which the processes part.

        Parameters
        ----------
        k : int
            How many pairs to list.
        start : pair of states, or [n, m] array, optional
            Where the two processes begin, or the joint law of where they do; by default their starts.

        Returns
        -------
        Explanation

        Raises
        ------
        MissingStart
            No `start` is given and a process has none.
        SolverFailed
            The occupancies cannot be computed accurately this close to discount 1.
        """
        whole(k, "k", at_least=0)
        coupling = self.coupling
        moves, law = coupling.matrix(), coupling.law(start)
        occupancy = coupling.occupancy_of(moves, law)
        question = self._decisive_cost, self.value, self.problem.discount, True, self.decisive
        return self._explained(JointWalk(self.models, law, moves, occupancy, *question), k, from_starts=start is None)

    def gradient(self, *, start: object = None) -> MDPGradient:
        """The derivatives of the distance by the kernels, rewards and starts of both processes and by the discount.

        They go through the decisive actions, with one linear system and no other solve.

        Parameters
        ----------
        start : pair of states, or [n, m] array, optional
            From where the distance is meant; by default from the starts of the processes.

        Returns
        -------
        MDPGradient

        Raises
        ------
        MissingStart
            No `start` is given and a process has none.
        SolverFailed
            The occupancies cannot be computed accurately this close to discount 1.

        Examples
        --------
        >>> import bisimetric as bm
        >>> stay, go = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
        >>> mdp = bm.MDP([stay, go], [[0, 0], [1, 0]], start=0)
        >>> bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.5).gradient().source_reward
        array([[-1.,  0.],
               [ 0.,  0.]])
        """
        law = self.coupling.law(start)
        low = self.interval[0] if start is None else float((law * self.lower).sum(where=law > 0))
        return game_gradient(self, law, start_derivatives(self, start, law), low)

    @property
    def models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    @property
    def discounting(self) -> str:
        return f"{discount_text(self.problem.discount)} (normalised)"

    @cached_property
    def _decisive_cells(self) -> list[MovePairs]:
        """The decisive pair of moves at every pair of states, block by block."""
        rule = self._bellman.rule
        blocks = (
            [block.cost for block in self._bellman.blocks] if self._witness is None else upper_blocks(self._witness)
        )
        return rule.decisive(blocks, rule.leaders(blocks))

    @property
    def _decisive_cost(self) -> Floats:
        """[n, m], the cost of the decisive moves, with the factor 1 - γ."""
        cost = np.empty(self.value.size)
        for block, (pairs, cells) in zip(self._bellman.blocks, self._decisive_cells, strict=True):
            cost[pairs] = block.cost.ravel()[cells]
        return cost.reshape(self.value.shape)

    def _blocks(self) -> list[Witness]:
        """The couplings and potentials of every block."""
        if self._witness is None:
            return [IndependentWitness(block) for block in self._bellman.blocks]
        return list(self._witness.blocks())


AnySolution = Solution | MDPSolution
