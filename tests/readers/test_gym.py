"""Gymnasium environments: values, starts, names, options, wrappers, policies and refusals."""

from __future__ import annotations

import sys
from contextlib import suppress

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain, InvalidOption, MissingExtra

TAXI = max(name for name in gymnasium.registry if name.startswith("Taxi-v"))
CASES = [
    ("FrozenLake-v1", {}),
    ("FrozenLake-v1", {"is_slippery": False}),
    ("FrozenLake-v1", {"map_name": "8x8", "success_rate": 0.8}),
    ("FrozenLake-v1", {"desc": ["SFHF", "FSFG", "HFFF"], "reward_schedule": (3, -2, -0.25)}),
    ("CliffWalking-v1", {}),
    ("CliffWalking-v1", {"is_slippery": True}),
    (TAXI, {}),
    (TAXI, {"is_rainy": True}),
]


def value_iteration(table, discount: float) -> np.ndarray:
    """Optimal values by the raw table: nothing follows a transition that is flagged as terminated."""
    n, n_actions = len(table), len(table[0])
    moves = [(s, a, *move) for s in range(n) for a in range(n_actions) for move in table[s][a]]
    state, action, probability, successor, reward, ended = map(np.array, zip(*moves, strict=True))
    value = np.zeros(n)
    while True:
        q = np.zeros((n, n_actions))
        np.add.at(q, (state, action), probability * (reward + discount * ~ended.astype(bool) * value[successor]))
        if np.abs(q.max(axis=1) - value).max() <= 1e-12 * (1 - discount):
            return q.max(axis=1)
        value = q.max(axis=1)


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("discount", [0.5, 0.95, 0.99])
def test_optimal_values(name, options, discount):
    """Those of value iteration on the table, in every state from which an episode can go on."""
    env = gymnasium.make(name, **options)
    expected = value_iteration(env.unwrapped.P, discount)
    mdp = bm.from_gymnasium(name, options=options)
    best = mdp.optimal_policy(discount)
    live = np.array([label not in ("hole", "goal", "terminal") for label in mdp.labels])[: len(expected)]
    assert live.any()
    np.testing.assert_allclose(best.value[: len(expected)][live], expected[live], atol=1e-9)
    start = env.unwrapped.initial_state_distrib
    assert mdp.start @ best.value == pytest.approx(start @ expected, abs=1e-9)
    assert bm.from_gymnasium(env) == mdp


def test_known_values():
    """Numbers that go wrong where the end of an episode is ignored."""
    for name, value in (("CliffWalking-v1", -9.73), (TAXI, 1.73)):
        mdp = bm.from_gymnasium(name)
        assert mdp.start @ mdp.optimal_policy(0.95).value == pytest.approx(value, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), CASES)
def test_simulation(name, options):
    """Discounted rewards of seeded episodes under the optimal policy, within four standard errors."""
    discount, episodes = 0.95, 4000 if "Taxi" not in name else 1500
    mdp = bm.from_gymnasium(name, options=options)
    best = mdp.optimal_policy(discount)
    env = gymnasium.make(name, **options).unwrapped
    env.reset(seed=1)
    returns = []
    for _ in range(episodes):
        state, _ = env.reset()
        total, weight, ended = 0.0, 1.0, False
        while not ended and weight > 1e-8:
            state, reward, ended, _, _ = env.step(int(best.policy[state]))
            total, weight = total + weight * reward, weight * discount
        returns.append(total)
    error = np.std(returns) / np.sqrt(episodes)
    assert abs(np.mean(returns) - mdp.start @ best.value) <= 4 * error + 1e-6


def test_names_labels_and_actions():
    """What people recognise; all state names differ."""
    lake = bm.from_gymnasium("FrozenLake-v1")
    assert (lake.names[0], lake.names[7], lake.actions) == ("(0,0)", "(1,3)", ("left", "down", "right", "up"))
    assert [k for k, label in enumerate(lake.labels) if label == "hole"] == [5, 7, 11, 12]
    assert [k for k, label in enumerate(lake.labels) if label == "goal"] == [15]
    cliff = bm.from_gymnasium("CliffWalking-v1")
    assert (cliff.n_states, cliff.names[36], cliff.start[36], cliff.labels[47]) == (48, "(3,0)", 1.0, "goal")
    assert cliff.labels[37:47] == ("cliff",) * 10
    taxi = bm.from_gymnasium(TAXI)
    assert taxi.names[1] == "taxi (0,0), passenger R, destination G"
    assert taxi.names[499] == "taxi (4,4), passenger in the taxi, destination B"
    assert (taxi.n_states, taxi.names[500], taxi.labels[500]) == (501, "terminal", "terminal")
    np.testing.assert_allclose(taxi.start[taxi.start > 0], 1 / 300)


