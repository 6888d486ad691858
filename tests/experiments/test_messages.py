"""What the paper says about each experiment holds in numbers, and exact values are known answers."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.experiments import ALL, Workplace, eta, heat_map, role_of_m
from bisimetric.experiments.instance_pictures import map_image, place_labels
from bisimetric.experiments.instances import BY_DOORS, STORE, separation
from bisimetric.experiments.methods import FINE, METHODS
from bisimetric.experiments.rounds import authors_mean, stationary_law
from bisimetric.experiments.running_time import TUNED
from bisimetric.experiments.running_time_pictures import few, tick_labels

P1_P0 = 0.4355817651  # four-rooms p1 against p0 at their starts, γ = 0.95
A_B = 2.8365565487  # small four-rooms a against b at their starts, γ = 0.95


def test_role_of_m(records):
    """The curves fall towards the exact values, m changes less than the rounds do, and two phases come closest."""
    record = records("role-of-m")
    result = record["result"]
    assert result["exact"]["starts"] == pytest.approx(P1_P0, abs=1e-9)
    for quantity in ("mean", "starts"):
        for curves in result["curves"].values():
            for curve in curves.values():
                assert result["exact"][quantity] < curve[quantity][-1] < curve[quantity][0]
        for k in (20, 40):
            for errors in role_of_m.errors_at(record, quantity, k).values():
                by_m = [errors[f"m = {m}"] for m in (1, 2, 5)]
                assert max(by_m) - min(by_m) < 0.3 * min(by_m)
                assert errors["averaged"] > by_m[0]  # the first rounds weigh on it


def test_the_authors_quantity():
    """(1-γ) times the mean over the stationary law of P⊗Q, here by its eigenvector; uniform on 4-rooms."""
    rooms = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
    value = bm.solve(rooms).value
    assert authors_mean(rooms, value) == pytest.approx(0.05 * value.mean(), rel=1e-9)
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(n), n)) for n in (3, 4)]
    problem = bm.Problem(*chains, discount=0.5, cost=random.random((3, 4)))
    both = np.kron(chains[0].transitions.toarray(), chains[1].transitions.toarray())
    sizes, vectors = np.linalg.eig(both.T)
    law = vectors[:, np.argmax(sizes.real)].real
    expected = 0.5 * (law / law.sum()) @ problem.cost.ravel()
    assert authors_mean(problem, problem.cost) == pytest.approx(expected, rel=1e-9)
    cycle = bm.MarkovChain([[0, 1], [1, 0]])
    assert stationary_law(cycle) == pytest.approx([0.5, 0.5])


def test_curves_are_the_solvers(records):
    """What a curve shows after k rounds is what the solver gives with k rounds, in all three kinds of runs."""
    curves = records("role-of-m")["result"]["curves"]["SPI"]
    problem = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
    paper = bm.SinkhornPolicyIteration.as_in_paper
    solvers = {
        "m = 2": paper(step_size=1.0, inner_steps=2, rounds=20),
        "averaged": paper(step_size=1.0, rounds=20, output="average"),
        "ours (default)": bm.SinkhornPolicyIteration(rounds=20),
    }
    for name, solver in solvers.items():
        found = curves[name]["starts"][curves[name]["rounds"].index(20)]
        assert found == pytest.approx(bm.solve(problem, solver).distance, rel=1e-6), name


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
    """A large constant step stalls, a small one is slow at first, a decaying one goes on; two phases are best."""
    record = records("eta")
    assert record["result"]["exact"]["starts"] == pytest.approx(A_B, abs=1e-9)
    for curves in eta.errors(record).values():
        errors = {name: dict(zip(curve["rounds"], curve["mean"], strict=True)) for name, curve in curves.items()}
        assert errors["η = 0.1"][8] > 1.5 * errors["η = 10"][8]
        assert errors["η = 10"][400] > 0.7 * errors["η = 10"][54]
        assert errors["η = 10/√k"][400] < min(errors["η = 1"][400], errors["η = 10"][400])
        assert errors["ours (default)"][400] < 0.5 * errors["η = 10/√k"][400]
        assert all(error > 0 for curve in errors.values() for error in curve.values())


@pytest.mark.slow
def test_running_time(records):
    """Errors are those of the methods, exact ones are certified, tuned settings reach their targets."""
    result = records("running-time")["result"]
    assert [row["n"] for row in result["paper"]] == [2, 2, 9, 9]
    for row in result["paper"]:
        assert set(row["methods"]) == {*METHODS, FINE}
        assert all(at["seconds"] > 0 for at in row["methods"].values())
        assert row["methods"][FINE]["error"] <= 1e-6
    largest = [row["methods"] for row in result["paper"] if row["n"] == 9]
    assert all(0.003 < found[method]["error"] < 0.1 for found in largest for method in METHODS)
    assert all(found[FINE]["seconds"] < found["dWL"]["seconds"] for found in largest)
    assert [row["n"] for row in result["tuned"]] == [4, 4, 8, 8]
    reached = [
        (found["error"], float(target))
        for row in result["tuned"]
        for method in METHODS
        for target, found in row["methods"][method].items()
        if found is not None
    ]
    assert len(reached) >= 24
    assert all(error <= target * 1.01 for error, target in reached)


@pytest.mark.slow
def test_what_is_not_reached_is_shown(records):
    """A method that misses its target has an open marker, a dash in the table and None in the summary."""
    record = records("running-time")
    missed = {"0.05": None, "0.01": None}
    rows = [{**row, "methods": {**row["methods"], "SVI": missed}} for row in record["result"]["tuned"]]
    changed = {**record, "result": {**record["result"], "tuned": rows}}
    assert ALL["running-time"].summary(changed)["seconds_to"]["uniform"]["SVI"]["0.5"]["8"] == missed
    figure = ALL["running-time"].draw(changed)[TUNED]
    assert any("not reached" in text.get_text() for axes in figure.axes for text in axes.texts)
    table = ALL["running-time"].tables(changed)[1]
    assert ["8", "SVI", "–"] in [list(row) for row in table.body]
    assert "no setting reaches it in 0.1 s" in table.notes[1]


@pytest.mark.parametrize("name", ["heat-map", pytest.param("running-time", marks=pytest.mark.slow), "instances"])
def test_exact_values_repeat(name, records, tmp_path):
    """The same seeds give the same exact values."""
    config = type(ALL[name].config)(
        **{key: tuple(v) if isinstance(v, list) else v for key, v in records(name)["config"].items()}
    )
    again = ALL[name].record(config, Workplace(lambda what: None, tmp_path))["result"]
    first = records(name)["result"]
    if name == "running-time":
        exact, other = ([row["distance"] for row in result["paper"]] for result in (first, again))
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
    assert tick_labels([2, 3, 5, 10, 15, 20, 25]) == ["2", "3", "5", "10", "15", "", "25"]
    assert tick_labels([2, 9]) == ["2", "9"]


def test_panels_are_few():
    """At most five, with both ends."""
    assert few([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99]) == [0.5, 0.7, 0.8, 0.9, 0.99]
    assert few([0.5]) == [0.5]
