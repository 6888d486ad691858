"""Models as the command line names them: constants, rows, Storm's and PRISM's files."""

import json

import pytest

import bisimetric as bm

COIN = """dtmc
const double p;
const int N;
module coin
  s : [0..2] init 0;
  [] s=0 -> p : (s'=1) + 1-p : (s'=2);
  [] s>0 -> true;
endmodule
label "heads" = s=1;
label "tails" = s=2;
"""


@pytest.fixture
def coin(tmp_path):
    """A coin whose bias is a constant."""
    path = tmp_path / "coin.prism"
    path.write_text(COIN)
    return path


def test_constants(command, coin):
    """For both models by --const, for one behind its name; the latter wins."""
    arguments = ("--bisimilarity", "--discount", 1, "--json")
    assert command("distance", coin, coin, "--const", "p=0.5,N=1", *arguments).document["distance"] == 0
    document = command("distance", coin, f"{coin},p=0.6", "--const", "p=0.5,N=1", *arguments).document
    assert document["distance"] == pytest.approx(0.1)
    assert document["target"] == f"{coin},p=0.6"
    document = command("distance", f"{coin},p=0.2", coin, "--const", "N=1", "--const", "p=0.5", *arguments).document
    assert document["distance"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("constants", "message"),
    [((), 'give --const "p='), (("--const", "p=1,q=1"), "'q'"), (("--const", "p=high,N=1"), "high")],
)
def test_wrong_constants(command, coin, constants, message):
    """One line that names the constant."""
    ran = command("quotient", coin, *constants)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("ending", ["drn", "tra", "json", "npz"])
def test_to_every_format_and_back(command, coin, tmp_path, ending):
    """The same model comes back."""
    out, again = tmp_path / f"out.{ending}", tmp_path / "again.json"
    assert command("convert", f"{coin},p=0.25,N=1", out, "--quiet") == (0, "", "")
    assert command("convert", out, again).code == 0
    model, given = bm.load(again), bm.as_chain(f"{coin},p=0.25,N=1")
    assert (model.transitions.toarray() == given.transitions.toarray()).all()
    assert model.labels == given.labels
    assert model.start.tolist() == given.start.tolist()


def test_prism_on_stdin(command, coin, tmp_path, monkeypatch):
    """--const reaches it."""
    with open(coin) as opened:
        monkeypatch.setattr("sys.stdin", opened)
        ran = command("convert", "-", tmp_path / "x.json", "--from", "prism", "--const", "p=0.25,N=1")
    assert ran.code == 0
    assert bm.load(tmp_path / "x.json").n_states == 3


def test_several_files_do_not_fit_into_stdout(command):
    """`.tra` has others beside it."""
    ran = command("convert", "grid-3x3", "-", "--to", "tra")
    assert ran.code == 2
    assert "expected one of npz, json, drn" in ran.err


def test_rows_are_rescaled_on_request(command, tmp_path):
    """In JSON too; the error without it names the option."""
    counts = tmp_path / "counts.json"
    counts.write_text(json.dumps({"transitions": [[3, 1], [0, 2]], "reward": [0, 1], "start": 0}))
    ran = command("distance", counts, "grid-3x3", "--discount", 0.5)
    assert ran.code == 2
    assert "--normalise-rows" in ran.err
    assert command("distance", counts, "grid-3x3", "--discount", 0.5, "--normalise-rows").code == 0


def test_gymnasium(command):
    """An environment walks uniformly, or under another policy; options follow the id."""
    arguments = ("--discount", 0.9, "--json")
    document = command("distance", "gym:FrozenLake-v1", "gym:FrozenLake-v1,is_slippery=false", *arguments).document
    assert document["distance"] == 0  # slipping uniformly makes uniform moves
    document = command(
        "distance", "gym:FrozenLake-v1", "gym:FrozenLake-v1,policy=optimal,discount=0.9", *arguments
    ).document
    assert document["distance"] > 0.01
    assert command("metric", "gym:FrozenLake-v1", "gym:FrozenLake-v1,is_slippery=false", *arguments).code == 0


def test_long_names_are_shown_whole(command, chain_file):
    """What sets models apart may stand at the end."""
    file = chain_file(f"{'x' * 100}.json", start=0)
    assert "xx.json" in command("distance", file, file, "--discount", 0.5).out.replace("\n", "").replace(" ", "")


@pytest.mark.parametrize("extra", ["gymnasium", "stormpy"])
def test_missing_packages(command, coin, monkeypatch, extra):
    """The pip command that installs them."""
    monkeypatch.setitem(__import__("sys").modules, extra, None)
    model = {"gymnasium": "gym:FrozenLake-v1", "stormpy": f"{coin},p=0.5,N=1"}[extra]
    ran = command("quotient", model)
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'bisimetric[" in ran.err
    assert ran.err.count("\n") == 1
