"""The page of an aggregation: groups, bounds, the lifted policy."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.text import rounded_up
from bisimetric.errors import InvalidOption
from bisimetric.views.report.aggregation import aggregation_page
from bisimetric.views.report.frame import page_data
from tests.views.report.models import HOSTILE, Elements, data_of, decision_process, protocol


def payload(answer, **options):
    """What the page knows."""
    return page_data(aggregation_page(answer, **options))


def test_groups_are_those_of_the_map():
    """Every state is in one group, which has the name of its first state."""
    answer = bm.aggregate("grid-3x3", n_states=4, discount=0.9)
    found = payload(answer)
    assert found["map"] == answer.map.tolist()
    for k, group in enumerate(found["groups"]):
        members = np.flatnonzero(answer.map == k).tolist()
        assert (group["members"], group["size"]) == (members, len(members))
        assert group["name"] == answer.original.name_of(members[0])
    assert [model["states"] for model in found["models"]] == [9, 4]
    assert found["models"][0]["map"]
    assert not found["models"][1]["map"]
    assert found["policy"] is None


def test_bounds_are_told_and_never_rounded_down():
    """In the sentence and among the facts."""
    answer = bm.aggregate(protocol(0.1), n_states=3, discount=0.9)
    found = payload(answer)
    told = dict(found["facts"])
    assert float(told["Distance bound"]) >= answer.distance_bound
    assert told["Value bound"] in found["meaning"]
    assert float(told["Value bound"]) == pytest.approx(answer.value_bound, rel=2e-5)
    for bound in (0.0, 1.0, 1 / 3, 123456.4999, 2e-300):
        assert bound <= float(rounded_up(bound)) <= bound * (1 + 2e-5)


def test_the_policy_is_lifted():
    """Every state has the action of its group, by name."""
    answer = bm.aggregate(decision_process(), n_states=3, discount=0.9)
    found = payload(answer)
    for state, group in enumerate(found["map"]):
        assert found["policy"]["names"][group] == answer.original.action_name(int(answer.policy[state]))
    assert "loses at most" in found["meaning"]
    up = bm.MDP([np.eye(2)[::-1], np.eye(2)], [[0, 1], [1, 0]], actions=["up", "stay"])
    assert set(payload(bm.aggregate(up, n_states=2, discount=0.5))["policy"]["marks"]) == {"↑", "stay"}


def test_the_python_makes_the_same_model():
    """Also where epsilon was given."""
    model = bm.environments.four_rooms(side=6)
    answer = bm.aggregate(model, epsilon=0.01, discount=0.9)
    names = {"model": model}
    exec(payload(answer)["reproduce"]["python"].rpartition("\n")[0], names)
    assert names["aggregation"].map.tolist() == answer.map.tolist()
    assert names["aggregation"].value_bound == answer.value_bound


def test_names(tmp_path):
    """Text that does nothing, or an error."""
    chain = bm.MarkovChain(np.eye(5)[[1, 2, 3, 4, 0]], reward=np.arange(5), start=0, names=HOSTILE, labels=HOSTILE)
    answer = bm.aggregate(chain, n_states=3, discount=0.5)
    answer.report(tmp_path / "x.html", names=HOSTILE[0], command=HOSTILE[0])
    bm.aggregate("grid-3x3", n_states=4, discount=0.5).report(tmp_path / "plain.html")
    tags = [Elements((tmp_path / name).read_text(encoding="utf-8")).tags for name in ("x.html", "plain.html")]
    assert tags[0] == tags[1]
    assert HOSTILE[0] in data_of(tmp_path / "x.html")["title"]
    with pytest.raises(InvalidOption, match="a text"):
        aggregation_page(answer, names=["a"])
