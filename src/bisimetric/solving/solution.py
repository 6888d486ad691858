"""The answer: distances with their certified bounds, and the coupling that explains them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable, MadeLater
from bisimetric._support.options import whole
from bisimetric._support.stored import Stored
from bisimetric._support.text import discount_text
from bisimetric._support.viewed import Viewed
from bisimetric.certificates.interval import Certificate
from bisimetric.certificates.robust import ROBUST_ROUNDS, between_laws, within_radii
from bisimetric.certificates.starts import StartTransport, between_starts
from bisimetric.couplings.coupling import Coupling, Potentials
from bisimetric.couplings.explanation import Explanation, FindPath, checked_total, explained
from bisimetric.couplings.gradient import Gradient
from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.couplings.witness import Proof
from bisimetric.errors import InvalidOption, MissingStart
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import is_immediate
from bisimetric.problems.discounted import Problem
from bisimetric.solving.assignment import Assignment, Coupled, assign, nearest
from bisimetric.solving.chain_gradient import chain_gradient
from bisimetric.solving.history import Status, Step


class Answer(MadeLater, Stored, Viewed, Immutable, ABC):
    """What every solution says: distances between all states of two models, each inside a certified interval.

    Everything in it is read-only.
    """

    kind: ClassVar[str] = "chain"  # of model, in messages
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    tol: float | None  # relative gap that was aimed for; None where there was none, or a file does not tell

    @property
    def value(self) -> Floats:
        """[n, m], the best estimate of the distances, inside the interval and never negative; NaN if not solved."""
        return self.certificate.value

    @property
    def lower(self) -> Floats:
        """[n, m], no true distance is below."""
        return self.certificate.lower

    @property
    def upper(self) -> Floats:
        """[n, m], no true distance is above."""
        return self.certificate.upper

    @property
    def computation(self) -> Certificate:
        """Bounds on the distances between the models as they are stored, whatever errors their rows have."""
        return self.certificate

    @property
    def gap(self) -> float:
        """max(upper - lower) over the pairs that were solved."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """gap / max(upper)."""
        return self.certificate.relative_gap

    @property
    def distance(self) -> float:
        """The distance between the chains from their starts."""
        return self._starts.value

    @property
    def interval(self) -> tuple[float, float]:
        """Certified bounds on `distance`."""
        return self._starts.lower, self._starts.upper

    @property
    def reached_tol(self) -> bool:
        """Whether the computation's relative gap is within the tolerance that was aimed for; true if there was none."""
        return self.tol is None or self.computation.relative_gap <= self.tol

    def match(self) -> npt.NDArray[np.int64]:
        """For every source state its nearest neighbour: the target state at the smallest distance.

        Many source states may have the same nearest neighbour, all of them even; `assignment` is one-to-one.

        Returns
        -------
        array [n] of int
            The first of several; -1 for a source state of which no pair was solved. Printed, it says how many target
            states it has.
        """
        return nearest(self.value)

    def assignment(self, by: Literal["distance", "coupling"] = "distance", *, start: object = None) -> Assignment:
        """Match states one-to-one.

        Parameters
        ----------
        by : "distance" or "coupling"
            Which pairs go together: those with the smallest total distance, or those at which the coupled models spend
            most time (`coupling.occupancy`), which leaves out states that are never met together.
        start : pair of states or array [n, m], optional
            Where the coupled models start, for "coupling"; by default the models' own starts.

        Returns
        -------
        Assignment
            The matched states, their distances and the total; prints as a table. Where one model has more states, or
            pairs were not solved, some states are unmatched.

        Examples
        --------
        >>> import bisimetric as bm
        >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
        >>> turned = bm.MarkovChain([[1, 0], [0.5, 0.5]], reward=[1, 0])
        >>> bm.distance(chain, turned, discount=0.9).assignment().targets.tolist()
        [1, 0]
        """
        return assign(self, by, start)

    @property
    def coupling(self) -> Coupled:
        """How the two models move together, for answers that have such a coupling."""
        raise InvalidOption(f"a {type(self).__name__} has no coupling; assignment() matches by distance")

    @property
    @abstractmethod
    def models(self) -> tuple[Model, Model]:
        """The source and the target."""

    @property
    @abstractmethod
    def discounting(self) -> str:
        """The discount, and whether the distances are multiplied by 1-γ, in words."""

    @property
    def has_distance(self) -> bool:
        """Whether there is one `distance`: both models have starts."""
        return all(model.start is not None for model in self.models)

    @cached_property
    def _starts(self) -> StartTransport:
        source, target = (model.start for model in self.models)
        if source is None or target is None:
            raise MissingStart(
                f"the {'source' if source is None else 'target'} {self.kind} has no start; use solution.value[x, y], "
                f"or give the {self.kind} one: {self.kind}.with_start(state)"
            )
        return self._between(source, target)

    def _between(self, source: Floats, target: Floats) -> StartTransport:
        """The distance between two laws of the start."""
        return between_starts(self.certificate, source, target)

    def _explained(self, walk: JointWalk, k: int, *, from_starts: bool, path: FindPath | None = None) -> Explanation:
        """The k largest parts of the distance from a joint law, which must be inside its certified interval."""
        law = walk.law
        bounds = self.computation.lower, self.computation.upper
        low, high = (float((law * bound).sum(where=law > 0)) for bound in bounds)
        distance = checked_total(walk, (low, high))
        if from_starts:  # `law` is optimal for the values, not for the bounds, so its bounds are wider
            low, high = self.interval
        return explained(walk, min(max(distance, low), high), k, path)

    def _facts(self) -> Sequence[tuple[str, str]]:
        n, m = self.value.shape
        facts = [("states", f"{n} x {m}"), ("discount", self.discounting)]
        unsolved = int(np.isnan(self.value).sum())
        if unsolved:
            facts.append(("pairs", f"{n * m - unsolved} of {n * m} solved, those that the starts lead to"))
        if self.has_distance:
            low, high = self.interval
            facts.append(("distance", f"{self.distance:.10g} in [{low:.10g}, {high:.10g}]"))
        else:
            facts.append(("largest", f"{self.value.max():.10g}"))
        missed = "" if self.reached_tol else f", wanted {self.tol:g}"
        facts.append(("status", f"{self.status.name}: relative gap {self.computation.relative_gap:.1e}{missed}"))
        return facts

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name} {text}' for name, text in self._facts())})"


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Answer):
    """Distances between all states of two chains, each inside a certified interval; read-only.

    `solve`, `distance` and the metrics make one; `load` reads one from a file.

    Attributes
    ----------
    distance : float
        The distance between the chains from their starts.
    interval : (float, float)
        Certified bounds on it.
    value, lower, upper : array [n, m]
        The distances between all states and certified bounds on them, in the units of the cost. A value is exactly 0
        where that is proved, NaN where a pair was not solved.
    gap, relative_gap : float
        max(upper - lower), and that divided by max(upper).
    status : Status
        How the solve ended.
    tol, reached_tol : float or None, bool
        The relative gap that was aimed for, and whether it was reached.
    history : tuple of Step
        What happened step by step.
    certificate : Certificate
        The bounds as one object.
    computation, computed_interval : Certificate, (float, float)
        The bounds for the chains as they are stored. They differ from the others only if a chain has `row_error` or
        `start_error`: then `lower`, `upper` and `interval` hold for all chains within those errors and are as wide as
        the chains are unknown, while `computation` is what was computed, and `tol` is about it.
    coupling : Coupling
        How the chains move together; it proves `upper`.
    potentials : Potentials
        They prove `lower`.
    problem : Problem
        The question.
    solver : str
        The name of the solver.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> low, high = solution.interval
    >>> low <= solution.distance <= high
    True
    """

    problem: Problem
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    _proof: Proof
    tol: float | None
    _given: Certificate | None  # the computation's bounds, if `certificate` is about more chains than the stored

    @property
    def computation(self) -> Certificate:
        """Bounds on the distances between the chains as they are stored, whatever errors their rows have."""
        return self.certificate if self._given is None else self._given

    @property
    def computed_interval(self) -> tuple[float, float]:
        """Certified bounds on the distance between the chains as they are stored, from the stored starts."""
        if self._given is None:
            return self.interval
        assert self.problem.source.start is not None
        assert self.problem.target.start is not None
        found = between_starts(self._given, self.problem.source.start, self.problem.target.start)
        return found.lower, found.upper

    def between_all(self, problem: Problem, rounds: int = ROBUST_ROUNDS) -> Solution:
        """The solution of a problem between all chains within the row errors, from this one of the stored chains."""
        wider = self.certificate if is_immediate(problem) else within_radii(problem, self.certificate, rounds)
        return replace(self, problem=problem, certificate=wider, _given=self.certificate)

    def _between(self, source: Floats, target: Floats) -> StartTransport:
        first, second = self.problem.source, self.problem.target
        if first is second and first.uncertain and not self.problem.cost.diagonal().any():
            states = np.flatnonzero(source)  # one unknown chain against itself
            return StartTransport(0.0, 0.0, 0.0, states, states, source[states], np.zeros(len(states)))
        found = between_starts(self.certificate, source, target)
        errors = first.start_error, second.start_error
        if not any(errors):
            return found
        lower, upper = between_laws(self.certificate, (source, target), errors)
        return found._replace(lower=min(lower, found.lower), upper=max(upper, found.upper))

    @property
    def coupling(self) -> Coupling:
        """The coupling whose value is `upper`'s proof: coupling[x, y] is the joint law of the successors."""
        return Coupling(self.problem, self._proof.witness, self._start_law)

    @property
    def potentials(self) -> Potentials:
        """The potentials that prove `lower`."""
        return Potentials(self.problem, self._proof, self.computation.shortfall)

    def explain(self, k: int = 10, *, start: object = None) -> Explanation:
        """The pairs of states that contribute most to the distance, and the most likely way on which the chains part.

        Parameters
        ----------
        k : int, default 10
            How many.
        start : pair of states or array [n, m], optional
            From where; the chains' own starts by default.

        Returns
        -------
        Explanation
            Prints as a table of the pairs and a table of the way, `explanation.path`.
        """
        whole(k, "k", at_least=0)
        problem, coupling = self.problem, self.coupling
        moves, law = coupling.moves(), coupling.law(start)
        occupancy = coupling.occupancy_of(moves, law)
        question = problem.cost, self.value, problem.discount, problem.normalised, None, problem.cost_text
        return self._explained(JointWalk(self.models, law, moves, occupancy, *question), k, from_starts=start is None)

    def gradient(self, *, start: object = None) -> Gradient:
        """The derivatives of the distance by the cost, the kernels, the starts, the rewards and the discount.

        Parameters
        ----------
        start : pair of states or array [n, m], optional
            From where the distance is meant; the chains' own starts by default.

        Returns
        -------
        Gradient

        Raises
        ------
        MissingStart
            No `start` is given and a chain has none.
        InvalidProblem
            The distance has no discount, or its derivatives overflow.
        """
        return chain_gradient(self, start)

    def _start_law(self) -> Floats:
        return self._starts.law(self.problem.shape)

    @property
    def models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    @property
    def discounting(self) -> str:
        if self.problem.discount == 1.0:
            return "1 (bisimilarity distance)"
        return f"{discount_text(self.problem.discount)} ({'' if self.problem.normalised else 'not '}normalised)"
