"""Where a distance comes from.

Under the optimal coupling the two chains move together; let ν(x, y), the occupancy, be the discounted share of time
that they spend at a pair. With the cost c as it was given,

    W = Σ ν(x, y) c(x, y) / (1 - γ),        normalised: W = Σ ν(x, y) c(x, y),

so every pair has a part in the distance, and the parts add up to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.text import printable
from bisimetric.couplings.occupancy import occupancy_error
from bisimetric.errors import InvalidOption, SolverFailed

if TYPE_CHECKING:
    from bisimetric.solving.solution import Solution

SMALLEST = 5e-324  # rounding of a part that is no normal number
HEAD = ("source", "target", "occupancy", "cost", "amount", "share")


@dataclass(frozen=True, slots=True)
class Part:
    """What one pair of states contributes to a distance."""

    source: str
    target: str
    occupancy: float  # discounted share of time at the pair, as in `coupling.occupancy()`
    cost: float  # as it was given, without the factor 1 - γ of a normalised problem
    amount: float  # occupancy · cost if normalised, occupancy · cost / (1 - γ) otherwise
    share: float  # amount / distance


@dataclass(frozen=True, slots=True)
class Explanation:
    """The largest parts of a distance; with `rest` they add up to it."""

    distance: float  # under the coupling found; inside the certified interval
    parts: tuple[Part, ...]  # largest first
    rest: float  # of the pairs not listed
    n_pairs: int  # pairs with a part, listed or not
    normalised: bool = False  # whether amounts are occupancy · cost, without 1 / (1 - γ)

    @property
    def formula(self) -> str:
        """How amounts follow from the other columns."""
        return "amount = occupancy · cost" + ("" if self.normalised else " / (1-γ)")

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """A table as text: source, target, occupancy, cost, amount, share; names are inert."""
        return [
            (
                printable(p.source),
                printable(p.target),
                f"{p.occupancy:.4g}",
                f"{p.cost:.4g}",
                f"{p.amount:.6g}",
                f"{p.share:.1%}",
            )
            for p in self.parts
        ]

    def remainder(self) -> str:
        """The pairs that are not listed, in words."""
        others = self.n_pairs - len(self.parts)
        if others <= 0:
            return "all pairs that contribute"
        return f"{others} other pair{'s' if others > 1 else ''}: {self.rest:.6g}"

    def __repr__(self) -> str:
        table = [HEAD, *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(len(HEAD))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join([*lines, f"{self.remainder()}; together {self.distance:.10g}; {self.formula}"])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self.rows())
        foot = f"{self.remainder()}; together {self.distance:.10g}; {self.formula}"
        return f"<table><tr>{head}</tr>{body}</table><p>{escape(foot)}</p>"


def explain(solution: Solution, k: int, start: object) -> Explanation:
    """Split the distance from the starts, or from the pair `start`, over the pairs that the optimal coupling visits."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
        raise InvalidOption(f"k is {k!r}, expected a whole number ≥ 0: how many pairs to list")
    problem = solution.problem
    occupancy = solution.coupling.occupancy(start)
    amounts = occupancy * problem.cost / (1.0 - problem.discount)  # the cost of a normalised problem has the factor
    flat = amounts.ravel()
    distance = _verified(solution, float(flat.sum()), start)
    top = np.argsort(-flat, kind="stable")[:k]
    top = top[flat[top] > 0]
    factor = 1.0 - problem.discount if problem.normalised else 1.0
    parts = tuple(
        Part(
            problem.source.name_of(int(x)),
            problem.target.name_of(int(y)),
            float(occupancy[x, y]),
            _divided(float(problem.cost[x, y]), factor),
            float(amounts[x, y]),
            float(amounts[x, y]) / distance if distance else 0.0,
        )
        for x, y in zip(*np.unravel_index(top, amounts.shape), strict=True)
    )
    rest = float(np.delete(flat, top).sum())
    return Explanation(distance, parts, rest, int(np.count_nonzero(flat)), problem.normalised)


def _verified(solution: Solution, total: float, start: object) -> float:
    """The sum of all parts, cut to the certified interval if rounding leads out of it; anything else is refused."""
    law = solution.coupling.law(start)
    low, high = (float((law * bound).sum(where=law > 0)) for bound in (solution.lower, solution.upper))
    problem = solution.problem
    longest = 1.0 / (1.0 - problem.discount)
    slack = occupancy_error(problem.discount) * float(problem.cost.max()) * longest + SMALLEST * law.size * longest
    if not low - slack <= total <= high + slack:
        raise SolverFailed(
            f"the parts of the distance add up to {total:.10g}, which is not in [{low:.10g}, {high:.10g}]; "
            "solve with a smaller tol or discount"
        )
    if start is None:  # the plan between the starts is best for the values, up to the gap also for their bounds
        low, high = solution.interval
    return min(max(total, low), high)


def _divided(product: float, factor: float) -> float:
    """The number that gives `product` when multiplied by `factor`; of several, the one with the fewest digits."""
    quotient = product / factor
    near = quotient, math.nextafter(quotient, 0.0), math.nextafter(quotient, math.inf)
    return min((number for number in near if number * factor == product), key=lambda n: len(repr(n)), default=quotient)
