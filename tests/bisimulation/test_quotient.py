"""The small chain or decision process: its rows, its fields, and that it is a fixed point."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidChain
from tests import reference, strategies


def test_by_hand():
    """Two of three states are alike; fields are those of first states, the start is summed."""
    chain = bm.MarkovChain(
        [[0.5, 0.25, 0.25], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]],
        reward=[1, 0, 0],
        start=[0.25, 0.25, 0.5],
        names=["a", "b", "c"],
        labels=["x", "y", "y"],
    )
    small, classes = bm.quotient(chain)
    assert classes.tolist() == [0, 1, 1]
    assert small.transitions.toarray().tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert (small.reward.tolist(), small.start.tolist()) == ([1, 0], [0.25, 0.75])
    assert (small.names, small.labels) == (("a", "b"), ("x", "y"))
    assert small.row_error.tolist() == [0, 0]


def test_nothing_to_merge():
    """The same rows, and every state its own class."""
    chain = bm.environments.four_rooms("p0", door_cost=True)
    small, classes = bm.quotient(chain)
    assert classes.tolist() == list(range(40))
    assert (small.transitions != chain.transitions).nnz == 0


@given(st.data())
def test_quotient_of_a_quotient(data):
    """It is itself: same rows, same fields, identical map. Also where probabilities are about the tolerance."""
    base = data.draw(strategies.chains(max_states=4, reward=True))
    chain, _ = data.draw(strategies.with_copies(base))
    small, classes = bm.quotient(chain)
    again, same = bm.quotient(small)
    assert same.tolist() == list(range(small.n_states))
    assert (again.transitions.toarray() == small.transitions.toarray()).all()
    assert (again.reward == small.reward).all()
    assert (small.transitions.sum(axis=1) == 1.0).all()
    assert sorted(set(classes.tolist())) == list(range(small.n_states))


@given(st.data())
def test_copies_merge(data):
    """A chain with copies has no larger quotient than the chain without, and the same distance from it: zero."""
    base = data.draw(strategies.chains(max_states=3, reward=True, tiny=False))
    chain, owners = data.draw(strategies.with_copies(base))
    small, classes = bm.quotient(chain)
    assert small.n_states <= base.n_states
    solution = bm.solve(bm.Problem(chain, small, discount=0.9))
    here = np.arange(chain.n_states), classes
    assert (solution.lower[here] == 0).all()
    assert (solution.upper[here] <= 1e-8 * max(solution.upper.max(), 1e-300)).all()
    assert all(classes[s] == classes[t] for s in range(len(owners)) for t in range(s) if owners[s] == owners[t])


def test_lumping_errors_are_kept():
    """Rows that agree only within the tolerance: the small chain says by how much they do not."""
    chain = bm.MarkovChain([[0.1, 0.2, 0.7], [0.3 + 1e-13, 0.0, 0.7 - 1e-13], [0, 0, 1]], reward=[0, 0, 1])
    small, classes = bm.quotient(chain)
    lumped = chain.transitions.toarray() @ np.eye(2)[classes]
    moved = np.abs(lumped - small.transitions.toarray()[classes]).sum(axis=1)
    assert moved.any()
    assert (small.row_error[classes] >= moved + chain.row_error).all()


def test_rewards_next_to_a_large_one():
    """Classes have the reward of all their states, so nothing is lost: 10 stays 10, for processes too."""
    chain = bm.MarkovChain(np.eye(3), reward=[0.0, 1.0, -1e13], start=1)
    idle = bm.MarkovChain([[1.0]], reward=[0.0], start=0)
    low, high = bm.distance(bm.quotient(chain)[0], idle, discount=0.9).interval
    assert Fraction(low) <= 1 / (1 - Fraction(0.9)) <= Fraction(high)
    small, _ = bm.quotient(bm.MDP([np.eye(3)], [[0.0], [1.0], [-1e13]]))
    assert small.rewards.ravel().tolist() == [0.0, 1.0, -1e13]


ROUGH = np.array([[0.1, 0.2, 0.7], [0.3 + 1e-13, 0.0, 0.7 - 1e-13], [0, 0, 1]])


@pytest.mark.parametrize("of", ["chain", "process"])
def test_merged_states_are_at_no_proved_distance(of, tmp_path):
    """Zero from a class would be zero from all its states: d(0, 1) is not, whatever is done with the quotient."""
    chain = bm.MarkovChain(ROUGH, reward=[0, 0, 1])
    truth = reference.exact_distances(bm.Problem(chain, chain, discount=0.9, normalised=True))
    assert 0 < truth[0][1] < 1e-12
    if of == "chain":
        small, classes = bm.quotient(chain)
        small.save(tmp_path / "small.npz")
        forms = [small, bm.load(tmp_path / "small.npz"), small.with_start(0), bm.quotient(small)[0]]
        solutions = [bm.bisimulation_metric(form, other, discount=0.9) for form in forms for other in (None, chain)]
        solutions[0].save(tmp_path / "solution.npz")
        solutions.append(bm.load(tmp_path / "solution.npz"))
    else:
        mdp = bm.as_mdp(chain)
        small, classes = bm.quotient(mdp)
        solutions = [bm.bisimulation_metric(small, other, discount=0.9) for other in (None, mdp)]
        solutions.append(bm.bisimulation_metric(small.under([0, 0]), chain, discount=0.9))
    assert small.merged.tolist() == [True, False]
    for solution in solutions:
        there = classes if solution.value.shape[1] == 2 else np.arange(3)
        for s, t in np.ndindex(3, 3):
            low, high = (Fraction(bound[classes[s], there[t]].item()) for bound in (solution.lower, solution.upper))
            assert low <= truth[s][t] <= high
        assert solution.upper[1, -1] == 0.0  # the last state's row is its own


def test_pairs_of_merged_starts():
    """Two starts in one class are not known to be at distance zero, though the small chains are equal."""
    chain = bm.MarkovChain(ROUGH, reward=[0, 0, 1])
    small = [bm.quotient(chain.with_start(state))[0] for state in (0, 1, 2)]
    table = bm.pairwise(small, discount=0.9)
    assert 0 == table.lower[0, 1] < table.upper[0, 1] < 1e-10
    assert table.upper[2, 2] < 1e-10


def test_saved(tmp_path):
    """A quotient can be saved and read like any chain."""
    small, _ = bm.quotient(bm.environments.four_rooms(side=6, goal="all"))
    small.save(tmp_path / "small.json")
    again = bm.load(tmp_path / "small.json")
    assert (again.transitions.toarray() == small.transitions.toarray()).all()
    assert again.names == small.names


def test_process_by_hand():
    """Rows and rewards of first states for every action; names of actions stay."""
    rows = [[0.5, 0.25, 0.25], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    mdp = bm.MDP(
        [rows, np.eye(3)],
        [[1, 3], [0, 2], [0, 2]],
        start=[0.25, 0.25, 0.5],
        names=["a", "b", "c"],
        actions=["go", "stay"],
        available=[[True, False], [True, True], [True, True]],
    )
    small, classes = bm.quotient(mdp)
    assert classes.tolist() == [0, 1, 1]
    assert [matrix.toarray().tolist() for matrix in small.transitions] == [[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0, 1]]]
    assert (small.rewards.tolist(), small.start.tolist()) == ([[1, 0], [0, 2]], [0.25, 0.75])
    assert (small.names, small.actions) == (("a", "b"), ("go", "stay"))
    assert small.available.tolist() == [[True, False], [True, True]]
    assert not small.row_error.any()


def test_lumping_errors_of_processes_are_kept():
    """For every action."""
    rough = [[0.1, 0.2, 0.7], [0.3 + 1e-13, 0.0, 0.7 - 1e-13], [0, 0, 1]]
    mdp = bm.MDP([np.eye(3)[[0, 0, 2]], rough], [[0, 0], [0, 0], [1, 1]])
    small, classes = bm.quotient(mdp)
    assert classes.tolist() == [0, 0, 1]
    lumped = mdp.transitions[1].toarray() @ np.eye(2)[classes]
    moved = np.abs(lumped - small.transitions[1].toarray()[classes]).sum(axis=1)
    assert moved.any()
    assert small.row_error[:, 0].tolist() == [0, 0]
    assert (small.row_error[classes, 1] >= moved + mdp.row_error[:, 1]).all()


@given(st.data())
def test_quotient_of_a_quotient_of_a_process(data):
    """It is itself; copies of a state merge, and what lumping moved is in the row errors."""
    base = data.draw(strategies.mdps(partial=True, tiny=True))
    mdp, owners = data.draw(strategies.with_copies(base))
    small, classes = bm.quotient(mdp)
    again, same = bm.quotient(small)
    assert same.tolist() == list(range(small.n_states))
    assert (again.rewards == small.rewards).all()
    assert (again.available == small.available).all()
    assert small.n_states <= base.n_states
    assert all(len(set(classes[owners == state].tolist())) == 1 for state in range(base.n_states))
    assert (mdp.available == small.available[classes]).all()
    for a, (full, little) in enumerate(zip(mdp.transitions, small.transitions, strict=True)):
        assert (again.transitions[a].toarray() == little.toarray()).all()
        lumped = full.toarray() @ np.eye(small.n_states)[classes]
        moved = np.abs(lumped - little.toarray()[classes]).sum(axis=1) + mdp.row_error[:, a]
        assert (small.row_error[classes, a] >= moved).all()


@settings(max_examples=40)
@given(st.data(), st.sampled_from((0.5, 0.9)))
def test_optimal_rewards_stay(data, discount):
    """A class earns what its states earn."""
    mdp, _ = data.draw(strategies.with_copies(data.draw(strategies.mdps(partial=True)), max_copies=2))
    small, classes = bm.quotient(mdp)
    np.testing.assert_allclose(
        small.optimal_policy(discount).value[classes], mdp.optimal_policy(discount).value, rtol=1e-9, atol=1e-9
    )


def test_bad_models():
    """The same checks as for classes."""
    with pytest.raises(InvalidChain, match="neither reward nor labels"):
        bm.quotient(bm.MarkovChain(np.eye(2)))
    with pytest.raises(InvalidChain, match="cannot make a model of a int"):
        bm.quotient(3)


@pytest.mark.slow
@settings(max_examples=500)
@given(st.data())
def test_long_search(data):
    """The two laws above, on more chains."""
    test_quotient_of_a_quotient.hypothesis.inner_test(data)
    test_copies_merge.hypothesis.inner_test(data)


def test_matched_actions_by_hand():
    """Two states with one choice under two names; and a state that has a choice twice."""
    go, stay = [[0, 0, 1], [0, 0, 1], [0, 0, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    available = [[True, False, True], [False, True, False], [True, True, True]]
    mdp = bm.MDP([go, go, go], [[1, 0, 1], [0, 1, 0], [0, 0, 0]], available=available, actions=["a", "b", "c"])
    small, classes = bm.quotient(mdp, actions="matched")
    assert classes.tolist() == [0, 0, 1]
    assert small.available.tolist() == [[True, False, False], [True, False, False]]
    assert small.transitions[0].toarray().tolist() == [[0, 1], [0, 1]]
    assert small.row_error.max() == 0
    assert not small.merged.any()
    assert bm.quotient(mdp)[0].n_states == 3
    assert bm.quotient(bm.MDP([stay], [[0], [0], [1]]), actions="matched")[1].tolist() == [0, 0, 1]


@given(st.data())
def test_matched_quotients(data):
    """The quotient of a quotient is itself, and every state is at distance zero from its class."""
    base = data.draw(strategies.mdps(n_actions=2, max_states=3, partial=True))
    mdp, _ = data.draw(strategies.with_copies(base, max_copies=2))
    small, classes = bm.quotient(mdp, actions="matched")
    assert small.n_states <= bm.quotient(mdp)[0].n_states
    again, same = bm.quotient(small, actions="matched")
    assert same.tolist() == list(range(small.n_states))
    assert again == small
    metric = bm.bisimulation_metric(mdp, small, discount=0.9, actions="matched")
    assert metric.value[np.arange(mdp.n_states), classes].max() <= 1e-9
    assert (metric.lower[np.arange(mdp.n_states), classes] == 0).all()


def test_the_rows_of_matched_choices_may_differ_a_little():
    """By as much as `row_error` says."""
    small = 2.0**-41
    one, other = ([[0, p, 1 - p], [0, 1, 0], [0, 0, 1]] for p in (0.25 + small, 0.25))
    mdp = bm.MDP(
        [np.kron(np.eye(2), one), np.kron(np.eye(2), other)],
        [[0, 0], [1, 1], [2, 2]] * 2,
        available=[[True, False], [True, False], [True, False], [False, True], [True, True], [True, False]],
    )
    lumped, classes = bm.quotient(mdp, actions="matched")
    assert classes.tolist() == [0, 1, 2, 0, 1, 2]
    assert lumped.row_error[0, 0] == pytest.approx(2 * small)
    assert lumped.merged.tolist() == [True, False, False]
