"""The question about two labelled chains without a discount: the bisimilarity distance.

    d(x, y) = 1 where labels differ,  0 where x and y are bisimilar,  else OT_d(P[x], Q[y])

It bounds the difference in the probability of every property of the labels on the way, however long. The equation
without its middle case has many solutions: chances may be put off forever. With it there is one, for this reason. Take
any coupling at every pair that is neither. If pairs of equal labels led only to one another, the coupling would prove
them bisimilar; so from every other pair the coupled chains come, with probability one, to different labels or to
bisimilar states.

The distance depends on which states are bisimilar, and that on the last digit of a probability: two coins that differ
by 2⁻⁵² and are tossed forever are at distance 1. So bisimilarity is decided up to a tolerance, on both chains together,
as `bisimilar_classes` does, and everything is said about chains in which the states of one class move exactly alike:

    lower ≤ d ≤ upper for all chains in which states are bisimilar where they are in one class, and nowhere else, and
    whose probabilities of moving into the classes are those of the given rows, up to `row_error` (1-norm), and zero
    where those are.

`row_error` counts the rounding of the given rows and how far the rows of one class are apart.

References: Desharnais, Gupta, Jagadeesan & Panangaden 2004; Chen, van Breugel & Worrell 2012.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import frozen
from bisimetric.cost.ground import label_mismatch, label_numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.models.lumping import Lump, lump
from bisimetric.models.partition import DEFAULT_TOL, Classes, Moves, refine
from bisimetric.models.rows import Floats, Mask, offsets
from bisimetric.problems.discounted import Problem, refuse_errors


class Quotient(NamedTuple):
    """The two chains on classes of bisimilar states."""

    source: Lump
    target: Lump
    differ: Mask  # [classes, classes], labels differ
    same: Mask  # [classes, classes], one class of both chains
    row_error: float  # 1-norm: the largest of a source row and of a target row together

    def reduce(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array over pairs of states at the first states of each pair of classes."""
        return array[np.ix_(self.source.first, self.target.first)]

    def lift(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array over pairs of classes at all pairs of states."""
        return array[np.ix_(self.source.classes, self.target.classes)]


@dataclass(frozen=True, eq=False, init=False)
class BisimilarityProblem(Problem):
    """The question how differently two labelled chains can behave in all their future; immutable.

    Parameters
    ----------
    source, target : MarkovChain
        Chains with labels, n and m states.
    tol : float in [0, 1)
        States are bisimilar up to this, as in `bisimilar_classes`.

    Attributes
    ----------
    cost : [n, m] array
        1 where labels differ, else 0.
    stop : [n, m] array of bool
        Where labels differ.
    discount : float
        1.
    classes : two arrays [n] and [m]
        The class of every state; bisimilar states of both chains have the same number.

    Raises
    ------
    InvalidProblem
        A chain has no labels.
    """

    tol: float
    classes: tuple[Classes, Classes] = field(repr=False)

    def __init__(self, source: MarkovChain, target: MarkovChain, *, tol: float = DEFAULT_TOL) -> None:
        super().__init__(source, target, discount=0.0, cost=label_mismatch)  # checks all; the discount is 1 below
        refuse_errors(self)
        classes = _joint_classes(source, target, tol)
        values = {"discount": 1.0, "stop": frozen(self.cost > 0.0), "tol": float(tol), "classes": classes}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def ends(self) -> Mask:
        """[n, m], where labels differ, and where two states are bisimilar."""
        ends: Mask = np.equal.outer(*self.classes) | (self.cost > 0.0)
        return ends

    @cached_property
    def quotient(self) -> Quotient:
        """The chains on classes, and which pairs of classes have known distances."""
        (numbers_x, local_x), (numbers_y, local_y) = (np.unique(c, return_inverse=True) for c in self.classes)
        source = lump(self.source, local_x.astype(np.int64))
        target = source if self.target is self.source else lump(self.target, local_y.astype(np.int64))
        error = float(source.chain.row_error.max()) + float(target.chain.row_error.max())
        error += _apart(source.chain.transitions, target.chain.transitions, numbers_x, numbers_y)
        differ = self.cost[np.ix_(source.first, target.first)] > 0.0
        return Quotient(source, target, differ, np.equal.outer(numbers_x, numbers_y), error)

    @property
    def cost_text(self) -> str:
        """Empty: the distance says what it is about."""
        return ""

    def _words(self) -> tuple[object, ...]:
        return *super()._words(), self.tol

    def __repr__(self) -> str:
        n, m = self.shape
        return f"BisimilarityProblem({n} x {m} states, no discount)"


def _joint_classes(source: MarkovChain, target: MarkovChain, tol: float) -> tuple[Classes, Classes]:
    """Classes of bisimilar states of the two chains side by side; rewards do not count."""
    labels = label_numbers(source, target)
    if source is target:
        alone = frozen(_refined([source.transitions], labels[0], tol))
        return alone, alone
    classes = _refined([source.transitions, target.transitions], np.concatenate(labels), tol)
    return frozen(classes[: source.n_states].copy()), frozen(classes[source.n_states :].copy())


def _refined(parts: list[sparse.csr_array], groups: Classes, tol: float) -> Classes:
    before = np.cumsum([0, *(part.shape[0] for part in parts)])
    indices = np.concatenate([part.indices + first for part, first in zip(parts, before, strict=False)])
    indptr = offsets(np.concatenate([np.diff(part.indptr) for part in parts]))
    classes = refine(Moves(indptr, indices, np.concatenate([part.data for part in parts])), groups, tol)
    assert classes is not None  # there is no limit on their number
    return classes


def _apart(P: sparse.csr_array, Q: sparse.csr_array, numbers_x: Classes, numbers_y: Classes) -> float:
    """The largest 1-norm between the rows of a class in the source and in the target."""
    _, in_x, in_y = np.intersect1d(numbers_x, numbers_y, return_indices=True)
    if not len(in_x):
        return 0.0
    width = int(max(numbers_x.max(), numbers_y.max())) + 1
    rows = [
        sparse.csr_array((part.data, numbers[part.indices], part.indptr), shape=(part.shape[0], width))
        for part, numbers in ((P[in_x], numbers_x), (Q[in_y], numbers_y))
    ]
    norms: Floats = np.asarray(abs(rows[0] - rows[1]).sum(axis=1)).ravel()
    return float(norms.max())
