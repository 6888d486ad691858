"""Environments by name."""

import numpy as np
import pytest

from bisimetric import environments as env
from bisimetric.errors import InvalidOption


def same(one, other):
    """Whether two chains agree in transitions, rewards, start, names and labels."""
    return (
        (one.transitions != other.transitions).nnz == 0
        and np.array_equal(one.reward, other.reward)
        and np.array_equal(one.start, other.start)
        and (one.names, one.labels) == (other.names, other.labels)
    )


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("four-rooms", lambda: env.four_rooms("p1")),
        ("four-rooms:p3", lambda: env.four_rooms("p3")),
        ("four-rooms:p1,door-cost", lambda: env.four_rooms("p1", door_cost=True)),
        ("four-rooms:door-cost", lambda: env.four_rooms("p1", door_cost=True)),
        ("four-rooms,door-cost", lambda: env.four_rooms("p1", door_cost=True)),
        ("four-rooms:p1,shortest-path=0.75", lambda: env.four_rooms("p1", shortest_path=0.75)),
        (
            " four-rooms:p2 , shortest-path = 1 , door-cost ",
            lambda: env.four_rooms("p2", door_cost=True, shortest_path=1),
        ),
        ("four-rooms:side=20,goal=all", lambda: env.four_rooms(side=20, goal="all")),
        ("four-rooms,side=20", lambda: env.four_rooms(side=20)),
        ("small-four-rooms:a", lambda: env.small_four_rooms("a")),
        ("small-four-rooms:b", lambda: env.small_four_rooms("b")),
        ("four-rooms-obstacles", lambda: env.four_rooms_obstacles(seed=0)),
        ("four-rooms-obstacles:seed=3", lambda: env.four_rooms_obstacles(seed=3)),
        ("grid-3x3", env.grid_3x3),
        ("matching-four-rooms", env.matching_four_rooms),
        ("classic-four-rooms", env.classic_four_rooms),
        ("open-grid:5", lambda: env.open_grid(5)),
        ("open-grid:4,corner=north-east", lambda: env.open_grid(4, corner="north-east")),
        ("random:20", lambda: env.random_chain(20, seed=0)),
        ("random:20,kind=uniform,seed=1", lambda: env.random_chain(20, kind="uniform", seed=1)),
        ("random-sparse:3", lambda: env.random_sparse_chain(3, 3, seed=0)),
        ("random-sparse:100", lambda: env.random_sparse_chain(100, 5, seed=0)),
        ("random-sparse:1000,successors=7,seed=1", lambda: env.random_sparse_chain(1000, 7, seed=1)),
    ],
)
def test_names_mean_the_functions(name, chain):
    """A name gives what the function with the same options gives."""
    assert env.is_name(name)
    assert same(env.by_name(name), chain())


def test_catalogue_examples_work():
    """Every example is a name of its pattern's family; every family appears."""
    entries = env.catalogue()
    for entry in entries:
        family = entry.example.partition(":")[0]
        assert entry.pattern.startswith(family)
        assert env.by_name(entry.example).n_states > 0
        assert "\n" not in entry.description
        assert entry.description
    assert len({entry.pattern for entry in entries}) == len(entries)
    assert {entry.example.partition(":")[0] for entry in entries} == {
        "four-rooms",
        "four-rooms-obstacles",
        "small-four-rooms",
        "matching-four-rooms",
        "classic-four-rooms",
        "grid-3x3",
        "open-grid",
        "random",
        "random-sparse",
    }


@pytest.mark.parametrize(
    "text",
    ["four-rooms.json", "./four-rooms", "rooms:p1", "", ":", "C:\\random", "dir/random:3", "model.tra"],
)
def test_files_are_not_names(text):
    """Only a known family makes a name."""
    assert not env.is_name(text)


@pytest.mark.parametrize("text", ["four-rooms:p99", "random", "open-grid:x", "grid-3x3,what=1"])
def test_names_with_mistakes_are_still_names(text):
    """The family decides, so that the mistake is explained and no file is looked for."""
    assert env.is_name(text)
    with pytest.raises(InvalidOption):
        env.by_name(text)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("four-room:p1", ["'four-room' is unknown", "did you mean 'four-rooms'", "bisimetric environments"]),
        ("xyz", ["'xyz' is unknown", "bisimetric environments"]),
        ("", ["'' is unknown", "bisimetric environments"]),
        (
            "four-rooms:p1,doorcost",
            ["'doorcost'", "unknown", "did you mean 'door-cost'", "bisimetric environments"],
        ),
        ("four-rooms:p1,instance=p2", ["option 'instance'", "unknown"]),
        ("four-rooms:p10", ["instance is 'p10'", "did you mean 'p1'"]),
        ("four-rooms:", ["instance", "is empty"]),
        ("four-rooms:p1,", ["option ''", "unknown"]),
        ("four-rooms:p1,side=20", ["both instance 'p1' and side 20"]),
        ("four-rooms:p1,door-cost=1", ["door-cost", "'1'", "write 'door-cost' alone"]),
        ("four-rooms:side", ["side", "lacks a value", "side=..."]),
        ("four-rooms:side=20,side=30", ["side is given twice"]),
        ("four-rooms:p1,shortest-path=far", ["shortest-path", "'far'", "expected a number"]),
        ("four-rooms:p1,shortest-path=nan", ["shortest_path is nan"]),
        ("four-rooms:p1,shortest-path=2", ["shortest_path is 2.0"]),
        ("four-rooms:side=20,goal=nowhere", ["goal is 'nowhere'", "north-west"]),
        ("small-four-rooms", ["lacks its argument", "'small-four-rooms:a'"]),
        ("grid-3x3:5", ["argument '5'", "expected none"]),
        ("grid-3x3,seed=1", ["option 'seed'", "expected none"]),
        ("open-grid", ["lacks its argument", "'open-grid:5'"]),
        ("open-grid:five", ["k in 'open-grid:five' is 'five'", "from 1 to 1000"]),
        ("random:20,seed=-1", ["seed", "-1", "from 0"]),
        ("random:20,seed=x", ["seed", "'x'"]),
        ("random:20,kind=normal", ["kind is 'normal'", "softmax, uniform"]),
        ("random-sparse:3,successors=4", ["successors is 4", "from 1 to 3"]),
    ],
)
def test_mistakes_are_explained(name, words):
    """What came, what was expected, and where to look."""
    with pytest.raises(InvalidOption) as error:
        env.by_name(name)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("four-rooms:side=1001", "from 2 to 1000"),
        ("open-grid:1001", "from 1 to 1000"),
        ("random:5001", "from 1 to 5000"),
        ("random-sparse:1000001", "from 1 to 1000000"),
        ("random-sparse:1000,successors=101", "from 1 to 100"),
        ("random-sparse:1000000,successors=11", "at most 10000000"),
        ("random:" + "9" * 5000, "from 1 to 5000"),
    ],
)
def test_sizes_are_limited(name, limit):
    """A name cannot ask for unbounded memory, and the message tells the limit."""
    with pytest.raises(InvalidOption, match=limit):
        env.by_name(name)
