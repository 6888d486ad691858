"""The kinds of question, by the type of their problem. Adding one is a file in this folder and a line below."""

from typing import Any

from bisimetric.problems.average import AverageProblem
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.control import Control
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solving.average import AverageQuestion
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.bisimilarity import BisimilarityQuestion
from bisimetric.solving.chains import ChainQuestion
from bisimetric.solving.control import ControlQuestion
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.games import GameQuestion
from bisimetric.solving.horizon import HorizonQuestion
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.question import Question
from bisimetric.solving.side_by_side import ManyQuestion
from bisimetric.solving.solution import Solution

KINDS: dict[type, type[Question[Any, Any, Any, Any]]] = {
    Problem: ChainQuestion,
    BisimilarityProblem: BisimilarityQuestion,
    Game: GameQuestion,
    Control: ControlQuestion,
    HorizonProblem: HorizonQuestion,
    AverageProblem: AverageQuestion,
    ManyProblems: ManyQuestion,
}

AnyAnswer = Solution | MDPSolution | HorizonSolution | AverageSolution  # with distances between states
