"""The answer to a game: certified distances, the actions that decide them, and the coupling of their successors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bisimetric._certificate import Certificate
from bisimetric._game import Game
from bisimetric._game_bellman import GameBellman
from bisimetric._game_certificate import GameWitness
from bisimetric._solution import Answer, Model, Status, Step


@dataclass(frozen=True, eq=False, repr=False)
class MDPSolution(Answer):
    """Distances between all states of two decision processes, each inside a certified interval."""

    kind: ClassVar[str] = "mdp"
    problem: Game
    solver: str
    status: Status
    history: tuple[Step, ...]
    certificate: Certificate
    bellman: GameBellman
    witness: GameWitness | None  # None where nothing had to be solved, or nothing was

    def _models(self) -> tuple[Model, Model]:
        return self.problem.source, self.problem.target

    def _discounting(self) -> str:
        return f"{self.problem.discount:g} (normalised)"
