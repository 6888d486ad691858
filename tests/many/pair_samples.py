"""Chains and costs that the tests of many pairs share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import bisimetric as bm

SIZES = (3, 6, 4, 5)
LARGER = (9, 12, 10, 11)  # too large to be solved beside others


@dataclass(frozen=True, slots=True)
class Hasty(bm.PolicyIteration):
    """Gives up after its first step."""

    default_max_steps: ClassVar[int] = 1


def random_chains(seed=0, sizes=SIZES):
    """Chains of several sizes, the third with a law as its start."""
    made = [bm.environments.random_sparse_chain(n, 2, seed=seed + k) for k, n in enumerate(sizes)]
    made[2] = made[2].with_start(np.full(sizes[2], 1 / sizes[2]))
    return made


def tables(distances):
    """Value, lower and upper as one array."""
    return np.array([distances.value, distances.lower, distances.upper])


def solver_for_workers(begin):
    """A solver of a class that no other process can import; in other processes it calls `begin` first."""
    here = os.getpid()

    @dataclass(frozen=True, slots=True)
    class Elsewhere(bm.PolicyIteration):
        def init(self, *arguments):
            if os.getpid() != here:
                begin()
            return bm.PolicyIteration.init(self, *arguments)

    return Elsewhere()


def squared_gap(a, b):
    """A symmetric cost that is not known to be."""
    return np.subtract.outer(a.reward, b.reward) ** 2
