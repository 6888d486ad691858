"""The question: two chains, a cost between their states, a discount.

V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] },        V = c where `stop` is set
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.content import EqualByContent
from bisimetric._support.frozen import Immutable, changed, frozen
from bisimetric._support.options import flag, shown
from bisimetric._support.text import discount_text, printable
from bisimetric._support.viewed import InNotebooks
from bisimetric.cost.ground import (
    Cost,
    Named,
    called_costs,
    checked_costs,
    cost_words,
    normalise,
    require_room_for_costs,
    reward_gap,
)
from bisimetric.errors import InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.frames import aligned_table
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, as_array, is_scalar


@dataclass(frozen=True, eq=False, init=False)
class Problem(EqualByContent, InNotebooks, Immutable):
    """The question how far the states of two chains are apart; immutable.

    `solve` answers it. Problems with equal chains, costs, discounts and stops are equal and have equal hashes.

    Parameters
    ----------
    source, target : MarkovChain
        Chains with n and m states.
    discount : float in [0, 1)
        γ, the weight of each step relative to the one before.
    cost : [n, m] array, function or None
        The cost of every pair of states, not negative. A function of the two chains returns such an array
        (`bisimetric.cost` has some); None is the gap between rewards, `bisimetric.cost.reward_gap`.
    normalised : bool
        Multiply the cost by 1 - γ, which turns the sum of discounted costs into their weighted mean (the bisimulation
        metric).
    stop : [n, m] array of bool, optional
        Pairs at which the game ends: V = c there.

    Attributes
    ----------
    cost : [n, m] array
        With the factor 1 - γ if normalised.
    cost_error : float
        The largest relative error of an entry of `cost`. An array is taken exactly (0). Where costs are computed, from
        rewards or with the factor 1 - γ, rounding changes them; certificates are widened by that, so they hold for the
        rewards and the discount as given.
    cost_name, cost_unit : str
        What the cost is called and measured in, for results; empty for an array.
    reward_weight : float or None
        How much the gap between two rewards counts in the cost: 1 for `reward_gap`, 0 for costs of labels. None where
        that is not known: for arrays, and for functions that are not in `bisimetric.cost`.
    unsolved : [n, m] array of bool, or None
        Pairs that were not asked for (`distance(..., pairs="reachable")`): NaN in every answer.
    shape : (n, m)

    Raises
    ------
    InvalidProblem
        Cost, discount or stop do not fit the two chains.
    NotEnoughMemory
        The costs take more memory than is available.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    >>> bm.Problem(chain, chain, discount=0.9)
    Problem(2 x 2 states, discount 0.9, not normalised)
    """

    source: MarkovChain
    target: MarkovChain
    cost: Floats  # [n, m], with the factor 1 - γ if normalised
    discount: float
    normalised: bool
    stop: npt.NDArray[np.bool_] | None  # [n, m]
    unsolved: npt.NDArray[np.bool_] | None  # [n, m], stops at no cost that stand for pairs not asked for
    cost_error: float = field(repr=False)  # largest relative error of an entry of `cost`, apart from underflow
    cost_name: str  # empty for an array
    cost_unit: str
    reward_weight: float | None  # of |r - r'| in the cost, without the factor 1 - γ; None where that is not known

    def __init__(
        self,
        source: MarkovChain,
        target: MarkovChain,
        *,
        discount: float,
        cost: npt.ArrayLike | Cost | None = None,
        normalised: bool = False,
        stop: npt.ArrayLike | None = None,
    ) -> None:
        for role, chain in (("source", source), ("target", target)):
            check_chain(chain, role)
        gamma = checked_discount(discount)
        shape = (source.n_states, target.n_states)
        checked, error, name, unit, reward_weight = ground_cost(cost, source, target)
        if normalised is not False and flag(normalised, "normalised"):
            error += normalise(checked, gamma)
        refuse_overflow(checked, gamma)
        checked.setflags(write=False)
        values: dict[str, Any] = {
            "source": source,
            "target": target,
            "cost": checked,
            "discount": gamma,
            "normalised": bool(normalised),
            "stop": _checked_stop(stop, shape),
            "unsolved": None,
            "cost_error": error,
            "cost_name": name,
            "cost_unit": unit,
            "reward_weight": reward_weight,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): states of the source and of the target."""
        return self.source.n_states, self.target.n_states

    @property
    def cost_text(self) -> str:
        """The name and the unit of the cost, for results; empty for an array, and for the default, `reward_gap`."""
        return shown_cost(self.cost_name, self.cost_unit)

    @property
    def uncertain(self) -> bool:
        """Whether a chain has rows or a start that are known only up to an error larger than rounding."""
        return self.source.uncertain or self.target.uncertain

    def as_given(self) -> Problem:
        """The problem between the chains as they are stored, known up to rounding."""
        if not self.uncertain:
            return self
        source = self.source.as_given()
        return changed(self, source=source, target=source if self.target is self.source else self.target.as_given())

    @property
    def ends(self) -> npt.NDArray[np.bool_] | None:
        """[n, m], pairs after which nothing is added to the distance for sure; None where there are none."""
        return self.stop

    def part(
        self,
        source: MarkovChain,
        target: MarkovChain,
        cost: Floats,
        stop: npt.NDArray[np.bool_] | None,
        unsolved: npt.NDArray[np.bool_] | None = None,
    ) -> Problem:
        """A problem between other chains, with costs taken from this one's, which nothing checks again."""
        return changed(
            self, source=source, target=target, cost=np.ascontiguousarray(cost), stop=stop, unsolved=unsolved
        )

    def _arrays(self) -> tuple[npt.NDArray[Any] | None, ...]:
        return self.cost, self.stop, self.unsolved

    def _words(self) -> tuple[object, ...]:
        return self.source, self.target, self.discount, self.normalised, self.cost_error

    def __repr__(self) -> str:
        kind = "normalised" if self.normalised else "not normalised"
        n, m = self.shape
        stop = "" if self.stop is None else ", stop"
        stop += f", cost {self.cost_text}" if self.cost_text else ""
        return f"Problem({n} x {m} states, discount {discount_text(self.discount)}, {kind}{stop})"


