"""The smallest chain that behaves like a given one: a state for every class of bisimilar states.

    P̂(X, Y) = Σ_{y ∈ Y} P(x, y)        for the first state x of the class X

Bisimilar states have equal distances to everything, so nothing is lost. How far the lumped rows of other states are
from the first one's goes into the small chain's `row_error`, and certificates pay for it.

Reference: Larsen & Skou 1991; Kemeny & Snell 1960 (lumpability).
"""

from __future__ import annotations

from bisimetric._chain import MarkovChain
from bisimetric._lumping import lump
from bisimetric._partition import Classes
from bisimetric.bisimulation.classes import bisimilar_classes


def quotient(model: MarkovChain) -> tuple[MarkovChain, Classes]:
    """The chain on classes of bisimilar states, and the class of every state.

    A class has the reward, label and name of its first state; the start is summed over classes. The quotient of a
    quotient is itself.

    >>> import bisimetric as bm
    >>> small, states = bm.quotient(bm.environments.four_rooms(side=20, goal="all"))
    >>> small
    MarkovChain(56 states, 201 transitions, reward, start, names, labels)
    """
    classes = bisimilar_classes(model)
    small = lump(model, classes).chain
    while True:  # probabilities that differ by just about the tolerance may let classes merge once more
        again = bisimilar_classes(small)
        if int(again.max()) + 1 == small.n_states:
            return small, classes
        classes = again[classes]
        small = lump(model, classes).chain
