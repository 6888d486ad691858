"""What the paper says about each experiment holds in numbers, and exact values are known answers."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.experiments import ALL, Workplace, heat_map
from bisimetric.experiments.instance_pictures import map_image, place_labels
from bisimetric.experiments.instances import BY_DOORS, STORE, separation
from bisimetric.experiments.methods import METHODS, OURS
from bisimetric.experiments.running_time import TUNED, _tick_labels

P1_P0 = 0.4355817651  # four-rooms p1 against p0 at their starts, γ = 0.95
A_B = 2.8365565487  # small four-rooms a against b at their starts, γ = 0.95


def test_role_of_m(records):
    """The curves fall towards the exact distance, and m changes less than the rounds do."""
    result = records("role-of-m")["result"]
    assert result["exact"] == pytest.approx(P1_P0, abs=1e-9)
    assert result["starts"] == [9, 21]
    for curves in result["estimates"].values():
        for curve in curves.values():
            assert P1_P0 < curve[-1] < 0.85 * curve[0]
    for method in ("SVI", "SPI"):
        early, *_, late = result["spread"][method]
        assert 0.0 < late["relative"] < 0.06
        assert late["relative"] < 0.25 * late["error_of_best"]
        assert late["error_of_best"] < early["error_of_best"]


def test_role_of_m_is_the_solver(records):
    """The estimate after k rounds is what the solver gives after k rounds."""
    result = records("role-of-m")["result"]
    problem = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
    solver = bm.SinkhornPolicyIteration(step_size=1.0, inner_steps=2, rounds=20)
    found = result["estimates"]["SPI"]["2"][result["rounds"].index(20)]
    assert found == pytest.approx(bm.solve(problem, solver).distance, rel=1e-6)


def test_heat_map_is_symmetric(records):
    """Cells and their images under quarter turns are equally far, and the start's own corner is the nearest."""
    result = records("heat-map")["result"]
    assert result["symmetric"] is True
    assert max(result["asymmetry"].values()) <= 1e-9
    at = dict(zip(result["target"]["names"], result["distances"], strict=True))
    assert at["(0,0)"] == pytest.approx(at["(0,6)"], rel=1e-9) == pytest.approx(at["(6,6)"], rel=1e-9)
    assert at[result["nearest"]] == min(at.values())
    assert np.ptp(result["distances"]) > 1.0


def test_asymmetry_can_be_seen():
    """A value that breaks the symmetry shows, and a map without it is refused."""
    rooms = bm.environments.matching_four_rooms()
    values = np.ones(rooms.n_states)
    values[3] = 1.5
    assert heat_map._asymmetry(rooms, values, 1) == pytest.approx(1 / 3)
    with pytest.raises(InvalidOption, match="not its own image"):
        heat_map._asymmetry(bm.environments.four_rooms_obstacles(seed=3), np.ones(38), 1)


@pytest.mark.slow
def test_eta(records):
    """A large constant step stalls, a small one is slow at first, a decaying one goes on; our default is best."""
    result = records("eta")["result"]
    assert result["exact"] == pytest.approx(A_B, abs=1e-9)
    for curves in result["errors"].values():
        errors = {name: curve["largest"] for name, curve in curves.items()}
        early = result["rounds"].index(8)
        assert errors["η = 0.1"][early] > 2 * errors["η = 10"][early]
        assert errors["η = 10"][-1] > 0.9 * errors["η = 10"][early + 1]
        assert errors["η = 10/√k"][-1] < 0.6 * min(errors["η = 1"][-1], errors["η = 10"][-1])
        assert errors["auto"][-1] < 0.5 * min(errors[name][-1] for name in errors if name != "auto")
        assert all(error > 0 for curve in errors.values() for error in curve)


@pytest.mark.slow
def test_running_time(records):
    """Errors are those of the methods, exact ones are certified, tuned settings reach their targets."""
    record = records("running-time")
    rows = record["result"]["rows"]
    assert len(rows) == 2
    for row in rows:
        assert set(row["paper"]) == {*METHODS, OURS}
        assert all(at["seconds"] > 0 for at in row["paper"].values())
        assert row["paper"][OURS]["error"] <= 1e-6
        for method in METHODS:
            for target, found in row["tuned"][method].items():
                assert found["error"] <= float(target) * 1.01
    largest = [row for row in rows if row["n"] == 9]
    assert all(0.003 < row["paper"][method]["error"] < 0.1 for row in largest for method in METHODS)
    assert all(row["paper"][OURS]["seconds"] < row["paper"]["dWL"]["seconds"] for row in largest)


