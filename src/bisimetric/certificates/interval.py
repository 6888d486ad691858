"""An interval around the fixed point of a discounted operator, from one application of it.

Let T V = c + γ·(mean of V under laws with given marginals), or any choice (min, max) among such numbers. The checker
gives U ≥ T V ≥ L for any value V. Then (MacQueen 1966)

    L + γ/(1-γ)·min(L - V)  ≤  V*  ≤  U + γ/(1-γ)·max(U - V).

These hold for real numbers. Both ends are widened for what rounding and inexact rows may do to them:

- A computed sum of k products errs by at most k·u times the sum of the absolute values.
- A row that moved by δ in 1-norm moves a mean of V by at most δ/2·span V.
- A cost is what the user gave, or it was computed from rewards and a discount and so is rounded itself. Its relative
  error is known (`Problem.cost_error`); `cost_below` and `cost_above` are what the true cost is between.
- The errors of one application are carried on forever: 1/(1-γ). Those of the few operations that make bounds of it are
  not. Where underflow makes a product inexact, one more unit in the last place on either side covers that.

The lower end is raised to the least that c may be, which V* never goes below; the upper end is cut at what no coupling
can exceed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from bisimetric._support.blocks import for_even_split
from bisimetric._support.frozen import Immutable
from bisimetric._support.viewed import InNotebooks
from bisimetric.cost.ground import cost_above, cost_below, largest_cost_error
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

OPERATIONS_AROUND = 5  # roundings of one application besides those of its longest sum: γ, c, V, a potential, and these
OPERATIONS_AFTER = 8  # roundings of the operations that make bounds of one application; they do not accumulate
SUBNORMAL_BELOW = 2.0**-1000  # costs this small may round when scaled back
SPAN_ROUNDING = 256 * UNIT_ROUNDOFF  # span of a residual, relative to the largest value, that may be rounding
AT_ONCE = 2**14  # bounds, which then need no further memory to speak of


class Bounds(Protocol):
    """What the loop asks of a certificate while a solve goes on."""

    @property
    def gap(self) -> float:
        """The width of the widest interval."""
        ...

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound."""
        ...

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> Certificate:
        """The certificate at all pairs, with another estimate (times `scale`), cut to the bounds."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Certificate(InNotebooks, Immutable):
    """Bounds on the true distances: lower ≤ V* ≤ upper at every pair, also in floating point.

    All arrays are in the units of the cost and read-only. They are NaN at pairs that were not solved, which the gaps
    do not count.

    Attributes
    ----------
    value : array [n, m]
        The best estimate, inside the bounds.
    lower, upper : array [n, m]
        No true distance is below or above.
    gap : float
        The width of the widest interval, max(upper - lower).
    relative_gap : float
        gap / max(upper); zero if that is zero.
    shortfall : float
        The value that was checked, less this, is a proved lower bound; in the scale of the computation.
    """

    value: Floats
    lower: Floats
    upper: Floats
    shortfall: float = 0.0

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper"):
            view = getattr(self, name).view()  # the array itself stays as it was given
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    @property
    def gap(self) -> float:
        """The width of the widest interval."""
        return float(np.fmax.reduce(self.upper - self.lower, axis=None))

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound; zero if that is zero."""
        gap = self.gap
        return gap / float(np.fmax.reduce(self.upper, axis=None)) if gap > 0 else 0.0

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> Certificate:
        """The same bounds with another estimate (times `scale`), cut to them."""
        if estimate is None:
            return self
        return replace(self, value=np.clip(estimate / scale, self.lower, self.upper))

    def without(self, unsolved: npt.NDArray[np.bool_] | None) -> Certificate:
        """The same with NaN at the pairs that were not solved."""
        if unsolved is None:
            return self
        value, lower, upper = (np.where(unsolved, np.nan, bound) for bound in (self.value, self.lower, self.upper))
        return Certificate(value, lower, upper, self.shortfall)

    def __repr__(self) -> str:
        n, m = self.value.shape
        return f"Certificate({n} x {m} state pairs, gap {self.gap:.2g}, relative {self.relative_gap:.2g})"


def immediate_bounds(cost: Floats, error: float) -> Certificate:
    """V = c, for costs with this relative error."""
    return Certificate(cost.copy(), cost_below(cost, error), cost_above(cost, error))


Numbers: TypeAlias = Any  # a float, or [pairs] for the pairs of several problems


class Range(NamedTuple):
    """The least and the largest entry of a value."""

    least: Numbers
    most: Numbers

    @classmethod
    def of(cls, value: Floats) -> Range:
        """That of one problem's value."""
        return cls(float(value.min()), float(value.max()))


class Errors(NamedTuple):
    """What one application of the operator may have got wrong."""

    terms: Numbers  # of the longest sum
    rows: Numbers  # half the 1-norm between the joint marginals given and those stored, at worst
    potential: Numbers = 0.0  # the largest |f| + |g| that a lower bound was computed from
    marginal: Numbers = 0.0  # 1-norm by which a coupling misses its marginals
    cost: Numbers = 0.0  # by which the largest cost may be off


class Interval(NamedTuple):
    """Bounds at the pairs of an application, which may still be written to; see `Certificate`."""

    value: Floats
    lower: Floats
    upper: Floats
    shortfall: Numbers


