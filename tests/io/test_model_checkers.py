"""Models written for PRISM and Storm come back as they were."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import stormpy
from hypothesis import given
from hypothesis import strategies as st
from stormpy.examples import files

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption
from tests import strategies

NAMES = ("a", "b", "goal", "deadlock", "two words", "x[1]", "é", "a=b", "3")
propositions = st.sets(st.sampled_from(NAMES), max_size=3)
texts = st.text(max_size=6).filter(str.isprintable)
EXTRA = ("labels", "names", "start")


@st.composite
def decorated(draw, models):
    """A model with propositions, names and initial states, or without some of them."""
    model = draw(models)
    n = model.n_states
    kinds = draw(st.sets(st.sampled_from(EXTRA)))
    initial = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1)))
    start = np.bincount(initial, minlength=n) / len(initial)
    pattern = draw(st.sampled_from(("s={},b=true", "({},0)", "state {}", "{}")))
    first = draw(texts)
    rest = {
        "labels": draw(st.lists(propositions, min_size=n, max_size=n)) if "labels" in kinds else None,
        "names": [first + pattern.format(k) for k in range(n)] if "names" in kinds else None,
        "start": start if "start" in kinds else None,
    }
    if isinstance(model, bm.MarkovChain):
        reward = draw(st.one_of(st.none(), st.lists(st.floats(-1e9, 1e9), min_size=n, max_size=n)))
        reward = None if reward is None else np.array(reward) + 0.0  # no negative zeros
        return bm.MarkovChain(model.transitions, reward=reward, **rest)
    names = draw(st.sampled_from((None, [f"act{k}" for k in range(model.n_actions)])))
    return bm.MDP(model.transitions, model.rewards + 0.0, available=model.available, actions=names, **rest)


def there_and_back(model, name):
    """The model after a trip through a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        bm.save(model, path)
        return (bm.as_chain if isinstance(model, bm.MarkovChain) else bm.as_mdp)(path)


@given(decorated(strategies.chains(max_states=4)))
def test_chains_come_back_from_explicit_files(chain):
    """Equal to the last bit."""
    assert there_and_back(chain, "model.tra") == chain


def ordered(mdp, actions):
    """The same process with its actions in this order; those that no state has are left out."""
    order = [actions.index(mdp.action_name(a)) if mdp.actions else a for a in range(mdp.n_actions)]
    places = [order.index(k) for k in range(len(actions)) if k in order]
    used = [k for k in places if mdp.available[:, k].any()]
    return bm.MDP(
        [mdp.transitions[k] for k in used],
        mdp.rewards[:, used],
        available=mdp.available[:, used],
        actions=None if mdp.actions is None else [mdp.actions[k] for k in used],
        start=mdp.start,
        names=mdp.names,
        labels=mdp.labels,
    )


@given(decorated(strategies.mdps(max_states=4, partial=True)))
def test_processes_come_back_from_explicit_files(mdp):
    """Equal to the last bit, but for the order of named actions and actions that no state has."""
    found = there_and_back(mdp, "model.tra")
    if mdp.actions is None:
        last = int(np.flatnonzero(mdp.available.any(axis=0)).max()) + 1
        assert np.array_equal(found.available, mdp.available[:, :last])
        assert np.array_equal(found.rewards, mdp.rewards[:, :last])
        assert found.labels == mdp.labels
        for one, other in zip(found.transitions, mdp.transitions, strict=False):
            assert np.array_equal(one.toarray(), other.toarray())
    else:
        names = list(mdp.actions)
        assert ordered(found, names) == ordered(mdp, names)


@given(decorated(strategies.chains(max_states=4)))
def test_chains_come_back_from_drn(chain):
    """Through Storm's parser: all but the names."""
    found = there_and_back(chain, "model.drn")
    assert np.array_equal(found.transitions.toarray(), chain.transitions.toarray())
    assert (found.labels or ()) == (chain.labels or ((),) * chain.n_states)
    for one, other in ((found.reward, chain.reward), (found.start, chain.start)):
        assert (one is None) == (other is None)
        assert other is None or np.array_equal(one, other)


