"""Where a distance comes from.

Under the optimal coupling the two chains move together. The occupancy ν(x, y) is the discounted share of time that
they spend at the pair (x, y). With the cost c as it was given,

    W = Σ ν(x, y) c(x, y) / (1 - γ),        normalised: W = Σ ν(x, y) c(x, y),

so every pair contributes an amount to the distance, and the amounts add up to it. Without a discount (the bisimilarity
distance) ν counts visits, and W = Σ ν(x, y) c(x, y) is the probability that labels ever differ. `Explanation` lists the
largest, and the most likely way on which the two part (`couplings/parting`); `explained` computes both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bisimetric._support.text import printable, text_table
from bisimetric._support.viewed import InNotebooks, PlottedExplanation
from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.couplings.occupancy import occupancy_error
from bisimetric.couplings.parting import JointPath, most_likely_parting
from bisimetric.errors import SolverFailed
from bisimetric.models.mdp import Model

SMALLEST_FLOAT = 5e-324  # the smallest positive float: amounts that underflow lose up to this much
FindPath = Callable[[float], JointPath]  # from the distance
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
class Explanation(InNotebooks, PlottedExplanation):
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
    path : JointPath
        The most likely way on which the two models part, and how they go on. In the long run it leads to the first pair
        that is met again and again and costs something.
    normalised : bool
        Whether the problem is normalised, so that amounts lack the factor 1/(1-γ).
    discounted : bool
        Whether there is a discount; without one, occupancies are expected numbers of visits.
    cost : str
        The name and the unit of the cost, if it has any; empty for an array, and for the gap between rewards.
    counted : str
        What an occupancy is, if it is neither of these: over a finite horizon, and in the long run.
    models : (model, model) or None
        The two models, for pictures.

    Examples
    --------
    >>> import bisimetric as bm
    >>> one = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0, names=["idle", "busy"])
    >>> other = bm.MarkovChain([[0.8, 0.2], [0, 1]], reward=[0, 1], start=0, names=["idle", "busy"])
    >>> bm.distance(one, other, discount=0.5).explain()
    source  target  occupancy  cost    amount   share
      busy    idle     0.1667     1  0.333333  100.0%
    all pairs that contribute; together 0.3333333333; amount = occupancy · cost / (1-γ)
    <BLANKLINE>
    The most likely way to part:
    step  source  target  chance  cost  distance
       0    idle    idle       1     0  0.333333
       1    busy    idle     0.3     1   1.66667
    they part after 1 step: rewards 1 and 0; this way has probability 0.3 and makes 75.0% of the distance
    """

    distance: float
    parts: tuple[Part, ...]
    rest: float
    n_pairs: int
    path: JointPath
    normalised: bool = False
    discounted: bool = True
    cost: str = ""
    counted: str = ""
    models: tuple[Model, Model] | None = field(default=None, repr=False, compare=False)

    @property
    def occupancy(self) -> str:
        """What the occupancy of a pair is, in words."""
        return self.counted or ("the discounted share of time" if self.discounted else "the expected number of visits")

    @property
    def formula(self) -> str:
        """How an amount follows from the occupancy and the cost of its pair."""
        what = f"; cost: {self.cost}" if self.cost else ""
        if self.counted:
            return f"amount = occupancy · cost{what}"
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

    def summary(self) -> str:
        """A line about the pairs that are not listed, the sum, and how amounts are made."""
        return f"{self.remainder()}; together {self.distance:.10g}; {self.formula}"

    def __repr__(self) -> str:
        parts = f"{text_table(self.head(), self.rows())}\n{self.summary()}"
        return f"{parts}\n\nThe most likely way to part:\n{self.path!r}"


def checked_total(walk: JointWalk, interval: tuple[float, float]) -> float:
    """The sum of all amounts; raises SolverFailed if it misses the certified interval by more than rounding."""
    total = float(walk.amounts.sum())
    longest = max(1.0, float(walk.occupancy.sum())) / walk.per_time
    slack = occupancy_error(walk.discount) * float(walk.cost.max()) * longest
    slack += SMALLEST_FLOAT * walk.cost.size * longest
    low, high = interval
    if not low - slack <= total <= high + slack:
        raise SolverFailed(
            f"the parts of the distance add up to {total:.10g}, which is not in [{low:.10g}, {high:.10g}]; "
            "solve with a smaller tol or discount"
        )
    return total


def explained(walk: JointWalk, distance: float, k: int, path: FindPath | None = None) -> Explanation:
    """The k pairs with the largest amounts, as parts of this distance; `path` finds the way to part for it."""
    amounts = walk.amounts
    flat = amounts.ravel()
    top = np.argsort(-flat, kind="stable")[:k]
    top = top[flat[top] > 0]
    parts = tuple(
        Part(
            *walk.names(int(x), int(y)),
            float(walk.occupancy[x, y]),
            walk.given_cost(int(x), int(y)),
            float(amounts[x, y]),
            float(amounts[x, y]) / distance if distance else 0.0,
            walk.action_names(int(x), int(y)),
        )
        for x, y in zip(*np.unravel_index(top, amounts.shape), strict=True)
    )
    rest = float(np.delete(flat, top).sum())
    question = walk.normalised, walk.discount < 1.0, walk.cost_text, walk.counted
    way = most_likely_parting(walk, distance) if path is None else path(distance)
    return Explanation(distance, parts, rest, int(np.count_nonzero(flat)), way, *question, walk.models)
