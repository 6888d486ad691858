"""What the loop knows of a question: its operator, how an iterate is certified, and what the answer looks like.

There are two kinds of question, a problem (two chains) and a game (two decision processes), and one loop for both.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol, TypeVar

from bisimetric.certificates import certify, game
from bisimetric.certificates.certify import Certificate, ListedCertificate
from bisimetric.certificates.game import GameWitness
from bisimetric.couplings.coupling import IndependentWitness, TreeWitness, without_flows
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.game import GameBellman
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.solvers import Iterate
from bisimetric.solvers.game_iteration import GameIterate
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.lumping import Lumping, worthwhile
from bisimetric.solving.solution import Answer, Solution, Status, Step

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
AnswerGiven = TypeVar("AnswerGiven", bound=Answer, covariant=True)


class Task(Protocol[AnswerGiven]):
    """A question as the loop sees it."""

    @property
    def bellman(self) -> Any:
        """The operator that solvers work with."""
        ...

    def on_classes(self, tol: float) -> Task[AnswerGiven]:
        """The same question with classes of bisimilar states, if that pays; else this one."""
        ...

    def start(self, guess: Floats | None) -> Floats | None:
        """A guess of the distances in the operator's scale."""
        ...

    def is_immediate(self) -> bool:
        """Whether V = c: no future, or nothing to pay."""
        ...

    def immediate(self, solver: str) -> AnswerGiven:
        """The answer in that case."""
        ...

    def a_priori(self) -> Certificate:
        """What holds before any solver has begun."""
        ...

    def check(self, iterate: Iterate) -> Certificate | ListedCertificate:
        """The checker's word on an iterate."""
        ...

    def answer(
        self, solver: str, status: Status, history: tuple[Step, ...], certificate: Certificate, iterate: Iterate | None
    ) -> AnswerGiven:
        """The answer at an iterate; None stands for an interrupt before the first sweep was over."""
        ...


class ChainTask:
    """The distances between the states of two chains."""

    def __init__(
        self,
        problem: Problem,
        *,
        open_pairs: bool,
        quotient: bool = False,
    ) -> None:
        self._problem = problem
        self._open_pairs = open_pairs
        self._quotient = quotient

    @cached_property
    def bellman(self) -> Bellman:
        bellman = Bellman.of(self._problem)
        return bellman.on_open_pairs(self._problem) if self._open_pairs and not self.is_immediate() else bellman

    def on_classes(self, tol: float) -> ChainTask | ClassTask:
        lumping = worthwhile(self._problem, tol) if self._quotient else None
        if lumping is None:
            return self
        return ClassTask(lumping, ChainTask(lumping.small, open_pairs=self._open_pairs))

    def start(self, guess: Floats | None) -> Floats | None:
        return None if guess is None else certify.scaled_guess(self.bellman, guess)

    def is_immediate(self) -> bool:
        return certify.is_immediate(self._problem)

    def immediate(self, solver: str) -> Solution:
        """V = c, and any coupling is optimal."""
        certificate, witness = certify.immediate(self._problem), IndependentWitness(self.bellman)
        return Solution(self._problem, solver, Status.SOLVED, (), certificate, witness, self._problem.cost, 1.0)

    def a_priori(self) -> Certificate:
        return certify.a_priori(self._problem, self.bellman)

    def check(self, iterate: Iterate) -> Certificate | ListedCertificate:
        return certify.check(self._problem, self.bellman, iterate.value, iterate.witness)

    def answer(
        self, solver: str, status: Status, history: tuple[Step, ...], certificate: Certificate, iterate: Iterate | None
    ) -> Solution:
        scale = self.bellman.scale
        if iterate is None:
            witness, value = IndependentWitness(Bellman.of(self._problem)), self.bellman.scaled_cost()
            return Solution(self._problem, solver, status, history, certificate, witness, value, scale)
        held = iterate.witness
        if isinstance(held, TreeWitness):
            held = TreeWitness(self.bellman, held.value, without_flows(held.trees)).by_states()
        return Solution(self._problem, solver, status, history, certificate, held, iterate.value, scale)


class ClassTask:
    """The distances between the classes of bisimilar states of two chains, which are those between the states."""

    def __init__(self, lumping: Lumping, small: ChainTask) -> None:
        self._lumping = lumping
        self._small = small

    @property
    def bellman(self) -> Bellman:
        return self._small.bellman

    def on_classes(self, tol: float) -> ClassTask:
        return self

    def start(self, guess: Floats | None) -> Floats | None:
        return self._small.start(self._lumping.reduced(guess))

    def is_immediate(self) -> bool:
        return self._small.is_immediate()

    def immediate(self, solver: str) -> Solution:
        return self._lumping.lifted(self._small.immediate(solver))

    def a_priori(self) -> Certificate:
        return self._small.a_priori()

    def check(self, iterate: Iterate) -> Certificate | ListedCertificate:
        return self._small.check(iterate)

    def answer(
        self, solver: str, status: Status, history: tuple[Step, ...], certificate: Certificate, iterate: Iterate | None
    ) -> Solution:
        return self._lumping.lifted(self._small.answer(solver, status, history, certificate, iterate))


class GameTask:
    """The distances between the states of two decision processes."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.bellman = GameBellman.of(game)

    def on_classes(self, tol: float) -> GameTask:
        return self

    def start(self, guess: Floats | None) -> None:
        return None

    def is_immediate(self) -> bool:
        return self.bellman.is_immediate()

    def immediate(self, solver: str) -> MDPSolution:
        return self.answer(solver, Status.SOLVED, (), game.immediate(self.bellman), None)

    def a_priori(self) -> Certificate:
        return game.a_priori(self.bellman)

    def check(self, iterate: Iterate) -> Certificate:
        return game.check_game(iterate.witness)

    def answer(
        self, solver: str, status: Status, history: tuple[Step, ...], certificate: Certificate, iterate: Iterate | None
    ) -> MDPSolution:
        witness = None
        if isinstance(iterate, GameIterate):
            trees = tuple(without_flows(tree) for tree in iterate.trees)
            witness = GameWitness(self.bellman, iterate.value, trees)
        return MDPSolution(self._game, solver, status, history, certificate, self.bellman, witness)
