"""Where a distance comes from.

Under the optimal coupling the two chains move together. The occupancy ν(x, y) is the discounted share of time that
they spend at the pair (x, y). With the cost c as it was given,

    W = Σ ν(x, y) c(x, y) / (1 - γ),        normalised: W = Σ ν(x, y) c(x, y),

so every pair contributes an amount to the distance, and the amounts add up to it. Without a discount (the bisimilarity
distance) ν counts visits, and W = Σ ν(x, y) c(x, y) is the probability that labels ever differ. `Explanation` lists the
largest; `explained` computes them from an occupancy and a cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.text import printable
from bisimetric.couplings.occupancy import occupancy_error
from bisimetric.errors import SolverFailed
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats

SMALLEST_FLOAT = 5e-324  # the smallest positive float: amounts that underflow lose up to this much
HEAD = ("source", "target", "occupancy", "cost", "amount", "share")
ACTION_HEAD = ("source action", "target action")


@dataclass(frozen=True, slots=True)
class Part:
    """What one pair of states contributes to a distance.

    Attributes
    ----------
    source, target : str
        The names of the two states.
    occupancy : float
        Discounted share of time that the coupled chains spend at the pair, as in `Coupling.occupancy`.
    cost : float
        Cost of the pair as it was given, without the factor 1-γ of a normalised problem.
    amount : float
        occupancy · cost if the problem is normalised, occupancy · cost / (1-γ) otherwise.
    share : float
        amount / distance, from 0 to 1.
    actions : (str, str) or None
        The names of the decisive actions of the two states, between decision processes.
    """

    source: str
    target: str
    occupancy: float
    cost: float
    amount: float
    share: float
    actions: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The pairs of states that contribute most to a distance; printed, it is a table.

    Attributes
    ----------
    distance : float
        The distance under the coupling found. It lies inside the certified interval.
    parts : tuple of Part
        The pairs with the largest amounts, largest first.
    rest : float
        The amounts of all other pairs together: `distance` is `rest` plus the amounts of `parts`.
    n_pairs : int
        The number of pairs that contribute, listed or not.
    normalised : bool
        Whether the problem is normalised, so that amounts lack the factor 1/(1-γ).
    discounted : bool
        Whether there is a discount; without one, occupancies are expected numbers of visits.
    cost : str
        The name and the unit of the cost, if it has any; empty for an array, and for the gap between rewards.

    Examples
    --------
    >>> import bisimetric as bm
    >>> one = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0, names=["idle", "busy"])
    >>> other = bm.MarkovChain([[0.8, 0.2], [0, 1]], reward=[0, 1], start=0, names=["idle", "busy"])
    >>> bm.distance(one, other, discount=0.5).explain()
    source  target  occupancy  cost    amount   share
      busy    idle     0.1667     1  0.333333  100.0%
    all pairs that contribute; together 0.3333333333; amount = occupancy · cost / (1-γ)
    """

    distance: float
    parts: tuple[Part, ...]
    rest: float
    n_pairs: int
    normalised: bool = False
    discounted: bool = True
    cost: str = ""

    @property
    def formula(self) -> str:
        """How an amount follows from the occupancy and the cost of its pair."""
        what = f"; cost: {self.cost}" if self.cost else ""
        if not self.discounted:
            return f"amount = expected visits · cost, and the first visit is the last{what}"
        return "amount = occupancy · cost" + ("" if self.normalised else " / (1-γ)") + what

    def head(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return HEAD if all(p.actions is None for p in self.parts) else (*HEAD[:2], *ACTION_HEAD, *HEAD[2:])

    def rows(self) -> list[tuple[str, ...]]:
        """The cells of the table as text, one row per part; control characters in names are escaped."""
        return [
            (
                printable(p.source),
                printable(p.target),
                *map(printable, p.actions or ()),
                f"{p.occupancy:.4g}",
                f"{p.cost:.4g}",
                f"{p.amount:.6g}",
                f"{p.share:.1%}",
            )
            for p in self.parts
        ]

    def remainder(self) -> str:
        """A line about the pairs that are not listed."""
        others = self.n_pairs - len(self.parts)
        if others <= 0:
            return "all pairs that contribute"
        return f"{others} other pair{'s' if others > 1 else ''}: {self.rest:.6g}"

    def __repr__(self) -> str:
        table = [self.head(), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in table]
        return "\n".join([*lines, f"{self.remainder()}; together {self.distance:.10g}; {self.formula}"])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in self.head())
        body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in self.rows())
        foot = f"{self.remainder()}; together {self.distance:.10g}; {self.formula}"
        return f"<table><tr>{head}</tr>{body}</table><p>{escape(foot)}</p>"


