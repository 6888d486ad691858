"""The kinds of question, by the type of their problem. Adding one is a file in this folder and a line below."""

from typing import Any

from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.control import Control
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.solving.bisimilarity import BisimilarityQuestion
from bisimetric.solving.chains import ChainQuestion
from bisimetric.solving.control import ControlQuestion
from bisimetric.solving.games import GameQuestion
from bisimetric.solving.horizon import HorizonQuestion
from bisimetric.solving.question import Question

KINDS: dict[type, type[Question[Any, Any, Any, Any]]] = {
    Problem: ChainQuestion,
    BisimilarityProblem: BisimilarityQuestion,
    Game: GameQuestion,
    Control: ControlQuestion,
    HorizonProblem: HorizonQuestion,
}
