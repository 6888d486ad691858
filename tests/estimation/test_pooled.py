"""Two logs over the union of their states."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.estimation.pooled import on_union, pooled, spelled_otherwise
from tests.estimation.logs import logs


def test_states_of_both_logs_in_one_order():
    """Those of the first, then the others; states of one log only are named."""
    a, b = (bm.from_trajectories(log) for log in logs("changed"))
    both = pooled(a, b)
    assert both.names == (*a.names, "reviews")
    assert both.only == ((), ("reviews",))
    assert both.sizes == (a.n_sequences, b.n_sequences)


def test_chains_of_samples_are_the_estimates():
    """Up to transitions of probability 2⁻⁵⁰, so that all samples have the same transitions."""
    a, b = (bm.from_trajectories(log) for log in logs("changed"))
    both = pooled(a, b)
    chains = [both.chain(both.sequences.totals(side)) for side in both.split()]
    assert np.array_equal(chains[0].transitions.indices, chains[1].transitions.indices)
    for chain, log in zip(chains, (a, b), strict=True):
        whole = on_union(log, both)
        reached = ~whole.unseen
        np.testing.assert_allclose(
            chain.transitions.toarray()[reached], whole.transitions.toarray()[reached], atol=1e-13
        )
        np.testing.assert_allclose(chain.start, whole.start)
        assert chain.labels == both.names
    paid = both.names.index("paid")
    assert chains[0].transitions.toarray()[paid, paid] == pytest.approx(1.0)


def test_chains_of_samples_leave_shared_arrays_writable():
    """A kernel is compiled again for arrays that are read-only."""
    both = pooled(*(bm.from_trajectories(log) for log in logs("changed")))
    both.chain(both.sequences.totals(both.split()[0]))
    assert both.layout.indptr.flags.writeable
    assert both.layout.target.flags.writeable


def test_a_log_with_all_states_is_left_as_it_is():
    """And one with fewer gets the others, without data."""
    a, b = (bm.from_trajectories(log) for log in logs("changed"))
    both = pooled(b, a)
    assert on_union(b, both) is b
    whole = on_union(a, both)
    assert whole.names == b.names
    assert whole.visits[whole.names.index("reviews")] == 0
    assert whole.n_transitions == a.n_transitions


def test_rewards_of_both_logs():
    """Means are taken again from every sample."""
    import pandas as pd

    frame = pd.DataFrame({"who": [1, 1, 2, 2], "what": list("abab"), "worth": [1.0, 2.0, 5.0, 7.0]})
    a = bm.from_trajectories(frame, sequence="who", state="what", reward="worth")
    both = pooled(a, a)
    chain = both.chain(both.sequences.totals(np.array([2, 0, 0, 0])))
    assert chain.reward.tolist() == [1, 2]
    plain = bm.from_trajectories([["a", "b"]] * 2)
    with pytest.raises(bm.errors.InvalidOption, match="rewards"):
        pooled(a, plain)


def test_logs_made_by_other_rules_are_refused():
    """Smoothing of one log only would look like a change."""
    a, b = logs()
    with pytest.raises(bm.errors.InvalidOption, match="smoothing"):
        pooled(bm.from_trajectories(a, smoothing=1), bm.from_trajectories(b))
    with pytest.raises(bm.errors.InvalidOption, match="end="):
        pooled(bm.from_trajectories(a, end=True), bm.from_trajectories(b))
    with pytest.raises(bm.errors.InvalidOption, match="order="):
        pooled(bm.from_trajectories(a, order=2), bm.from_trajectories(b))


def test_names_that_are_nearly_the_same():
    """In spaces, in capitals, as numbers; others are not."""
    names = ["cart", " cart", "Cart", "1", "1.0", "2", "home page", "home  page", "homepage", "nan", "v1"]
    assert spelled_otherwise(names) == [("cart", " cart", "Cart"), ("1", "1.0"), ("home page", "home  page")]


def test_such_names_and_logs_without_a_common_state_are_in_the_notes():
    """They stay different states."""
    found = bm.compare([[1, 2, 1]] * 3, [["1.0", "2.0", "1.0"]] * 3, discount=0.5, resamples=2)
    assert any("no state in common" in note for note in found.notes)
    assert any("'1' and '1.0'" in note for note in found.notes)
    assert found.only == (("1", "2"), ("1.0", "2.0"))
