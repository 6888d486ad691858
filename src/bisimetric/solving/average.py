"""The question about two chains in the long run: what coupled chains cost per step."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bisimetric.certificates import average as certificates
from bisimetric.certificates.check import immediate
from bisimetric.certificates.interval import Bounds, Certificate
from bisimetric.certificates.starts import between_starts
from bisimetric.couplings.witness import ChosenWitness, IndependentWitness, Potentiated, Witness
from bisimetric.models.rows import Floats
from bisimetric.operators.average import AverageBellman, ClosedClasses
from bisimetric.operators.bellman import Bellman
from bisimetric.problems.average import AverageProblem
from bisimetric.solvers.average_iteration import AverageIterate, AverageIteration
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.question import Question, SolveRecord, refuse_guess


class AverageQuestion(Question[AverageProblem, AverageBellman, AverageIterate, AverageSolution]):
    """The average costs between the states of two chains."""

    default_solver: ClassVar[AverageIteration] = AverageIteration()
    answers: ClassVar[type[AverageSolution]] = AverageSolution
    values_are_distances: ClassVar[bool] = False
    discounted: ClassVar[bool] = False

    @cached_property
    def operator(self) -> AverageBellman:
        return AverageBellman.of(self.problem)

    def guess(self, initial: object) -> None:
        refuse_guess(initial, "average costs alone are no start", "an average cost")

    def start(self, guess: Floats | None) -> None:
        return None

    def immediate(self) -> Certificate | None:
        return None if self.problem.cost.any() else immediate(self.problem)

    def a_priori(self) -> Certificate:
        return certificates.a_priori(self.operator)

    def check(self, iterate: AverageIterate) -> Certificate:
        closed, way = iterate.witness
        return certificates.check_average(self.operator, iterate.value, closed, None if way is None else way.witness)

    def starts(self) -> tuple[Floats, Floats] | None:
        source, target = self.problem.source.start, self.problem.target.start
        return None if source is None or target is None else (source, target)

    def between_starts(self, bounds: Bounds, iterate: AverageIterate) -> dict[str, Any]:
        """What a look at h says about the distance between the starts."""
        laws = self.starts()
        if laws is None:
            return {}
        found = between_starts(bounds.around(), *laws)
        return {"distance": found.value, "interval": (found.lower, found.upper)}

    def answer(self, record: SolveRecord, certificate: Certificate, iterate: AverageIterate | None) -> AverageSolution:
        classes = ClosedClasses.of(*self.problem.recurrences) if iterate is None else self.operator.classes
        return AverageSolution(
            self.problem, record.solver, record.status, record.history, certificate, classes.label,
            self._witness(iterate), *self._potentiated(iterate), record.tol,
        )  # fmt: skip

    def _potentiated(self, iterate: AverageIterate | None) -> tuple[Potentiated | None, Potentiated | None]:
        """h and the averages outside the closed classes, with what is optimal for them, for gradients."""
        if iterate is None and self.problem.cost.any():
            return None, None
        if iterate is None:  # nothing costs anything, so nothing pays: any coupling and potentials of zero
            return Potentiated(self._witness(None), np.zeros(self.problem.shape), 1.0), None
        closed, way = iterate.witness
        inside = Potentiated(closed.at_rest(), iterate.value, self.operator.scale)
        if way is None:
            return inside, None
        return inside, Potentiated(way.witness.at_rest(), way.witness.value, self.operator.scale)

    def _witness(self, iterate: AverageIterate | None) -> Witness:
        """Couplings of all pairs: those of h on closed classes, those of the gains outside, independent if unknown."""
        problem = self.problem
        if iterate is None:
            return IndependentWitness(Bellman.of(problem))
        closed, way = iterate.witness
        inside = closed.at_rest()
        if self.operator.open_pairs is None:
            return inside
        outside: Witness = IndependentWitness(Bellman.of(problem)) if way is None else way.witness.at_rest()
        return ChosenWitness(inside, outside, np.asarray(~self.operator.classes.closed.ravel()))
