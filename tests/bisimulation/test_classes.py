"""Which states are bisimilar: by hand, by the naive fixed point, and by the distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption
from tests import reference, strategies


def test_rounding_in_probabilities():
    """0.1 + 0.2 and 0.3 are one probability, but two rewards unless they are rounded before."""
    rows = [[0.1, 0.2, 0.7], [0.3, 0.0, 0.7], [0, 0, 1]]
    assert bm.bisimilar_classes(bm.MarkovChain(rows, reward=[0, 0, 1])).tolist() == [0, 0, 1]
    reward = [0.3, 0.1 + 0.2, 1]
    assert bm.bisimilar_classes(bm.MarkovChain(rows, reward=reward)).tolist() == [0, 1, 2]
    assert bm.bisimilar_classes(bm.MarkovChain(rows, reward=np.round(reward, 12))).tolist() == [0, 0, 1]


def test_thirds():
    """The row of thirds is rounded to a neighbour of one third somewhere; that tells no states apart."""
    rows = np.full((6, 6), 1 / 3)
    for state in range(6):
        rows[state, [state, (state + 1) % 6, (state + 2) % 6]] = 0.0
    assert bm.bisimilar_classes(bm.MarkovChain(rows, reward=np.ones(6))).tolist() == [0] * 6


def test_rewards_and_labels_tell_apart():
    """Either alone, and both together."""
    same = np.full((3, 3), 0.25)
    same[:, 2] = 0.5
    assert bm.bisimilar_classes(bm.MarkovChain(same, reward=[1, 0, 1])).tolist() == [0, 1, 0]
    assert bm.bisimilar_classes(bm.MarkovChain(same, labels=["a", "b", "b"])).tolist() == [0, 1, 1]
    assert bm.bisimilar_classes(bm.MarkovChain(same, reward=[1, 0, 1], labels=["a", "b", "b"])).tolist() == [0, 1, 2]


def test_rewards_are_compared_exactly():
    """However small their difference is next to the others, at any tolerance; scaling them changes nothing."""
    same = np.eye(3)
    assert bm.bisimilar_classes(bm.MarkovChain(same, reward=[0, 1, -1e13]), tol=0.5).tolist() == [0, 1, 2]
    assert bm.bisimilar_classes(bm.MDP([same], [[0], [1], [-1e13]])).tolist() == [0, 1, 2]
    for scale in (1e-300, 1.0, 1e300):
        assert bm.bisimilar_classes(bm.MarkovChain(same, reward=np.array([1, 2, 1]) * scale)).tolist() == [0, 1, 0]
    assert bm.bisimilar_classes(bm.MarkovChain(same, reward=[0, 0, 0])).tolist() == [0, 0, 0]


def test_tolerance():
    """Probabilities that differ by 1e-6 are one at a tolerance of 1e-5."""
    chain = bm.MarkovChain(
        [[0, 0, 0.5, 0.5], [0, 0, 0.500001, 0.499999], [0, 0, 1, 0], [0, 0, 0, 1]], reward=[0, 0, 1, 2]
    )
    assert bm.bisimilar_classes(chain).tolist() == [0, 1, 2, 3]
    assert bm.bisimilar_classes(chain, tol=1e-5).tolist() == [0, 0, 1, 2]


def test_the_symmetries_of_four_rooms():
    """Goals in all corners leave a state per orbit of the eight symmetries of the square."""
    chain = bm.environments.four_rooms(side=6, goal="all")
    cells = [tuple(map(int, name.strip("()").split(","))) for name in chain.names]
    orbits = {}
    for row, column in cells:
        images = {(a, b) for r, c in ((row, column), (column, row)) for a in (r, 6 - r) for b in (c, 6 - c)}
        orbits.setdefault(min(images), []).append((row, column))
    assert bm.bisimilar_classes(chain).max() + 1 == len(orbits)


@given(strategies.chains(max_states=6, reward=True, tiny=False))
def test_exactly_bisimilar_states_are_together(chain):
    """Exactly bisimilar states are together, at any tolerance; the default may merge more, by rounding."""
    exact = reference.bisimilarity(chain.transitions.toarray(), chain.reward.tolist())
    assert bm.bisimilar_classes(chain, tol=0.0).tolist() == exact
    merged = bm.bisimilar_classes(chain)
    assert all(merged[s] == merged[t] for s in range(len(exact)) for t in range(s) if exact[s] == exact[t])


@given(strategies.chains(max_states=5, reward=True, tiny=False), st.sampled_from((0.5, 0.9)))
def test_distance_zero_is_bisimilarity(chain, discount):
    """Zero between bisimilar states, up to rounding, and nowhere else; exactly zero only if rows lump exactly."""
    solution = bm.solve(bm.Problem(chain, chain, discount=discount, normalised=True))
    classes = bm.bisimilar_classes(chain)
    together = classes[:, None] == classes
    largest = max(solution.upper.max(), 1e-300)
    assert (solution.upper[together] <= 1e-8 * largest).all()
    assert (solution.lower[~together] > 0).all()
    exact = bm.bisimilar_classes(chain, tol=0.0)
    proved = solution.upper == 0.0
    assert not proved[exact[:, None] != exact].any()


# ------------------------------------------------------------------ decision processes


def observed(mdp):
    """What a state shows: its actions, and what they pay."""
    return [(*here, *rewards) for here, rewards in zip(mdp.available.tolist(), mdp.rewards.tolist(), strict=True)]


def test_every_action_counts():
    """States that differ in one action's row or reward, or lack an action, are not bisimilar."""
    alike, other = np.full((3, 3), [0.25, 0.25, 0.5]), np.array([[0, 0, 1.0], [0.1, 0.2, 0.7], [0, 0, 1.0]])
    rewards = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]])
    assert bm.bisimilar_classes(bm.MDP([alike, alike], rewards)).tolist() == [0, 0, 1]
    assert bm.bisimilar_classes(bm.MDP([alike, other], rewards)).tolist() == [0, 1, 2]
    assert bm.bisimilar_classes(bm.MDP([alike, alike], [[1.0, 2.0], [1.0, 3.0], [0.0, 0.0]])).tolist() == [0, 1, 2]
    lacking = np.array([[True, True], [True, False], [True, True]])
    assert bm.bisimilar_classes(bm.MDP([alike, alike], np.zeros((3, 2)), available=lacking)).tolist() == [0, 1, 0]