def test_a_live_row_behind_the_end_is_not_used():
    """CliffWalking's table lets the walker leave its goal."""
    cliff = bm.from_gymnasium("CliffWalking-v1")
    assert all(matrix[47, 47] == 1.0 for matrix in cliff.transitions)
    assert not cliff.rewards[47].any()


def test_policies():
    """Arrays, also without the added state, "uniform" and "optimal"; text does the same."""
    lake = bm.from_gymnasium("FrozenLake-v1")
    assert bm.from_gymnasium("FrozenLake-v1", policy="uniform") == lake.under("uniform")
    assert bm.from_gymnasium("FrozenLake-v1", policy=[1] * 16) == lake.under([1] * 16)
    best = lake.under(lake.optimal_policy(0.9).policy)
    assert bm.from_gymnasium("FrozenLake-v1", policy="optimal", discount=0.9) == best
    assert bm.as_chain("gym:FrozenLake-v1,policy=optimal,discount=0.9") == best
    taxi = bm.from_gymnasium(TAXI)
    assert bm.from_gymnasium(TAXI, policy=np.zeros(500, int)) == taxi.under([0] * 501)
    assert bm.from_gymnasium(TAXI, policy=np.full((500, 6), 1 / 6)).n_states == 501


def test_text_and_objects():
    """`as_chain` walks uniformly, `as_mdp` and metrics take the decision process."""
    dry = bm.from_gymnasium("FrozenLake-v1", options={"is_slippery": False})
    assert bm.as_mdp("gym:FrozenLake-v1,is_slippery=false") == dry
    assert bm.as_chain("gym:FrozenLake-v1,is_slippery=false") == dry.under("uniform")
    assert bm.from_gymnasium("FrozenLake-v1,is_slippery=false") == dry
    assert bm.from_gymnasium("gym:FrozenLake-v1,is_slippery=false") == dry
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    assert bm.as_chain(env) == dry.under("uniform")
    assert bm.as_mdp(env.unwrapped) == dry
    small = bm.as_mdp('gym:FrozenLake-v1,desc=["SF","HG"]')
    assert small.labels == ("frozen", "frozen", "hole", "goal")
    assert isinstance(bm.bisimulation_metric(small, discount=0.5), bm.MDPSolution)
    slippery = bm.distance("gym:FrozenLake-v1", "gym:FrozenLake-v1,is_slippery=false", discount=0.9)
    assert slippery.distance < 1e-12  # a uniform walk slips as it walks
    assert bm.distance("gym:FrozenLake-v1", "gym:CliffWalking-v1", discount=0.9).interval[0] > 1


def test_starts():
    """By name, index or law, instead of the environment's; a map without a start needs one."""
    assert bm.from_gymnasium("FrozenLake-v1", start="(0,2)").start[2] == 1.0
    assert bm.from_gymnasium(TAXI, start=0).start.shape == (501,)
    with pytest.raises(InvalidChain, match="give start="):
        bm.from_gymnasium("FrozenLake-v1", options={"desc": ["FF", "HG"]})
    assert bm.from_gymnasium("FrozenLake-v1", options={"desc": ["FF", "HG"]}, start=1).start[1] == 1.0
    at_goal = bm.from_gymnasium("FrozenLake-v1", options={"desc": ["SF", "HG"]}, start=3)
    assert (at_goal.n_states, at_goal.names[-1], at_goal.n_actions) == (5, "terminal", 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FrozenLak-v1", "Did you mean: `FrozenLake`"),
        ("FrozenLake-v1,is_slipery=1", "did you mean 'is_slippery'"),
        ("FrozenLake-v1,map_name=5x5", "expected one of 4x4, 8x8"),
        ("FrozenLake-v1,max_episode_steps=5", "no option 'max_episode_steps'"),
        ("CliffWalking-v1,policy=best", "expected one of uniform, optimal"),
        ("CliffWalking-v1,policy=optimal", "needs a discount"),
        ("CliffWalking-v1,discount=0.5", "no use for a discount"),
        ("CliffWalking-v1,policy=optimal,discount=high", "expected a number"),
        ("no_such_module:Env-v0", "No module named"),
        ("FrozenLake-v0", "Please use `FrozenLake-v1` instead"),
        ("", "names no environment"),
    ],
)
def test_wrong_texts(text, message):
    """One line that says what would be right."""
    with pytest.raises(InvalidOption, match=message):
        bm.as_chain(f"gym:{text}")