class Visits(NamedTuple):
    """How two coupled models move: the time that they spend at each pair of states, and what the pairs cost."""

    models: tuple[Model, Model]
    occupancy: Floats  # [n, m], discounted share of time
    cost: Floats  # [n, m], times 1-γ in a normalised problem
    discount: float
    normalised: bool
    actions: npt.NDArray[np.int64] | None = None  # [n, m, 2], decisive ones between decision processes
    cost_text: str = ""  # the name and the unit of the cost

    @property
    def per_time(self) -> float:
        """What the weights of all times add up to, relative to occupancies: 1 - γ, or 1 where those count visits."""
        return 1.0 - self.discount if self.discount < 1.0 else 1.0

    @property
    def amounts(self) -> Floats:
        """What every pair contributes to the distance, [n, m]."""
        amounts: Floats = self.occupancy * self.cost / self.per_time
        return amounts


def checked_total(visits: Visits, interval: tuple[float, float]) -> float:
    """The sum of all amounts; raises SolverFailed if it misses the certified interval by more than rounding."""
    total = float(visits.amounts.sum())
    longest = max(1.0, float(visits.occupancy.sum())) / visits.per_time
    slack = occupancy_error(visits.discount) * float(visits.cost.max()) * longest
    slack += SMALLEST_FLOAT * visits.cost.size * longest
    low, high = interval
    if not low - slack <= total <= high + slack:
        raise SolverFailed(
            f"the parts of the distance add up to {total:.10g}, which is not in [{low:.10g}, {high:.10g}]; "
            "solve with a smaller tol or discount"
        )
    return total


def explained(visits: Visits, distance: float, k: int) -> Explanation:
    """The k pairs with the largest amounts, as parts of this distance."""
    amounts = visits.amounts
    flat = amounts.ravel()
    top = np.argsort(-flat, kind="stable")[:k]
    top = top[flat[top] > 0]
    factor = visits.per_time if visits.normalised else 1.0
    parts = tuple(
        Part(
            visits.models[0].name_of(int(x)),
            visits.models[1].name_of(int(y)),
            float(visits.occupancy[x, y]),
            _divided(float(visits.cost[x, y]), factor),
            float(amounts[x, y]),
            float(amounts[x, y]) / distance if distance else 0.0,
            _actions(visits, int(x), int(y)),
        )
        for x, y in zip(*np.unravel_index(top, amounts.shape), strict=True)
    )
    rest = float(np.delete(flat, top).sum())
    question = visits.normalised, visits.discount < 1.0, visits.cost_text
    return Explanation(distance, parts, rest, int(np.count_nonzero(flat)), *question)


def _actions(visits: Visits, x: int, y: int) -> tuple[str, str] | None:
    if visits.actions is None:
        return None
    source, target = visits.models
    assert isinstance(source, MDP)
    assert isinstance(target, MDP)
    a, b = visits.actions[x, y]
    return source.action_name(int(a)), target.action_name(int(b))


def _divided(product: float, factor: float) -> float:
    """The number that gives `product` when multiplied by `factor`; of several, the one with the fewest digits."""
    quotient = product / factor
    near = quotient, math.nextafter(quotient, 0.0), math.nextafter(quotient, math.inf)
    return min((number for number in near if number * factor == product), key=lambda n: len(repr(n)), default=quotient)
