"""Ground costs between the states of two chains.

A cost is a function of two chains that returns the [n, m] array of costs between their states. `Problem`, `distance`
and `pairwise` take one, or an array. The costs here also have a name, for the command line and tables of results, and
know how far rounding moves their entries: certificates are widened by that, so they hold for the chains' rewards and
features. An array, or what another function returns, is taken exactly.

>>> import bisimetric as bm
>>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 3], labels=["safe", "failed"])
>>> bm.cost.reward_gap(chain, chain).tolist()
[[0.0, 3.0], [3.0, 0.0]]
>>> bm.cost.label_mismatch(chain, chain).tolist()
[[0.0, 1.0], [1.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

__all__ = ["Cost", "features", "label_mismatch", "reward_gap"]

DIGITS = 53  # binary digits of a float64
LEAST = 5e-324  # the smallest positive float64
NORMALISING = 4 * UNIT_ROUNDOFF  # bound on the relative error of (1-γ)·c: twice its two roundings
DIFFERENCE = 2 * UNIT_ROUNDOFF  # bound on the relative error of |r - r'|: twice its one rounding
SQUARES_BETWEEN = 1e-140, 1e140  # euclidean distances whose squares neither vanish nor overflow
ROUNDED_RELATIVELY = ("euclidean", "cityblock", "chebyshev")  # metrics without cancellation

Numbers = npt.NDArray[np.int64]


class Cost(Protocol):
    """The type of a cost: a function of two chains with n and m states that returns an [n, m] array.

    Its entries are finite and not negative; entry [x, y] is the cost of state x of `source` against y of `target`.
    """

    def __call__(self, source: MarkovChain, target: MarkovChain) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Named:
    """A cost with a name, which knows by how much rounding has moved its entries.

    `reward_gap` is |r(x) - r'(y)|; `label_mismatch` is 1 where labels differ and 0 elsewhere; `features(metric)` is a
    distance between labels that are numbers or vectors.

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

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 3])
    >>> bm.cost.reward_gap(chain, chain)
    array([[0., 3.],
           [3., 0.]])
    """

    name: str
    function: Callable[[MarkovChain, MarkovChain], Floats]
    error: Callable[[MarkovChain, MarkovChain], float]  # bound on the relative error of every cost

    def __call__(self, source: MarkovChain, target: MarkovChain) -> Floats:
        return self.function(source, target)

    def __repr__(self) -> str:
        return f"bisimetric.cost.{self.name}"


def _reward_gap(source: MarkovChain, target: MarkovChain) -> Floats:
    for role, chain in (("source", source), ("target", target)):
        if chain.reward is None:
            raise InvalidProblem(
                f"the {role} chain has no reward; give it one, or another cost: label_mismatch (--cost labels), say"
            )
    assert source.reward is not None
    assert target.reward is not None
    with np.errstate(over="ignore"):
        gap: Floats = np.subtract.outer(source.reward, target.reward)
    if not np.isfinite(gap).all():
        raise InvalidProblem("the gap between two rewards overflows; divide the rewards by a constant")
    return np.abs(gap, out=gap)


def label_numbers(source: MarkovChain, target: MarkovChain) -> tuple[Numbers, Numbers]:
    """A number for the label of every state; equal labels have equal numbers in both chains."""
    numbers: dict[object, int] = {}
    codes = []
    for role, chain in (("source", source), ("target", target)):
        if chain.labels is None:
            raise InvalidProblem(f"the {role} chain has no labels; give it some, or another cost")
        codes.append(np.array([numbers.setdefault(label, len(numbers)) for label in chain.labels], np.int64))
    return codes[0], codes[1]


def _label_mismatch(source: MarkovChain, target: MarkovChain) -> Floats:
    differ: Floats = np.not_equal.outer(*label_numbers(source, target)).astype(np.float64)
    return differ


def _reward_gap_error(source: MarkovChain, target: MarkovChain) -> float:
    """Zero if all differences are exact: rewards are multiples of one unit, as whole numbers are, and not too large."""
    rewards = np.concatenate([chain.reward for chain in (source, target) if chain.reward is not None])
    digits, exponent = np.frexp(rewards[rewards != 0.0])
    if not len(digits):
        return 0.0
    whole = np.ldexp(np.abs(digits), DIGITS).astype(np.int64)
    unit = exponent - DIGITS + np.frexp((whole & -whole).astype(np.float64))[1] - 1  # of the last digit that is set
    return 0.0 if int(exponent.max()) + 1 - int(unit.min()) <= DIGITS else DIFFERENCE


def _no_error(source: MarkovChain, target: MarkovChain) -> float:
    return 0.0


def normalise(cost: Floats, discount: float) -> float:
    """Multiply costs by 1 - γ in place and return the relative error of that; positive costs stay positive."""
    if discount == 0.0:
        return 0.0
    positive = cost > 0.0
    cost *= 1.0 - discount
    np.copyto(cost, LEAST, where=positive & (cost == 0.0))
    return NORMALISING


reward_gap = Named("reward_gap", _reward_gap, _reward_gap_error)
label_mismatch = Named("label_mismatch", _label_mismatch, _no_error)


def features(metric: str = "euclidean") -> Named:
    """Make a cost of the distances between labels that are numbers or vectors.

    Parameters
    ----------
    metric : str
        A metric of `scipy.spatial.distance.cdist`. Certificates include the rounding of "euclidean", "cityblock" and
        "chebyshev" distances; distances of other metrics are taken as computed.

    Returns
    -------
    Named
        A function of two chains that returns the costs, [n, m]. It raises InvalidProblem where labels are no vectors
        of one length.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], labels=[(0, 0), (3, 4)])
    >>> bm.cost.features("euclidean")(chain, chain).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """

    def between(source: MarkovChain, target: MarkovChain) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = _vectors(source, "source"), _vectors(target, "target")
        if vectors[0].shape[1] != vectors[1].shape[1]:
            raise InvalidProblem(
                f"feature vectors have {vectors[0].shape[1]} and {vectors[1].shape[1]} entries, expected as many"
            )
        try:
            found: Floats = np.ascontiguousarray(cdist(vectors[0], vectors[1], metric))
        except (TypeError, ValueError) as error:
            raise InvalidProblem(f"the metric {metric!r} fails on these features: {error}") from None
        if metric == "euclidean":
            x, y = np.nonzero(~((found > SQUARES_BETWEEN[0]) & (found < SQUARES_BETWEEN[1])))
            with np.errstate(over="ignore"):
                found[x, y] = np.hypot.reduce(vectors[0][x] - vectors[1][y], axis=1, initial=0.0)
        return found

    def error(source: MarkovChain, target: MarkovChain) -> float:
        entries = _vectors(source, "source").shape[1]
        return 2 * (entries + 4) * UNIT_ROUNDOFF if metric in ROUNDED_RELATIVELY else 0.0

    return Named(f"features({metric!r})", between, error)


def _vectors(chain: MarkovChain, role: str) -> Floats:
    """[n, entries], the labels as numbers."""
    try:
        array = np.array(chain.labels, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidProblem(f"the labels of the {role} chain are not numeric vectors of one length") from None
    if array.ndim == 0:
        raise InvalidProblem(f"the {role} chain has no labels; give one feature vector per state as labels=")
    return array.reshape(len(array), -1)


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


def largest_cost_error(largest: float, error: float) -> float:
    """A bound on the absolute error of costs up to `largest`."""
    return float(cost_above(np.array([largest]), error)[0]) - largest if error else 0.0


def __dir__() -> list[str]:
    return sorted(__all__)
