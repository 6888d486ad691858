"""What a ground cost is: its name and unit, its rounding, weighted sums; and the costs from rewards and labels.

    c = w_1·c_1 + … + w_k·c_k,        relative error at most  max(e_1, …, e_k) + (k + 1) roundings

because costs and weights are not negative, so that nothing cancels. A relative error bounds that of every cost. Costs
are zero exactly where the true ones are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from bisimetric._support import memory
from bisimetric._support.options import is_positive, shown
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.models.chain import MarkovChain, compared_labels
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Ints, Mask, real_array

DIGITS = 53  # binary digits of a float64
NORMALISING = 4 * UNIT_ROUNDOFF  # bound on the relative error of (1-γ)·c: twice its two roundings
DIFFERENCE = 2 * UNIT_ROUNDOFF  # bound on the relative error of |r - r'|: twice its one rounding
BYTES_PER_CHECKED_PAIR = 18  # the given cost, its checked copy, and masks during the checks
LEAST = 5e-324  # the smallest positive float64
Number = TypeVar("Number", float, Floats)


class Cost(Protocol):
    """The type of a cost: a function of two chains with n and m states that returns an [n, m] array.

    Its entries are finite and not negative; entry [x, y] is the cost of state x of `source` against y of `target`.
    """

    def __call__(self, source: MarkovChain, target: MarkovChain) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Named:
    """A cost with a name and a unit, which knows by how much rounding has moved its entries.

    `reward_gap` is |r(x) - r'(y)|; `label_mismatch` is 1 where labels differ and 0 elsewhere; `label_difference` and
    `label_jaccard` compare sets of labels; `features(metric)` is a distance between labels that are numbers or vectors;
    `emissions` compares the states of hidden Markov models; `function(f)` is any other function of two chains. Sums and
    multiples by positive numbers are costs too: `0.5 * reward_gap + label_mismatch`.

    Parameters
    ----------
    source, target : MarkovChain
        Chains with n and m states that have what the cost looks at: rewards or labels.

    Returns
    -------
    array [n, m]
        The cost of every pair of states.

    Raises
    ------
    InvalidProblem
        A chain has no rewards or labels.
    NotEnoughMemory
        The array is too large; nothing is allocated.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 3])
    >>> bm.cost.reward_gap(chain, chain)
    array([[0., 3.],
           [3., 0.]])
    """

    __array_ufunc__: ClassVar[None] = None  # numpy leaves products with its numbers to __rmul__

    name: str
    unit: str
    function: Callable[[MarkovChain, MarkovChain], Floats]
    error: Callable[[MarkovChain, MarkovChain], float]  # bound on the relative error of every cost
    terms: tuple[tuple[float, Named], ...] = ()  # weights and costs, if it is a sum
    reward_weight: float | None = None  # of |r - r'| in it, 0 where rewards do not matter; None where that is not known
    common: Callable[[MarkovChain, MarkovChain], Mask] | None = (
        None  # where labels share something, if it is about that
    )

    def __call__(self, source: MarkovChain, target: MarkovChain) -> Floats:
        require_room_for_costs(source.n_states, target.n_states)
        return self.function(source, target)

    def __mul__(self, weight: object) -> Named:
        if not is_positive(weight):
            raise InvalidOption(f"a cost is multiplied by {shown(weight)}, expected a positive number")
        return _sum(tuple((float(weight) * own, cost) for own, cost in _terms(self)))  # type: ignore[arg-type]

    __rmul__ = __mul__

    def __add__(self, other: object) -> Named:
        if isinstance(other, (int, float)) and other == 0:  # so that sum([...]) works
            return self
        if not callable(other):
            raise InvalidOption(
                f"a cost and a {type(other).__name__} are added, expected two costs; "
                "bisimetric.cost.function(lambda source, target: array) makes one of an array"
            )
        return _sum((*_terms(self), *_terms(other if isinstance(other, Named) else function(other))))

    __radd__ = __add__

    def __repr__(self) -> str:
        return " + ".join(_shown_term(*term) for term in self.terms) or f"bisimetric.cost.{self.name}"


def function(function: Cost, name: str | None = None, unit: str = "") -> Named:
    """Give a name and a unit to any function of two chains, so that results show it and sums may contain it.

    Parameters
    ----------
    function : function of two chains
        Returns the costs, [n, m], not negative; they are taken exactly.
    name : str, optional
        By default the function's own.
    unit : str
        What the costs are measured in.

    Returns
    -------
    Named

    Examples
    --------
    >>> import bisimetric as bm
    >>> one = bm.cost.function(lambda source, target: [[1.0] * target.n_states] * source.n_states, "one", "euros")
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 3])
    >>> (one + 2 * bm.cost.reward_gap)(chain, chain).tolist()
    [[1.0, 7.0], [7.0, 1.0]]
    """
    if not callable(function):
        raise InvalidOption(f"function is a {type(function).__name__}, expected a function of two chains")
    return Named(name or own_name(function), unit, function, exact)


def require_room_for_costs(n: int, m: int) -> None:
    """Raise before anything is allocated if the costs between so many states take too much memory."""
    needed = BYTES_PER_CHECKED_PAIR * n * m
    if needed > memory.NEGLIGIBLE:
        what = f"the cost between {n} x {m} states"
        memory.require(needed, what, "merge bisimilar states, or compare parts of the chains")


def own_name(cost: Cost) -> str:
    """The name of a named cost or of a function."""
    return cost.name if isinstance(cost, Named) else str(getattr(cost, "__name__", type(cost).__name__))


def exact(source: MarkovChain, target: MarkovChain) -> float:
    """The error of costs that do not round."""
    return 0.0


def checked_costs(given: object, shape: tuple[int, int], what: str) -> Floats:
    """An array of finite costs that are not negative, as a copy."""
    array = real_array(given, what, InvalidProblem, ndim=2)
    if array.shape != shape:
        raise InvalidProblem(
            f"{what} has shape {array.shape}, expected {shape}: one row per source state, one column per target state"
        )
    if array.min() < 0:
        x, y = np.unravel_index(int(array.argmin()), shape)
        raise InvalidProblem(
            f"{what}[{int(x)}, {int(y)}] is {array[x, y]:g}, expected no negative cost; shift or clip it before"
        )
    return array


def called_costs(cost: Cost, source: MarkovChain, target: MarkovChain) -> Floats:
    """What a cost returns for two chains, checked; errors name it."""
    if not isinstance(cost, Named):
        _check_takes_two(cost)
    shape, name = (source.n_states, target.n_states), f"cost (from {own_name(cost)})"
    found = cost(source, target)
    if np.isscalar(found):
        raise InvalidProblem(
            f"{name} is {shown(found)}, expected an array {shape}: a cost is called with two chains, not two states"
        )
    return checked_costs(found, shape, name)


def _check_takes_two(cost: Cost) -> None:
    try:
        signature(cost).bind(None, None)
    except ValueError:  # functions that are not written in Python tell nothing
        return
    except TypeError as error:
        raise InvalidProblem(
            f"cost is {own_name(cost)}, which cannot be called with two chains ({error}); a cost is a function of the "
            "source and the target that returns an [n, m] array: bisimetric.cost.features() makes one"
        ) from None


def _terms(cost: Named) -> tuple[tuple[float, Named], ...]:
    return cost.terms or ((1.0, cost),)


def _sum(terms: tuple[tuple[float, Named], ...]) -> Named:
    """The weighted sum of costs that are no sums themselves."""

    def between(source: MarkovChain, target: MarkovChain) -> Floats:
        total = np.zeros((source.n_states, target.n_states))
        positive = np.zeros(total.shape, np.bool_)
        with np.errstate(over="ignore"):
            for weight, cost in terms:
                part = called_costs(cost, source, target)
                positive |= part > 0.0
                part *= weight
                total += part
        return kept_positive(total, positive)

    def error(source: MarkovChain, target: MarkovChain) -> float:
        return max(cost.error(source, target) for _, cost in terms) + 2 * (len(terms) + 1) * UNIT_ROUNDOFF

    name = " + ".join((f"{weight:g}·" if weight != 1.0 else "") + cost.name for weight, cost in terms)
    units = dict.fromkeys(cost.unit for _, cost in terms if cost.unit)
    weights = [None if cost.reward_weight is None else weight * cost.reward_weight for weight, cost in terms]
    known = [weight for weight in weights if weight is not None]
    of_rewards = sum(known) if len(known) == len(weights) else None
    return Named(name, " + ".join(units), between, error, terms, of_rewards)


def _shown_term(weight: float, cost: Named) -> str:
    return repr(cost) if weight == 1.0 else f"{weight!r} * {cost!r}"


def labels_in_common(cost: object, source: MarkovChain, target: MarkovChain) -> list[Mask]:
    """[n, m] for each term of a cost that compares labels: where the labels of two states share something."""
    terms = _terms(cost) if isinstance(cost, Named) else ()
    return [term.common(source, target) for _, term in terms if term.common is not None]


def cost_words(cost: Any) -> tuple[str, str]:
    """The name and the unit of a cost, for results; empty for arrays."""
    if isinstance(cost, Named):
        return cost.name, cost.unit
    return (own_name(cost), "") if callable(cost) else ("", "")


# ------------------------------------------------------------------ rounding


def normalise(cost: Floats, discount: float) -> float:
    """Multiply costs by 1 - γ in place and return the relative error of that; positive costs stay positive."""
    if discount == 0.0:
        return 0.0
    positive = cost > 0.0
    cost *= 1.0 - discount
    kept_positive(cost, positive)
    return NORMALISING


def cost_below(cost: Floats, error: float) -> Floats:
    """Lower bounds on the true costs, given their largest relative error; a new array, in which zeros are exact."""
    if error == 0.0:
        return cost.copy()
    low = cost * (1.0 - error)
    return np.nextafter(low, 0.0, out=low)


def cost_above(cost: Floats, error: float) -> Floats:
    """Upper bounds on the true costs."""
    if error == 0.0:
        return cost.copy()
    high = cost * (1.0 + error)
    np.nextafter(high, np.inf, out=high, where=cost > 0.0)
    return high


def largest_cost_error(largest: Number, error: float) -> Number:
    """A bound on the absolute error of costs up to `largest`; one for each if that is an array."""
    if isinstance(largest, np.ndarray):
        return cost_above(largest, error) - largest
    return math.nextafter(largest * (1.0 + error), math.inf) - largest if error and largest > 0.0 else 0.0


def kept_positive(cost: Floats, positive: npt.NDArray[np.bool_]) -> Floats:
    """The costs, in which those that underflow to zero become the smallest number; changed in place."""
    np.copyto(cost, LEAST, where=positive & (cost == 0.0))
    return cost


# ------------------------------------------------------------------ rewards and labels


def _reward_gap(source: MarkovChain, target: MarkovChain) -> Floats:
    for role, chain in (("source", source), ("target", target)):
        if chain.reward is None:
            raise InvalidProblem(
                f"the {role} chain has no reward; give it one, or a cost: an array [n, m] or a file of one, "
                "or label_mismatch (--cost labels)"
            )
    assert source.reward is not None
    assert target.reward is not None
    with np.errstate(over="ignore"):
        gap: Floats = np.subtract.outer(source.reward, target.reward)
    if not np.isfinite(gap).all():
        raise InvalidProblem("the gap between two rewards overflows; divide the rewards by a constant")
    return np.abs(gap, out=gap)


def _reward_gap_error(source: MarkovChain, target: MarkovChain) -> float:
    """Zero if all differences are exact: rewards are multiples of one unit, as whole numbers are, and not too large."""
    rewards = np.concatenate([chain.reward for chain in (source, target) if chain.reward is not None])
    digits, exponent = np.frexp(rewards[rewards != 0.0])
    if not len(digits):
        return 0.0
    whole = np.ldexp(np.abs(digits), DIGITS).astype(np.int64)
    unit = exponent - DIGITS + np.frexp((whole & -whole).astype(np.float64))[1] - 1  # of the last digit that is set
    return 0.0 if int(exponent.max()) + 1 - int(unit.min()) <= DIGITS else DIFFERENCE


def label_numbers(source: MarkovChain, target: MarkovChain) -> tuple[Ints, Ints]:
    """A number for the label of every state; equal labels have equal numbers in both chains."""
    numbers: dict[object, int] = {}
    codes = []
    for role, chain in (("source", source), ("target", target)):
        labels = compared_labels(chain.labels)
        if labels is None:
            raise InvalidProblem(
                f"the {role} chain has no labels; give it some, or another cost, such as an array [n, m]"
            )
        codes.append(np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64))
    return codes[0], codes[1]


def _label_mismatch(source: MarkovChain, target: MarkovChain) -> Floats:
    differ: Floats = np.not_equal.outer(*label_numbers(source, target)).astype(np.float64)
    return differ


def _same_label(source: MarkovChain, target: MarkovChain) -> Mask:
    return np.equal.outer(*label_numbers(source, target))


reward_gap = Named("reward_gap", "reward", _reward_gap, _reward_gap_error, reward_weight=1.0)
label_mismatch = Named("label_mismatch", "mismatch", _label_mismatch, exact, reward_weight=0.0, common=_same_label)
