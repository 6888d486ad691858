"""Which transitions and states make up the difference between two logs, and how sure that is.

A transition x → x' has the shares p = N(x, x')/N(x) in the two logs. Its difference gets an interval from the counts
(Newcombe 1998, from Wilson's intervals), and a p-value: the score test of two shares, Fisher's exact test where counts
are small. Given the state, transitions of a Markov chain are independent, so counts may be compared like this. There
are many transitions: p-values are corrected by Holm's method, intervals by Bonferroni's, so that with the confidence
asked for not one of all is wrong.

What a transition contributes to the distance W follows from the gradient: to first order W shrinks by

    effect = ½ (∂W/∂P(x'|x) - ∂W/∂Q(x'|x)) · (P(x'|x) - Q(x'|x))

if both logs had the mean of their shares there, twice that if one had the other's. Shares of a state sum to one, so the
derivatives matter up to a constant; they are taken relative to their mean over the state's differences, weighted by
their sizes. Effects of a state add up.

References: Newcombe 1998; Holm 1979.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bisimetric.errors import MissingExtra
from bisimetric.estimation.pooled import PooledLogs
from bisimetric.models.rows import Floats, Ints
from bisimetric.solving.solution import Solution

if TYPE_CHECKING:
    from pandas import DataFrame

SMALL_COUNT = 10  # expected transitions of a cell below which the exact test is used
EQUALLY_LIKELY = 1e-7  # relative difference of the chances of two tables that rounding explains
LARGEST_EXACT = 10**7  # visits up to which the exact test is exact enough in floating point


class Transition(NamedTuple):
    """A transition in two logs.

    Attributes
    ----------
    source, target : str
        The two states.
    counts : (int, int)
        How often it was seen in each log.
    visits : (int, int)
        How often its first state was left in each log.
    shares : (float, float)
        counts / visits; NaN where the state was never left.
    difference : float
        The second share minus the first.
    interval : (float, float)
        For the difference, right for all transitions at once.
    p_value : float
        Of no difference, corrected for testing all transitions (Holm). NaN where a log never leaves the state.
    effect : float
        By how much the distance is larger because of this difference, to first order.
    """

    source: str
    target: str
    counts: tuple[int, int]
    visits: tuple[int, int]
    shares: tuple[float, float]
    difference: float
    interval: tuple[float, float]
    p_value: float
    effect: float


class ChangedState(NamedTuple):
    """A state whose transitions differ: its effect is the sum over them, its p-value the smallest (Holm)."""

    name: str
    visits: tuple[int, int]
    effect: float
    p_value: float


@dataclass(frozen=True)
class Changes:
    """The transitions of two logs, those with the largest effect on the distance first.

    Attributes
    ----------
    transitions : tuple of Transition
        All that occur in either log.
    states : tuple of ChangedState
        The states, with the effects of their transitions added up.
    confidence : float
        With this probability no interval of `transitions` misses and no difference with `p_value` ≤ 1 - confidence is
        due to chance.
    n_tested : int
        How many transitions were tested.
    """

    transitions: tuple[Transition, ...]
    states: tuple[ChangedState, ...]
    confidence: float
    n_tested: int

    def significant(self) -> tuple[Transition, ...]:
        """The transitions whose shares differ beyond chance, those that matter most to the distance first."""
        return tuple(change for change in self.transitions if change.p_value <= 1.0 - self.confidence)

    def frame(self) -> DataFrame:
        """The transitions as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("frames need pandas: pip install 'bisimetric[data]'") from None
        rows = [
            (c.source, c.target, *c.counts, *c.shares, c.difference, *c.interval, c.p_value, c.effect)
            for c in self.transitions
        ]
        head = ["source", "target", "count_a", "count_b", "share_a", "share_b", "difference", "low", "high", "p_value"]
        return pandas.DataFrame(rows, columns=[*head, "effect"])

    def __len__(self) -> int:
        return len(self.transitions)

    def __repr__(self) -> str:
        found = len(self.significant())
        return f"Changes({len(self)} transitions, {self.n_tested} tested, {found} differ at {self.confidence:.0%})"


def changes(logs: PooledLogs, solution: Solution, confidence: float) -> Changes:
    """What differs; `solution` is between chains that have all transitions of the union."""
    moves, n = logs.sequences, len(logs.names)
    counts = np.stack([moves.totals(side).counts for side in logs.split()])  # [2, T]
    visits = np.stack([np.bincount(moves.source, weights=side, minlength=n) for side in counts]).astype(np.int64)
    seen = np.flatnonzero(counts.any(axis=0))
    counts, source, target = counts[:, seen].astype(np.int64), moves.source[seen], moves.target[seen]
    left = visits[:, source]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / left
    tested = (left > 0).all(axis=0) & ~((counts == left).all(axis=0))
    raw = np.full(len(seen), np.nan)
    raw[tested] = _p_values(counts[:, tested], left[:, tested])
    p_value = np.full(len(seen), np.nan)
    p_value[(left > 0).all(axis=0)] = 1.0  # shares of one in both logs
    p_value[tested] = _holm(raw[tested])
    n_tested = int(tested.sum())
    low, high = _difference_intervals(counts, left, (1.0 - confidence) / max(n_tested, 1))
    effect = _effects(solution, source, target, shares)
    order = np.lexsort((np.arange(len(seen)), -np.abs(effect)))
    transitions = tuple(
        Transition(
            logs.names[source[k]],
            logs.names[target[k]],
            (int(counts[0, k]), int(counts[1, k])),
            (int(left[0, k]), int(left[1, k])),
            (float(shares[0, k]), float(shares[1, k])),
            float(shares[1, k] - shares[0, k]),
            (float(low[k]), float(high[k])),
            float(p_value[k]),
            float(effect[k]),
        )
        for k in order
    )
    return Changes(transitions, _states(logs.names, source, visits, effect, p_value), confidence, n_tested)


