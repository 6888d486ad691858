"""Findings of checks, and the comparisons that all checks share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tests.campaign.oracles import Ratio


class Finding(NamedTuple):
    """A wrong answer, or, with `gave_up`, a missing answer that should exist."""

    text: str
    gave_up: bool = False

    @property
    def sort(self) -> str:
        """The first words: what was wrong with which answer, without numbers."""
        what, _, more = self.text.partition(": ")
        words = re.sub(r"[-+]?\d[\d.e+-]*", "#", f"{what}: {more}")
        return words.split("[")[0].split(": pair")[0][:60].strip()


def intervals(what: str, truth: Sequence[Ratio], lower, upper, value=None) -> Iterator[Finding]:
    """The first interval that misses the truth, and the first value outside its interval. NaN claims nothing."""
    low, high = np.ravel(lower), np.ravel(upper)
    open_pairs = np.flatnonzero(~(np.isnan(low) & np.isnan(high)))
    for k in open_pairs:
        if not (truth[k].at_least(low[k]) and truth[k].at_most(high[k])):
            shown = f"[{float(low[k])!r}, {float(high[k])!r}]"
            how = "by a rounding" if _is_close(truth[k], low[k], high[k]) else "far"
            yield Finding(f"{what}: misses {how}: pair {k}: {shown} misses {float(truth[k])!r}")
            break
    if value is not None:
        inside = np.ravel(value)
        wrong = np.flatnonzero(~((low <= inside) & (inside <= high)))
        wrong = np.intersect1d(wrong, open_pairs)
        if len(wrong):
            k = int(wrong[0])
            yield Finding(f"{what}: pair {k}: value {inside[k]!r} is not in [{low[k]!r}, {high[k]!r}]")


def _is_close(truth: Ratio, low: float, high: float) -> bool:
    """Whether the interval holds when it is widened by a relative 2⁻⁴⁰."""
    room = 2.0**-40
    return truth.at_least(low - room * abs(low)) and truth.at_most(high + room * abs(high))
