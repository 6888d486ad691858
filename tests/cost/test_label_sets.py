"""Costs between sets of labels."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm


def chain(n, **options):
    """n absorbing states."""
    return bm.MarkovChain(np.eye(n), **options)


SETS = st.lists(st.frozensets(st.sampled_from("pqrs")), min_size=1, max_size=4)


@given(SETS, SETS)
def test_labels_as_sets(mine, theirs):
    """How many labels differ, and what share of all they are; two empty sets are equal."""
    source, target = chain(len(mine), labels=mine), chain(len(theirs), labels=theirs)
    difference, jaccard = bm.cost.label_difference(source, target), bm.cost.label_jaccard(source, target)
    mismatch = bm.cost.label_mismatch(source, target)
    for x, own in enumerate(mine):
        for y, other in enumerate(theirs):
            assert difference[x, y] == len(own ^ other)
            assert jaccard[x, y] == len(own ^ other) / max(len(own | other), 1)
            assert (jaccard[x, y] > 0) == (mismatch[x, y] > 0)
    assert (jaccard <= mismatch).all()


def test_a_label_that_is_no_set_is_a_set_of_one():
    """Texts and numbers, beside sets."""
    source, target = chain(2, labels=["p", 3]), chain(3, labels=[{"p", "q"}, "p", "3"])
    assert bm.cost.label_difference(source, target).tolist() == [[1, 0, 2], [3, 2, 2]]
    assert bm.cost.label_jaccard(source, target).tolist() == [[0.5, 0, 1], [1, 1, 1]]