@pytest.mark.slow
def test_what_is_not_reached_is_shown(records):
    """A method that misses its target has an open marker, and none in the summary."""
    record = records("running-time")
    rows = [{**row, "tuned": {**row["tuned"], "SVI": {"0.05": None, "0.01": None}}} for row in record["result"]["rows"]]
    changed = {**record, "result": {**record["result"], "rows": rows}}
    found = ALL["running-time"].summary(changed)["by_method"]["SVI"]["0.5"]["to"]
    assert found == {"0.05": None, "0.01": None}
    figure = ALL["running-time"].draw(changed)[TUNED]
    assert any("not reached" in text.get_text() for axes in figure.axes for text in axes.texts)


@pytest.mark.parametrize("name", ["heat-map", pytest.param("running-time", marks=pytest.mark.slow), "instances"])
def test_exact_values_repeat(name, records, tmp_path):
    """The same seeds give the same exact values."""
    config = type(ALL[name].config)(
        **{key: tuple(v) if isinstance(v, list) else v for key, v in records(name)["config"].items()}
    )
    again = ALL[name].record(config, Workplace(lambda what: None, tmp_path))["result"]
    first = records(name)["result"]
    if name == "running-time":
        exact, other = ([row["distance"] for row in result["rows"]] for result in (first, again))
    else:
        exact, other = first["distances"], again["distances"]
    np.testing.assert_allclose(exact, other, rtol=0, atol=1e-9)


def test_instances_form_clusters(records):
    """Instances of a class are nearer to one another than to those of others."""
    result = records("instances")["result"]
    assert [sum(i["kind"] == kind for i in result["instances"]) for kind in BY_DOORS.values()] == [3, 3, 2, 2]
    assert all(33 <= instance["states"] <= 39 for instance in result["instances"])
    found = result["separation"]
    assert found["within"] < 0.3 * found["between"]
    assert found["silhouette"] > 0.5
    assert found["accuracy"] > 0.8 > found["chance"]


def test_instances_go_on(records, tmp_path):
    """A second run finds every pair in the store and gives the same numbers."""
    said = []
    experiment, config = ALL["instances"], type(ALL["instances"].config)(wanted=(2, 1, 1, 1))
    first = experiment.record(config, Workplace(said.append, tmp_path))
    assert any("pair 10 of 10" in what for what in said)
    assert (tmp_path / STORE).is_dir()
    said.clear()
    again = experiment.record(config, Workplace(said.append, tmp_path))
    assert not any("pair" in what for what in said)
    assert again["result"] == first["result"]


def test_separation_by_hand():
    """Means, silhouette and accuracy of five points on a line; the silhouette is scikit-learn's."""
    points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    distances = np.abs(points[:, None] - points)
    found = separation(distances, ["a", "a", "a", "b", "b"])
    assert found["within"] == pytest.approx((1 + 2 + 1 + 1) / 4)
    assert found["between"] == pytest.approx(np.mean([10, 11, 9, 10, 8, 9]))
    assert found["silhouette"] == pytest.approx(silhouette_score(distances, [0, 0, 0, 1, 1], metric="precomputed"))
    assert found["accuracy"] == 1.0
    assert separation(distances, ["a", "b", "a", "b", "a"])["accuracy"] == 0.0
    assert found["by_kind"]["b"] == {
        "count": 2, "within": 1.0, "to_nearest_other": pytest.approx(9.5), "accuracy": 1.0
    }  # fmt: skip
    assert found["confusion"] == {"a": {"a": 3}, "b": {"b": 2}}


def test_labels_of_places():
    """One label where points coincide, with their number; chains of near points are one place."""
    points = np.array([[0, 0], [0.02, 0], [0.04, 0], [1, 1], [0.5, 0], [0.5, 0.01]])
    assert place_labels(points, {1: "A2", 2: "A1", 3: "B1"}) == ["A1, A2 ×3", "", "", "B1", "×2", ""]


def test_map_images():
    """Every kind of cell has its own colour."""
    picture = map_image(["S.", "G#"])
    assert picture.shape == (2, 2, 3)
    assert picture[0, 1].tolist() == [255, 255, 255]
    assert len({tuple(colour) for row in picture for colour in row}) == 4


def test_sizes_below_panels():
    """Sizes that would run into a larger one are left out."""
    assert _tick_labels([2, 3, 5, 10, 15, 20, 25]) == ["2", "3", "5", "10", "15", "", "25"]
    assert _tick_labels([2, 9]) == ["2", "9"]
