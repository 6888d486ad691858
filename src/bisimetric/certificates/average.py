"""Bounds on average costs, from one application of each operator of the long run.

On a closed class, the checker's U ≥ c + OT_h ≥ L give for any h

    min (L - h)  ≤  g  ≤  max (U - h),

from every start in the class: the coupling that proves U pays at most max(U - h) a step in the mean, and no coupling
pays less than min(L - h). There is no stationary law in this, and errors are not multiplied by anything; but rounding
is relative to max |h|, which grows with the time that the chains take to forget where they were. The gain is also
between the smallest and the largest cost of its class. It is zero if some pairs of the class cost nothing and lead only
to one another: the independent coupling leads there with probability one.

Outside, let V be a value that is within a of the gains on closed classes. With τ ≥ 1 - η + Πτ there for all couplings,

    V - a - max(V - L)·τ/(1-η)  ≤  g  ≤  V + a + max(U - V)·τ/(1-η),

and g is between the smallest and the largest gain of all classes. Both are widened for rounding and inexact rows as in
`certificates.interval`. Bounds are about chains with the stored supports: a transition of probability 1e-20 changes the
long run altogether.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from bisimetric.certificates.check import ZERO_CANDIDATE, check_application
from bisimetric.certificates.interval import (
    OPERATIONS_AFTER,
    OPERATIONS_AROUND,
    SUBNORMAL_BELOW,
    Application,
    Certificate,
)
from bisimetric.certificates.undiscounted import LARGEST_SHORTFALL
from bisimetric.certificates.zeros import closed_subset, successor_pairs
from bisimetric.cost.ground import cost_above, cost_below, largest_cost_error
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Mask
from bisimetric.operators.average import SMALL_AVERAGE, AverageBellman
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness


@dataclass(frozen=True, slots=True, eq=False)
class AverageCertificate(Certificate):
    """Bounds on average costs: lower ≤ g ≤ upper at every pair, also in floating point.

    As `Certificate`, except that gaps of averages near zero are relative to `SMALL_AVERAGE` times the largest cost.
    """

    largest_cost: float = 0.0

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound, or by a thousandth of the largest cost if that is more."""
        gap = self.gap
        return gap / max(float(self.upper.max()), SMALL_AVERAGE * self.largest_cost) if gap > 0 else 0.0


class Gains(NamedTuple):
    """Bounds on the gain of every closed class, in the operator's scale."""

    low: Floats  # [classes]
    high: Floats
    zero: Mask  # [classes], proved to be zero


def check_average(
    operator: AverageBellman, value: Floats, closed: TreeWitness, way: TreeWitness | None
) -> AverageCertificate:
    """What h, its witness, and the value and witness outside the closed classes prove, in the problem's own units."""
    found = closed_gains(operator, value, closed)
    lower, upper = _spread(operator, found.low, found.low.min()), _spread(operator, found.high, found.high.max())
    if operator.open_pairs is not None and way is not None:
        _narrow(operator, found, way, lower, upper)
    return _scaled_back(operator, lower, upper)


def a_priori(operator: AverageBellman) -> AverageCertificate:
    """What holds before any solver has begun: gains are between the costs of their classes."""
    low, high = _cost_range(operator)
    return _scaled_back(operator, _spread(operator, low, low.min()), _spread(operator, high, high.max()))


def closed_gains(operator: AverageBellman, value: Floats, witness: TreeWitness) -> Gains:
    """Bounds on the gains of the closed classes from any h."""
    bellman, classes = operator.bellman, operator.classes
    once = check_application(bellman, value, witness, _rows(operator))
    h = bellman.pairs.gather(value)
    below, above = _errors(bellman, h, once)
    least, most = _cost_range(operator)
    low = np.clip(classes.smallest(once.lower.ravel() - h) - below, least, most)
    high = np.clip(classes.largest(once.upper.ravel() - h) + above, least, most)
    zero = _zero_classes(operator, witness, high, exact=once.errors.marginal == 0.0)
    low[zero] = high[zero] = 0.0
    return Gains(low, high, zero)


