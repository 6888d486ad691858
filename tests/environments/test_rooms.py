"""The four-rooms family against facts written down independently."""

import numpy as np
import pytest

from bisimetric.environments import (
    classic_four_rooms,
    four_rooms,
    four_rooms_mdp,
    matching_four_rooms,
    small_four_rooms,
)
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import GRAIN

DOORS = [9, 19, 20, 30]
ONES_AND_START = [  # per instance p0 ... p9
    ([2, 8], 21),
    ([19], 9),
    ([16, 20, 22, 30], 0),
    ([31, 37], 16),
    ([1, 33, 34, 35], 15),
    ([7, 24, 29, 33], 14),
    ([7, 9, 17, 35, 36], 6),
    ([17, 25, 29, 31, 38], 34),
    ([20, 39], 10),
    ([21, 24], 32),
]
ROW_LENGTHS = [6, 7, 6, 2, 6, 7, 6]  # free cells in each row of the 40-state layout


def cells(chain):
    """The (row, column) of each state, from its name."""
    return [tuple(int(k) for k in name.strip("()").split(",")) for name in chain.names]


def permutation(chain, move):
    """The state to which `move`, a map of cells, carries each state."""
    state = {cell: k for k, cell in enumerate(cells(chain))}
    return np.array([state[move(*cell)] for cell in cells(chain)])


def is_invariant(chain, move):
    """Whether a map of cells leaves transitions (up to GRAIN) and reward as they are."""
    to = permutation(chain, move)
    transitions = chain.transitions.toarray()
    same_walk = np.abs(transitions[np.ix_(to, to)] - transitions).max() <= GRAIN
    return bool(same_walk), np.array_equal(chain.reward[to], chain.reward)


def test_numbering_of_the_40_states():
    """Row-major over the free cells of the 7×7 square, walls on row 3 and column 3."""
    chain = four_rooms("p1")
    assert chain.n_states == 40
    rows = [row for row, _ in cells(chain)]
    assert [rows.count(row) for row in range(7)] == ROW_LENGTHS
    where = cells(chain)
    assert [where[door] for door in DOORS] == [(1, 3), (3, 1), (3, 5), (5, 3)]
    assert where[0] == (0, 0)
    assert where[5] == (0, 6)
    assert where[6] == (1, 0)
    assert where[13] == (2, 0)
    assert where[21] == (4, 0)
    assert where[34] == (6, 0)
    assert where[39] == (6, 6)


@pytest.mark.parametrize("number", range(10))
def test_rewards_and_start_of_the_instances(number):
    """+1 on the listed states, 0 elsewhere; one start state."""
    ones, start = ONES_AND_START[number]
    chain = four_rooms(f"p{number}")
    expected = np.zeros(40)
    expected[ones] = 1
    assert np.array_equal(chain.reward, expected)
    assert chain.start[start] == 1
    assert chain.start.sum() == 1


def test_instances_share_the_walk():
    """Corners stay half of the time, doors only bounce off the two wall cells beside them."""
    transitions = four_rooms("p0").transitions.toarray()
    for number in range(1, 10):
        assert np.array_equal(four_rooms(f"p{number}").transitions.toarray(), transitions)
    assert (transitions.sum(axis=1) == 1).all()
    stay = transitions.diagonal()
    assert (stay[[0, 2, 3, 5, 13, 15, 34, 39]] == 0.5).all()
    assert (stay[DOORS] == 0.5).all()
    assert stay[7] == 0  # (1,1), the middle of a room
    assert stay[1] == 0.25  # (0,1), at the outer edge
    assert stay[8] == 0  # (1,2), beside a door
    assert (transitions[9, [8, 10]] == 0.25).all()
    assert set(np.unique(transitions)) == {0, 0.25, 0.5}


def test_default_instance_is_p1():
    """`four_rooms()` is the instance of the paper's first experiment."""
    assert np.array_equal(four_rooms().reward, four_rooms("p1").reward)
    assert np.array_equal(four_rooms().start, four_rooms("p1").start)


@pytest.mark.parametrize("number", range(10))
def test_door_cost(number):
    """−1 on doors unless a +1 is there; nothing else changes."""
    plain, costly = four_rooms(f"p{number}"), four_rooms(f"p{number}", door_cost=True)
    difference = costly.reward - plain.reward
    dear = [door for door in DOORS if door not in ONES_AND_START[number][0]]
    assert np.flatnonzero(difference).tolist() == dear
    assert (difference[dear] == -1).all()
    assert (costly.transitions != plain.transitions).nnz == 0


def test_labels_tell_goals_doors_and_rooms():
    """A goal on a door counts as goal."""
    labels = four_rooms("p1").labels
    assert labels[19] == "goal"
    assert labels[9] == labels[20] == labels[30] == "door"
    assert labels.count("room") == 36


