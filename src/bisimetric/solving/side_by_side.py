"""The question of many small problems, and an answer that becomes a `Solution` for each when somebody looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bisimetric._support.frozen import MadeLater
from bisimetric.certificates import side_by_side as certificates
from bisimetric.certificates.side_by_side import ManyBounds
from bisimetric.couplings.witness import IndependentWitness, Proof
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.side_by_side import ManyTrees, SideBySide
from bisimetric.problems.discounted import Problem
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solvers.side_by_side import ManyIterate, ManyPolicyIteration
from bisimetric.solving.history import Status, Step
from bisimetric.solving.question import Question, SolveRecord, refuse_guess
from bisimetric.solving.solution import Solution


@dataclass(frozen=True, eq=False)
class ManySolutions(MadeLater):
    """What is known of many problems; `solutions()` has an object for each."""

    problems: Sequence[Problem]
    record: SolveRecord
    bounds: ManyBounds
    solved: ManyTrees | None  # None if an interrupt came first

    @property
    def relative_gap(self) -> float:
        """The largest of all problems."""
        return self.bounds.relative_gap

    @property
    def status(self) -> Status:
        """Of all problems together."""
        return self.record.status

    @property
    def history(self) -> tuple[Step, ...]:
        """Of all problems together."""
        return self.record.history

    def unsolved(self) -> list[int]:
        """The problems whose certified gap is above the tolerance."""
        found: list[int] = np.flatnonzero(~(self.bounds.relative_gaps <= (self.record.tol or 0.0))).tolist()
        return found

    def solutions(self) -> list[Solution]:
        """One solution for each problem, in their order."""
        make = self._field
        return [Solution.later(make, k) for k in range(len(self.problems))]

    def _field(self, k: int, name: str) -> dict[str, Any]:
        """One field of the solution of problem number k, by its name."""
        return {name: self._value(k, name)}

    def _value(self, k: int, name: str) -> Any:
        problem, record = self.problems[k], self.record
        match name:
            case "problem":
                return problem
            case "solver" | "tol":
                return getattr(record, name)
            case "status":
                reached = record.tol is not None and self.bounds.relative_gaps[k] <= record.tol
                return Status.SOLVED if reached else record.status
            case "history":
                return self._steps(k)
            case "certificate":
                return self.bounds.of(k, problem.shape).without(problem.unsolved)
            case "_proof":
                return self._proof(k)
            case "_given":
                return None
        raise AssertionError(name)

    def _proof(self, k: int) -> Proof:
        """What the bounds of problem number k follow from."""
        problem, operator = self.problems[k], self.bounds.operator
        scale = float(operator.arrays.scale[k])
        if self.solved is None:
            return Proof(IndependentWitness(Bellman.of(problem)), problem.cost * scale, scale)
        witness = operator.witness(k, problem, self.solved)
        return Proof(witness, witness.value, scale)

    def _steps(self, k: int) -> tuple[Step, ...]:
        """The problem's own gaps; all at the time when the last problem was solved."""
        if self.solved is None:
            return ()
        gaps = self.solved.gaps[k, : self.solved.steps[k]] / self.bounds.operator.arrays.scale[k]
        seconds = self.history[-1].seconds
        return tuple(Step(number, gap, seconds) for number, gap in enumerate(gaps.tolist(), 1))


class ManyQuestion(Question[ManyProblems, SideBySide, ManyIterate, ManySolutions]):
    """The distances of many small problems."""

    default_solver: ClassVar[ManyPolicyIteration] = ManyPolicyIteration()
    answers: ClassVar[type[ManySolutions]] = ManySolutions
    values_are_distances: ClassVar[bool] = False

    @cached_property
    def operator(self) -> SideBySide:
        return SideBySide.of(self.problem)

    def guess(self, initial: object) -> None:
        refuse_guess(initial, "every problem would need its own", "many problems")

    def start(self, guess: Floats | None) -> None:
        return None

    def immediate(self) -> None:
        return None

    def a_priori(self) -> ManyBounds:  # type: ignore[override]  # the loop asks for a gap and hands it to `answer`
        return certificates.a_priori(self.operator)

    def check(self, iterate: ManyIterate) -> ManyBounds:  # type: ignore[override]
        return certificates.check(self.operator, iterate.witness)

    def answer(  # type: ignore[override]
        self, record: SolveRecord, certificate: ManyBounds, iterate: ManyIterate | None
    ) -> ManySolutions:
        return ManySolutions(self.problem.parts, record, certificate, None if iterate is None else iterate.witness)