def test_missing_actions_hold_no_rewards_together():
    """The zero that stands for a missing reward does not bridge the gap between two others."""
    mdp = bm.MDP([np.eye(3)] * 2, [[1, -1e-12], [1, 1e-12], [1, 0]], available=[[True, True]] * 2 + [[True, False]])
    assert bm.bisimilar_classes(mdp, tol=1.5e-12).tolist() == [0, 1, 2]


@given(st.data())
def test_exactly_bisimilar_states_of_processes_are_together(data):
    """As for chains, with the rows of all actions."""
    base = data.draw(strategies.mdps(partial=True))
    mdp, owners = data.draw(strategies.with_copies(base, max_copies=2))
    rows = np.stack([matrix.toarray() for matrix in mdp.transitions], axis=1)
    exact = reference.bisimilarity(rows, observed(mdp))
    assert bm.bisimilar_classes(mdp, tol=0.0).tolist() == exact
    merged = bm.bisimilar_classes(mdp)
    together = [(s, t) for s in range(len(exact)) for t in range(s) if exact[s] == exact[t] or owners[s] == owners[t]]
    assert all(merged[s] == merged[t] for s, t in together)


@settings(max_examples=50)
@given(st.data(), st.sampled_from((0.5, 0.9)))
def test_distance_zero_is_bisimilarity_of_processes(data, discount):
    """Between the states of a process that has all actions everywhere."""
    mdp, _ = data.draw(strategies.with_copies(data.draw(strategies.mdps()), max_copies=2))
    solution = bm.bisimulation_metric(mdp, discount=discount)
    classes = bm.bisimilar_classes(mdp)
    together = classes[:, None] == classes
    assert (solution.upper[together] <= 1e-8 * max(solution.upper.max(), 1e-300)).all()
    assert (solution.lower[~together] > 0).all()
    exact = bm.bisimilar_classes(mdp, tol=0.0)
    assert not (solution.upper == 0.0)[exact[:, None] != exact].any()


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("model", [None, 3, {1, 2}])
def test_what_is_no_model_is_refused(model):
    """The message lists what is taken."""
    with pytest.raises(InvalidChain, match="a MarkovChain or an MDP"):
        bm.bisimilar_classes(model)


