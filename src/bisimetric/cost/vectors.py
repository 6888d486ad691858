"""Costs between labels that are numbers or vectors: any metric of SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bisimetric.cost.ground import Named
from bisimetric.errors import InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

SQUARES_BETWEEN = 1e-140, 1e140  # euclidean distances whose squares neither vanish nor overflow
ROUNDED_RELATIVELY = ("euclidean", "cityblock", "chebyshev")  # metrics without cancellation


def features(metric: str | Callable[[Any, Any], float] = "euclidean") -> Named:
    """Make a cost of the distances between labels that are numbers or vectors.

    Parameters
    ----------
    metric : str or function of two vectors
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

    called = metric if isinstance(metric, str) else getattr(metric, "__name__", "a function")

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
            raise InvalidProblem(f"the metric {called!r} fails on these features: {error}") from None
        if isinstance(metric, str) and metric == "euclidean":
            x, y = np.nonzero(~((found > SQUARES_BETWEEN[0]) & (found < SQUARES_BETWEEN[1])))
            with np.errstate(over="ignore"):
                found[x, y] = np.hypot.reduce(vectors[0][x] - vectors[1][y], axis=1, initial=0.0)
        return found

    def error(source: MarkovChain, target: MarkovChain) -> float:
        entries = _vectors(source, "source").shape[1]
        return 2 * (entries + 4) * UNIT_ROUNDOFF if isinstance(metric, str) and metric in ROUNDED_RELATIVELY else 0.0

    return Named(f"features({called!r})", f"{called} distance", between, error, reward_weight=0.0)


def _vectors(chain: MarkovChain, role: str) -> Floats:
    """[n, entries], the labels as numbers."""
    try:
        array = np.array(chain.labels, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidProblem(f"the labels of the {role} chain are not numeric vectors of one length") from None
    if array.ndim == 0:
        raise InvalidProblem(f"the {role} chain has no labels; give one feature vector per state as labels=")
    return array.reshape(len(array), -1)
