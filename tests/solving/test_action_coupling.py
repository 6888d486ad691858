"""Solutions of decision processes: decisive actions, couplings as a matrix, occupancies and explanations."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import bisimetric as bm
from bisimetric.errors import InvalidOption, MissingStart
from tests import strategies

STAY, GO = np.eye(2), np.array([[0.3, 0.7], [1.0, 0.0]])
SOURCE = bm.MDP([STAY, GO], [[0.0, 1.0], [0.5, 0.25]], start=0, names=["a", "b"], actions=["stay", "go"])
TARGET = bm.MDP([GO, STAY], [[1.0, 0.5], [0.0, 0.0]], start=1, names=["c", "d"], actions=["go", "stay"])


def solved(source, target, discount, actions):
    """The metric, whatever gap it reaches."""
    return bm.bisimulation_metric(source, target, discount=discount, actions=actions, throw=False)


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_the_matrix_has_the_single_couplings(actions):
    """Row s·m + t is the coupling of the pair under its decisive actions."""
    solution = solved(SOURCE, TARGET, 0.9, actions)
    matrix = solution.coupling.matrix()
    assert matrix.shape == (4, 4)
    for s in range(2):
        for t in range(2):
            a, b = solution.decisive[s, t]
            assert np.array_equal(matrix[[2 * s + t]].toarray().reshape(2, 2), solution.coupling[s, t].toarray())
            assert np.array_equal(solution.coupling[s, t].toarray(), solution.coupling[s, t, a, b].toarray())


@settings(max_examples=40)
@given(strategies.mdps(n_actions=3, partial=True, start=True), strategies.mdps(partial=True, start=True))
def test_contributions_add_up_to_the_distance_between_matched_actions(source, target):
    """Under the decisive actions the two processes are chains, whose discounted cost is the distance."""
    check(solved(source, target, 0.9, "matched"))


@settings(max_examples=40)
@given(strategies.mdps(start=True), strategies.mdps(start=True))
def test_contributions_add_up_to_the_distance_between_same_actions(source, target):
    """The same where every action meets itself."""
    check(solved(source, target, 0.7, "same"))


def check(solution):
    """Occupancies are a distribution, and the sum of occupancy times reward gap is certified."""
    n, m = solution.problem.shape
    occupancy = solution.coupling.occupancy()
    assert math.isclose(occupancy.sum(), 1.0, rel_tol=1e-9)
    whole = solution.explain(k=n * m)
    low, high = solution.interval
    assert low <= whole.distance <= high
    assert math.isclose(sum(part.amount for part in whole.parts), whole.distance, rel_tol=1e-8, abs_tol=1e-12)
    assert whole.normalised
    for part in whole.parts:
        s, t = int(part.source), int(part.target)
        a, b = map(int, part.actions)
        assert (a, b) == tuple(solution.decisive[s, t])
        gap = abs(solution.problem.source.rewards[s, a] - solution.problem.target.rewards[t, b])
        assert math.isclose(part.cost, gap, rel_tol=1e-12)
        assert math.isclose(part.amount, part.occupancy * part.cost, rel_tol=1e-12)
        assert part.occupancy == occupancy[s, t]


def test_an_explanation_names_states_and_actions():
    """As text and as HTML; the pairs left out are counted."""
    solution = solved(SOURCE, TARGET, 0.9, "same")
    text = repr(solution.explain(1))
    assert text.splitlines()[0].split() == [
        "source",
        "target",
        "source",
        "action",
        "target",
        "action",
        *text.split()[6:10],
    ]
    assert {"stay", "go"} & set(text.splitlines()[1].split())
    assert "together" in text
    assert "source action" in solution.explain()._repr_html_()


def test_other_starts():
    """A pair of states by index or name, or a joint law; the processes' own starts by default."""
    solution = solved(SOURCE, TARGET, 0.9, "matched")
    by_name, by_index = (solution.explain(start=pair) for pair in (("a", "d"), (0, 1)))
    assert repr(by_name) == repr(by_index) == repr(solution.explain())
    law = np.full((2, 2), 0.25)
    assert math.isclose(solution.explain(start=law).distance, solution.value.mean(), rel_tol=1e-8)
    for wrong in (3, ("a",), np.ones((2, 2)), np.full((4, 1), 0.25)):
        with pytest.raises(InvalidOption):
            solution.explain(start=wrong)
    with pytest.raises(InvalidOption, match="k is -1"):
        solution.explain(-1)


def test_without_a_start():
    """The error says what to do; a pair of states works."""
    solution = bm.bisimulation_metric(bm.MDP([STAY, GO], [[0.0, 1.0], [0.5, 0.25]]), discount=0.9)
    with pytest.raises(MissingStart, match="with_start"):
        solution.explain()
    assert solution.explain(start=(0, 1)).distance == pytest.approx(solution.value[0, 1], rel=1e-8)


@pytest.mark.parametrize("discount", [0.0, 0.9])
def test_where_nothing_is_solved(discount):
    """No future, or nothing to pay: the cost is the distance."""
    rewards = [[0.0, 1.0], [0.5, 0.25]] if discount == 0.0 else np.ones((2, 2))
    solution = bm.bisimulation_metric(bm.MDP([STAY, GO], rewards, start=0), discount=discount)
    assert solution.explain(start=(0, 1)).distance == solution.value[0, 1]


def test_a_solution_survives_pickle():
    """With its decisive actions and its explanation."""
    solution = solved(SOURCE, TARGET, 0.9, "matched")
    again = pickle.loads(pickle.dumps(solution))
    assert np.array_equal(again.decisive, solution.decisive)
    assert repr(again.explain()) == repr(solution.explain())
