"""Ground costs between the states of two chains.

A cost object is called with the two chains and returns the [n, m] array of costs. Arrays serve as well; these
objects exist because they can be named, on the command line and in a table of results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bisimetric._chain import MarkovChain
from bisimetric._errors import InvalidProblem
from bisimetric._stochastic import Floats


class Cost(Protocol):
    """Anything that turns two chains into an [n, m] array of costs."""

    def __call__(self, source: MarkovChain, target: MarkovChain) -> Floats: ...


@dataclass(frozen=True, slots=True)
class _Named:
    """A cost that is a function of the two chains."""

    name: str
    function: Callable[[MarkovChain, MarkovChain], Floats]

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


def _label_mismatch(source: MarkovChain, target: MarkovChain) -> Floats:
    numbers: dict[object, int] = {}
    codes = []
    for role, chain in (("source", source), ("target", target)):
        if chain.labels is None:
            raise InvalidProblem(f"the {role} chain has no labels; give it some, or another cost")
        codes.append(np.array([numbers.setdefault(label, len(numbers)) for label in chain.labels]))
    differ: Floats = np.not_equal.outer(codes[0], codes[1]).astype(np.float64)
    return differ


reward_gap = _Named("reward_gap", _reward_gap)
label_mismatch = _Named("label_mismatch", _label_mismatch)


def features(metric: str = "euclidean") -> _Named:
    """The distance between labels that are numbers or vectors, by any metric of `scipy.spatial.distance.cdist`."""

    def between(source: MarkovChain, target: MarkovChain) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = []
        for role, chain in (("source", source), ("target", target)):
            try:
                array = np.array(chain.labels, dtype=np.float64)
            except (TypeError, ValueError, OverflowError):
                raise InvalidProblem(f"the labels of the {role} chain are not numeric vectors of one length") from None
            if array.ndim == 0:
                raise InvalidProblem(f"the {role} chain has no labels; give one feature vector per state as labels=")
            vectors.append(array.reshape(len(array), -1))
        if vectors[0].shape[1] != vectors[1].shape[1]:
            raise InvalidProblem(
                f"feature vectors have {vectors[0].shape[1]} and {vectors[1].shape[1]} entries, expected as many"
            )
        try:
            return np.ascontiguousarray(cdist(vectors[0], vectors[1], metric))
        except (TypeError, ValueError) as error:
            raise InvalidProblem(f"the metric {metric!r} fails on these features: {error}") from None

    return _Named(f"features({metric!r})", between)