PIECES = ["FrozenLake-v1", "desc=", '["SF","HG"]', "is_slippery=", "policy=", "uniform", "optimal", "discount=0.9", ",",
          "map_name=8x8", "success_rate=2", "reward_schedule=[1]", "nan", "[", '"', ":", "\0", "\ud800"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["gym:", "gym:FrozenLake-v1,"]))
def test_any_text(pieces, head):
    """A model, or an error of ours."""
    for make in (bm.as_chain, bm.as_mdp):
        with suppress(BisimetricError):
            make(head + "".join(pieces))


@pytest.mark.parametrize("name", ["Blackjack-v1", "CartPole-v1"])
def test_environments_without_a_table(name):
    """They are refused with a reason and a way out."""
    with pytest.raises(InvalidChain, match=r"no transition table.*MDP\(transitions, rewards\)"):
        bm.from_gymnasium(name)


def test_what_a_table_does_not_show():
    """A fickle passenger changes the destination outside of the table."""
    with pytest.raises(InvalidChain, match="outside of its table"):
        bm.from_gymnasium(TAXI, options={"fickle_passenger": True})


class Louder(gymnasium.RewardWrapper):
    """Rewards that the table does not have."""

    def reward(self, reward):
        """Twice as much."""
        return 2 * reward


class Named(gymnasium.Wrapper):
    """Changes neither steps nor resets."""


def test_wrappers():
    """Those that may change the model are refused; `env.unwrapped` is the way out."""
    env = gymnasium.make("FrozenLake-v1")
    for wrapped in (Louder(env), Named(Louder(env)), gymnasium.wrappers.TransformObservation(env, int, None)):
        with pytest.raises(InvalidOption, match=r"env\.unwrapped"):
            bm.as_mdp(wrapped)
        assert bm.as_mdp(wrapped.unwrapped) == bm.as_mdp(env)
    assert bm.as_mdp(Named(gymnasium.wrappers.RecordEpisodeStatistics(env))) == bm.as_mdp(env)


def test_wrong_options():
    """Options of an environment that exists, and policies that do not fit."""
    with pytest.raises(InvalidOption, match="env is a NoneType"):
        bm.from_gymnasium(None)
    with pytest.raises(InvalidOption, match="made already"):
        bm.from_gymnasium(gymnasium.make("FrozenLake-v1"), options={})
    with pytest.raises(InvalidOption, match="options is a list"):
        bm.from_gymnasium("FrozenLake-v1", options=["is_slippery"])
    with pytest.raises(InvalidOption, match="did you mean 'uniform'"):
        bm.from_gymnasium("FrozenLake-v1", policy="unifrom")
    with pytest.raises(InvalidOption, match="expected 16 action indices"):
        bm.from_gymnasium("FrozenLake-v1", policy=[0] * 15)


def test_without_gymnasium(monkeypatch):
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtra, match=r"pip install 'bisimetric\[gym\]'"):
        bm.as_chain("gym:FrozenLake-v1")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("map_name=4x5", "4x4, 8x8"),
        ("desc=SFFG", "equally long"),
        ('desc=["SF","G"]', "equally long"),
        ("desc=[]", "equally long"),
        ("desc=3", "equally long"),
    ],
)
def test_wrong_maps(option, said):
    """The error says what a map is, in our words."""
    with pytest.raises(InvalidOption, match=said) as caught:
        bm.as_mdp(f"gym:FrozenLake-v1,{option}")
    assert "ValueError" not in str(caught.value)
    assert "KeyError" not in str(caught.value)


@pytest.mark.parametrize("rows", [["SF", "HG"], [["S", "F"], ["H", "G"]], np.array([["S", "F"], ["H", "G"]])])
def test_maps_of_all_kinds(rows):
    """Texts, lists of letters and arrays."""
    assert bm.from_gymnasium("FrozenLake-v1", options={"desc": rows}).n_states == 4
