"""The one place that says what a kind of question provides: an operator, certificates, an answer.

The loop knows nothing else. `solving.kinds` lists the kinds. A new kind is a problem in `problems/`, a file here, and a
line there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar

from bisimetric._support.frozen import MadeLater
from bisimetric.certificates.interval import Bounds, Certificate
from bisimetric.certificates.starts import between_starts
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.solvers.base import AnySolver, IterateT, OperatorT, Solver
from bisimetric.solving.history import Status, Step

ProblemT = TypeVar("ProblemT")


class LoopAnswer(Protocol):
    """What the loop asks of an answer, for its messages."""

    @property
    def relative_gap(self) -> float:
        """The certified gap, relative to the largest bound."""
        ...

    @property
    def status(self) -> Status:
        """How the solve ended."""
        ...

    @property
    def history(self) -> tuple[Step, ...]:
        """What happened step by step."""
        ...


AnswerT = TypeVar("AnswerT", bound=LoopAnswer)


class SolveRecord(NamedTuple):
    """How a solve went."""

    solver: str
    status: Status
    history: tuple[Step, ...]
    tol: float | None  # relative gap that was aimed for; None for a solver that runs its rounds


class SharedOptions(TypedDict, total=False):
    """The options of questions that take no guess."""

    tol: float | None
    max_steps: int | None
    time_limit: float | None
    throw: bool
    on_step: Callable[[Step], None] | None
    quotient: bool
    look_every: int | None


@dataclass(eq=False)
class Question(ABC, Generic[ProblemT, OperatorT, IterateT, AnswerT]):
    """A problem as the loop sees it, for one solver."""

    default_solver: ClassVar[AnySolver]
    answers: ClassVar[type[MadeLater]]  # the class of its answers
    discounted: ClassVar[bool] = True  # whether the problem has a discount, which most solvers need
    values_are_distances: ClassVar[bool] = True  # whether the value of an iterate estimates the distances

    problem: ProblemT
    solver: Solver[OperatorT, IterateT]
    quotient: bool  # classes of bisimilar states may be solved instead of states

    def prepare(self, tol: float) -> bool:
        """Do what takes time before the first iterate, if anything; an interrupt may come here.

        Returns False where rounding hides the answer, so that no solver can improve on `a_priori`.
        """
        return True

    @property
    @abstractmethod
    def operator(self) -> OperatorT:
        """What the solver works with."""

    @abstractmethod
    def guess(self, initial: object) -> Floats | None:
        """A user's guess of the distances, checked, in the units of the cost; None where there is none."""

    @abstractmethod
    def start(self, guess: Floats | None) -> Floats | None:
        """The guess in the operator's scale; asked for after `prepare`."""

    @abstractmethod
    def immediate(self) -> Certificate | None:
        """The distances, where no solver is needed: no future, or nothing to pay."""

    @abstractmethod
    def a_priori(self) -> Certificate:
        """What holds before any solver has begun."""

    @abstractmethod
    def check(self, iterate: IterateT) -> Bounds:
        """The checker's word on an iterate."""

    def starts(self) -> tuple[Floats, Floats] | None:
        """The initial laws on the states that are solved, where the distance between them means something."""
        return None

    def between_starts(self, bounds: Bounds, iterate: IterateT) -> dict[str, Any]:
        """The fields of a `Step` that say how far the starts are apart; none where there are no starts."""
        laws = self.starts()
        if laws is None:
            return {}
        found = between_starts(bounds.around(iterate.value.copy(), self.operator.scale), *laws)
        return {"distance": found.value, "interval": (found.lower, found.upper)}

    @abstractmethod
    def answer(self, record: SolveRecord, certificate: Certificate, iterate: IterateT | None) -> AnswerT:
        """The answer; no iterate if nothing had to be solved, or an interrupt came before the first."""


def refuse_guess(initial: object, why: str, what: str = "decision processes") -> None:
    """For questions that take no guess."""
    if initial is not None:
        raise InvalidOption(f"initial is given for {what}, expected None: {why}")
