"""The question about two decision processes: distances between their states, whatever is done."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from bisimetric.certificates import game as certificates
from bisimetric.certificates.interval import Certificate
from bisimetric.models.rows import Floats
from bisimetric.operators.game import GameBellman
from bisimetric.operators.trees import without_flows
from bisimetric.problems.game import Game
from bisimetric.solvers.game_iteration import GameIterate, GameIteration
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.question import Question, SolveRecord, refuse_guess


class GameQuestion(Question[Game, GameBellman, GameIterate, MDPSolution]):
    """The distances between the states of two decision processes."""

    default_solver: ClassVar[GameIteration] = GameIteration()
    answers: ClassVar[type[MDPSolution]] = MDPSolution

    @cached_property
    def operator(self) -> GameBellman:
        return GameBellman.of(self.problem)

    def guess(self, initial: object) -> None:
        refuse_guess(initial, "games start from the cost")

    def start(self, guess: Floats | None) -> None:
        return None

    def immediate(self) -> Certificate | None:
        return certificates.immediate(self.operator) if self.operator.is_immediate() else None

    def a_priori(self) -> Certificate:
        return certificates.a_priori(self.operator)

    def check(self, iterate: GameIterate) -> Certificate:
        return certificates.check_game(iterate.witness)

    def starts(self) -> tuple[Floats, Floats] | None:
        source, target = self.problem.source.start, self.problem.target.start
        return None if source is None or target is None else (source, target)

    def answer(self, record: SolveRecord, certificate: Certificate, iterate: GameIterate | None) -> MDPSolution:
        witness = None
        if iterate is not None:
            trees = tuple(without_flows(tree) for tree in iterate.trees)
            witness = replace(iterate.witness, trees=trees)
        return MDPSolution(
            self.problem, record.solver, record.status, record.history, certificate, self.operator, witness, record.tol
        )