def test_shortest_path_by_hand():
    """p1's goal is the door 19 = (3,1): the way there, its tie, and staying on it."""
    chain = four_rooms("p1", shortest_path=1)
    target = {x: chain.successors(x).tolist() for x in range(40)}
    assert target[19] == [19]
    assert target[14] == [19]  # (2,1), just above
    assert target[0] == [6]  # (0,0): down and right are equally near, down comes first
    assert target[6] == [13]  # (1,0): down before right
    assert target[9] == [8]  # the door (1,3) leads left
    assert target[34] == [27]  # (6,0): up before right
    assert target[22] == [19]  # (4,1), just below
    assert target[20] == [17]  # the far door: up and down are equally near, and up comes first


@pytest.mark.parametrize("number", range(10))
def test_shortest_path_reaches_the_nearest_goal_in_time(number):
    """Each step is one nearer, where the distances come from repeated relaxation instead of a search."""
    walk = four_rooms(f"p{number}").transitions.toarray() > 0
    distance = np.full(40, 99)
    distance[ONES_AND_START[number][0]] = 0
    for _ in range(40):
        distance = np.minimum(distance, 1 + np.where(walk, distance[None, :], 99).min(axis=1))
    policy = four_rooms(f"p{number}", shortest_path=1.0)
    follower = policy.transitions.indices
    assert policy.transitions.nnz == 40
    assert np.array_equal(distance[follower], np.maximum(distance - 1, 0))


@pytest.mark.parametrize("weight", [0.5, 0.75])
def test_shortest_path_mixes_with_the_walk(weight):
    """The chain is the weighted sum of the pure ones, exactly."""
    pure, walk = four_rooms("p4", shortest_path=1), four_rooms("p4")
    mixed = four_rooms("p4", shortest_path=weight).transitions.toarray()
    expected = weight * pure.transitions.toarray() + (1 - weight) * walk.transitions.toarray()
    assert np.array_equal(mixed, expected)
    assert np.array_equal(four_rooms("p4", shortest_path=weight).reward, walk.reward)


@pytest.mark.parametrize(("side", "n_states"), [(2, 8), (10, 104), (20, 404), (32, 1028), (55, 3029), (100, 10004)])
def test_scalable_state_counts(side, n_states):
    """Room cells side², and four doors; everything is connected."""
    chain = four_rooms(side=side)
    assert chain.n_states == n_states
    assert chain.labels.count("door") == 4
    way = four_rooms(side=side, shortest_path=1).transitions
    stays = np.flatnonzero(way.diagonal())
    assert [chain.names[x] for x in stays] == [f"(0,{side})"]  # only the goal; all others find a way to it
    assert np.array_equal(chain.transitions.sum(axis=1), np.ones(n_states))


def test_small_sides_are_the_fixed_layouts():
    """Side 6 is the 40-state layout and side 4 the 20-state one."""
    for scaled, fixed in (
        (four_rooms(side=6), four_rooms("p0")),
        (four_rooms(side=4), small_four_rooms("a")),
    ):
        assert scaled.names == fixed.names
        assert (scaled.transitions != fixed.transitions).nnz == 0


@pytest.mark.parametrize(
    ("goal", "corners"),
    [
        ("north-west", {(0, 0)}),
        ("north-east", {(0, 10)}),
        ("south-west", {(10, 0)}),
        ("south-east", {(10, 10)}),
        ("all", {(0, 0), (0, 10), (10, 0), (10, 10)}),
    ],
)
def test_scalable_goals(goal, corners):
    """+1 in the outer corner of the room named; the start is north-west."""
    chain = four_rooms(side=10, goal=goal)
    where = cells(chain)
    assert {where[x] for x in np.flatnonzero(chain.reward)} == corners
    assert set(chain.reward) == {0, 1}
    assert where[int(np.argmax(chain.start))] == (0, 0)


def test_scalable_default_goal_is_north_east():
    """As in the benchmarks."""
    assert np.array_equal(four_rooms(side=7).reward, four_rooms(side=7, goal="north-east").reward)


@pytest.mark.parametrize("side", [4, 6, 10, 20])
def test_symmetric_layout_has_the_symmetries_of_the_square(side):
    """With goals in all corners, quarter turns and mirrors leave the chain as it is."""
    chain = four_rooms(side=side, goal="all")
    assert is_invariant(chain, lambda row, column: (column, side - row)) == (True, True)
    assert is_invariant(chain, lambda row, column: (row, side - column)) == (True, True)
    assert is_invariant(chain, lambda row, column: (column, row)) == (True, True)


def test_one_goal_breaks_the_symmetry():
    """The same walk, but a quarter turn moves the goal."""
    chain = four_rooms(side=10, goal="north-east")
    assert is_invariant(chain, lambda row, column: (column, 10 - row)) == (True, False)


def test_odd_side_has_larger_rooms_south_and_east():
    """Side 5: rooms of 2 and 3, the wall on row and column 2, each door in the middle of its segment."""
    chain = four_rooms(side=5)
    where = cells(chain)
    assert [where[x] for x, label in enumerate(chain.labels) if label == "door"] == [
        (1, 2),
        (2, 1),
        (2, 4),
        (4, 2),
    ]
    assert chain.n_states == 29


