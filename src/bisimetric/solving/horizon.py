"""The question about two chains over a finite horizon: solver and checker go from its last step to the first."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from bisimetric.certificates import horizon as certificates
from bisimetric.certificates.horizon import HorizonBounds, StepBounds
from bisimetric.certificates.interval import Bounds, Certificate
from bisimetric.models.rows import Floats
from bisimetric.operators.horizon import HorizonBellman
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.solvers.backward_induction import BackwardInduction, HorizonIterate
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.question import Question, SolveRecord, refuse_guess


class HorizonQuestion(Question[HorizonProblem, HorizonBellman, HorizonIterate, HorizonSolution]):
    """The distances between the states of two chains over a finite horizon."""

    default_solver: ClassVar[BackwardInduction] = BackwardInduction()
    answers: ClassVar[type[HorizonSolution]] = HorizonSolution
    values_are_distances: ClassVar[bool] = False
    discounted: ClassVar[bool] = False

    @cached_property
    def operator(self) -> HorizonBellman:
        return HorizonBellman(self.problem)

    @cached_property
    def _proved(self) -> list[StepBounds]:
        """What the checker has found, from the last time on backwards."""
        return [certificates.terminal_bounds(self.operator)]

    def guess(self, initial: object) -> None:
        refuse_guess(initial, "all values follow from the terminal cost", "a finite horizon")

    def start(self, guess: Floats | None) -> None:
        return None

    def immediate(self) -> None:
        return None  # couplings and values of later times may be asked for, even where V_0 is the cost

    def a_priori(self) -> Certificate:
        return self._before_time_0.certificate

    @cached_property
    def _before_time_0(self) -> HorizonBounds:
        return HorizonBounds(certificates.a_priori(self.problem), False)

    def check(self, iterate: HorizonIterate) -> HorizonBounds:
        """The checker's word; it looks at every step once, before the next one changes the trees."""
        later = self._proved[-1]
        if later.time > iterate.time:
            found = certificates.check_step(self.operator, later, iterate.witness, iterate.found)
            if isinstance(self.solver, BackwardInduction) and not self.solver.keep_steps:
                del self._proved[:-1]  # the coupling at time 0 needs the value of time 1
            self._proved.append(found)
        last = self._proved[-1]
        return self._before_time_0 if last.time else HorizonBounds(certificates.value_bounds(self.operator, last), True)

    def starts(self) -> tuple[Floats, Floats] | None:
        source, target = self.problem.source.start, self.problem.target.start
        return None if source is None or target is None else (source, target)

    def between_starts(self, bounds: Bounds, iterate: HorizonIterate) -> dict[str, Any]:
        """Known at time 0 only."""
        return {} if iterate.time else super().between_starts(bounds, replace(iterate, value=iterate.found))

    def answer(self, record: SolveRecord, certificate: Certificate, iterate: HorizonIterate | None) -> HorizonSolution:
        steps = {step.time: step for step in self._proved}
        return HorizonSolution(
            self.problem, record.solver, record.status, record.history, certificate, self.operator, steps, record.tol
        )
