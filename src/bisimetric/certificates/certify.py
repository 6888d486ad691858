"""Bounds on the true distances from a value that anybody may have found."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bisimetric.certificates.check import check, immediate
from bisimetric.certificates.interval import Certificate
from bisimetric.certificates.robust import within_radii
from bisimetric.certificates.undiscounted import certify_undiscounted
from bisimetric.errors import InvalidProblem
from bisimetric.models.frames import aligned_table
from bisimetric.models.rows import Floats, Mask, finite, float_array
from bisimetric.operators.bellman import Bellman, is_immediate
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.problems.average import AverageProblem
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.discounted import Problem
from bisimetric.problems.horizon import HorizonProblem


def certify(problem: Problem, value: npt.ArrayLike) -> Certificate:
    """Bounds on the true distances from any guess of them, wherever it comes from.

    The better the guess, the tighter the interval; a wrong guess gives a wide interval, never a wrong one. It takes one
    sweep of optimal transports and one of the checker. Where chains have row errors, the bounds hold for all chains
    within them.

    Parameters
    ----------
    problem : Problem
        The question.
    value : array [n, m]
        A guess of all distances. It is not looked at where `problem.unsolved`; the bounds are NaN there.

    Returns
    -------
    Certificate

    Raises
    ------
    InvalidProblem
        If `problem` is not a Problem, or an AverageProblem or HorizonProblem, which only `solve` certifies; or the
        guess has another shape or is not finite.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[1, 0])
    >>> found = bm.certify(bm.Problem(chain, chain, discount=0.5), [[0, 1.3], [1.3, 0]])
    >>> bool((found.lower <= 4 / 3).all() and found.upper[0, 1] >= 4 / 3)
    True
    """
    if isinstance(problem, HorizonProblem):
        raise InvalidProblem(
            "certify takes no HorizonProblem: bounds on the values of one time follow from those of the next, so one "
            "array of values proves nothing; solve it"
        )
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"problem is a {type(problem).__name__}, expected a Problem")
    if isinstance(problem, AverageProblem):
        raise InvalidProblem("certify takes no AverageProblem: average costs alone prove nothing; solve it")
    guess = checked_guess(problem, value, "value")
    if isinstance(problem, BisimilarityProblem):
        return certify_undiscounted(problem, guess)
    if problem.uncertain:
        return within_radii(problem, certify(problem.as_given(), guess))
    if is_immediate(problem):
        return immediate(problem).without(problem.unsolved)
    bellman = Bellman.of(problem)
    scaled = scaled_guess(bellman, guess)
    trees = new_trees(bellman)
    bellman.improve(scaled, trees, cold=True)
    found = check(problem, bellman, scaled, TreeWitness(bellman, scaled, trees)).around()
    return found.without(problem.unsolved)


def checked_guess(problem: Problem, value: object, what: str, unknown: Mask | None = None) -> Floats:
    """Finite numbers [n, m]; anything will do where the guess is `unknown` and where the problem is not solved."""
    table = aligned_table(value, problem.source.names, problem.target.names, what)
    guess = float_array(table, what, InvalidProblem, ndim=2)
    if guess.shape != problem.shape:
        raise InvalidProblem(f"{what} has shape {guess.shape}, expected {problem.shape}")
    for ignored in (unknown, problem.unsolved):
        if ignored is not None:
            guess[ignored] = problem.cost[ignored]
    return finite(guess, what, InvalidProblem)


def scaled_guess(bellman: Bellman, guess: Floats) -> Floats:
    """A guess of the distances in the operator's scale, cut to the range in which they must lie."""
    with np.errstate(over="ignore"):
        scaled = np.clip(guess * bellman.scale, 0.0, bellman.largest_value())
    return bellman.consistent(np.where(bellman.stop, bellman.scaled_cost(), scaled) if bellman.stop.size else scaled)
