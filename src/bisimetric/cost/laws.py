"""Costs between the emissions of hidden Markov models.

A label says what a state emits, as `from_hmm` writes it:

    ("gaussian", d, mean…, covariance row by row…)      2-Wasserstein: √(|m - m'|² + B(A, A')²)
    ("categorical", p…)                                 total variation: ½ Σ |p - p'|
    ("poisson", λ…)                                     1-Wasserstein, summed over the parts: Σ |λ - λ'|

B is the Bures distance between covariances, B² = tr A + tr A' - 2 tr (A^½ A' A^½)^½. That formula cancels where A and
A' are close: half of all digits are lost. With S = (A^½ A' A^½)^½ and W = S - A,

    S W + W A = A^½ (A' - A) A^½,        B = |A^-½ W|  (Frobenius)

does not: in eigenvectors of S and A the first equation is a division, and A' - A is where it begins. Equal covariances
are at exactly 0, and the relative error grows with the condition number of the better of the two. Where both are close
to singular, B = min |A^½ - A'^½ Q| over rotations Q is used instead. Diagonal covariances need none of that:
B² = Σ (√a - √a')².

References: Dowson & Landau 1982; Bhatia, Jain & Lim 2019 (Bures distance).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric.cost.ground import Named, kept_positive
from bisimetric.errors import InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

NOT_SYMMETRIC = 1e-8  # relative to the largest entry: a covariance is refused if it is less symmetric, or negative
WELL_CONDITIONED = 1e8  # condition number of a covariance up to which its inverse is used
PER_CONDITION = 64 * UNIT_ROUNDOFF  # relative error of a Bures distance, per condition number and d²
MOST_ERROR = 1e-6  # relative error that is assumed at most
EMISSION_FAMILIES = ("gaussian", "categorical", "poisson")


class Gaussians(NamedTuple):
    """Normal laws, one per state."""

    means: Floats  # [n, d]
    covariances: Floats  # [n, d, d]
    variances: Floats  # [n, d], along the axes below
    axes: Floats  # [n, d, d], eigenvectors in columns
    condition: Floats  # [n]

    @property
    def are_diagonal(self) -> bool:
        """Whether all components are independent."""
        d = self.means.shape[1]
        return not self.covariances[:, ~np.eye(d, dtype=np.bool_)].any()

    def roots(self) -> Floats:
        """[n, d, d], the symmetric square roots of the covariances."""
        found: Floats = (self.axes * np.sqrt(self.variances)[:, None, :]) @ _turned(self.axes)
        return found

    def times(self, factor: float) -> Gaussians:
        """The laws with covariances multiplied by a power of two."""
        return self._replace(covariances=self.covariances * factor, variances=self.variances * factor)

    def at(self, states: npt.NDArray[Any]) -> Gaussians:
        """The laws of some states."""
        return Gaussians(*(array[states] for array in self))


def _emissions(source: MarkovChain, target: MarkovChain) -> Floats:
    family, numbers = _numbers(source, target)
    if family == "gaussian":
        laws = _gaussians(numbers[0], "source"), _gaussians(numbers[1], "target")
        if laws[0].means.shape[1] != laws[1].means.shape[1]:
            sizes = [law.means.shape[1] for law in laws]
            raise InvalidProblem(f"the chains emit vectors of {sizes[0]} and {sizes[1]} numbers, expected as many")
        return _wasserstein(*laws)
    if numbers[0].shape[1] != numbers[1].shape[1]:
        sizes = [array.shape[1] for array in numbers]
        raise InvalidProblem(f"{family} emissions have {sizes[0]} and {sizes[1]} parameters, expected as many")
    factor = 0.5 if family == "categorical" else 1.0
    found = np.array([np.abs(own - numbers[1]).sum(axis=1) for own in numbers[0]])
    return kept_positive(found * factor, found > 0.0)


def _emissions_error(source: MarkovChain, target: MarkovChain) -> float:
    family, numbers = _numbers(source, target)
    plain: float = 2.0 * (numbers[0].shape[1] + 8) * UNIT_ROUNDOFF
    if family != "gaussian":
        return plain
    laws = [_gaussians(array, role) for array, role in zip(numbers, ("source", "target"), strict=True)]
    if all(law.are_diagonal for law in laws):
        return plain
    d, condition = laws[0].means.shape[1], max(float(law.condition.max()) for law in laws)
    bures: float = min(PER_CONDITION * d * d * condition, MOST_ERROR)
    return plain + bures


def _numbers(source: MarkovChain, target: MarkovChain) -> tuple[str, tuple[Floats, Floats]]:
    """The family of all emissions, and their parameters, [n, parameters] and [m, parameters]."""
    families: dict[str, str] = {}
    parameters = []
    for role, chain in (("source", source), ("target", target)):
        if chain.labels is None:
            raise InvalidProblem(f"the {role} chain has no labels; from_hmm(...) writes emissions there")
        rows = []
        for state, label in enumerate(chain.labels):
            if not isinstance(label, tuple) or not label or label[0] not in EMISSION_FAMILIES:
                raise InvalidProblem(
                    f"labels[{state}] of the {role} chain is {label!r}, expected a tuple that begins with "
                    f"{', '.join(map(repr, EMISSION_FAMILIES))}, as from_hmm(...) makes it"
                )
            families.setdefault(str(label[0]), f"state {state} of the {role} chain")
            rows.append(label[1:])
        parameters.append(rows)
    if len(families) > 1:
        told = " and ".join(f"{family} in {place}" for family, place in families.items())
        raise InvalidProblem(f"emissions are {told}, expected one family; their distances are not comparable")
    return next(iter(families)), (_array(parameters[0], "source"), _array(parameters[1], "target"))


def _array(rows: Sequence[object], role: str) -> Floats:
    try:
        array = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidProblem(f"emissions of the {role} chain are not numeric vectors of one length") from None
    if array.ndim != 2 or array.shape[1] == 0 or not np.isfinite(array).all():
        raise InvalidProblem(f"emissions of the {role} chain have no parameters, or some that are not finite")
    return array


def _gaussians(numbers: Floats, role: str) -> Gaussians:
    """Means and covariances, checked."""
    d = int(numbers[0, 0])
    if d < 1 or (numbers[:, 0] != d).any() or numbers.shape[1] != 1 + d + d * d:
        raise InvalidProblem(
            f"gaussian emissions of the {role} chain have {numbers.shape[1] - 1} numbers after d = {numbers[0, 0]:g}, "
            "expected d of the mean and d² of the covariance"
        )
    means, given = numbers[:, 1 : d + 1], numbers[:, d + 1 :].reshape(-1, d, d)
    covariances = 0.5 * (given + _turned(given))
    size = np.abs(covariances).max(axis=(1, 2))
    variances, axes = np.linalg.eigh(covariances)
    skew = np.abs(given - covariances).max(axis=(1, 2))
    wrong = np.flatnonzero((skew > NOT_SYMMETRIC * size) | (variances[:, 0] < -NOT_SYMMETRIC * size))
    if len(wrong):
        raise InvalidProblem(
            f"the covariance of state {int(wrong[0])} of the {role} chain is not symmetric and positive, expected "
            "what np.cov returns"
        )
    variances = np.maximum(variances, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.nan_to_num(variances[:, -1] / variances[:, 0], nan=np.inf, posinf=np.inf)
    return Gaussians(means, covariances, variances, axes, condition)


def _wasserstein(source: Gaussians, target: Gaussians) -> Floats:
    """[n, m], the 2-Wasserstein distances."""
    found = np.empty((len(source.means), len(target.means)))
    scale = _scale(source, target)
    scaled = source.times(scale), target.times(scale)
    diagonal = source.are_diagonal and target.are_diagonal
    for x, mean in enumerate(source.means):
        apart = np.hypot.reduce(mean - target.means, axis=1, initial=0.0)
        differ = (mean != target.means).any(axis=1)
        if diagonal:
            one, other = np.diagonal(source.covariances[x]), np.diagonal(target.covariances, axis1=1, axis2=2)
            sums = np.sqrt(np.maximum(one, 0.0)) + np.sqrt(np.maximum(other, 0.0))
            spread = np.hypot.reduce((one - other) / np.where(sums > 0.0, sums, 1.0), axis=1, initial=0.0)
        else:
            spread = _bures(scaled[0].at(np.full(len(target.means), x)), scaled[1]) / np.sqrt(scale)
        differ |= (source.covariances[x] != target.covariances).any(axis=(1, 2))
        found[x] = kept_positive(np.hypot(apart, spread), differ)
    return found


def _scale(source: Gaussians, target: Gaussians) -> float:
    """A power of four that brings the largest covariance near one, so that products neither vanish nor overflow."""
    largest = max(float(np.abs(law.covariances).max()) for law in (source, target))
    return math.ldexp(1.0, -2 * (math.frexp(largest)[1] // 2)) if largest > 0.0 else 1.0


def _bures(one: Gaussians, other: Gaussians) -> Floats:
    """Bures distances, pair by pair; the better conditioned covariance is the one whose inverse is taken."""
    swap = (other.condition < one.condition) | ((other.condition == one.condition) & _is_less(other, one))
    first = Gaussians(*(_choose(swap, b, a) for a, b in zip(one, other, strict=True)))
    second = Gaussians(*(_choose(swap, a, b) for a, b in zip(one, other, strict=True)))
    good = first.condition <= WELL_CONDITIONED
    found = np.zeros(len(good))
    for some, distances in ((good, _by_division), (~good, _by_rotation)):
        if some.any():
            found[some] = distances(first.at(some), second.at(some))
    found[~(first.covariances != second.covariances).any(axis=(1, 2))] = 0.0
    return found


def _by_division(first: Gaussians, second: Gaussians) -> Floats:
    root, a = first.roots(), first.variances
    squares, turned = np.linalg.eigh(_symmetric(root @ second.covariances @ root))
    s = np.sqrt(np.maximum(squares, 0.0))
    gap = root @ (second.covariances - first.covariances) @ root
    w = (_turned(turned) @ gap @ first.axes) / (s[:, :, None] + a[:, None, :])
    parts = (_turned(first.axes) @ turned @ w) / np.sqrt(a)[:, :, None]
    norms: Floats = np.hypot.reduce(parts.reshape(len(parts), -1), axis=1, initial=0.0)
    return norms


def _by_rotation(first: Gaussians, second: Gaussians) -> Floats:
    one, other = first.roots(), second.roots()
    left, _, right = np.linalg.svd(other @ one)
    parts = one - other @ (left @ right)
    norms: Floats = np.hypot.reduce(parts.reshape(len(parts), -1), axis=1, initial=0.0)
    return norms


def _is_less(one: Gaussians, other: Gaussians) -> npt.NDArray[np.bool_]:
    """Whether the first entry in which two covariances differ is smaller in the first, so that both orders agree."""
    gap = (one.covariances - other.covariances).reshape(len(one.condition), -1)
    first = (gap != 0.0).argmax(axis=1)
    less: npt.NDArray[np.bool_] = gap[np.arange(len(gap)), first] < 0.0
    return less


def _choose(mask: npt.NDArray[np.bool_], yes: Floats, no: Floats) -> Floats:
    return np.where(mask.reshape(-1, *[1] * (yes.ndim - 1)), yes, no)


def _symmetric(matrices: Floats) -> Floats:
    return 0.5 * (matrices + _turned(matrices))


def _turned(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)


emissions = Named("emissions", "distance between emissions", _emissions, _emissions_error, reward_weight=0.0)
