"""A chain on classes of its states.

The row of a class is that of its first state, summed over classes. Rows are rounded when a chain is made, so states
that move alike on paper may differ by a few roundings. The distance between the rows of a class and its first row is
measured and becomes part of `row_error`, so that certificates account for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import changed
from bisimetric.models.chain import MarkovChain
from bisimetric.models.partition import Classes, first_states
from bisimetric.models.rows import Floats


class Lump(NamedTuple):
    """A chain whose states are the classes of another."""

    chain: MarkovChain  # rows of the first states; row_error includes `moved`
    classes: Classes  # [n]
    first: npt.NDArray[np.int64]  # [classes], the first state of each
    moved: Floats  # [classes], the largest 1-norm between the lumped rows of a class and its first

    def reduce_law(self, law: Floats) -> Floats:
        """[classes], the mass of each under a law on the states; exact, as probabilities are multiples of 2⁻⁵²."""
        reduced: Floats = np.bincount(self.classes, weights=law, minlength=len(self.first)).astype(np.float64)
        return reduced


def lump(chain: MarkovChain, classes: Classes) -> Lump:
    """The chain on classes, with the rewards, labels and names of their first states, and the start summed up."""
    first = first_states(classes)
    size = len(first)
    kept, moved = lumped_rows(chain.transitions, classes, first)
    largest, error = np.zeros(size), np.zeros(size)
    np.maximum.at(largest, classes, moved)
    np.maximum.at(error, classes, moved + chain.row_error)
    small = MarkovChain(
        kept,
        reward=None if chain.reward is None else chain.reward[first],
        start=None if chain.start is None else np.bincount(classes, weights=chain.start, minlength=size),
        names=None if chain.names is None else [chain.names[state] for state in first],
        labels=None if chain.labels is None else [chain.labels[state] for state in first],
        start_error=chain.start_error,
    )
    differ = largest > 0.0
    np.logical_or.at(differ, classes, chain.merged)
    small = changed(small, row_error=error, merged=differ, computed=chain.computed)
    return Lump(small, classes, first, largest)


def lumped_rows(
    rows: sparse.csr_array, classes: Classes, first: npt.NDArray[np.int64]
) -> tuple[sparse.csr_array, Floats]:
    """The rows of first states, summed over classes; and the 1-norm between them and the rows of all states."""
    lumped = summed_rows(rows, classes, len(first))
    kept = lumped[first]
    return kept, np.asarray(abs(lumped - kept[classes]).sum(axis=1)).ravel()


def summed_rows(rows: sparse.csr_array, classes: Classes, size: int) -> sparse.csr_array:
    """All rows, summed over classes, of which there are `size`."""
    lumped = sparse.csr_array((rows.data, classes[rows.indices], rows.indptr), shape=(rows.shape[0], size), copy=True)
    lumped.sum_duplicates()  # exact, in any order: probabilities are multiples of 2⁻⁵²
    return lumped
