"""One-to-one matchings of states: by distance and by the coupling."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bisimetric as bm
from bisimetric.errors import InvalidOption, MissingStart
from bisimetric.solving.assignment import MOST_ROWS, by_distance
from tests import strategies


def names(n, m):
    """Numbers as names."""
    return tuple(map(str, range(n))), tuple(map(str, range(m)))


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 4)),
        elements=st.one_of(st.sampled_from((0.0, 1.0, 2.0, np.nan)), st.floats(0, 1e300, allow_subnormal=False)),
    )
)
def test_equals_trying_all_matchings(value):
    """As many solved pairs as possible, then the smallest total."""
    n, m = value.shape
    found = by_distance(value, names(n, m))
    wide = value if n <= m else value.T
    candidates = []
    for columns in permutations(range(wide.shape[1]), wide.shape[0]):
        costs = wide[np.arange(wide.shape[0]), list(columns)]
        candidates.append((np.isnan(costs).sum(), np.nansum(costs)))
    fewest, least = min(candidates)
    assert len(found.source) == min(n, m) - fewest
    assert found.total <= least + 1e-12 * float(np.nanmax([0.0, *value.ravel()]))
    assert len(set(found.source)) == len(found.source)
    assert len(set(found.target)) == len(found.target)
    assert len(found.unmatched[0]) + len(found.source) == n
    assert len(found.unmatched[1]) + len(found.target) == m


@given(strategies.chains(max_states=4, min_states=2, tiny=False, reward=True), st.randoms(use_true_random=False))
def test_relabelled_chains_match_at_no_distance(chain, random):
    """The states of a chain and of the same chain in another order: distance 0, and bisimilar states go together."""
    order = list(range(chain.n_states))
    random.shuffle(order)
    rows = chain.transitions.toarray()
    start = np.full(chain.n_states, 1 / chain.n_states)
    one = bm.MarkovChain(rows, reward=chain.reward, start=start)
    other = bm.MarkovChain(rows[np.ix_(order, order)], reward=chain.reward[order], start=start)
    solution = bm.distance(one, other, discount=0.8)
    found = solution.assignment()
    assert found.total <= 1e-9
    assert not any(len(states) for states in found.unmatched)
    classes = bm.bisimilar_classes(one)
    assert np.array_equal(classes[found.source], classes[np.array(order)[found.target]])


def hidden(order):
    """A chain with three kinds of states, in some order."""
    rows = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.3, 0.0, 0.7]])
    return bm.MarkovChain(
        rows[np.ix_(order, order)],
        reward=np.array([0.0, 1.0, 5.0])[order],
        start=np.array([0.5, 0.25, 0.25])[order],
        names=[("sun", "fog", "rain")[k] for k in order],
    )


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("by", ["distance", "coupling"])
def test_finds_the_permutation(order, by):
    """Both ways."""
    found = bm.distance(hidden([0, 1, 2]), hidden(list(order)), discount=0.9).assignment(by)
    assert found.targets.tolist() == np.argsort(order).tolist()
    assert found.pairs == (("sun", "sun"), ("fog", "fog"), ("rain", "rain"))
    assert found.total == pytest.approx(0, abs=1e-9)
    assert (found.time is None) == (by == "distance")


def test_nearest_neighbours_collide_and_assignments_do_not():
    """All states of one chain may be nearest to one state of the other."""
    one = bm.MarkovChain(np.eye(3), reward=[0.0, 0.1, 0.2])
    other = bm.MarkovChain(np.eye(3), reward=[0.1, 5.0, 9.0])
    solution = bm.distance(one, other, discount=0.5)
    assert solution.match().tolist() == [0, 0, 0]
    assert repr(solution.match()) == (
        "array([0, 0, 0])  # 3 states with 1 nearest neighbours; assignment() is one-to-one"
    )
    assert isinstance(solution.match(), np.ndarray)
    assert solution.match()[1] == 0
    assert repr(solution.match()[:, None]) == repr(np.zeros((3, 1), int))
    assert sorted(solution.assignment().targets.tolist()) == [0, 1, 2]


def test_by_coupling_leaves_out_what_is_never_met():
    """Only pairs at which time is spent, from a start that is given too."""
    stay = bm.MarkovChain(np.eye(3), reward=[0.0, 1.0, 2.0], names=["a", "b", "c"], start=0)
    solution = bm.distance(stay, stay, discount=0.5)
    found = solution.assignment("coupling")
    assert found.pairs == (("a", "a"),)
    assert [states.tolist() for states in found.unmatched] == [[1, 2], [1, 2]]
    assert found.time.tolist() == pytest.approx([1.0])
    assert solution.assignment("coupling", start=("b", "c")).pairs == (("b", "c"),)


def test_pairs_that_were_not_solved_are_not_matched():
    """With pairs="reachable" only states that the starts lead to."""
    chain = bm.MarkovChain([[0, 1, 0], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 2], start=0)
    solution = bm.distance(chain, chain, discount=0.9, pairs="reachable")
    found = solution.assignment()
    assert found.targets.tolist() == [0, 1, -1]
    assert found.unmatched[1].tolist() == [2]
    assert not np.isnan(found.distance).any()
    assert solution.assignment("coupling").targets.tolist() == [0, 1, -1]


def test_decision_processes_and_label_distances():
    """Every kind of answer has one."""
    mdp = bm.MDP([np.eye(2), np.eye(2)[::-1]], [[0, 1], [2, 3]], start=[0.5, 0.5])
    turned = bm.MDP([np.eye(2), np.eye(2)[::-1]], [[2, 3], [0, 1]], start=[0.5, 0.5])
    solution = bm.bisimulation_metric(mdp, turned, discount=0.9)
    assert solution.assignment().targets.tolist() == [1, 0]
    assert solution.assignment("coupling").targets.tolist() == [1, 0]
    coins = [bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], labels=labels, start=0) for labels in (["h", "t"], ["t", "h"])]
    assert bm.bisimilarity_distance(*coins).assignment().targets.tolist() == [1, 0]


def test_prints_as_a_table():
    """Names are inert, long tables are cut."""
    one = bm.MarkovChain(np.eye(2), reward=[0.0, 1.0], names=["<b>\x1b", "off"])
    other = bm.MarkovChain(np.eye(3), reward=[0.0, 1.5, 9.0], names=["x", "y", "z"])
    found = bm.distance(one, other, discount=0.5).assignment()
    assert repr(found) == (
        " source  target  distance\n<b>\\x1b       x         0\n    off       y         1\n"
        "2 pairs at a total distance of 1; unmatched in the target: z"
    )
    assert "&lt;b&gt;\\x1b" in found._repr_html_()
    large = bm.MarkovChain(np.eye(30), reward=np.arange(30.0))
    shown = repr(bm.distance(large, large, discount=0.5).assignment())
    assert len(shown.splitlines()) == MOST_ROWS + 2
    assert "10 more" in shown


def test_what_is_refused():
    """Unknown ways, and starts that have no meaning or are missing."""
    chain = bm.MarkovChain(np.eye(2), reward=[0.0, 1.0])
    solution = bm.distance(chain, chain, discount=0.5)
    with pytest.raises(InvalidOption, match="'distance' or 'coupling'"):
        solution.assignment("nearest")
    with pytest.raises(InvalidOption, match="leave it out"):
        solution.assignment(start=(0, 0))
    with pytest.raises(MissingStart):
        solution.assignment("coupling")
