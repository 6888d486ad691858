"""Whether a solve between two chains has room, from the chains alone: asked before costs between all states are made.

Bisimilar states may be merged later, which takes less. Where they are is known from rewards or labels, if the cost
compares those; other costs have to be computed first, and the solve asks again when it makes its trees.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bisimetric._support import memory
from bisimetric.cost.ground import BYTES_PER_CHECKED_PAIR, Cost, label_mismatch, label_numbers, reward_gap
from bisimetric.models.chain import MarkovChain
from bisimetric.models.partition import Classes
from bisimetric.operators.reachable import require_room_for_reachable
from bisimetric.operators.trees import ROOM_REMEDY, bytes_between
from bisimetric.solvers import by_name
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.lumping import WORTHWHILE, classes_of

MANY_PAIRS = 10**5  # of states: fewer always have room


def require_room(
    source: MarkovChain,
    target: MarkovChain,
    cost: npt.ArrayLike | Cost | None,
    solver: AnySolver | str | None,
    *,
    reachable: bool = False,
) -> None:
    """Raise if a solve by transport trees takes too much memory, and no states are bisimilar that could be merged.

    If only `reachable` pairs are to be solved: if finding them takes too much.
    """
    if reachable:
        require_room_for_reachable(source, target, beside=BYTES_PER_CHECKED_PAIR)
        return
    n, m = source.n_states, target.n_states
    needed = bytes_between(source.transitions, target.transitions)
    if memory.fits(needed) or not (solver is None or by_name(solver).open_pairs):
        return
    groups = _groups(source, target, cost)
    if groups is None:
        return
    most = int(WORTHWHILE * n * m)
    classes = classes_of(source, groups[0], most)
    merged = classes if source is target else None
    if classes is not None and merged is None:
        merged = classes_of(target, groups[1], most // int(classes.max() + 1))
    if classes is None or merged is None or int(classes.max() + 1) * int(merged.max() + 1) > most:
        memory.require(needed, f"solving {n} x {m} state pairs", ROOM_REMEDY)


def _groups(
    source: MarkovChain, target: MarkovChain, cost: npt.ArrayLike | Cost | None
) -> tuple[Classes, Classes] | None:
    """States that the cost cannot tell apart; None where only its values say."""
    if cost is label_mismatch:
        return label_numbers(source, target)
    if (cost is None or cost is reward_gap) and source.reward is not None and target.reward is not None:
        mine, theirs = source.reward, target.reward
        return np.unique(mine, return_inverse=True)[1], np.unique(theirs, return_inverse=True)[1]
    return None
