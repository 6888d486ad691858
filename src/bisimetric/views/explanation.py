"""Where a distance comes from.

Under the optimal coupling the two chains move together; let ν(x, y) be the discounted share of time they
spend at a pair. Then

    W = Σ ν(x, y) c(x, y) / (1 - γ),

so every pair has a part in the distance, and the parts add up to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bisimetric._errors import InvalidOption

if TYPE_CHECKING:
    from bisimetric._solution import Solution


@dataclass(frozen=True, slots=True)
class Part:
    """What one pair of states contributes to a distance."""

    source: str
    target: str
    occupancy: float  # discounted share of time at the pair
    cost: float
    amount: float  # occupancy · cost / (1 - γ)
    share: float  # amount / distance


@dataclass(frozen=True, slots=True)
class Explanation:
    """The largest parts of a distance; with `rest` they add up to it."""

    distance: float  # under the coupling found; inside the certified interval
    parts: tuple[Part, ...]  # largest first
    rest: float  # of the pairs not listed
    n_pairs: int  # pairs with a part, listed or not

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """A table as text: source, target, occupancy, cost, amount, share."""
        return [
            (p.source, p.target, f"{p.occupancy:.4f}", f"{p.cost:.4g}", f"{p.amount:.6g}", f"{p.share:.1%}")
            for p in self.parts
        ]

    def __repr__(self) -> str:
        head = ("source", "target", "occupancy", "cost", "amount", "share")
        table = [head, *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(len(head))]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in table]
        others = self.n_pairs - len(self.parts)
        return "\n".join([*lines, f"{others} other pairs: {self.rest:.6g}; together {self.distance:.10g}"])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("source", "target", "occupancy", "cost", "amount", "share"))
        body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self.rows())
        return f"<table><tr>{head}</tr>{body}</table><p>rest {self.rest:.6g}, together {self.distance:.10g}</p>"


def explain(solution: Solution, k: int, start: object) -> Explanation:
    """Split the distance from the starts, or from the pair `start`, over the pairs that the optimal coupling visits."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
        raise InvalidOption(f"k is {k!r}, expected a whole number ≥ 0: how many pairs to list")
    problem = solution.problem
    occupancy = solution.coupling.occupancy(start)
    amounts = occupancy * problem.cost / (1.0 - problem.discount)
    flat = amounts.ravel()
    distance = float(flat.sum())
    top = np.argsort(-flat, kind="stable")[:k]
    top = top[flat[top] > 0]
    parts = tuple(
        Part(
            problem.source.name_of(int(x)),
            problem.target.name_of(int(y)),
            float(occupancy[x, y]),
            float(problem.cost[x, y]),
            float(amounts[x, y]),
            float(amounts[x, y]) / distance if distance else 0.0,
        )
        for x, y in zip(*np.unravel_index(top, amounts.shape), strict=True)
    )
    rest = float(np.delete(flat, top).sum())
    return Explanation(distance, parts, rest, int(np.count_nonzero(flat)))
