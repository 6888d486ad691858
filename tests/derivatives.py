"""Finite differences of the distance between two chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import bisimetric as bm

STEP = 2e-6  # of a finite difference
CLOSE = 1e-6  # relative to the sum of the sizes of the terms


@st.composite
def points(draw, *, gammas=(0.1, 0.5, 0.9, 0.95), sizes=(1, 4)):
    """Everything that a distance depends on, at a point in general position: P, Q, rewards, starts, discount."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = (draw(st.integers(*sizes)) for _ in range(2))
    point = {
        "P": random.dirichlet(np.ones(n), n),
        "Q": random.dirichlet(np.ones(m), m),
        "r": random.normal(size=n),
        "q": random.normal(size=m),
        "a": random.dirichlet(np.ones(n)),
        "b": random.dirichlet(np.ones(m)),
        "discount": draw(st.sampled_from(gammas)),
    }
    for name in ("P", "Q"):  # some zeros
        if draw(st.booleans()):
            matrix = point[name] * (random.random(point[name].shape) < 0.7)
            matrix[np.arange(len(matrix)), random.integers(len(matrix), size=len(matrix))] += 0.5
            point[name] = matrix / matrix.sum(axis=1, keepdims=True)
    return point, random


def solved(point, **options):
    """The solution at a point, as accurate as numbers allow; its cost is |r - q| unless one is given."""
    source = bm.MarkovChain(point["P"], reward=point["r"], start=point["a"])
    target = bm.MarkovChain(point["Q"], reward=point["q"], start=point["b"])
    problem = bm.Problem(source, target, discount=point["discount"], cost=point.get("cost"), **options)
    return bm.solve(problem, tol=1e-13, throw=False)


def direction(array, random, *, law):
    """A random change; of laws one that keeps their sums and supports."""
    if not law:
        return random.normal(size=array.shape)
    change = random.normal(size=array.shape) * array
    return change - array * change.sum(axis=-1, keepdims=True)


def assert_derivative(point, name, change, derivative, **options):
    """`derivative` times the change is the finite difference."""
    ahead, behind = (solved(point | {name: point[name] + sign * STEP * change}, **options).distance for sign in (1, -1))
    terms = np.asarray(derivative) * change
    rounding = 1e-13 * (abs(ahead) + 1) / STEP
    assert (ahead - behind) / (2 * STEP) == pytest.approx(terms.sum(), abs=CLOSE * np.abs(terms).sum() + rounding)


def parts_of(gradient):
    """The derivatives by the names of a point."""
    return {
        "P": gradient.source.toarray(),
        "Q": gradient.target.toarray(),
        "r": gradient.source_reward,
        "q": gradient.target_reward,
        "a": gradient.source_start,
        "b": gradient.target_start,
        "discount": gradient.discount,
    }
