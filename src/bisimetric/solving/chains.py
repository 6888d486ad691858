"""The question about two chains: distances between their states, or between classes of them where that is less work.

Chains that are known up to errors of their rows are solved as they are stored. That is the computation, and a tolerance
is about it. The answer's bounds then hold for all chains within the errors (`certificates.robust`), which no computing
makes narrower.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from bisimetric.certificates import check
from bisimetric.certificates.certify import checked_guess, scaled_guess
from bisimetric.certificates.interval import Bounds, Certificate
from bisimetric.certificates.robust import ROBUST_ROUNDS
from bisimetric.couplings.witness import IndependentWitness, Proof
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman, is_immediate
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.base import Iterate
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.history import Status
from bisimetric.solving.lumping import Lumping, find_quotient
from bisimetric.solving.question import Question, SolveRecord
from bisimetric.solving.solution import Solution

FEWEST_PAIRS = 2_000  # of states: smaller problems are solved before their classes are found


class ChainQuestion(Question[Problem, Bellman, Iterate[Any], Solution]):
    """The distances between the states of two chains."""

    default_solver: ClassVar[PolicyIteration] = PolicyIteration()
    answers: ClassVar[type[Solution]] = Solution
    _lumping: Lumping | None = None  # the problem on classes, where that is solved instead

    @cached_property
    def _given(self) -> Problem:
        """The problem between the chains as they are stored, which is what solvers solve; see `answer`."""
        return self.problem.as_given()

    def prepare(self, tol: float) -> bool:
        """Find classes of bisimilar states, if they at least halve the work."""
        if self.quotient and self.solver.on_classes and self.problem.cost.size >= FEWEST_PAIRS:
            self._lumping = find_quotient(self._given, tol)
        return True

    @cached_property
    def operator(self) -> Bellman:
        return Bellman.on_open_pairs(self._solved) if self.solver.open_pairs else Bellman.of(self._solved)

    @property
    def _solved(self) -> Problem:
        """The problem itself, or on classes."""
        return self._given if self._lumping is None else self._lumping.small

    def guess(self, initial: object) -> Floats | None:
        if initial is None:
            return None
        if isinstance(initial, Solution):
            return checked_guess(self.problem, initial.value, "initial", initial.problem.unsolved)
        return checked_guess(self.problem, initial, "initial")

    def start(self, guess: Floats | None) -> Floats | None:
        if guess is None:
            return None
        return scaled_guess(self.operator, guess if self._lumping is None else self._lumping.reduce(guess))

    def immediate(self) -> Certificate | None:
        return check.immediate(self.problem) if is_immediate(self.problem) else None

    def a_priori(self) -> Certificate:
        return check.a_priori(self._solved, self.operator)

    def check(self, iterate: Iterate[Any]) -> Bounds:
        return check.check(self._solved, self.operator, iterate.value, iterate.witness)

    def starts(self) -> tuple[Floats, Floats] | None:
        source, target = self.problem.source.start, self.problem.target.start
        if source is None or target is None:
            return None
        return (source, target) if self._lumping is None else self._lumping.reduce_starts(source, target)

    def answer(self, record: SolveRecord, certificate: Certificate, iterate: Iterate[Any] | None) -> Solution:
        problem = self._solved
        certificate = certificate.without(problem.unsolved)
        if iterate is None:
            bellman = Bellman.of(problem)
            scale = 1.0 if is_immediate(problem) else bellman.scale
            proof = Proof(IndependentWitness(bellman), problem.cost * scale, scale)
        else:
            proof = Proof(iterate.witness, iterate.value, self.operator.scale)
        solution = Solution(problem, record.solver, record.status, record.history, certificate, proof, record.tol, None)
        if self._lumping is not None:
            solution = self._lumping.lift(solution)
        if not self.problem.uncertain:
            return solution
        stopped = record.status in (Status.INTERRUPTED, Status.TIME_LIMIT)
        return solution.between_all(self.problem, rounds=1 if stopped else ROBUST_ROUNDS)