class Application(NamedTuple):
    """L ≤ T V ≤ U for one value V, as computed by the checker, in the operator's scale."""

    lower: Floats  # [pairs], or [n, m] if that is all pairs
    upper: Floats
    lowest: Numbers  # min(L - V)
    highest: Numbers  # max(U - V)
    errors: Errors


class DiscountedOperator(Protocol):
    """What an interval depends on besides one application: a Bellman operator, of one or many problems or of a game."""

    @property
    def scale(self) -> Numbers: ...
    @property
    def discount(self) -> float: ...
    @property
    def largest_cost(self) -> Numbers: ...
    @property
    def cost_error(self) -> float: ...
    def largest_value(self) -> Numbers: ...


def interval(
    operator: DiscountedOperator,
    cost: Floats,
    value: Range,
    apply: Callable[[], Application],
    proved_zero: Callable[[Floats, Floats, Errors], npt.NDArray[np.bool_] | None],
) -> Interval:
    """MacQueen's bounds from one application, widened, cut to what is known anyway.

    `apply` makes the application, whose arrays become the bounds. `cost`, not scaled, and the outcome have entries at
    its pairs. `proved_zero` is asked with the bounds, in the operator's scale, and the errors of the application which
    pairs are zero for sure.
    """
    once = apply()
    lower, upper = np.ascontiguousarray(once.lower), np.ascontiguousarray(once.upper)
    estimate = np.empty_like(lower)
    onward = operator.discount / (1.0 - operator.discount)
    residuals = once.lowest, once.highest
    cost_error = largest_cost_error(operator.largest_cost / operator.scale, operator.cost_error) * operator.scale
    errors = once.errors._replace(cost=cost_error)
    down, up = widening(value, residuals, operator.largest_cost, operator.discount, errors)
    below, above, largest = onward * once.lowest, onward * once.highest, operator.largest_value()
    flat = estimate.reshape(-1), lower.reshape(-1), upper.reshape(-1)

    def widen(part: slice) -> None:
        middle, low, high = (bound[part] for bound in flat)
        low += _at(below, part)
        high += _at(above, part)
        np.add(low, high, out=middle)
        middle *= 0.5
        low -= _at(down, part)
        high += _at(up, part)
        for bound in (middle, low, high):  # distances lie in this range
            np.maximum(bound, 0.0, out=bound)
            np.minimum(bound, _at(largest, part), out=bound)

    _in_parts(widen, lower.size)
    zero = proved_zero(lower, upper, once.errors)
    zeros = None if zero is None else zero.reshape(-1)
    costs, is_tiny = cost.reshape(-1), np.less(operator.largest_cost / operator.scale, SUBNORMAL_BELOW).any()

    def finish(part: slice) -> None:
        middle, low, high = (bound[part] for bound in flat)
        for bound in (middle, low, high):
            bound /= _at(operator.scale, part)
        if is_tiny:
            np.nextafter(low, -np.inf, out=low)
            np.nextafter(high, np.inf, out=high)
        raise_to_cost(low, costs[part], operator.cost_error)
        if zeros is not None:
            low[zeros[part]] = high[zeros[part]] = 0.0
        np.clip(middle, low, high, out=middle)

    _in_parts(finish, lower.size)
    return Interval(estimate, lower, upper, down - once.lowest / (1.0 - operator.discount))


def _at(numbers: Numbers, part: slice) -> Numbers:
    """Those of some pairs, or the one of all."""
    return numbers[part] if isinstance(numbers, np.ndarray) else numbers


def _in_parts(work: Callable[[slice], None], size: int) -> None:
    """Call work(part) on parts of 0..size that fit into a cache, by several threads if there are many."""
    if size <= AT_ONCE:
        work(slice(0, size))
        return

    def several(first: int, last: int) -> None:
        for k in range(first, last, AT_ONCE):
            work(slice(k, min(k + AT_ONCE, last)))

    for_even_split(several, size, cost=size)


def widening(
    value: Range, residuals: tuple[Numbers, Numbers], largest_cost: Numbers, discount: float, errors: Errors
) -> tuple[Numbers, Numbers]:
    """By how much the computed lower and upper end have to be moved outwards to hold for real numbers."""
    largest = _larger(abs(value.least), abs(value.most))
    unit = (errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    residual = _larger(abs(residuals[0]), abs(residuals[1]))
    below = unit * (largest_cost + discount * _larger(largest, errors.potential) + residual)
    above = unit * (largest_cost + discount * largest + residual)
    reach = 2 * residual / (1.0 - discount)  # the true distances are this close to `value`
    moved = errors.rows * (value.most - value.least + reach)
    below += errors.cost + discount * moved
    above += errors.cost + discount * (moved + errors.marginal * (largest + reach))  # a coupling may also lack mass
    last = OPERATIONS_AFTER * UNIT_ROUNDOFF * (largest_cost + largest + reach)
    return below / (1.0 - discount) + last, above / (1.0 - discount) + last


def _larger(a: Numbers, b: Numbers) -> Numbers:
    """The larger one, entry by entry; for two numbers numpy takes ten times as long."""
    return max(a, b) if isinstance(a, float) and isinstance(b, float) else np.maximum(a, b)


def raise_to_cost(lower: Floats, cost: Floats, error: float) -> None:
    """Lift lower bounds to what no true cost is below, in place."""
    if error == 0.0:
        np.maximum(lower, cost, out=lower)
        return
    flat, costs = lower.reshape(-1), cost.reshape(-1)
    for first in range(0, len(flat), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        np.maximum(flat[part], cost_below(costs[part], error), out=flat[part])
