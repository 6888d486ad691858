"""The page of a table of distances: its numbers, names, order, and what missed the tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.report.distances import distances_page
from bisimetric.views.report.frame import page_data
from tests.views.report.models import HOSTILE, Elements, data_of, protocol, table_of_points

ROOMS = ["four-rooms:p0", "four-rooms:p1", "four-rooms:p2"]


@pytest.fixture(scope="module")
def rooms():
    """Three chains by their names."""
    return bm.pairwise(ROOMS, discount=0.9)


def payload(distances, **options):
    """What the page knows."""
    return page_data(distances_page(distances, **options))


def test_numbers_and_names_are_those_of_the_table(rooms):
    """Every pair by its number, in an order in which similar chains are neighbours."""
    found = payload(rooms)
    assert found["rows"] == found["columns"] == ROOMS
    pairs = found["table"]["pairs"]
    for name in ("value", "lower", "upper"):
        assert pairs[name] == getattr(rooms, name).ravel()[pairs["id"]].tolist()
    assert sorted(pairs["id"]) == list(range(9))
    assert sorted(found["table"]["order"][0]) == [0, 1, 2]
    assert found["headline"]["text"] == "3 × 3 distances"


def test_similar_chains_are_neighbours():
    """Two clusters that are mixed in the list come apart."""
    found = payload(table_of_points(np.array([[0.0], [9.0], [0.1], [9.1], [0.2]])))
    order = found["table"]["order"][0]
    assert set(order[:3]) in ({0, 2, 4}, {1, 3, *order[2:3]})
    assert {order.index(1), order.index(3)} in ({0, 1}, {3, 4})


def test_the_python_makes_the_same_table(rooms):
    """Where chains were given as texts it runs as it is."""
    script = payload(rooms)["reproduce"]["python"].rpartition("\n")[0]
    names: dict[str, object] = {}
    exec(script, names)
    assert np.array_equal(names["distances"].value, rooms.value)
    chains = [protocol(loss) for loss in (0.1, 0.2)]
    other = bm.pairwise(chains, chains[:1], discount=0.9, cost=np.eye(5), normalised=True, tol=1e-6)
    script = payload(other, names=["a", "b", "c"])["reproduce"]["python"].rpartition("\n")[0]
    assert "# chains: a, b\n# others: c\n# cost: an array" in script
    names = {"chains": chains, "others": chains[:1], "cost": np.eye(5)}
    exec(script, names)
    assert np.array_equal(names["distances"].value, other.value)


def test_two_lists_have_no_map_and_no_tree():
    """They are not points of one space."""
    chains = [protocol(loss) for loss in (0.1, 0.2, 0.3)]
    found = payload(bm.pairwise(chains, chains[:2], discount=0.9))
    assert found["map"] is None
    assert found["sections"] == []
    assert found["columns"] == ["other 1", "other 2"]
    assert "3 chains from 2 others" in found["title"]


def test_pairs_that_missed_are_named(rooms):
    """Once each, with their bounds."""
    status = rooms.status.copy()
    status[0, 1] = status[1, 0] = bm.Status.STALLED
    found = payload(bm.Distances(rooms.value, rooms.lower, rooms.upper, status, rooms.question))
    (missed,) = (section for section in found["sections"] if section["key"] == "missed")
    assert [row[:2] for row in missed["rows"]] == [["four-rooms:p0  ·  four-rooms:p1", "STALLED"]]
    assert ["Pairs", "2 of 9 missed the tolerance"] in found["facts"]
    assert not any(section["key"] == "missed" for section in payload(rooms)["sections"])


def test_large_tables_are_binned(tmp_path):
    """Cells are means in the order of likeness, and select their nearest pair."""
    places = np.random.default_rng(0).random((125, 2))
    distances = table_of_points(places)
    found = payload(distances)["table"]
    assert found["binned"]
    assert len(found["value"]) == len(found["pairs"]["id"]) == 120 * 120
    assert np.mean(found["value"]) == pytest.approx(distances.value.mean(), rel=0.1)
    distances.report(tmp_path / "x.html")
    assert (tmp_path / "x.html").stat().st_size < 6_000_000


def test_one_chain(tmp_path):
    """A table of a single zero."""
    bm.pairwise([protocol(0.1)], discount=0.9).report(tmp_path / "x.html")
    assert data_of(tmp_path / "x.html")["map"] is None


def test_tables_made_in_other_ways_have_pages():
    """Without names or a discount."""
    found = payload(table_of_points(np.array([[0.0], [1.0]])))
    assert found["rows"] == ["chain 1", "chain 2"]
    assert "Discount" not in dict(found["facts"])


def test_hostile_names_change_nothing(tmp_path, rooms):
    """Nothing but text."""
    rooms.report(tmp_path / "plain.html")
    rooms.report(tmp_path / "hostile.html", names=list(HOSTILE[:3]), command=HOSTILE[0])
    plain, hostile = ((tmp_path / f"{name}.html").read_text(encoding="utf-8") for name in ("plain", "hostile"))
    assert Elements(plain).tags == Elements(hostile).tags
    assert HOSTILE[0] not in hostile
    assert data_of(hostile)["rows"][0] == HOSTILE[0]


@pytest.mark.parametrize("names", [["a"], "abc", ["a", "b", 3], 5, {"a", "b", "c"}])
def test_a_name_for_every_chain(rooms, names):
    """Or an error."""
    with pytest.raises(InvalidOption, match="3 texts"):
        distances_page(rooms, names=names)
