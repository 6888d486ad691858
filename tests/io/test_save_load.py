"""One door for all formats: which object, which container, which error."""

from __future__ import annotations

import json

import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.io.save_load import FORMATS
from tests.io.io_samples import chains, mdp_solutions, mdps, solutions

THINGS = {
    "bisimetric chain": chains()["bare"],
    "bisimetric mdp": mdps()["all parts"],
    "bisimetric solution": solutions()["one state"],
    "bisimetric mdp solution": mdp_solutions()["same"],
}


@pytest.mark.parametrize("name", THINGS)
def test_every_format_names_itself(name, tmp_path):
    """In the first lines of its JSON, with a version; what is read is of the format's kind."""
    path = tmp_path / "thing.json"
    bm.save(THINGS[name], path)
    document = json.loads(path.read_text())
    assert (document["format"], document["version"]) == (name, 1)
    assert isinstance(bm.load(path), FORMATS[name].kind)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "holds a list, expected an object"),
        ({"format": "other"}, "format is 'other', expected one of"),
        ({"format": "bisimetric chain", "version": 99}, "install a newer one"),
        ({"format": "bisimetric chain", "version": True}, "version is True"),
    ],
)
def test_documents_of_no_format(document, said, tmp_path):
    """Named by the file that holds them."""
    path = tmp_path / "thing.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=said) as caught:
        bm.load(path)
    assert "thing.json" in str(caught.value)


def test_only_what_has_a_format_is_saved(tmp_path):
    """The error lists what has."""
    room = bm.as_chain("open-grid:2")
    with pytest.raises(InvalidOption, match=r"save its \.model"):
        bm.save(bm.aggregate(room, n_states=2, discount=0.5), tmp_path / "x.json")
    with pytest.raises(InvalidOption, match=r"np\.save keeps its \.value"):
        bm.save(bm.pairwise([room, room], discount=0.5), tmp_path / "x.json")
    with pytest.raises(InvalidOption, match="cannot save a dict, expected a MarkovChain"):
        bm.save({}, tmp_path / "thing.json")
    assert not list(tmp_path.iterdir())
