"""An interval around the fixed point of an operator without a discount, from one application of it.

The checker gives U ≥ T V ≥ L at the open pairs, as with a discount. With w ≥ 1 + max <π, w> there, w = 0 at the ends,

    V - max(V - L)·w  ≤  V*  ≤  V + max(U - V)·w.

Both ends are widened for rounding and inexact rows as in `certificates.interval`. w is proved in the same way: it
belongs to a transport with the cost -w, whose potentials the checker turns into w ≥ 1 - η + max <π, w>, rounding and
row errors included in η; then w/(1-η) is a bound. As w ≥ 0, that alone proves that all couplings end.
"""

from __future__ import annotations

import numpy as np

from bisimetric.certificates.check import check_application
from bisimetric.certificates.interval import OPERATIONS_AFTER, OPERATIONS_AROUND, Application, Certificate
from bisimetric.couplings.witness import Witness
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.operators.undiscounted import Ends, UndiscountedBellman, find_ends, longest_times
from bisimetric.problems.bisimilarity import BisimilarityProblem, Quotient

LARGEST_SHORTFALL = 0.5  # of a number of steps: where more of a step is missing, rounding hides how many there are


def prove_steps(witness: TreeWitness, row_error: float) -> Floats | None:
    """Bounds on the expected number of steps to an end, from minus such numbers; None where rounding hides them."""
    negative = witness.value
    if not np.isfinite(negative).all() or negative.max() > 0.0:
        return None
    once = check_application(witness.bellman, negative, witness, 0.5 * row_error)
    missing = max(-once.lowest, 0.0) + _error_below(negative, once)
    if not missing <= LARGEST_SHORTFALL:
        return None
    steps: Floats = -negative * ((1.0 + OPERATIONS_AFTER * UNIT_ROUNDOFF) / (1.0 - missing))
    return steps


def check_undiscounted(
    bellman: Bellman, value: Floats, witness: Witness, row_error: float, ends: Ends, steps: Floats
) -> Certificate:
    """What the value, the witness and the numbers of steps prove; `bellman` lists the open pairs, or all pairs."""
    once = check_application(bellman, value, witness, 0.5 * row_error)
    low, high = once.lowest, once.highest
    if bellman.pairs.is_complete:
        low = float((once.lower - value)[ends.open].min())
        high = float((once.upper - value)[ends.open].max())
    once = once._replace(lowest=min(low, 0.0), highest=max(high, 0.0))
    below = _error_below(value, once) - once.lowest
    above = _error_above(value, once) + once.highest
    last = OPERATIONS_AFTER * UNIT_ROUNDOFF
    lower = np.clip(value - (below * steps * (1.0 + last) + last), 0.0, 1.0)
    upper = np.clip(value + (above * steps * (1.0 + last) + last), 0.0, 1.0)
    for bound in (lower, upper):
        np.copyto(bound, ends.value, where=ends.known)
    return Certificate(np.clip(value, lower, upper), lower, upper)


def known_ends(ends: Ends) -> Certificate:
    """What holds before any solver has begun: the known distances, and [0, 1] at the open pairs."""
    upper = np.where(ends.known, ends.value, 1.0)
    return Certificate(0.5 * (ends.value + upper), ends.value.copy(), upper)


def lifted_bounds(quotient: Quotient, small: Certificate) -> Certificate:
    """Bounds at all pairs of states from those at pairs of classes."""
    return Certificate(quotient.lift(small.value), quotient.lift(small.lower), quotient.lift(small.upper))


def certify_undiscounted(problem: BisimilarityProblem, guess: Floats) -> Certificate:
    """Bounds from any guess of the distances: one sweep, after the numbers of steps are known."""
    quotient, ends = problem.quotient, find_ends(problem.quotient)
    found = known_ends(ends)
    if not ends.known.all():
        bellman = UndiscountedBellman.between_ends(quotient, ends)
        steps = prove_steps(longest_times(bellman), quotient.row_error)
        if steps is not None:
            value, trees = bellman.consistent(np.clip(quotient.reduce(guess), 0.0, 1.0)), new_trees(bellman)
            bellman.improve(value, trees, cold=True)
            witness = TreeWitness(bellman, value, trees)
            found = check_undiscounted(bellman, value, witness, quotient.row_error, ends, steps)
    return lifted_bounds(quotient, found)


def _error_below(value: Floats, once: Application) -> float:
    """By how much T V may be smaller than computed."""
    largest = float(np.abs(value).max())
    rounding = (once.errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    return float(rounding * (1.0 + max(largest, once.errors.potential) + abs(once.lowest))) + _moved(value, once)


def _error_above(value: Floats, once: Application) -> float:
    """By how much T V may be larger than computed; a coupling may also lack mass."""
    largest = float(np.abs(value).max())
    rounding = (once.errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    lacking = float(once.errors.marginal) * largest
    return float(rounding * (1.0 + largest + abs(once.highest))) + _moved(value, once) + lacking


def _moved(value: Floats, once: Application) -> float:
    """By how much T V may change where rows move by their errors."""
    return float(once.errors.rows) * float(value.max() - value.min())
