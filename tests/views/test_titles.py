"""Titles name the models, and labels the units."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.titles import described, distance_label, facts, headline, is_with_itself, model_names

PAIR = [[0.5, 0.5], [0, 1]]


def solved(**options):
    """Two small chains from their starts."""
    one = bm.MarkovChain(PAIR, reward=[0, 1], start=0)
    other = bm.MarkovChain(PAIR, reward=[0, 3], start=0)
    return bm.distance(one, other, discount=0.5, **options)


def test_names_of_models(tmp_path):
    """Those given, or the text or file that a model was read from, or its size; policies keep the name."""
    assert model_names(bm.distance("four-rooms:p1", "grid-3x3", discount=0.5)) == ("four-rooms:p1", "grid-3x3")
    assert model_names(solved()) == ("a chain of 2 states", "a chain of 2 states")
    assert model_names(solved(), ("a", "b")) == ("a", "b")
    path = tmp_path / "mine.json"
    bm.MarkovChain(PAIR, reward=[0, 1], start=0).save(path)
    assert [bm.as_chain(given).title for given in (path, str(path))] == ["mine.json"] * 2
    lake = bm.from_gymnasium("FrozenLake-v1", options={"is_slippery": False})
    assert lake.title == lake.under("uniform").title == "FrozenLake-v1,is_slippery=False"
    assert described(bm.environments.four_rooms_mdp(side=2)) == "a process of 8 states"
    for names in ("ab", ["a"]):
        with pytest.raises(InvalidOption, match="names"):
            model_names(solved(), names)


def test_the_title_is_no_part_of_a_model():
    """Models that differ in it alone are equal, have one hash and one file."""
    named, plain = bm.as_chain("grid-3x3"), bm.environments.grid_3x3()
    assert named == plain
    assert hash(named) == hash(plain)
    assert named.to_dict() == plain.to_dict()


def test_headline_and_facts():
    """Both models, or the one that is compared with itself; the distance where there are starts."""
    rooms = bm.distance("small-four-rooms:a", "small-four-rooms:b", discount=0.9)
    assert headline(rooms) == "small-four-rooms:a and small-four-rooms:b"
    assert f"distance between the starts {rooms.distance:.6g}" in facts(rooms)
    alone = bm.bisimulation_metric("small-four-rooms:a", discount=0.9)
    assert headline(alone) == "distances between the states of small-four-rooms:a"
    assert "starts" not in facts(alone)
    assert is_with_itself(alone)
    assert not is_with_itself(rooms)
    assert not is_with_itself(bm.distance("grid-3x3", bm.as_chain("grid-3x3").with_start(4), discount=0.5))
    assert "and" in headline(alone, ("x", "y"))


def test_units():
    """Rewards by default, per step if normalised; the unit of a cost that has one; none for an array."""
    assert distance_label(solved()) == "distance (discounted sum of rewards)"
    assert distance_label(solved(normalised=True)) == "distance (reward per step)"
    assert distance_label(solved(cost=np.ones((2, 2)))) == "distance"
    lake = bm.environments.four_rooms_mdp(side=2)
    assert distance_label(bm.bisimulation_metric(lake, discount=0.5), "gap") == "gap (reward per step)"
    labelled = bm.MarkovChain(PAIR, labels=["a", "b"], start=0)
    mismatch = bm.distance(labelled, labelled, discount=0.5, cost=bm.cost.label_mismatch)
    assert distance_label(mismatch) == "distance (label_mismatch, discounted sum)"
    assert "probability" in distance_label(bm.bisimilarity_distance(labelled, labelled, discount=1))


def test_other_questions():
    """Averages are per step and have no discount; horizons are part of the discount."""
    grids = bm.as_chain("grid-3x3"), bm.as_chain("open-grid:3")
    average = bm.average_distance(*grids)
    assert distance_label(average) == "distance (reward per step)"
    assert "average cost per step" in facts(average)
    assert "γ" not in facts(average)
    assert "horizon 3" in facts(bm.solve(bm.HorizonProblem(*grids, horizon=3)))
    assert distance_label(bm.solve(bm.HorizonProblem(*grids, horizon=3))) == "distance (sum of rewards)"
    discounted = bm.solve(bm.HorizonProblem(*grids, horizon=3, discount=0.5))
    assert distance_label(discounted) == "distance (discounted sum of rewards)"
