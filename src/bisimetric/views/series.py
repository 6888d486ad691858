"""Named series of numbers, as `convergence` and `times` take them, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats

LARGEST = 1e100  # number that is drawn; the limits of logarithmic axes around much larger ones would overflow
Series = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]


def checked_series(series: Series, what: str, *, dimensions: tuple[int, ...]) -> dict[str, tuple[Floats, Floats]]:
    """Every series as two float arrays of equal length; NaN is allowed, the second may have any of the dimensions."""
    if not isinstance(series, Mapping) or not series:
        raise InvalidOption(f"{what} is {_short(series)}, expected a non-empty mapping from names to two arrays")
    names = [str(name) for name in series]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise InvalidOption(f"{what} has two names that read {name!r}, expected different ones; rename one")
    return {str(name): _checked_pair(pair, f"{what}[{name!r}]", dimensions) for name, pair in series.items()}


def _checked_pair(pair: Any, what: str, dimensions: tuple[int, ...]) -> tuple[Floats, Floats]:
    try:
        xs, ys = (np.asarray(part, dtype=np.float64) for part in pair)
    except (TypeError, ValueError, OverflowError):
        raise InvalidOption(f"{what} is {_short(pair)}, expected two arrays of numbers") from None
    if xs.ndim != 1 or ys.ndim not in dimensions or len(xs) != len(ys) or not len(xs):
        raise InvalidOption(
            f"{what} has arrays of shapes {xs.shape} and {ys.shape}, expected two of equal length ≥ 1, "
            f"the second with {' or '.join(map(str, dimensions))} dimension(s)"
        )
    largest = max(float(np.abs(part[np.isfinite(part)]).max(initial=0.0)) for part in (xs, ys))
    if largest > LARGEST:
        raise InvalidOption(f"{what} has a number of size {largest:g}, expected at most {LARGEST:g}; use a larger unit")
    return xs, ys


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"a {type(given).__name__}"
