"""Average costs in rational numbers: (1-γ)·V* for γ = 1 - 1e-40, which is the average cost up to about 1e-40 · bias."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

from tests.reference.rationals import exact_distances

NEARLY_ONE = 1 - Fraction(1, 10**40)
BIAS_ERROR = Fraction(1, 10**20)  # relative to the largest cost; biases are far below 1e20 costs on a few states


def exact_averages(problem):
    """The smallest average costs as a nested list of Fractions, up to BIAS_ERROR times the largest cost."""
    question = SimpleNamespace(
        shape=problem.shape, source=problem.source, target=problem.target, cost=problem.cost, stop=None,
        discount=NEARLY_ONE,
    )  # fmt: skip
    return [[(1 - NEARLY_ONE) * value for value in row] for row in exact_distances(question)]
