"""The cost that `--cost` stands for: a name, a weighted sum of names, or a file.

reward    labels    label-difference    label-jaccard    reward+0.5*labels
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy.typing as npt

from bisimetric import cost
from bisimetric.cli.cost_file import read_costs
from bisimetric.cost.ground import Named

NAMED_COSTS: dict[str, Named] = {
    "reward": cost.reward_gap,
    "labels": cost.label_mismatch,
    "label-difference": cost.label_difference,
    "label-jaccard": cost.label_jaccard,
}


def read_cost(text: str, shape: tuple[int, int]) -> npt.ArrayLike | cost.Cost:
    """The cost that a text stands for, between models of this many states."""
    return _weighted_sum(text) or read_costs(text, shape)


def _weighted_sum(text: str) -> Named | None:
    """The sum of the terms, each a name or `weight*name`; None if one of them is neither."""
    total: Named | None = None
    for term in text.split("+"):
        weight, star, name = term.rpartition("*")
        known = NAMED_COSTS.get(name.strip())
        factor = math.nan
        with suppress(ValueError):
            factor = float(weight) if star else 1.0
        if known is None or not 0.0 < factor < math.inf:
            return None
        part = known if factor == 1.0 else factor * known
        total = part if total is None else total + part
    return total