@given(decorated(strategies.mdps(max_states=3, partial=True)))
def test_processes_come_back_from_drn(mdp):
    """By the names of their actions."""
    found = there_and_back(mdp, "model.drn")
    for state in range(mdp.n_states):
        for action in np.flatnonzero(mdp.available[state]):
            k = found.action_index(mdp.action_name(int(action)))
            assert found.available[state, k]
            assert found.rewards[state, k] == mdp.rewards[state, action]
            one, other = found.transitions[k].toarray(), mdp.transitions[action].toarray()
            assert np.array_equal(one[state], other[state])
    assert found.available.sum() == mdp.available.sum()


@pytest.mark.parametrize(
    ("path", "formula"),
    [
        (files.prism_dtmc_die, 'P=? [F "two"]'),
        (files.prism_dtmc_die, 'R=? [F "done"]'),
        (files.prism_mdp_coin_2_2, 'Pmin=? [F "finished" & "all_coins_equal_1"]'),
        (files.prism_mdp_coin_2_2, 'Rmax=? [F "finished"]'),
    ],
)
def test_storm_finds_the_same_on_what_we_write(tmp_path, path, formula):
    """Probabilities and expected rewards of a model, before and after."""
    before = stormpy.build_model(stormpy.parse_prism_program(path))
    bm.save(bm.as_chain(path) if before.model_type.name == "DTMC" else bm.as_mdp(path), tmp_path / "model.drn")
    after = stormpy.build_model_from_drn(tmp_path / "model.drn")
    values = []
    for model in (before, after):
        query = stormpy.parse_property(formula)
        values.append(stormpy.model_checking(model, query).get_value(model.initial_states[0]))
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_a_quotient(tmp_path):
    """Is a model like any other."""
    chain = bm.from_prism(Path(files.testfile_dir) / "dtmc" / "leader-3-5.pm")
    small, _ = bm.quotient(chain)
    bm.save(small, tmp_path / "small.tra")
    assert bm.as_chain(tmp_path / "small.tra") == small


# ------------------------------------------------------------------ what the formats cannot hold

TWO = [[0.5, 0.5], [0, 1]]


@pytest.mark.parametrize("suffix", [".tra", ".drn"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": [0.25, 0.75]}, "equally likely"),
        ({"labels": ["init", "b"]}, "marks the start"),
        ({"labels": [(1, 2), (2, 1)]}, "same set"),
        ({"labels": ['say "hi"', "b"]}, "cannot be written"),
    ],
)
def test_chains_that_do_not_fit(tmp_path, suffix, options, message):
    """The error has a remedy, and no file is there."""
    with pytest.raises(InvalidOption, match=message):
        bm.save(bm.MarkovChain(TWO, **options), tmp_path / f"model{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".tra", ".drn"])
def test_actions_are_words(tmp_path, suffix):
    """Storm would take the second word for something else."""
    with pytest.raises(InvalidOption, match="one word"):
        bm.save(bm.MDP([TWO], [[1], [0]], actions=["go on"]), tmp_path / f"model{suffix}")


def test_labels_of_other_kinds(tmp_path):
    """Texts and numbers become sets of one proposition."""
    bm.save(bm.MarkovChain(TWO, labels=["", "b"]), tmp_path / "texts.tra")
    assert bm.as_chain(tmp_path / "texts.tra").labels == ((), ("b",))
    bm.save(bm.MarkovChain(TWO, labels=[1, 2.5]), tmp_path / "numbers.tra")
    assert bm.as_chain(tmp_path / "numbers.tra").labels == (("1",), ("2.5",))


def test_files_of_another_model_are_not_mixed_in(tmp_path):
    """A file that would be read with the new transitions is left alone, and so are those."""
    bm.save(bm.MarkovChain(TWO, reward=[0, 1]), tmp_path / "model.tra")
    before = (tmp_path / "model.tra").read_bytes()
    with pytest.raises(FileFormatError, match=r"model\.srew.*remove it"):
        bm.save(bm.MarkovChain([[1.0]]), tmp_path / "model.tra")
    assert (tmp_path / "model.tra").read_bytes() == before


def test_only_models(tmp_path):
    """A solution has no place in these files."""
    chain = bm.MarkovChain(TWO, reward=[0, 1])
    solution = bm.solve(bm.Problem(chain, chain, discount=0.5))
    with pytest.raises(InvalidOption, match="MarkovChain or an MDP"):
        bm.save(solution, tmp_path / "solution.drn")