@pytest.mark.parametrize("given", ["four-rooms:p1", "chain.npz", "mdp.json"])
def test_names_and_files_are_models(given, tmp_path, monkeypatch):
    """Classes, quotients and aggregations take what bisimulation_metric takes."""
    monkeypatch.chdir(tmp_path)
    bm.as_chain("four-rooms:p0").save("chain.npz")
    bm.environments.four_rooms_mdp(side=8).save("mdp.json")
    model = {"four-rooms:p1": bm.as_chain("four-rooms:p1")}.get(given) or bm.load(given)
    assert np.array_equal(bm.bisimilar_classes(given), bm.bisimilar_classes(model))
    assert bm.quotient(given)[0] == bm.quotient(model)[0]
    found, expected = (bm.aggregate(one, n_states=30, discount=0.5) for one in (given, model))
    assert found.model == expected.model
    metrics = (bm.bisimulation_metric(one, discount=0.5) for one in (given, model))
    assert np.array_equal(*(metric.value for metric in metrics))


def test_something_must_be_observed():
    """Neither reward nor labels: all states would be one."""
    with pytest.raises(InvalidChain, match="reward="):
        bm.bisimilar_classes(bm.MarkovChain(np.eye(2)))


@pytest.mark.parametrize("tol", [-1e-12, 1.0, 10**400, float("nan"), "1e-12", True, None])
def test_bad_tolerances(tol):
    """A number in [0, 1)."""
    with pytest.raises(InvalidOption, match="tol is"):
        bm.bisimilar_classes(bm.MarkovChain(np.eye(2), reward=[0, 1]), tol=tol)


def test_labels_separate_the_states_of_a_decision_process():
    """As in a chain; quotients keep them."""
    rows, rewards = [np.full((2, 2), 0.5)], [[0.0], [0.0]]
    assert bm.bisimilar_classes(bm.MDP(rows, rewards)).tolist() == [0, 0]
    labelled = bm.MDP(rows, rewards, labels=["a", "b"])
    assert bm.bisimilar_classes(labelled).tolist() == [0, 1]
    assert bm.quotient(labelled)[0].labels == ("a", "b")
    assert bm.aggregate(labelled, n_states=1, discount=0.5).model.labels is None


def test_matched_actions():
    """Names of actions do not count, and neither does how often an action is there; labels do."""
    move = [[0, 0, 1], [0, 0, 1], [0, 0, 1]]
    mdp = bm.MDP([move, move], [[0, 0], [0, 0], [0, 0]], available=[[True, False], [False, True], [True, True]])
    assert bm.bisimilar_classes(mdp).tolist() == [0, 1, 2]
    assert bm.bisimilar_classes(mdp, actions="matched").tolist() == [0, 0, 0]
    labelled = bm.MDP(mdp.transitions, mdp.rewards, available=mdp.available, labels=["a", "a", "b"])
    assert bm.bisimilar_classes(labelled, actions="matched").tolist() == [0, 0, 1]
    with pytest.raises(InvalidOption, match="matched"):
        bm.bisimilar_classes(mdp, actions="mached")
