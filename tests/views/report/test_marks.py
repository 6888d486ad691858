"""Rewards and labels in drawings."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.views.report.marks import state_marks
from tests.views.report.models import decision_process


def chain(states: int, **options) -> bm.MarkovChain:
    """States that stay."""
    return bm.MarkovChain(np.eye(states), **options)


def test_what_is_common_has_no_mark():
    """Rewards and labels that differ from the ground have."""
    found = state_marks(chain(5, reward=[0, 0, 0, 0, -1.25], labels=["", "", "", "door", "goal"]))
    assert found["marks"] == [[3, "door"], [4, "goal\n−1.25"]]
    assert "rewards" in found["key"]
    assert "labels" in found["key"]
    assert found["reward"] == [0, 0, 0, 0, -1.25]
    assert found["label"] == ["", "", "", "door", "goal"]


def test_where_most_states_differ_nothing_is_written():
    """But the tooltips know."""
    found = state_marks(chain(5, reward=np.arange(5), labels=list("abcde")))
    assert found["marks"] == []
    assert found["key"] == ""
    assert found["reward"] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("label", "text"), [({"b", "a"}, "a, b"), (("gauss", 1.0), "gauss, 1"), (3, "3"), ("x" * 99, "x" * 39 + "…")]
)
def test_labels_of_every_kind_are_texts(label, text):
    """Sets sorted, long ones cut."""
    found = state_marks(chain(3, labels=[label, "", ""]))["label"]
    assert found[0] == text


def test_decision_processes_have_a_range_of_rewards():
    """Of the actions that a state has."""
    found = state_marks(decision_process())
    assert found["reward"] == [0, 0, 0.2]
    assert found["reward_high"] == [0, 1, 0.5]


def test_nothing_is_known():
    """No rewards, no labels."""
    found = state_marks(chain(2))
    assert (found["reward"], found["label"], found["marks"], found["key"]) == (None, None, [], "")
