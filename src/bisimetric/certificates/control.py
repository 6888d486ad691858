"""The certificate of a policy: what it earns at least, and what no policy exceeds.

With T_π the operator of the policy and T the best of all actions, MacQueen's bounds for any value V are

    T_π V + γ/(1-γ)·min(T_π V - V)  ≤  V_π  ≤  V*  ≤  T V + γ/(1-γ)·max(T V - V),

so the lower bound also holds for the policy's own value. Both are widened for rounding (`interval`).

References: MacQueen 1966.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bisimetric.certificates.interval import SUBNORMAL_BELOW, Certificate, Errors, Range, widening
from bisimetric.models.rows import Floats
from bisimetric.operators.control import ControlBellman, PolicyArray


@dataclass(frozen=True, slots=True, eq=False)
class ControlCertificate(Certificate):
    """Bounds on the rewards that a process can earn, [n]; they have any sign, so the gap is relative to their size."""

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest size of a bound; zero if the gap is zero."""
        gap = self.gap
        return gap / float(max(np.abs(self.lower).max(), np.abs(self.upper).max())) if gap > 0 else 0.0

    def __repr__(self) -> str:
        return f"ControlCertificate({len(self.value)} states, gap {self.gap:.2g}, relative {self.relative_gap:.2g})"


def check_control(bellman: ControlBellman, value: Floats, policy: PolicyArray) -> ControlCertificate:
    """The bounds that a value and a policy prove, in the units of the rewards."""
    earned = bellman.earned(value)
    below, above = bellman.taken(earned, policy), earned.max(axis=0)
    lowest, highest = float((below - value).min()), float((above - value).max())
    onward = bellman.discount / (1.0 - bellman.discount)
    errors = Errors(float(np.diff(bellman.rows.indptr).max()), 0.5 * bellman.row_error)
    largest = bellman.largest_reward * bellman.scale
    down, up = widening(Range.of(value), (lowest, highest), largest, bellman.discount, errors)
    lower = (below + onward * lowest - down) / bellman.scale
    upper = (above + onward * highest + up) / bellman.scale
    if 0.0 < bellman.largest_reward < SUBNORMAL_BELOW:
        lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
    middle = (above + 0.5 * onward * (lowest + highest)) / bellman.scale
    return ControlCertificate(np.clip(middle, lower, upper), lower, upper)


def a_priori(bellman: ControlBellman) -> ControlCertificate:
    """What holds before any step: the largest reward forever, with either sign."""
    most = np.full(bellman.n_states, np.nextafter(bellman.largest_reward / (1.0 - bellman.discount), np.inf))
    return ControlCertificate(np.zeros(bellman.n_states), -most, most)
