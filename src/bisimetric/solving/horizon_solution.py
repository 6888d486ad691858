"""The answer over a finite horizon: certified distances at time 0, values of all times, couplings step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from bisimetric._support.options import as_index, whole
from bisimetric._support.text import discount_text
from bisimetric.certificates.horizon import StepBounds, value_bounds
from bisimetric.certificates.interval import Certificate
from bisimetric.couplings.explanation import Explanation
from bisimetric.couplings.horizon_gradient import HorizonGradient, horizon_gradient
from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.couplings.timed import HorizonCoupling, HorizonPotentials
from bisimetric.couplings.timed_parting import timed_parting
from bisimetric.errors import InvalidOption
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats
from bisimetric.operators.horizon import HorizonBellman
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.solving.chain_gradient import start_derivatives
from bisimetric.solving.history import Status, Step
from bisimetric.solving.solution import Answer

WEIGHTED_VISITS = "the expected number of paid visits, at time t with the weight γ^t"


@dataclass(frozen=True, eq=False, repr=False)
class HorizonSolution(Answer):
    """Distances between all states of two chains over a finite horizon, each inside a certified interval; read-only.

    `solve` makes one of a `HorizonProblem`.

    Attributes
    ----------
    distance, interval : float, (float, float)
        The distance between the chains from their starts, and certified bounds on it.
    value, lower, upper : array [n, m]
        The distances between all states at time 0 and certified bounds on them.
    gap, relative_gap : float
        max(upper - lower), and that divided by max(upper).
    coupling : HorizonCoupling
        How the chains move together in every step.
    potentials : HorizonPotentials
        They prove the lower bounds.
    problem : HorizonProblem
        The question.
    solver : str
        The name of the solver.
    status, history, tol : Status, tuple of Step, float or None
        How the solve ended, what happened in it, and the relative gap that was aimed for.
    certificate : Certificate
        The bounds as one object; `at(time)` has those of other times.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], start=0)
    >>> solution = bm.solve(bm.HorizonProblem(fair, bent, horizon=3))
    >>> [float(solution.at(t).value[0, 0]) for t in range(4)]
    [0.4375, 0.25, 0.0, 0.0]
    """

    problem: HorizonProblem
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    _operator: HorizonBellman
    _steps: Mapping[int, StepBounds]  # of the times 0, …, h that were reached and kept
    tol: float | None

    def at(self, time: int) -> Certificate:
        """The distances from a time on, with their bounds.

        Parameters
        ----------
        time : int
            From 0 to the horizon, where the terminal cost is all that is left.

        Returns
        -------
        Certificate
            `value`, `lower` and `upper` [n, m].
        """
        number = as_index(time)
        if number is None or not 0 <= number <= self.problem.horizon:
            raise InvalidOption(f"time is {time!r}, expected a whole number from 0 to {self.problem.horizon}")
        return self.certificate if number == 0 else value_bounds(self._operator, self._step(number))

    @property
    def coupling(self) -> HorizonCoupling:
        """How the chains move together: coupling[t, x, y] is the joint law of the successors at time t."""
        return HorizonCoupling(self.problem, self._operator, lambda time: self._step(time).found, self._start_law)

    @property
    def potentials(self) -> HorizonPotentials:
        """The potentials that prove the lower bounds: potentials[t, x, y] on the successors of x and y at time t."""
        return HorizonPotentials(self.problem, self.coupling, lambda time: self._step(time).below)

    def gradient(self, *, start: object = None) -> HorizonGradient:
        """The derivatives of the distance by costs, kernels, starts, rewards and the discount.

        Parameters
        ----------
        start : pair of states or array [n, m], optional
            From where the distance is meant; the chains' own starts by default.

        Returns
        -------
        HorizonGradient
            Of every step, and of all steps together.

        Raises
        ------
        MissingStart
            No `start` is given and a chain has none.
        InvalidOption
            The values of all times are not kept.
        NotEnoughMemory
            Before the derivatives of all steps are allocated.
        """
        law = self.coupling.law(start)
        low = self.interval[0] if start is None else float((law * self.lower).sum(where=law > 0))
        return horizon_gradient(self.coupling, law, start_derivatives(self, start, law), low)

    def explain(self, k: int = 10, *, start: object = None) -> Explanation:
        """The pairs of states that contribute most to the distance, over all times.

        Parameters
        ----------
        k : int, default 10
            How many.
        start : pair of states or array [n, m], optional
            From where; the chains' own starts by default.

        Returns
        -------
        Explanation
            Prints as a table of the pairs, in which the cost of a pair is the mean of what is paid there over its
            visits, and a table of the most likely way to part, with costs and distances of their times.
        """
        whole(k, "k", at_least=0)
        problem, coupling = self.problem, self.coupling
        visits, amounts, weight = np.zeros(problem.shape), np.zeros(problem.shape), 1.0
        paid = (*problem.costs, problem.terminal) if problem.terminal.any() else problem.costs
        for cost, law in zip(paid, coupling.laws(start), strict=False):
            visits += weight * law
            amounts += weight * law * cost
            weight *= problem.discount
        mean = np.divide(amounts, visits, out=np.zeros(problem.shape), where=visits > 0.0)
        question = mean, self.value, 1.0, False, None, problem.cost_text, WEIGHTED_VISITS
        none = sparse.csr_array((visits.size, visits.size))  # moves differ from step to step
        walk = JointWalk(self.models, coupling.law(start), none, visits, *question)
        way = partial(timed_parting, coupling, walk)
        return self._explained(walk, k, from_starts=start is None, path=way)

    @property
    def models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    @property
    def discounting(self) -> str:
        return f"{discount_text(self.problem.discount)}, horizon {self.problem.horizon}"

    def _start_law(self) -> Floats:
        return self._starts.law(self.problem.shape)

    def _step(self, time: int) -> StepBounds:
        """What is known about a time."""
        known = self._steps.get(time)
        if known is None:
            kept = "solve with BackwardInduction(keep_steps=True)" if self.reached_tol else "solve without a limit"
            raise InvalidOption(f"the values of time {time} are not there; {kept} to keep those of all times")
        return known
