"""Instances from folders: the authors' files, chain files and maps; what is damaged is named."""

import json
from itertools import product

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.environments.obstacles import obstacle_map
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.experiments import ALL, Workplace
from bisimetric.experiments.instance_files import read_instances
from bisimetric.experiments.instances import Config, doors_to_reward, kind_of


def as_published(chain):
    """A chain as the authors write theirs; sums may be off by rounding."""
    rows = chain.transitions.toarray()
    rows[0] *= 1 + 1e-12
    return {"transition_function": rows.tolist(), "reward": chain.reward.tolist(), "nu_0": chain.start.tolist()}


@pytest.fixture
def folder(tmp_path):
    """The same four instances in four formats, and a file that is none."""
    for seed, suffix in enumerate(("json", "npz", "txt", "own.json")):
        chain, file = bm.environments.four_rooms_obstacles(seed=seed), tmp_path / f"p{9 + seed}.{suffix}"
        if suffix == "json":
            file.write_text(json.dumps(as_published(chain), indent=4))
        elif suffix == "txt":
            file.write_text(obstacle_map(seed) + "\n")
        else:
            bm.save(chain, file)
    (tmp_path / "README.md").write_text("nothing")
    return tmp_path


def test_every_format(folder):
    """The chains are those of the seeds, in the order of the numbers in their names."""
    found = read_instances(str(folder))
    assert [instance.name for instance in found] == ["p9", "p10", "p11", "p12.own"]
    for seed, instance in enumerate(found):
        chain = bm.environments.four_rooms_obstacles(seed=seed)
        np.testing.assert_allclose(instance.chain.transitions.toarray(), chain.transitions.toarray(), atol=1e-15)
        assert instance.chain.reward.tolist() == chain.reward.tolist()
        assert np.flatnonzero(instance.chain.start) == np.flatnonzero(chain.start)
    assert found[2].map == obstacle_map(2).split("\n")
    assert found[0].map is None


def test_the_experiment_takes_a_folder(folder):
    """Kinds come from the chains, the picture needs no maps, and the record names the files."""
    experiment = ALL["instances"]
    record = experiment.record(Config(folder=str(folder)), Workplace(lambda what: None, folder))
    assert [instance["name"] for instance in record["result"]["instances"]] == ["p9", "p10", "p11", "p12.own"]
    (figure,) = experiment.draw(record).values()
    assert len(figure.axes) == 2
    assert experiment.tables(record)[0].body
    json.dumps(record, allow_nan=False)


def test_one_kind_only(tmp_path):
    """What separates kinds is not defined then, and nothing fails."""
    for k in range(3):
        (tmp_path / f"{k}.txt").write_text("S" + "." * k + "G")
    record = ALL["instances"].record(Config(folder=str(tmp_path)), Workplace(lambda what: None, tmp_path))
    found = record["result"]["separation"]
    assert found["between"] is None
    assert found["silhouette"] is None
    assert found["confusion"] == {"same room": {"same room": 3}}
    assert ALL["instances"].tables(record)[0].body[0][3] == "–"


@pytest.mark.parametrize(
    ("drawn", "doors"),
    [("S.G", 0), ("SDG", 1), ("SD.DG", 2), ("S#G", None), ("G.DSDG", 1), ("SDG\n.##\n..G", 1), ("S.DG\n.###\n..G#", 1)],
)
def test_doors_on_the_way(drawn, doors):
    """The nearest reward counts by steps, not by doors; of equal ways the one with fewer doors."""
    from bisimetric.environments.obstacles import optimal_walk

    chain = optimal_walk(drawn)
    assert doors_to_reward(chain) == doors
    assert kind_of(chain) == {0: "same room", 1: "one door", 2: "two doors", None: "unreachable"}[doors]
    assert kind_of(optimal_walk("SD.D.DG")) == "more doors"


GOOD = as_published(bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0))
DAMAGED = {
    "empty": ("", "is empty"),
    "cut": (json.dumps(GOOD)[:-20], "is not JSON"),
    "a page": ("<html>not found</html>", "is not JSON"),
    "a list": ("[1, 2]", "holds a list"),
    "no start": (json.dumps({k: GOOD[k] for k in ("transition_function", "reward")}), "lacks nu_0"),
    "other sizes": (json.dumps({**GOOD, "reward": [1.0]}), "reward of 1"),
    "not a number": (json.dumps({**GOOD, "reward": [0.0, float("nan")]}), r"reward\[1\] is nan"),
    "a text": (json.dumps({**GOOD, "nu_0": ["a", "b"]}), "nu_0"),
    "sums": (json.dumps({**GOOD, "transition_function": [[0.5, 0.4], [0, 1]]}), "off 1"),
    "negative": (json.dumps({**GOOD, "transition_function": [[1.5, -0.5], [0, 1]]}), "down to -0.5"),
    "no states": (json.dumps({"transition_function": [], "reward": [], "nu_0": []}), "transition_function"),
    "a chain without start": ('{"transitions": [[1]], "reward": [0]}', "no start"),
    "a chain without rewards": ('{"transitions": [[1]], "start": 0}', "no reward"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files(folder, kind):
    """The error names the file, what is wrong and the remedy."""
    text, message = DAMAGED[kind]
    (folder / "p3.json").write_text(text)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_instances(str(folder))
    assert str(caught.value).count("p3.json") == 1
    assert "download the file again" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "data"), [*product(["x.txt"], [b"\xff\xfe", b"S?G", b""]), ("x.npz", b"PK")])
def test_damaged_maps_and_archives(folder, name, data):
    """The same for the other formats."""
    (folder / name).write_bytes(data)
    with pytest.raises(FileFormatError, match=name):
        read_instances(str(folder))


def test_missing_files(folder, tmp_path):
    """No folder, an empty one, one level too high, and a link to nothing."""
    for name in ("", str(tmp_path / "nowhere")):
        with pytest.raises(InvalidOption, match="which is no folder"):
            read_instances(name)
    (tmp_path / "new").mkdir()
    with pytest.raises(InvalidOption, match=r"has 0 files that end in \.json, \.npz, \.txt, expected at least 3"):
        read_instances(str(tmp_path / "new"))
    above = tmp_path / "above"
    (above / "3_rewards").mkdir(parents=True)
    (above / "3_rewards" / "p0.json").write_text("{}")
    with pytest.raises(InvalidOption, match="in its folders 3_rewards: give one of those"):
        read_instances(str(above))
    (folder / "p1.json").symlink_to(tmp_path / "gone.json")
    with pytest.raises(FileFormatError, match=r"p1\.json: no such file"):
        read_instances(str(folder))
    (folder / "p1.json").unlink()
    (folder / "p1.json").mkdir()
    with pytest.raises(FileFormatError, match="is a folder"):
        read_instances(str(folder))