def _effects(solution: Solution, source: Ints, target: Ints, shares: Floats) -> Floats:
    """By how much each difference lengthens the distance, to first order; 0 where a log never leaves the state."""
    gradient = solution.gradient()
    by_source, by_target = (_entries(matrix, source, target) for matrix in (gradient.source, gradient.target))
    apart = np.nan_to_num(shares[0] - shares[1])
    slope = 0.5 * (by_source - by_target)
    n = solution.problem.shape[0]
    size = np.bincount(source, weights=np.abs(apart), minlength=n)
    weighted = np.bincount(source, weights=slope * np.abs(apart), minlength=n)
    mean = weighted / np.where(size > 0.0, size, 1.0)
    return np.asarray((slope - mean[source]) * apart, np.float64)


def _entries(matrix: object, source: Ints, target: Ints) -> Floats:
    return np.asarray(matrix.tocsr()[source, target], np.float64).ravel()  # type: ignore[attr-defined]


def _states(
    names: tuple[str, ...], source: Ints, visits: Ints, effect: Floats, p_value: Floats
) -> tuple[ChangedState, ...]:
    total = np.bincount(source, weights=effect, minlength=len(names))
    least = np.full(len(names), np.inf)
    np.fmin.at(least, source, p_value)
    order = np.lexsort((np.arange(len(names)), -np.abs(total)))
    return tuple(
        ChangedState(
            names[x],
            (int(visits[0, x]), int(visits[1, x])),
            float(total[x]),
            float(least[x]) if np.isfinite(least[x]) else np.nan,
        )
        for x in order
        if visits[:, x].any()
    )


# ------------------------------------------------------------------ tests of two shares


def _p_values(counts: Ints, visits: Ints) -> Floats:
    """Two-sided p-values of equal shares, [T]."""
    from scipy import special

    total, pooled = visits.sum(axis=0), counts.sum(axis=0) / visits.sum(axis=0)
    shares = counts / visits
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / visits[0] + 1.0 / visits[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0.0, np.abs(shares[0] - shares[1]) / error, 0.0)
    found = np.asarray(special.erfc(z / np.sqrt(2.0)))
    expected = np.minimum(pooled, 1.0 - pooled) * visits.min(axis=0)
    for k in np.flatnonzero((expected < SMALL_COUNT) & (total <= LARGEST_EXACT)):
        found[k] = _fisher(counts[:, k], visits[:, k])
    return found


def _fisher(counts: Ints, visits: Ints) -> float:
    """Fisher's exact test: the tables with the same margins that are no more likely than this one."""
    from scipy import special

    first, second, hits = int(visits[0]), int(visits[1]), int(counts.sum())
    if 2 * hits > first + second:  # the same for misses, of which there are fewer
        return _fisher(visits - counts, visits)
    inside = np.arange(max(0, hits - second), min(hits, first) + 1)

    def log_choose(n: int, k: Ints) -> Floats:
        return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))

    logs = log_choose(first, inside) + log_choose(second, hits - inside)
    chance = np.exp(logs - logs.max())
    own = chance[int(counts[0]) - inside[0]]
    return float(min(chance[chance <= own * (1.0 + EQUALLY_LIKELY)].sum() / chance.sum(), 1.0))


def _holm(p_values: Floats) -> Floats:
    """Holm's correction: the k-th smallest times the number of those not smaller, made monotone."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * (count - np.arange(count))), 1.0)
    return adjusted


def _difference_intervals(counts: Ints, visits: Ints, alpha: float) -> tuple[Floats, Floats]:
    """Newcombe's interval for the second share minus the first, at level 1 - alpha; [-1, 1] without data."""
    from scipy import special

    z = float(special.ndtri(1.0 - alpha / 2.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / visits
        centre = (counts + z * z / 2.0) / (visits + z * z)
        half = z * np.sqrt(visits * share * (1.0 - share) + z * z / 4.0) / (visits + z * z)
        low, high = centre - half, centre + half
        difference = share[1] - share[0]
        below = difference - np.hypot(share[1] - low[1], high[0] - share[0])
        above = difference + np.hypot(high[1] - share[1], share[0] - low[0])
    known = (visits > 0).all(axis=0)
    return np.where(known, below, -1.0), np.where(known, above, 1.0)
