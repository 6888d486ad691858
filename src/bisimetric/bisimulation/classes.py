"""Bisimilar states: equal in reward and label, and moving alike into every class of such states.

    s ~ t   ⇒   r(s) = r(t),  label(s) = label(t),  Σ_{u ∈ C} P(s, u) = Σ_{u ∈ C} P(t, u)  for every class C

is the coarsest such partition (`_partition`). Numbers from floating-point arithmetic are hardly ever equal, so "equal"
means here: sorted, the numbers of a class have no gap above `tol`, sums of probabilities in absolute terms and rewards
relative to the largest reward. That leaves no doubt in two cases. States that are bisimilar up to errors of tol/2 in
every sum are in one class. States in different classes differ by more than `tol` in their rewards or in their
probabilities of entering some set of classes, or in their labels. In between, members of one class may differ by more
than `tol` if others lie between them.

References: Larsen & Skou 1991; Valmari & Franceschinis 2010.
"""

from __future__ import annotations

import numpy as np

from bisimetric._chain import MarkovChain
from bisimetric._errors import InvalidChain, InvalidOption
from bisimetric._partition import Classes, Moves, close_together, common, numbered, refined

DEFAULT_TOL = 1e-12  # between probabilities


def bisimilar_classes(model: MarkovChain, *, tol: float = DEFAULT_TOL) -> Classes:
    """[n], the class of every state: 0, 1, … in the order of their first states.

    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.1, 0.2, 0.7], [0.3, 0, 0.7], [0, 0, 1]], reward=[0, 0, 1])
    >>> bm.bisimilar_classes(chain).tolist()
    [0, 0, 1]
    """
    if not isinstance(model, MarkovChain):
        raise InvalidChain(f"model is a {type(model).__name__}, expected a MarkovChain; as_chain(...) makes one")
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating)) or not 0.0 <= tol < 1.0:
        raise InvalidOption(f"tol is {tol!r}, expected a number in [0, 1) such as {DEFAULT_TOL:g}")
    rows = model.transitions
    classes = refined(Moves(rows.indptr, rows.indices, rows.data), _observed(model, float(tol)), float(tol))
    assert classes is not None  # there is no limit on their number
    return classes


def _observed(chain: MarkovChain, tol: float) -> Classes:
    """Groups of states with the same reward and label."""
    if chain.reward is None and chain.labels is None:
        raise InvalidChain(
            "the chain has neither reward nor labels, so all its states are bisimilar; "
            "give it one of them: MarkovChain(..., reward=...) or labels=..."
        )
    groups = np.zeros(chain.n_states, np.int64)
    if chain.reward is not None:
        largest = float(np.abs(chain.reward).max())
        groups = numbered(close_together(chain.reward / largest, tol)) if largest else groups
    if chain.labels is not None:
        number: dict[object, int] = {}
        labels = [number.setdefault(label, len(number)) for label in chain.labels]
        groups = common(groups, np.array(labels, np.int64))
    return groups