def _errors(bellman: Bellman, h: Floats, once: Application) -> tuple[float, float]:
    """By how much the computed L - h and U - h may be too large and too small."""
    errors, largest, cost = once.errors, float(np.abs(h).max()), float(np.abs(bellman.cost).max())
    unit = (errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    moved = errors.rows * float(h.max() - h.min())
    moved += largest_cost_error(cost, bellman.cost_error) * bellman.scale
    below = unit * (cost * bellman.scale + 2 * max(largest, errors.potential)) + moved
    above = unit * (cost * bellman.scale + 2 * largest) + moved + errors.marginal * largest
    return below, above


def _cost_range(operator: AverageBellman) -> tuple[Floats, Floats]:
    """[classes], between which costs the gain of each class is for sure."""
    bellman, classes = operator.bellman, operator.classes
    costs = bellman.pairs.gather(bellman.cost)
    low, high = cost_below(costs, bellman.cost_error), cost_above(costs, bellman.cost_error)
    least, most = classes.smallest(low) * bellman.scale, classes.largest(high) * bellman.scale
    least[least < SUBNORMAL_BELOW] = 0.0  # such products may have been rounded
    most[(most < SUBNORMAL_BELOW) & (classes.largest(costs) > 0.0)] = SUBNORMAL_BELOW
    return least, most


def _zero_classes(operator: AverageBellman, witness: TreeWitness, high: Floats, *, exact: bool) -> Mask:
    """[classes], those in which some pairs cost nothing and whose couplings lead only to such pairs."""
    bellman, classes = operator.bellman, operator.classes
    zero = np.zeros(classes.count, np.bool_)
    merged = operator.problem.source.merged, operator.problem.target.merged
    if not exact or merged[0].any() or merged[1].any():
        return zero
    small = high <= ZERO_CANDIDATE * bellman.largest_cost
    candidate = (bellman.pairs.gather(bellman.cost) == 0.0) & small[classes.of_pair]
    if candidate.any():
        inside = closed_subset(candidate, partial(successor_pairs, bellman, witness), witness.cells_per_pair)
        zero[classes.of_pair[inside]] = True
    return zero


def _narrow(operator: AverageBellman, found: Gains, way: TreeWitness, lower: Floats, upper: Floats) -> None:
    """Better bounds at the pairs outside the closed classes, in place."""
    steps = proved_steps(operator)
    bellman, classes, open_pairs = way.bellman, operator.classes, operator.open_pairs
    if steps is None or open_pairs is None:
        return
    once = check_application(bellman, way.value, way, _rows(operator))
    V = way.value
    value = open_pairs.gather(V)
    below, above = _errors(bellman, V.ravel(), once)
    short = max(float((value - once.lower).max()) + below, 0.0)
    over = max(float((once.upper - value).max()) + above, 0.0)
    ends = V[classes.closed]
    low, high = found.low[classes.of_pair], found.high[classes.of_pair]
    last = OPERATIONS_AFTER * UNIT_ROUNDOFF
    down = max(float((ends - low).max()), 0.0) + short * steps * (1.0 + last) + last * float(np.abs(V).max())
    up = max(float((high - ends).max()), 0.0) + over * steps * (1.0 + last) + last * float(np.abs(V).max())
    outside = ~classes.closed
    lower[outside] = np.maximum(lower[outside], (V - down)[outside])
    upper[outside] = np.minimum(upper[outside], (V + up)[outside])
    zero = _zero_on_the_way(operator, way, found.zero, exact=once.errors.marginal == 0.0)
    lower[zero] = upper[zero] = 0.0


def _zero_on_the_way(operator: AverageBellman, way: TreeWitness, zero: Mask, *, exact: bool) -> Mask:
    """[n, m], pairs outside whose couplings lead to classes of gain zero only."""
    found = np.zeros(operator.classes.label.shape, np.bool_)
    if not exact or not zero.any() or operator.open_pairs is None:
        return found
    known = np.where(operator.classes.closed, np.where(zero, 0.0, 1.0)[operator.classes.label], 0.0)
    bellman = Bellman(way.bellman.source, way.bellman.target, known, 1.0, 1.0, way.bellman.stop, way.bellman.pairs)
    candidate = np.ones(operator.open_pairs.size, np.bool_)
    inside = closed_subset(candidate, partial(successor_pairs, bellman, way), way.cells_per_pair)
    x, y = operator.open_pairs.states(0, operator.open_pairs.size)
    found[x, y] = inside
    return found


def proved_steps(operator: AverageBellman) -> Floats | None:
    """[n, m], bounds on the expected steps to a closed class under any coupling; None where rounding hides them."""
    problem, sides = operator.problem, []
    for chain, found, steps in zip((problem.source, problem.target), problem.recurrences, operator.steps, strict=True):
        proved = _proved_side(chain, found.transient, steps)
        if proved is None:
            return None
        sides.append(proved)
    total: Floats = np.add.outer(*sides) * (1.0 + OPERATIONS_AROUND * UNIT_ROUNDOFF)
    return total


def _proved_side(chain: MarkovChain, transient: Mask, steps: Floats) -> Floats | None:
    """[n], t/(1-η) with t ≥ 1 - η + P t at transient states and t = 0 at the others."""
    if not transient.any():
        return steps
    if not np.isfinite(steps).all() or steps.min() < 0.0:
        return None
    P = sparse.csr_array(chain.transitions)
    terms = int(np.diff(P.indptr).max()) + OPERATIONS_AROUND
    slip = (terms * UNIT_ROUNDOFF + 0.5 * float(chain.row_error.max())) * float(steps.max())
    missing = float((1.0 - (steps - P @ steps))[transient].max()) + slip
    if not missing <= LARGEST_SHORTFALL:
        return None
    proved: Floats = steps * ((1.0 + OPERATIONS_AFTER * UNIT_ROUNDOFF) / (1.0 - max(missing, 0.0)))
    return proved


def _rows(operator: AverageBellman) -> float:
    """Half the 1-norm by which rows may have moved, of both sides together."""
    problem = operator.problem
    return 0.5 * (float(problem.source.row_error.max()) + float(problem.target.row_error.max()))


def _spread(operator: AverageBellman, gains: Floats, outside: float) -> Floats:
    """[n, m], the numbers of the closed classes, and another one outside."""
    spread: Floats = np.append(gains, outside)[operator.classes.label]
    return spread


def _scaled_back(operator: AverageBellman, lower: Floats, upper: Floats) -> AverageCertificate:
    """In the units of the cost."""
    lower, upper = lower / operator.scale, upper / operator.scale
    if float(operator.problem.cost.max()) < SUBNORMAL_BELOW:
        lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf, where=upper > 0.0, out=upper.copy())
    lower = np.maximum(lower, 0.0)
    value = lower + 0.5 * (upper - lower)
    return AverageCertificate(value, lower, upper, largest_cost=float(operator.problem.cost.max()))