def checked_discount(discount: object, *, or_one: bool = False) -> float:
    """A number in [0, 1), or in [0, 1]."""
    expected = "in [0, 1]" if or_one else "in [0, 1)"
    array = np.asarray(discount) if is_scalar(discount, "discount", InvalidProblem) else np.zeros(0)
    if array.ndim != 0 or array.dtype.kind not in "iuf":
        raise InvalidProblem(f"discount is {shown(discount)}, expected one real number {expected}")
    gamma = float(array)
    if not (0.0 <= gamma < 1.0 or (or_one and gamma == 1.0)):
        raise InvalidProblem(
            f"discount is {discount_text(gamma)}, expected a number {expected}; 0.95 is a common choice"
        )
    return gamma


def shown_cost(name: str, unit: str) -> str:
    """The name of a cost, and its unit if the name does not say it; empty for an array, and for `reward_gap`."""
    if name in ("", reward_gap.name):
        return ""
    return printable(name, None) + (f" in {printable(unit)}" if unit and unit not in name else "")


def check_chain(chain: object, role: str) -> None:
    """Raise unless this is a chain."""
    if isinstance(chain, MDP):
        raise InvalidProblem(f"{role} is an MDP, expected a MarkovChain; mdp.under(policy) makes one")
    if not isinstance(chain, MarkovChain):
        raise InvalidProblem(f"{role} is a {type(chain).__name__}, expected a MarkovChain; as_chain(...) makes one")


class GroundCost(NamedTuple):
    """The costs of all pairs of states, and what is known of them."""

    array: Floats  # [n, m], a copy
    error: float  # largest relative error of an entry
    name: str  # empty for an array
    unit: str
    reward_weight: float | None  # of |r - r'| in it; None where that is not known


def ground_cost(cost: npt.ArrayLike | Cost | None, source: MarkovChain, target: MarkovChain) -> GroundCost:
    """What a user gives as a cost, checked; None is the gap between rewards."""
    shape = (source.n_states, target.n_states)
    require_room_for_costs(*shape)
    ground = reward_gap if cost is None else cost
    checked = _checked_cost(ground, source, target, shape)
    error = ground.error(source, target) if isinstance(ground, Named) else 0.0
    weight = ground.reward_weight if isinstance(ground, Named) else None
    return GroundCost(checked, error, *cost_words(ground), weight)


def _checked_cost(
    cost: npt.ArrayLike | Cost, source: MarkovChain, target: MarkovChain, shape: tuple[int, int]
) -> Floats:
    if isinstance(cost, str) or sparse.issparse(cost):
        raise InvalidProblem(
            f"cost is a {type(cost).__name__}, expected a dense array (sparse ones have .toarray()) "
            "or a cost object such as bisimetric.cost.label_mismatch"
        )
    if callable(cost):
        return called_costs(cost, source, target)
    return checked_costs(aligned_table(cost, source.names, target.names, "cost"), shape, "cost")


def refuse_overflow(cost: Floats, discount: float) -> None:
    """Raise where distances may leave the range of numbers."""
    with np.errstate(over="ignore"):
        if not np.isfinite(2.0 * cost.max() / (1.0 - discount)):
            sums = "distances up to max(cost)/(1 - discount)" if discount > 0.0 else "sums of costs"
            raise InvalidProblem(f"the largest cost is {cost.max():g}: {sums} overflow; divide the cost by a constant")


def refuse_errors(problem: Problem) -> None:
    """Raise where a chain is known up to errors, for problems without a discount."""
    if problem.uncertain:
        raise InvalidProblem(
            "a chain has row_error or start_error, and without a discount the smallest change of a row can change "
            "everything; give a discount below 1, such as 0.99, or chain.as_given() to ignore the errors"
        )


def _checked_stop(stop: npt.ArrayLike | None, shape: tuple[int, int]) -> npt.NDArray[np.bool_] | None:
    if stop is None:
        return None
    array = as_array(stop, "stop", InvalidProblem, f"a bool array of shape {shape}").copy()
    if array.dtype != np.bool_ or array.shape != shape:
        raise InvalidProblem(f"stop has dtype {array.dtype} and shape {array.shape}, expected bool and {shape}")
    return frozen(array)
