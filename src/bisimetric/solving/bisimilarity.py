"""The question about two labelled chains without a discount, solved on classes of bisimilar states.

Which distances are known at once (`find_ends`), how many steps the coupled chains take at most to such a pair
(`longest_times`), then the ordinary loop on the open pairs. Answers are lifted to states by indexing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from bisimetric.certificates.certify import checked_guess, scaled_guess
from bisimetric.certificates.interval import Certificate
from bisimetric.certificates.undiscounted import check_undiscounted, known_ends, lifted_bounds, prove_steps
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.couplings.witness import ChosenWitness, IndependentWitness, Proof, Witness
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.undiscounted import (
    CouplingsAtEnds,
    Ends,
    UndiscountedBellman,
    find_ends,
    longest_times,
    quotient_rows,
)
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.solvers.base import Iterate
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.question import Question, SolveRecord
from bisimetric.solving.solution import Solution


class BisimilarityQuestion(Question[BisimilarityProblem, UndiscountedBellman, Iterate[Any], Solution]):
    """The bisimilarity distances between the states of two chains, without a discount."""

    default_solver: ClassVar[PolicyIteration] = PolicyIteration()
    answers: ClassVar[type[Solution]] = Solution
    discounted: ClassVar[bool] = False
    _steps: Floats | None = None  # [classes, classes], proved in `prepare`

    def prepare(self, tol: float) -> bool:
        """Bound the number of steps to an end; where rounding hides that, solving proves nothing."""
        operator = UndiscountedBellman.between_ends(self.problem.quotient, self._ends)
        self._steps = prove_steps(longest_times(operator), self.problem.quotient.row_error)
        return self._steps is not None

    @cached_property
    def _ends(self) -> Ends:
        return find_ends(self.problem.quotient)

    @cached_property
    def operator(self) -> UndiscountedBellman:
        return replace(UndiscountedBellman.between_ends(self.problem.quotient, self._ends), steps=self._steps)

    def guess(self, initial: object) -> Floats | None:
        if isinstance(initial, Solution):
            initial = initial.value
        return None if initial is None else checked_guess(self.problem, initial, "initial")

    def start(self, guess: Floats | None) -> Floats | None:
        if guess is None:
            return None
        return scaled_guess(self.operator, self.problem.quotient.reduce(guess))

    def immediate(self) -> Certificate | None:
        return known_ends(self._ends) if self._ends.known.all() else None

    def a_priori(self) -> Certificate:
        return known_ends(self._ends)

    def check(self, iterate: Iterate[Any]) -> Certificate:
        assert self._steps is not None
        error = self.problem.quotient.row_error
        return check_undiscounted(self.operator, iterate.value, iterate.witness, error, self._ends, self._steps)

    def starts(self) -> tuple[Floats, Floats] | None:
        source, target, quotient = self.problem.source.start, self.problem.target.start, self.problem.quotient
        if source is None or target is None:
            return None
        return quotient.source.reduce_law(source), quotient.target.reduce_law(target)

    def answer(self, record: SolveRecord, certificate: Certificate, iterate: Iterate[Any] | None) -> Solution:
        problem, quotient = self.problem, self.problem.quotient
        value = self._ends.value if iterate is None else iterate.value
        small = self._witness(value, None if iterate is None else iterate.witness)
        witness = LiftedWitness.of(small, value, problem, quotient.source, quotient.target)
        lifted = lifted_bounds(quotient, certificate)
        proof = Proof(witness, quotient.lift(value), 1.0, None if iterate is None else self._steps)
        return Solution(problem, record.solver, record.status, record.history, lifted, proof, record.tol, None)

    def _witness(self, value: Floats, solved: Witness | None) -> Witness:
        """Couplings of all classes of equal labels: at the open pairs as solved, else optimal for the value."""
        quotient = self.problem.quotient
        if solved is None:
            rows = quotient_rows(quotient)
            solved = IndependentWitness(
                replace(Bellman.between(*rows, self._ends.value, 1.0, 1.0), stop=quotient.differ)
            )
        if not (self._ends.known & ~quotient.differ).any():
            return solved
        return ChosenWitness(solved, CouplingsAtEnds(self.problem, self._ends, value), self._ends.known.ravel())
