"""The most likely way on which two coupled models part, against a search without any graph algorithm."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.couplings import parting
from bisimetric.errors import NotEnoughMemory
from tests import strategies

NEARLY = 1 + 1e-7  # weights of ways that count as equal: 1e-9 for each step


def best_weight(moves, law, costly, discount):
    """The largest weight of a way to a costly pair, from all ways of up to n·m steps."""
    reached, best = law.ravel().copy(), 0.0
    for _ in range(law.size):
        best = max(best, float(reached[costly.ravel()].max(initial=0.0)))
        reached = discount * (reached[:, None] * moves).max(axis=0)
    return best


def check_path(path, law, moves, cost, discount, distance, value):
    """The path is possible, parts where it says, and no other way is more likely."""
    m = law.shape[1]
    pairs = [x * m + y for x, y in (moment.states for moment in path.moments)]
    chances = [law.ravel()[pairs[0]], *(moves[a, b] for a, b in pairwise(pairs))]
    assert [moment.probability for moment in path.moments] == pytest.approx(chances, rel=1e-12)
    assert min(chances) > 0
    assert len(set(pairs)) == len(pairs)
    costs = cost.ravel()[pairs]
    largest = cost.max()
    if path.parting is None:
        assert distance == 0.0 or distance <= 1e-9 * largest / (1 - discount)
        assert path.amount == path.share == path.probability * 0.0
        return
    assert costs[path.parting] > 0
    assert (costs[: path.parting] <= 1e-9 * largest).all()
    assert path.probability == pytest.approx(math.prod(chances[: path.parting + 1]))
    weight = discount**path.parting * path.probability
    assert path.amount == pytest.approx(weight * value.ravel()[pairs[path.parting]])
    assert path.amount <= distance * (1 + 1e-6) + 1e-9 * np.nanmax(value)
    assert 0 <= path.share <= 1
    assert best_weight(moves, law, cost > 1e-9 * largest, discount) <= weight * NEARLY


@given(strategies.tame_problems(max_states=4, start=True))
def test_no_way_is_more_likely(problem):
    """Chains with awkward rows, ties, stops and starts of any law."""
    solution = bm.solve(problem)
    coupling = solution.coupling
    path = solution.explain().path
    reached = np.where(coupling.occupancy() > 0, problem.cost, 0.0)
    question = problem.discount, solution.distance, solution.value
    check_path(path, coupling.law(None), coupling.moves().toarray(), reached, *question)


@given(strategies.mdps(start=True), strategies.tame_discounts, st.sampled_from(("same", "matched")))
def test_decision_processes(mdp, discount, actions):
    """Under the decisive actions, which the moments name."""
    solution = bm.bisimulation_metric(mdp, discount=discount, actions=actions)
    pair = (0, mdp.n_states - 1)
    path = solution.explain(start=pair).path
    coupling = solution.coupling
    cost = np.where(coupling.occupancy(pair) > 0, solution._decisive_cost, 0.0)
    question = discount, solution.value[pair], solution.value
    check_path(path, coupling.law(pair), coupling.matrix().toarray(), cost, *question)
    for moment in path.moments:
        assert tuple(map(int, moment.actions)) == tuple(solution.decisive[moment.states])


def labelled(transitions, labels, **more):
    """A chain that starts at state 0."""
    return bm.MarkovChain(transitions, labels=labels, start=0, **more)


FAIR = labelled([[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], ["toss", "heads", "tails"])
BENT = labelled([[0, 0.75, 0.25], [0, 1, 0], [0, 0, 1]], ["toss", "heads", "tails"])


def test_without_a_discount():
    """The weight of a way is its probability; a way through bisimilar states is none."""
    solution = bm.bisimilarity_distance(FAIR, BENT, discount=1)
    path = solution.explain().path
    assert [moment.states for moment in path.moments] == [(0, 0), (2, 1)]
    assert (path.parting, path.probability, path.amount, path.share) == (1, 0.25, 0.25, 1.0)
    assert path.difference == "labels tails and heads"


def test_likely_and_late_against_less_likely_and_early():
    """What the distance hardly sees is not the answer: with a small discount the early way is."""
    later = [[0, 0.4, 0.6, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    one = bm.MarkovChain(later, reward=[0, 1, 0, 0, 1], start=0)
    other = bm.MarkovChain([[1.0]], reward=[0], start=0)
    early, late = (bm.distance(one, other, discount=discount).explain().path for discount in (0.5, 0.99))
    assert [moment.states[0] for moment in early.moments] == [0, 1]
    assert [moment.states[0] for moment in late.moments] == [0, 2, 3, 4]
    assert late.probability == pytest.approx(0.6)


def test_ties_go_to_few_steps_then_to_the_first_states():
    """At probability one and without a discount too."""
    rows = [[0, 0.25, 0.25, 0.25, 0.25], [0, 0, 0, 1, 0], *np.eye(5)[2:]]
    one = labelled(rows, ["a", "a", "b", "b", "b"])
    other = labelled([[1.0]], ["a"])
    path = bm.bisimilarity_distance(one, other, discount=1).explain().path
    assert [moment.states for moment in path.moments] == [(0, 0), (2, 0)]


def test_a_cost_next_to_nothing_is_no_parting():
    """Rewards that differ by rounding; where nothing else differs they count."""
    rows = [[0, 1, 0], [0, 0, 1], [0, 0, 1]]
    one = bm.MarkovChain(rows, reward=[0.3, 0, 1], start=0)
    other = bm.MarkovChain(rows, reward=[0.1 + 0.2, 0, 0], start=0)
    assert bm.distance(one, other, discount=0.9).explain().path.parting == 2
    same = bm.MarkovChain(rows, reward=[0.1 + 0.2, 0, 1], start=0)
    assert bm.distance(one, same, discount=0.9).explain().path.parting == 0


@pytest.mark.parametrize("solver", ["sinkhorn-value-iteration", "value-iteration", "linear-program"])
def test_other_solvers(solver):
    """Couplings of any solver have a most likely way to part."""
    found = bm.distance("grid-3x3", "open-grid:3", discount=0.9, solver=solver).explain().path
    assert found.parting is not None
    assert 0 < found.share <= 1


def test_reachable_pairs_and_stops():
    """The way leads through solved pairs and ends where the game does."""
    path = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95, pairs="reachable").explain().path
    whole = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).explain().path
    assert path.parting == whole.parting
    assert path.probability == pytest.approx(whole.probability)
    chain = bm.MarkovChain([[0, 1], [1, 0]], start=0)
    problem = bm.Problem(chain, chain, discount=0.9, cost=[[1, 0], [0, 1]], stop=[[True, False], [False, False]])
    assert len(bm.solve(problem).explain().path.moments) == 1


def test_a_distance_of_zero():
    """The two never part: a few of the most likely moves are shown."""
    chain = bm.MarkovChain(np.roll(np.eye(9), 1, axis=1), reward=range(9), start=0)
    path = bm.distance(chain, chain, discount=0.9).explain().path
    assert path.parting is None
    assert [moment.states for moment in path.moments] == [(k, k) for k in range(1 + parting.MOVES_AFTERWARDS)]
    assert "never part" in repr(path)


@pytest.mark.parametrize("discount", [0.0, 0.5])
def test_no_future(discount):
    """With discount 0 only the start counts."""
    one, other = (bm.MarkovChain([[0, 1], [0, 1]], reward=[0, r], start=0) for r in (1, 2))
    path = bm.distance(one, other, discount=discount).explain().path
    assert path.parting == (1 if discount else None)


def test_long_ways_are_printed_in_part():
    """The middle is left out."""
    n = 60
    rows = np.roll(np.eye(n), 1, axis=1)
    one, other = (bm.MarkovChain(rows, reward=[0] * (n - 1) + [r], start=0) for r in (0, 1))
    path = bm.distance(one, other, discount=0.9).explain().path
    assert path.parting == n - 1
    assert len(path.moments) == n
    assert len(path.rows()) == parting.MOST_MOMENTS + 1
    assert path.rows()[-1][0] == str(n - 1)


def test_memory_is_asked_for_first(monkeypatch):
    """Before the graph is turned round."""
    solution = bm.distance(FAIR, BENT, discount=0.9, cost=bm.cost.label_mismatch)
    monkeypatch.setattr(parting, "BYTES_PER_SEARCHED_PAIR", 10**15)
    with pytest.raises(NotEnoughMemory, match="way to part"):
        solution.explain()


def test_labels_that_are_sets():
    """In braces; hostile ones are escaped."""
    one, other = (labelled([[1.0]], [label]) for label in ({"b", "a"}, "\x1b[31m"))
    path = bm.bisimilarity_distance(one, other, discount=0.9).explain().path
    assert path.difference == "labels {a, b} and \\x1b[31m"
    assert "from the start" in path.summary()
