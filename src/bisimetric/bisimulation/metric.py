"""Distances that say how differently two models behave.

The bisimulation metric of chains, on rewards:

    d(s, t) = (1-γ)·|r(s) - r'(t)| + γ·OT_d(P[s], P'[t])

The bisimilarity distance of the verification literature, on labels:

    d(s, t) = 1 where the labels differ, else γ·OT_d(P[s], P'[t])

Reference: Ferns, Panangaden & Precup 2004; Desharnais, Gupta, Jagadeesan & Panangaden 2004.
"""

from __future__ import annotations

from typing import Any

from bisimetric._convert import as_chain
from bisimetric._cost import label_mismatch
from bisimetric._problem import Problem
from bisimetric._solution import Solution
from bisimetric._solve import solve


def bisimulation_metric(model: Any, other: Any = None, *, discount: float, tol: float | None = None) -> Solution:
    """The normalised bisimulation metric of a chain, or between two."""
    return _of_chains(model, other, discount, tol)


def bisimilarity_distance(source: Any, target: Any, *, discount: float, tol: float | None = None) -> Solution:
    """How differently two labelled chains can behave: d = 1 where labels differ, else γ·OT_d of the successors.

    Zero means bisimilar. For every property φ of the labels met in the first h steps (of the h + 1 states on the
    way), the probabilities from two states differ by at most their distance: |Pr(φ) - Pr'(φ)| ≤ d/γ^h.

    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> bent = bm.MarkovChain([[0, 0.6, 0.4], [0, 1, 0], [0, 0, 1]], labels=["toss", "heads", "tails"], start=0)
    >>> round(bm.bisimilarity_distance(fair, bent, discount=0.9).distance, 10)
    0.09
    """
    chains = as_chain(source), as_chain(target)
    differ = label_mismatch(*chains)
    return solve(Problem(*chains, discount=discount, cost=differ, stop=differ > 0), tol=tol)


def _of_chains(model: Any, other: Any, discount: float, tol: float | None) -> Solution:
    source = as_chain(model)
    target = source if other is None else as_chain(other)
    return solve(Problem(source, target, discount=discount, normalised=True), tol=tol)
