"""Simulated logs: visits of a shop, from a process that may change."""

from __future__ import annotations

from functools import cache

import numpy as np

import bisimetric as bm

SHOP = {
    "home": {"search": 0.5, "product": 0.3, "help": 0.2},
    "search": {"product": 0.7, "home": 0.2, "search": 0.1},
    "product": {"cart": 0.3, "search": 0.5, "home": 0.2},
    "cart": {"paid": 0.6, "product": 0.3, "help": 0.1},
    "help": {"home": 0.6, "product": 0.4},
}
NEW_SHOP = SHOP | {"product": {"cart": 0.05, "search": 0.55, "home": 0.2, "reviews": 0.2}, "reviews": {"product": 1.0}}


def visits(process, count, seed):
    """That many visits, each of random length."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        states = ["home"]
        while states[-1] in process and random.random() > 0.08:
            follow = process[states[-1]]
            states.append(str(random.choice(list(follow), p=list(follow.values()))))
        found.append(states)
    return found


@cache
def logs(second="same", count=150):
    """Two logs, of the same process or of a changed one."""
    return visits(SHOP, count, 1), visits(SHOP if second == "same" else NEW_SHOP, count, 2)


@cache
def comparison(second="same"):
    """Their comparison."""
    return bm.compare(*logs(second), discount=0.8, resamples=40)
