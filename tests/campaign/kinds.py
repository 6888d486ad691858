"""Awkward chains, rewards and discounts, from a random generator; adding a kind is one function and one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

Random = np.random.Generator
Array = np.ndarray
Key = TypeVar("Key")

DISCOUNTS: dict[float, float] = {  # and their shares
    0.0: 1,
    5e-324: 0.3,
    1e-8: 0.5,
    0.1: 3,
    0.5: 6,
    0.9: 10,
    0.95: 6,
    0.99: 8,
    0.999: 8,
    0.9999: 8,
    1 - 1e-5: 6,
    1 - 1e-7: 3,
    1 - 1e-9: 3,
    1 - 2.0**-53: 0.3,
}


# ------------------------------------------------------------------ rows: n states to an [n, n] matrix of weights


def dense(random: Random, n: int) -> Array:
    return random.random((n, n)) + 1e-3


def sparse(random: Random, n: int) -> Array:
    return random.random((n, n)) * (random.random((n, n)) < 0.5) + np.eye(n)[random.integers(n, size=n)] * 0.1


def ties(random: Random, n: int) -> Array:
    return random.integers(0, 3, (n, n)) + np.eye(n)[random.integers(n, size=n)]


def deterministic(random: Random, n: int) -> Array:
    return np.eye(n)[random.integers(n, size=n)]


def cycle(random: Random, n: int) -> Array:
    return np.roll(np.eye(n), 1, axis=1)


def permutation(random: Random, n: int) -> Array:
    return np.eye(n)[random.permutation(n)]


def slow_cycle(random: Random, n: int) -> Array:
    slip = random.choice([0.1, 0.5, 1e-3, 1e-9])
    return (1 - slip) * np.roll(np.eye(n), 1, axis=1) + slip * np.eye(n)


def path(random: Random, n: int) -> Array:
    slip = random.choice([0.0, 0.1, 0.5, 0.9, 1e-6])
    rows = np.diag(np.full(n, slip)) + np.diag(np.full(n - 1, 1 - slip), 1)
    rows[-1, -1] = 1.0
    return rows


def walk(random: Random, n: int) -> Array:
    up = random.choice([0.5, 0.3, 0.9])
    states = np.arange(n)
    rows = np.zeros((n, n))
    np.add.at(rows, (states, np.minimum(states + 1, n - 1)), up)
    np.add.at(rows, (states, np.maximum(states - 1, 0)), 1 - up)
    return rows


def absorbing(random: Random, n: int) -> Array:
    rows = dense(random, n) * (random.random((n, n)) < 0.7) + 1e-3 * np.eye(n)
    held = random.integers(n, size=random.integers(1, n + 1))
    rows[held] = np.eye(n)[held]
    return rows


def copies(random: Random, n: int) -> Array:
    """Every state is a copy of one of fewer states, and sends the mass for a state to some of its copies."""
    few = int(random.integers(1, n + 1))
    small, owner = ties(random, few), np.concatenate([np.arange(few), random.integers(few, size=n - few)])
    rows = np.zeros((n, n))
    for s in range(n):
        for t in range(few):
            to = np.flatnonzero(owner == t)
            rows[s, random.choice(to)] += small[owner[s], t]
    return rows


def equal_rows(random: Random, n: int) -> Array:
    return dense(random, n)[random.integers(n, size=n)]


def blocks(random: Random, n: int) -> Array:
    """Nearly decomposable: two parts with tiny probabilities between them."""
    inside = np.equal.outer(np.arange(n) < (n + 1) // 2, np.arange(n) < (n + 1) // 2)
    return (random.random((n, n)) + 0.1) * np.where(inside, 1.0, 10.0 ** random.uniform(-12, -3))


def sticky(random: Random, n: int) -> Array:
    """Long memory: states are left once in ten to 10⁸ steps."""
    leave = 10.0 ** random.uniform(-8, -1, (n, 1))
    away = (random.random((n, n)) + 1e-3) * (1 - np.eye(n)) if n > 1 else np.ones((1, 1))
    return leave * away / away.sum(axis=1, keepdims=True) + (1 - leave) * np.eye(n)


def tiny(random: Random, n: int) -> Array:
    return 10.0 ** random.uniform(-20, 0, (n, n))


class Kind(NamedTuple):
    """A way to make rows, and how many states they may have."""

    rows: Callable[[Random, int], Array]
    share: float
    most: int = 3  # most states, so that the rational oracle ends soon
    is_function: bool = False  # every state has one successor: then the oracle can solve hundreds of pairs


KINDS: dict[str, Kind] = {
    "dense": Kind(dense, 8, 4),
    "sparse": Kind(sparse, 10, 6),
    "ties": Kind(ties, 10, 5),
    "deterministic": Kind(deterministic, 10, 12, True),
    "cycle": Kind(cycle, 14, 18, True),
    "permutation": Kind(permutation, 5, 12, True),
    "slow cycle": Kind(slow_cycle, 6, 6),
    "path": Kind(path, 8, 6),
    "walk": Kind(walk, 6, 6),
    "absorbing": Kind(absorbing, 6, 5),
    "copies": Kind(copies, 6, 6),
    "equal rows": Kind(equal_rows, 4),
    "blocks": Kind(blocks, 8, 5),
    "sticky": Kind(sticky, 8, 4),
    "tiny": Kind(tiny, 8, 4),
}


# ------------------------------------------------------------------ rewards: n numbers


def _mixed(random: Random, n: int) -> Array:
    return random.choice([-1.0, 1.0], n) * 10.0 ** random.uniform(-280, 280, n)


def _penalty(random: Random, n: int) -> Array:
    reward = random.integers(0, 3, n).astype(float)
    reward[random.integers(n)] = -(10.0 ** random.integers(6, 17))
    return reward


def _nearly_equal(random: Random, n: int) -> Array:
    return 0.1 + random.integers(0, 3, n) * 2.0**-56


def _denormal(random: Random, n: int) -> Array:
    return random.integers(0, 4, n) * 10.0 ** random.uniform(-324, -300)


REWARDS: dict[str, Callable[[Random, int], Array]] = {
    "0 or 1": lambda random, n: (np.arange(n) == 0) * 1.0,
    "bits": lambda random, n: random.integers(0, 2, n).astype(float),
    "integers": lambda random, n: random.integers(-3, 4, n).astype(float),
    "ascending": lambda random, n: np.arange(n) * 1.0,
    "roots": lambda random, n: np.sqrt(np.arange(n)),
    "floats": lambda random, n: random.standard_normal(n),
    "decimals": lambda random, n: random.integers(-9, 10, n) / 10,
    "any scale": lambda random, n: random.standard_normal(n) * 10.0 ** random.uniform(-290, 285),
    "mixed scales": _mixed,
    "a penalty": _penalty,
    "nearly equal": _nearly_equal,
    "denormal": _denormal,
    "all equal": lambda random, n: np.full(n, 0.3),
}
RARE_REWARDS = {"denormal": 0.2}  # share, where that of the others is 1


def drawn(random: Random, shares: dict[Key, float]) -> Key:
    """One of the keys, with these shares."""
    weight = np.array(list(shares.values()), float)
    return list(shares)[random.choice(len(weight), p=weight / weight.sum())]
