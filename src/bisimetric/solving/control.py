"""The question about one decision process: its best policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from bisimetric._support.frozen import Immutable, MadeLater
from bisimetric.certificates.control import a_priori, check_control
from bisimetric.certificates.interval import Certificate
from bisimetric.models.rows import Floats
from bisimetric.operators.control import ControlBellman, PolicyArray
from bisimetric.problems.control import Control
from bisimetric.solvers.control_iteration import ControlIterate, ControlIteration
from bisimetric.solving.history import Status, Step
from bisimetric.solving.question import Question, SolveRecord, refuse_guess


@dataclass(frozen=True, eq=False)
class ControlSolution(MadeLater, Immutable):
    """A policy, and what is proved about it."""

    problem: Control
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    policy: PolicyArray
    tol: float | None

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest size of a bound."""
        return self.certificate.relative_gap

    @property
    def reached_tol(self) -> bool:
        """Whether the certified relative gap is within the tolerance that was aimed for."""
        return self.tol is None or self.relative_gap <= self.tol


class ControlQuestion(Question[Control, ControlBellman, ControlIterate, ControlSolution]):
    """The best policy of a decision process."""

    default_solver: ClassVar[ControlIteration] = ControlIteration()
    answers: ClassVar[type[ControlSolution]] = ControlSolution

    @cached_property
    def operator(self) -> ControlBellman:
        return ControlBellman.of(self.problem)

    def guess(self, initial: object) -> None:
        refuse_guess(initial, "policies start from the best rewards")

    def start(self, guess: Floats | None) -> None:
        return None

    def immediate(self) -> None:
        return None

    def a_priori(self) -> Certificate:
        return a_priori(self.operator)

    def check(self, iterate: ControlIterate) -> Certificate:
        return check_control(self.operator, iterate.value, iterate.witness)

    def answer(self, record: SolveRecord, certificate: Certificate, iterate: ControlIterate | None) -> ControlSolution:
        policy = self.problem.mdp.available.argmax(axis=1) if iterate is None else iterate.witness
        return ControlSolution(
            self.problem, record.solver, record.status, record.history, certificate, policy, record.tol
        )
