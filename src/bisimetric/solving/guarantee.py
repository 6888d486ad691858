"""What data say about the true distance between two processes, whatever those are.

The chains of a solution were estimated from counts. With probability `confidence` all true rows and starts are
within radii of the estimated ones (`models.confidence`): each of the n + m rows and two starts may fail with
probability (1 - confidence)/(n + m + 2). Then the true distance is within the bounds for all chains within those
radii (`certificates.robust`). Costs are taken as known: where they come from mean rewards, the guarantee is about
states with these rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy.typing as npt

from bisimetric._support.frozen import Immutable
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.models.confidence import within_confidence
from bisimetric.models.estimated import EstimatedChain
from bisimetric.solving.solution import Solution

MOST_GROWTH = 2.0**40  # of the data, beyond which nobody will wait
TRIALS = 24  # of a growth
GROWTH_TO = 1.05  # factor to which the growth is found
DEFAULT_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Guarantee(Immutable):
    """An interval that holds the true distance with probability `confidence`; `guarantee` makes one.

    Attributes
    ----------
    low, high : float
        In the units of the cost.
    confidence : float
    growth : float or None
        How many times the data would make the interval narrower than the estimated distance, if the shares stayed as
        they are; 1 if it is so already, None where no number of sequences would, or it was not asked for.
    sequences : (int, int) or None
        The numbers of sequences that this takes.
    """

    low: float
    high: float
    confidence: float
    growth: float | None = None
    sequences: tuple[int, int] | None = None

    def __repr__(self) -> str:
        more = "" if self.growth is None else f", narrower than the distance with {self.growth:.3g} times the data"
        return f"Guarantee([{self.low:.6g}, {self.high:.6g}] with probability {self.confidence:g}{more})"


def guarantee(
    solution: Solution,
    *,
    confidence: float = DEFAULT_CONFIDENCE,
    successors: npt.ArrayLike | None = None,
    extrapolate: bool = True,
) -> Guarantee:
    """Bound the distance between the processes that two estimated chains were estimated from.

    The interval holds with probability `confidence` whatever the processes are, for independent sequences that are
    paths of Markov chains on the states of the problem, and costs that are known.

    Parameters
    ----------
    solution : Solution
        Of a problem between two chains that `from_trajectories` made.
    confidence : float, default 0.95
        Between 0 and 1.
    successors : int or array [n] of int, optional
        How many states could follow a state; all by default. Fewer make the interval narrower.
    extrapolate : bool, default True
        Also find how much data would make the interval narrower than the distance, which takes about ten times as long.

    Returns
    -------
    Guarantee

    Raises
    ------
    InvalidProblem
        A chain was not estimated from sequences, or has no start.
    InvalidOption
        `confidence` or `successors` are out of range.

    Examples
    --------
    >>> import bisimetric as bm
    >>> logs = [["a", "b", "a"] * 40 for _ in range(50)], [["a", "a", "b"] * 40 for _ in range(50)]
    >>> a, b = (bm.from_trajectories(log, states=["a", "b"]) for log in logs)
    >>> solution = bm.distance(a, b, discount=0.5, cost=bm.cost.label_mismatch)
    >>> found = bm.guarantee(solution, extrapolate=False)
    >>> found.low <= solution.distance <= found.high
    True
    """
    if not isinstance(solution, Solution):
        raise InvalidProblem(f"solution is a {type(solution).__name__}, expected a Solution; distance(...) makes one")
    share = _checked_confidence(confidence)
    if solution.problem.unsolved is not None or solution.problem.discount == 1.0:
        raise InvalidProblem("the solution has no discount or not all pairs, expected discount < 1 and pairs='all'")
    for role, chain in (("source", solution.problem.source), ("target", solution.problem.target)):
        if not isinstance(chain, EstimatedChain) or chain.start is None:
            raise InvalidProblem(
                f"the {role} is a {type(chain).__name__}, expected counts and a start; from_trajectories keeps them"
            )
    low, high = _interval(solution, share, successors, 1.0)
    if not extrapolate:
        return Guarantee(low, high, share)
    growth = _growth(solution, share, successors, high - low)
    if growth is None:
        return Guarantee(low, high, share)
    chains = solution.problem.source, solution.problem.target
    first, second = (math.ceil(growth * chain.n_sequences) for chain in chains if isinstance(chain, EstimatedChain))
    return Guarantee(low, high, share, growth, (first, second))


def _checked_confidence(confidence: object) -> float:
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0.0 < confidence < 1.0:
        raise InvalidOption(f"confidence is {confidence!r}, expected a number between 0 and 1, such as 0.95")
    return float(confidence)


def _interval(
    solution: Solution, confidence: float, successors: npt.ArrayLike | None, growth: float
) -> tuple[float, float]:
    """The interval that this many times the data would give."""
    problem = solution.problem
    failure = (1.0 - confidence) / (sum(problem.shape) + 2)
    source, target = problem.source, problem.target
    assert isinstance(source, EstimatedChain)
    assert isinstance(target, EstimatedChain)
    first = within_confidence(source, failure, successors, growth)
    second = first if source is target else within_confidence(target, failure, successors, growth)
    return solution.between_all(problem.part(first, second, problem.cost, problem.stop)).interval


def _growth(solution: Solution, confidence: float, successors: npt.ArrayLike | None, width: float) -> float | None:
    """How many times the data make the interval narrower than the distance; widths shrink about like 1/√growth."""
    distance = solution.distance
    if width <= distance:
        return 1.0
    if not distance > 0.0:
        return None
    enough, too_little, growth = math.inf, 1.0, 1.0
    for _ in range(TRIALS):
        guess = growth * (width / distance) ** 2
        if not too_little < guess < enough:
            guess = 4.0 * growth if enough == math.inf else math.sqrt(too_little * enough)
        growth = min(guess, MOST_GROWTH)
        low, high = _interval(solution, confidence, successors, growth)
        width = high - low
        if width <= distance:
            enough = growth
        elif growth == MOST_GROWTH:
            return None
        else:
            too_little = growth
        if enough <= GROWTH_TO * too_little:
            break
    return enough if enough < math.inf else None
