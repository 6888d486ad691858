"""PRISM, JANI and DRN files, through Storm."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import stormpy
from hypothesis import given, settings
from hypothesis import strategies as st
from stormpy.examples import files

import bisimetric as bm
from bisimetric.errors import BisimetricError, FileFormatError, InvalidChain, InvalidOption

FOLDER = Path(files.testfile_dir)
COIN = """dtmc
const double p;
const int N = 2;
module coin
  n : [0..2] init 0;
  heads : bool init false;
  [toss] n<N -> p : (heads'=true) & (n'=n+1) + 1-p : (heads'=false) & (n'=n+1);
endmodule
label "lucky" = heads;
rewards "tosses"
  [toss] true : 1;
endrewards
rewards
  heads : 10;
endrewards
"""
PROCESS = """mdp
module m
  s : [0..2] init 0;
  [go] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [go] s=0 -> (s'=2);
  [] s=0 -> (s'=0);
  [stay] s>0 -> true;
endmodule
rewards "r"
  s=0 : 2;
  [go] true : 3;
endrewards
"""


@pytest.fixture
def coin(tmp_path):
    """A model with a constant, labels, deadlocks and two reward structures."""
    path = tmp_path / "coin.prism"
    path.write_text(COIN)
    return path


def test_a_chain(coin):
    """Names, labels, start, and probabilities of the constants."""
    chain = bm.from_prism(coin, constants={"p": 0.25})
    assert chain.n_states == 5
    start = chain.names.index("n=0,heads=false")
    assert chain.start[start] == 1
    row = dict(zip(chain.names, chain.transitions.toarray()[start], strict=True))
    assert {name: p for name, p in row.items() if p} == {"n=1,heads=true": 0.25, "n=1,heads=false": 0.75}
    labels = dict(zip(chain.names, chain.labels, strict=True))
    assert labels["n=1,heads=true"] == ("lucky",)
    assert labels["n=0,heads=false"] == ()
    assert labels["n=2,heads=true"] == ("deadlock", "lucky")


def test_reward_structures(coin):
    """One is chosen by name; by default the only one, if there is only one."""
    by_name = {name: bm.from_prism(coin, constants="p=0.5", reward=name) for name in ("tosses", "")}
    assert bm.from_prism(coin, constants="p=0.5").reward is None
    assert dict(zip(by_name["tosses"].names, by_name["tosses"].reward, strict=True))["n=1,heads=true"] == 1
    assert dict(zip(by_name[""].names, by_name[""].reward, strict=True))["n=1,heads=true"] == 10
    with pytest.raises(InvalidOption, match="did you mean 'tosses'"):
        bm.from_prism(coin, constants="p=0.5", reward="toses")
    assert bm.from_prism(files.prism_dtmc_die).reward.tolist() == [1.0] * 7 + [0.0] * 6
    assert bm.from_prism(files.prism_dtmc_die, reward=False).reward is None


@pytest.mark.parametrize("value", [0.25, "0.25", "1/4", Fraction(1, 4), np.float64(0.25)])
def test_constants(coin, value):
    """As numbers, texts and in one text."""
    expected = bm.from_prism(coin, constants="p=0.25")
    assert bm.from_prism(coin, constants={"p": value}) == expected
    assert bm.as_chain(f"{coin},p={value}") == expected


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        (None, "no value for the constant p"),
        ({"p": 0.5, "q": 1}, "'q' is unknown"),
        ({"p": 0.5, "N": 3}, "'N' has a value in the file"),
        ("p", "N=5,K=2"),
        ({"p": [1]}, "constant p"),
        (3, "dict"),
    ],
)
def test_constants_that_are_wrong(coin, constants, message):
    """The error says which, and which ones are open."""
    with pytest.raises(InvalidOption, match=message):
        bm.from_prism(coin, constants=constants)


def test_deadlocks(coin):
    """Have self-loops as in PRISM and Storm, or are refused."""
    chain = bm.from_prism(coin, constants="p=0.5")
    ends = [k for k, label in enumerate(chain.labels) if "deadlock" in label]
    assert ends
    assert (chain.transitions.toarray()[ends, ends] == 1).all()
    with pytest.raises(FileFormatError, match="self-loops"):
        bm.from_prism(coin, constants="p=0.5", deadlocks="refuse")
    assert bm.from_prism(files.prism_dtmc_die, deadlocks="refuse").n_states == 13


def test_a_process(tmp_path):
    """Choices of one name become several actions; rewards of states and actions are added."""
    path = tmp_path / "process.nm"
    path.write_text(PROCESS)
    mdp = bm.as_mdp(path)
    assert set(mdp.actions) == {"go", "go#2", "0", "stay"}
    state = mdp.names.index("s=0")
    rewards = dict(zip(mdp.actions, mdp.rewards[state], strict=True))
    assert rewards["go"] == rewards["go#2"] == 5
    assert rewards["stay"] == 0
    assert not mdp.available[state, mdp.actions.index("stay")]
    with pytest.raises(InvalidChain, match="under"):
        bm.as_chain(path)


JANI = """{"jani-version":1,"name":"t","type":"dtmc","actions":[],"constants":[{"name":"p","type":"real"}],
"variables":[{"name":"s","type":{"kind":"bounded","base":"int","lower-bound":0,"upper-bound":2},"initial-value":0},
{"name":"paid","type":"real","transient":true,"initial-value":0}],"properties":[],"automata":[{"name":"A",
"locations":[{"name":"l","transient-values":[{"ref":"paid","value":1}]}],"initial-locations":["l"],"edges":[
{"location":"l","guard":{"exp":{"op":"=","left":"s","right":0}},"destinations":[
{"location":"l","probability":{"exp":"p"},"assignments":[{"ref":"s","value":1},{"ref":"paid","value":5}]},
{"location":"l","probability":{"exp":{"op":"-","left":1,"right":"p"}},"assignments":[{"ref":"s","value":2},
{"ref":"paid","value":7}]}]},{"location":"l","guard":{"exp":{"op":">","left":"s","right":0}},
"destinations":[{"location":"l"}]}]}],"system":{"elements":[{"automaton":"A"}]}}"""


def test_rewards_of_transitions(tmp_path):
    """Their expectation is added to the reward of the state: 1 + 0.25 · 5 + 0.75 · 7."""
    path = tmp_path / "model.jani"
    path.write_text(JANI)
    chain = bm.from_jani(path, constants={"p": 0.25})
    assert chain.names == ("s=0", "s=1", "s=2")
    assert chain.reward.tolist() == [7.5, 1, 1]
    assert bm.as_chain(f"{path},p=0.25") == chain


OTHERS = [
    "ctmc/cluster2.sm",
    "ctmc/dft.drn",
    "ma/simple.ma",
    "pomdp/maze_2.prism",
    "pomdp/maze.drn",
    "smg/example_smg.nm",
]


@pytest.mark.parametrize("name", OTHERS)
def test_other_kinds_are_refused_by_name(name):
    """With what could be done."""
    with pytest.raises(FileFormatError, match=r"\((CTMC|MA|POMDP|SMG)\): \w+"):
        bm.as_chain(FOLDER / name)


@pytest.mark.parametrize("name", ["pdtmc/die.drn", "imdp/tiny-01.drn", "idtmc/die-intervals.pm"])
def test_parameters_and_intervals_are_refused(name):
    """Rows are numbers."""
    with pytest.raises(FileFormatError, match=r"parameters|interval"):
        bm.as_chain(FOLDER / name)


def test_syntax_errors_have_storm_s_line(tmp_path, capfd):
    """And nothing is printed."""
    path = tmp_path / "wrong.prism"
    path.write_text(COIN.replace('label "lucky" =', 'label "lucky"'))
    with pytest.raises(FileFormatError, match="9:"):
        bm.from_prism(path, constants="p=0.5")
    for name in ("missing.prism", "missing.drn", "missing.jani"):
        with pytest.raises(FileFormatError, match="no such file"):
            bm.as_chain(tmp_path / name)
    assert capfd.readouterr() == ("", "")


def test_rows_that_do_not_sum_to_one(tmp_path):
    """The remedy is in the file: no option rescales them."""
    path = tmp_path / "wrong.prism"
    path.write_text(COIN.replace("1-p :", "1.1-p :"))
    with pytest.raises(FileFormatError, match="change the probabilities"):
        bm.from_prism(path, constants="p=0.5")


def test_the_log_level_is_as_before():
    """Reading a file silences Storm only meanwhile."""
    level = stormpy.developer.get_log_level()
    bm.from_prism(files.prism_dtmc_die)
    assert stormpy.developer.get_log_level() == level


DRN = """@type: DTMC
@parameters

@reward_models
r
@nr_states
2
@nr_choices
2
@model
state 0 [1] init a
\taction 0
\t\t0 : 0.5
\t\t1 : 0.5
state 1 [0] init
\taction 0
\t\t1 : 1
"""


def test_drn(tmp_path):
    """Several initial states are equally likely; sums of rows are checked."""
    path = tmp_path / "model.drn"
    path.write_text(DRN)
    chain = bm.from_drn(path)
    assert chain.start.tolist() == [0.5, 0.5]
    assert chain.labels == (("a",), ())
    assert chain.reward.tolist() == [1, 0]
    path.write_text(DRN.replace("0 : 0.5", "0 : 0.4"))
    with pytest.raises(FileFormatError, match=r"sums to 0\.9"):
        bm.from_drn(path)
    path.write_text(DRN.replace("nr_states\n2", "nr_states\n99999999999"))
    with pytest.raises(FileFormatError, match="99999999999"):
        bm.from_drn(path)


pieces = st.one_of(
    st.text(max_size=4), st.sampled_from(("", "9999999999", "-1", "nan", "@", "\n", "\t", " : ", "[", "[]]"))
)


@st.composite
def changed(draw, text):
    """A file with a few pieces replaced."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(pieces) + text[at + draw(st.integers(0, 6)) :]
    return text


@given(changed(DRN))
def test_changed_drn_files_give_models_or_our_errors(text):
    """Whatever Storm makes of them."""
    with tempfile.TemporaryDirectory() as folder, suppress(BisimetricError):
        path = Path(folder) / "model.drn"
        path.write_text(text, encoding="utf-8", errors="replace")
        bm.from_drn(path)


@settings(max_examples=6)  # Storm needs a fifth of a second to start parsing
@given(changed(COIN))
def test_changed_prism_files_give_models_or_our_errors(text):
    """The same for PRISM's language."""
    with tempfile.TemporaryDirectory() as folder, suppress(BisimetricError):
        path = Path(folder) / "model.prism"
        path.write_text(text, encoding="utf-8", errors="replace")
        bm.from_prism(path, constants="p=0.5")


@pytest.mark.slow
@settings(max_examples=300)
@given(changed(COIN))
def test_changed_prism_files_for_long(text):
    """Many more of them."""
    test_changed_prism_files_give_models_or_our_errors.hypothesis.inner_test(text)
