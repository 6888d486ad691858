"""From distances between states to the distance between chains with initial laws.

W = min { <π, V*> : π couples ν_X and ν_Y },        W = V*(x, y) when both chains start in one state

A mean is between the smallest and the largest distance that it averages; rounded sums are cut to that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric.certificates.interval import OPERATIONS_AROUND, SUBNORMAL_BELOW, Certificate
from bisimetric.kernels.layout import Report, Rows
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees


class StartTransport(NamedTuple):
    """The distance between the starts, its bounds, and the joint law that attains it, cell by cell."""

    value: float
    lower: float
    upper: float
    sources: npt.NDArray[np.int64]  # [cells]
    targets: npt.NDArray[np.int64]  # [cells]
    weight: Floats  # [cells]
    potential: Floats  # [states with mass in the target's start], of that transport

    def law(self, shape: tuple[int, int]) -> Floats:
        """The joint law as an [n, m] array."""
        law = np.zeros(shape)
        law[self.sources, self.targets] = self.weight
        return law


def between_starts(certificate: Certificate, source: Floats, target: Floats) -> StartTransport:
    """Transport between two initial laws at the certified distances."""
    xs, ys = np.flatnonzero(source), np.flatnonzero(target)
    if len(xs) == 1 and len(ys) == 1:
        pair = xs[0], ys[0]
        value, low, high = (bound[pair].item() for bound in (certificate.value, certificate.lower, certificate.upper))
        return StartTransport(value, low, high, xs, ys, np.ones(1), np.zeros(1))
    laws = source[xs], target[ys]
    bounds = tuple(bound[np.ix_(xs, ys)] for bound in (certificate.lower, certificate.upper, certificate.value))
    below, above, best = (_transport(bound, *laws) for bound in bounds)
    lower, upper = max(below.lower, float(bounds[0].min()), 0.0), min(above.upper, float(bounds[1].max()))
    if not certificate.upper[xs[above.left], ys[above.right]].any():  # the cost of this plan is exactly zero
        lower, upper, best = 0.0, 0.0, above
    value = float(np.clip(_between(best.upper, bounds[2]), lower, upper))
    return StartTransport(value, lower, upper, xs[best.left], ys[best.right], best.weight, best.potential)


def to_nearest(certificate: Certificate, source: Floats | None, target: Floats | None) -> StartTransport:
    """The same where one law is free: every state with mass goes with the nearest state of the other chain."""
    law = source if source is not None else target
    assert law is not None
    states = np.flatnonzero(law)
    value, lower, upper = (
        bound[states] if source is not None else bound.T[states]
        for bound in (certificate.value, certificate.lower, certificate.upper)
    )
    nearest, weight = value.argmin(axis=1), law[states]
    slip = (len(states) + OPERATIONS_AROUND) * UNIT_ROUNDOFF if len(states) > 1 else 0.0
    ends = lower.min(axis=1), upper.min(axis=1), value.min(axis=1)
    low = max(float(weight @ ends[0]) * (1.0 - slip), float(ends[0].min()))
    high = min(float(weight @ ends[1]) * (1.0 + slip), float(ends[1].max()))
    found = float(np.clip(_between(float(weight @ ends[2]), ends[2]), low, high))
    xs, ys = (states, nearest) if source is not None else (nearest, states)
    return StartTransport(found, low, high, xs, ys, weight, np.zeros(len(np.unique(ys))))


def _between(mean: float, distances: Floats) -> float:
    """A mean of distances as rounded, cut to what it can be."""
    return min(max(mean, float(distances.min())), float(distances.max()))


class _LawTransport(NamedTuple):
    lower: float
    upper: float
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    weight: Floats
    potential: Floats


def _transport(distances: Floats, source: Floats, target: Floats) -> _LawTransport:
    """One transport with certified bounds: a sweep over a single pair whose rows are the two laws, without zeros."""
    largest = float(distances.max()) or 1.0
    value = distances / largest
    rows = [_single_row(law) for law in (source, target)]
    nothing = np.zeros((1, 1))
    nothing.setflags(write=False)
    pair = Bellman.between(rows[0], rows[1], nothing, 1.0, 1.0)
    trees = new_trees(pair)
    pair.improve(value, trees, cold=True)
    cells = TreeWitness(pair, value, trees).cells(0, 1)
    upper, lower = np.empty(1), np.empty(1)
    found = kernels.check.check(
        *pair.pairs.states(0, 1), value, pair.cost, 1.0, 1.0, pair.stop, pair.source, pair.target, cells, upper, lower
    )
    report = Report(*found)
    slip = (report.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF * (1.0 + 2 * report.potential)
    below, above = float(lower[0] - slip) * largest, float(upper[0] + slip) * largest
    if largest < SUBNORMAL_BELOW:
        below, above = float(np.nextafter(below, -np.inf)), float(np.nextafter(above, np.inf))
    return _LawTransport(below, above, cells.left, cells.right, cells.weight, cells.potential * largest)


def _single_row(law: Floats) -> Rows:
    return Rows(np.array([0, len(law)]), np.arange(len(law), dtype=np.int32), law)


def plan_between(value: Floats, source: Floats, target: Floats) -> StartTransport:
    """The transport between two initial laws at these distances [n, m]; its bounds are about those distances alone."""
    xs, ys = np.flatnonzero(source), np.flatnonzero(target)
    best = _transport(value[np.ix_(xs, ys)], source[xs], target[ys])
    return StartTransport(
        best.upper, best.lower, best.upper, xs[best.left], ys[best.right], best.weight, best.potential
    )


def start_distance(value: Floats, source: Floats, target: Floats) -> float:
    """The transport between two initial laws at these distances [n, m], without bounds."""
    xs, ys = np.flatnonzero(source), np.flatnonzero(target)
    distances = value[np.ix_(xs, ys)]
    if len(xs) == 1 or len(ys) == 1:
        return float((source[xs][:, None] * target[ys] * distances).sum())
    return _transport(distances, source[xs], target[ys]).upper if distances.any() else 0.0
