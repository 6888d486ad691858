"""Models in files."""

from __future__ import annotations

import json

import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidChain, InvalidOption
from bisimetric.readers.convert import as_model


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files(tmp_path, suffix):
    """A chain that was saved, by path or by text."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    path = tmp_path / f"chain{suffix}"
    chain.save(path)
    for given in (path, str(path)):
        assert bm.as_chain(given).transitions.toarray().tolist() == [[0.5, 0.5], [0, 1]]


def test_a_solution_is_not_a_chain(tmp_path):
    """The message says where its models are."""
    chain = bm.MarkovChain([[1.0]], reward=[0.0])
    path = tmp_path / "solution.npz"
    bm.solve(bm.Problem(chain, chain, discount=0.5)).save(path)
    with pytest.raises(InvalidChain, match=r"solution\.problem"):
        bm.as_chain(path)


@pytest.mark.parametrize(
    ("transitions", "more", "expected"),
    [
        ([[3, 1], [0, 2]], {}, [[[0.75, 0.25], [0, 1]]]),
        ([[[3, 1], [0, 2]], [[1e308, 1e308], [1, 0]]], {"rewards": [[0, 0], [1, 1]]},
         [[[0.75, 0.25], [0, 1]], [[0.5, 0.5], [1, 0]]]),
    ],
)  # fmt: skip
def test_rows_are_rescaled_on_request(tmp_path, transitions, more, expected):
    """Of chains and of decision processes written by hand."""
    path = tmp_path / "counts.json"
    path.write_text(json.dumps({"transitions": transitions, **more}))
    with pytest.raises(FileFormatError, match="sums to"):
        as_model(path)
    model = as_model(f"{path},normalise")
    matrices = model.transitions if isinstance(model, bm.MDP) else [model.transitions]
    assert [matrix.toarray().tolist() for matrix in matrices] == expected


@pytest.mark.parametrize(
    "model",
    [
        bm.MarkovChain([[0.5, 0.5, 0], [0, 1, 0], [0.5, 0, 0.5]]),
        bm.MDP([[[0.5, 0.5], [0, 1]], [[0, 1], [0.5, 0.5]]], [[0, 1], [1, 0]]),
    ],
)
def test_rows_of_a_saved_file_are_rescaled(tmp_path, model):
    """One that was changed by hand; what is no sparse matrix is still refused."""
    path = tmp_path / "changed.json"
    model.save(path)
    document = json.loads(path.read_text())
    stored = document["transitions"]
    data = stored["data"]
    path.write_text(json.dumps(document | {"transitions": stored | {"data": [3.0 * entry for entry in data]}}))
    with pytest.raises(FileFormatError, match="sums to"):
        as_model(path)
    found = as_model(f"{path},normalise")
    given, again = ([one.transitions] if isinstance(one, bm.MarkovChain) else one.transitions for one in (model, found))
    assert [matrix.toarray().tolist() for matrix in again] == [matrix.toarray().tolist() for matrix in given]
    for wrong in (
        {"data": [0.0] * len(data)},
        {"data": data[:-1]},
        {"data": ["a"] * len(data)},
        {"data": [-1.0, *data[1:]]},
        {"indptr": [1, 2]},
        {"indptr": []},
        {"indptr": None},
    ):
        path.write_text(json.dumps(document | {"transitions": stored | wrong}))
        with pytest.raises(FileFormatError, match=r"changed\.json"):
            as_model(f"{path},normalise")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"transitions": [[1, 1], [0, 0]]}', r"transitions[1] is all zero"),
        ('{"transitions": [[-1, 3], [0, 1]]}', "transitions[0, 0] is -1.0"),
        ('{"transitions": [[1, 1], [1]]}', "transitions"),
        ('{"transition": [[1]]}', "it has 'transition', did you mean 'transitions'?"),
        ('{"P": [[1]]}', "has no transitions"),
        ("[1]", "holds a list"),
        ("{", "is not JSON"),
    ],
)
def test_wrong_files(tmp_path, text, message):
    """With and without rescaling, the file is named."""
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"wrong\.json: ") as error:
        bm.as_chain(f"{path},normalise")
    assert message in str(error.value)


def test_names_with_commas(tmp_path):
    """A file's whole name wins over options; a file that is missing is called by its whole name."""
    path = tmp_path / "a,b.json"
    bm.MarkovChain([[1.0]]).save(path)
    assert bm.as_chain(path).n_states == 1
    with pytest.raises(FileFormatError, match=r"a,c\.json: no such file"):
        bm.as_chain(tmp_path / "a,c.json")
    with pytest.raises(InvalidOption, match="did you mean 'normalise'"):
        bm.as_chain(f"{tmp_path}/a.json,normalize")