def test_door_cost_and_shortest_path_on_the_scalable_layout():
    """Both variants apply there too."""
    chain = four_rooms(side=8, door_cost=True, shortest_path=0.5)
    assert np.flatnonzero(chain.reward == -1).tolist() == [x for x, label in enumerate(chain.labels) if label == "door"]
    assert chain.transitions.max() >= 0.5


def test_small_four_rooms():
    """20 states, rewards as in the paper's convergence experiment, start in state 0."""
    ones = {"a": [(1, 0)], "b": [(0, 4), (1, 0), (1, 1), (3, 3), (3, 4)]}
    for instance, where in ones.items():
        chain = small_four_rooms(instance)
        assert chain.n_states == 20
        assert [cells(chain)[x] for x in np.flatnonzero(chain.reward)] == where
        assert set(chain.reward) == {0, 1}
        assert np.flatnonzero(chain.start).tolist() == [0]
    assert np.array_equal(small_four_rooms("a").transitions.toarray(), small_four_rooms("b").transitions.toarray())
    assert [cells(chain)[x] for x in (5, 8, 9, 12)] == [(1, 1), (1, 4), (2, 1), (3, 1)]


def test_matching_rooms_are_quarter_turns_of_one_another():
    """A quarter turn of the map leaves the chain as it is, a mirror image does not; no state stays put."""
    chain = matching_four_rooms()
    assert chain.n_states == 40
    assert is_invariant(chain, lambda row, column: (column, 6 - row)) == (True, True)
    assert is_invariant(chain, lambda row, column: (row, 6 - column)) == (True, False)
    assert not chain.transitions.diagonal().any()
    where = cells(chain)
    assert [where[x] for x in np.flatnonzero(chain.reward == 1)] == [(0, 4), (2, 0), (4, 6), (6, 2)]
    assert np.flatnonzero(chain.start).tolist() == [0]


def test_classic_four_rooms():
    """104 cells with an outer wall; 25, 30, 25 and 20 of them in the rooms; the goal in the east hallway."""
    chain = classic_four_rooms()
    assert chain.n_states == 104
    where = cells(chain)
    assert (min(min(cell) for cell in where), max(max(cell) for cell in where)) == (1, 11)
    hallways = {(3, 6), (6, 2), (7, 9), (10, 6)}
    assert hallways <= set(where)
    room_sizes = [
        sum(row < 6 and column < 6 for row, column in where),
        sum(row < 7 and column > 6 for row, column in where),
        sum(row > 6 and column < 6 for row, column in where),
        sum(row > 7 and column > 6 for row, column in where),
    ]
    assert room_sizes == [25, 30, 25, 20]
    assert [where[x] for x in np.flatnonzero(chain.reward)] == [(7, 9)]
    assert where[int(np.argmax(chain.start))] == (1, 1)
    assert chain.transitions[0, 0] == 0.5
    assert np.array_equal(chain.transitions.sum(axis=1), np.ones(104))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"instance": "p10"}, "did you mean 'p1'"),
        ({"instance": "p1", "side": 10}, "both instance 'p1' and side 10"),
        ({"goal": "all"}, "give side="),
        ({"side": 10, "goal": "northeast"}, "did you mean 'north-east'"),
        ({"side": 1}, "side is 1"),
        ({"side": 10.0}, "side is 10.0"),
        ({"shortest_path": 1.5}, "shortest_path is 1.5"),
        ({"shortest_path": -0.1}, "shortest_path is -0.1"),
        ({"shortest_path": float("nan")}, "shortest_path is nan"),
        ({"shortest_path": "half"}, "shortest_path is 'half'"),
    ],
)
def test_bad_options_are_explained(options, message):
    """Each message says what came and what was expected."""
    with pytest.raises(InvalidOption, match=message):
        four_rooms(**options)


def test_unknown_small_instance():
    """There are two."""
    with pytest.raises(InvalidOption, match="instance is 'c'"):
        small_four_rooms("c")


@pytest.mark.parametrize(("instance", "side"), [("p3", None), (None, 6)])
@pytest.mark.parametrize("slip", [0.0, 0.3, 1.0])
def test_decision_process_under_the_uniform_policy(instance, side, slip):
    """It is the walk, whatever slips."""
    mdp = four_rooms_mdp(instance, side=side, slip=slip)
    chain, walk = mdp.under("uniform"), four_rooms(instance, side=side)
    np.testing.assert_allclose(chain.transitions.toarray(), walk.transitions.toarray(), atol=1e-15)
    np.testing.assert_array_equal(chain.reward, walk.reward)
    np.testing.assert_array_equal(chain.start, walk.start)
    assert chain.names == walk.names


def test_decision_process_moves():
    """Each action leads its way; walls hold; options are checked."""
    mdp = four_rooms_mdp(side=4)
    to = {name: int(mdp.transitions[a].toarray()[0].argmax()) for a, name in enumerate(mdp.actions)}
    assert {name: mdp.names[state] for name, state in to.items()} == {
        "up": "(0,0)",
        "down": "(1,0)",
        "left": "(0,0)",
        "right": "(0,1)",
    }
    with pytest.raises(InvalidOption, match="slip"):
        four_rooms_mdp(slip=1.5)
