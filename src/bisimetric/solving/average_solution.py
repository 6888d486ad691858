"""The answer in the long run: certified average costs from every pair of states, and the coupling that attains them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from bisimetric._support.frozen import frozen
from bisimetric._support.options import whole
from bisimetric.certificates.interval import Certificate
from bisimetric.certificates.starts import StartTransport, between_starts, to_nearest
from bisimetric.couplings.average_gradient import average_gradient, free_start_potentials
from bisimetric.couplings.explanation import Explanation
from bisimetric.couplings.gradient import Gradient, StartPotentials
from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.couplings.long_run import LongRunCoupling, LongRunPotentials
from bisimetric.couplings.parting import most_likely_parting
from bisimetric.couplings.witness import Potentiated, Witness
from bisimetric.errors import InvalidProblem
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats, Ints
from bisimetric.problems.average import AverageProblem
from bisimetric.solving.chain_gradient import start_derivatives
from bisimetric.solving.history import Status, Step
from bisimetric.solving.solution import Answer

LONG_RUN_SHARE = "the share of time in the long run"


@dataclass(frozen=True, eq=False, repr=False)
class AverageSolution(Answer):
    """Average costs of two coupled chains from all pairs of states, each inside a certified interval; read-only.

    `average_distance` makes one.

    Attributes
    ----------
    distance, interval : float, (float, float)
        The smallest average cost per step from the starts, and certified bounds on it. A chain without a start takes
        the best one; if neither has one, this is `stationary_distance`.
    stationary_distance, stationary_interval : float, (float, float)
        The smallest average cost from the best pair of states, whatever the starts: O'Connor, McGoff and Nobel's
        optimal transition coupling distance.
    value, lower, upper : array [n, m]
        The smallest average cost from every pair of states and certified bounds on it, in the units of the cost.
    gap, relative_gap : float
        max(upper - lower), and that divided by max(upper), or by a thousandth of the largest cost if that is more: an
        average near zero has no relative accuracy to speak of.
    best_pair : (int, int)
        A pair of recurrent states from which the chains are closest.
    classes : array [n, m] of int
        The closed class of every pair; average costs are equal on each. -1 where the pair is not recurrent under any
        coupling.
    coupling : LongRunCoupling
        How the chains move together.
    potentials : LongRunPotentials
        They prove the lower bounds.
    problem, solver, status, history, tol, certificate
        As in `Solution`.

    Examples
    --------
    >>> import bisimetric as bm
    >>> lazy, quick = (bm.MarkovChain([[1 - p, p], [p, 1 - p]], reward=[0, 1]) for p in (0.1, 0.5))
    >>> solution = bm.average_distance(lazy, quick)
    >>> round(solution.distance, 9)
    0.4
    """

    problem: AverageProblem
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    classes: Ints
    _witness: Witness
    _closed: Potentiated | None  # h; None where an interrupt came before the first sweep
    _way: Potentiated | None  # averages outside the closed classes; None where there are none, or they are not known
    tol: float | None

    @property
    def has_distance(self) -> bool:
        """Always: a start that is missing is the best one."""
        return True

    @property
    def stationary_distance(self) -> float:
        """The average cost from the best pair of states: the optimal transition coupling distance."""
        return float(self.value[self.best_pair])

    @property
    def stationary_interval(self) -> tuple[float, float]:
        """Certified bounds on `stationary_distance`."""
        recurrent = self.classes >= 0
        return float(self.lower[recurrent].min()), float(self.upper[recurrent].min())

    @cached_property
    def best_pair(self) -> tuple[int, int]:
        """A pair of recurrent states from which the chains are closest."""
        recurrent = np.where(self.classes >= 0, self.value, np.inf)
        x, y = np.unravel_index(int(recurrent.argmin()), recurrent.shape)
        return int(x), int(y)

    @property
    def coupling(self) -> LongRunCoupling:
        """How the chains move together: coupling[x, y] is the joint law of the successors of x and y."""
        return LongRunCoupling(self.problem, self._witness, self._start_law)

    @property
    def potentials(self) -> LongRunPotentials:
        """The potentials that prove `lower`: potentials[x, y] on the successors of x and of y."""
        closed = self._closed
        if closed is None:
            raise InvalidProblem("there are no potentials: the solve was cut before its first step")
        inside = self.classes >= 0
        way = closed if self._way is None else self._way
        value = np.where(inside, closed.value / closed.scale, way.value / way.scale)
        return LongRunPotentials(self.problem, frozen(value), (closed, way), inside)

    def explain(self, k: int = 10, *, start: object = None) -> Explanation:
        """The pairs of states that contribute most to the average cost.

        Parameters
        ----------
        k : int, default 10
            How many.
        start : pair of states or array [n, m], optional
            From where; by default the chains' own starts, or the best pair.

        Returns
        -------
        Explanation
            Prints as a table of the pairs, whose occupancies are shares of time in the long run, and a table of the
            most likely way to a pair that costs something in the long run.
        """
        whole(k, "k", at_least=0)
        problem, coupling = self.problem, self.coupling
        moves, law = coupling.moves(), coupling.law(start)
        occupancy = coupling.occupancy_of(moves, law)
        question = problem.cost, self.value, 1.0, False, None, problem.cost_text, LONG_RUN_SHARE
        walk = JointWalk(self.models, law, moves, occupancy, *question)
        return self._explained(walk, k, from_starts=start is None, path=partial(most_likely_parting, walk))

    def gradient(self, *, start: object = None) -> Gradient:
        """The derivatives of the average cost by the cost, the kernels, the starts and the rewards.

        Parameters
        ----------
        start : pair of states or array [n, m], optional
            From where; by default the chains' own starts, or the best pair.

        Returns
        -------
        Gradient
            Its `discount` is NaN. Derivatives by kernels are along changes that keep the supports.

        Raises
        ------
        InvalidProblem
            The solve ended before there was a coupling.
        """
        if self._closed is None:
            raise InvalidProblem("there is no coupling to differentiate along: the solve was cut before its first step")
        law = self.coupling.law(start)
        low = self.interval[0] if start is None else float((law * self.lower).sum(where=law > 0))
        source, target = self.problem.source.start, self.problem.target.start
        if start is None and (source is None or target is None):
            starts: StartPotentials | None = free_start_potentials(self.value, self.classes, source, target)
        else:
            starts = start_derivatives(self, start, law)
        return average_gradient(self.coupling, self._closed, self._way, self.classes >= 0, law, starts, low)

    @property
    def models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    @property
    def discounting(self) -> str:
        return "none (average cost per step)"

    @cached_property
    def _starts(self) -> StartTransport:
        source, target = self.problem.source.start, self.problem.target.start
        if source is not None and target is not None:
            return between_starts(self.certificate, source, target)
        if source is not None or target is not None:
            return to_nearest(self.certificate, source, target)
        x, y = self.best_pair
        low, high = self.stationary_interval
        return StartTransport(
            self.stationary_distance, low, high, np.array([x]), np.array([y]), np.ones(1), np.zeros(1)
        )

    def _start_law(self) -> Floats:
        return self._starts.law(self.problem.shape)
