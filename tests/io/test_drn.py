"""Models written for Storm are the same to Storm."""

from __future__ import annotations

import numpy as np
import pytest
import stormpy
from hypothesis import given
from stormpy.examples import files

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.models.chain import compared_labels
from tests import strategies
from tests.io.decorated import decorated, there_and_back

TWO = [[0.5, 0.5], [0, 1]]


@given(decorated(strategies.chains(max_states=4)))
def test_chains_come_back_from_drn(chain):
    """Through Storm's parser."""
    found = there_and_back(chain, "model.drn")
    assert np.array_equal(found.transitions.toarray(), chain.transitions.toarray())
    assert compared_labels(found.labels) == (compared_labels(chain.labels) if any(chain.labels or ()) else None)
    assert found.names == chain.names
    for one, other in ((found.reward, chain.reward), (found.start, chain.start)):
        assert (one is None) == (other is None)
        assert other is None or np.array_equal(one, other)


@given(decorated(strategies.mdps(max_states=3, partial=True)))
def test_processes_come_back_from_drn(mdp):
    """By the names of their actions."""
    found = there_and_back(mdp, "model.drn")
    for state in range(mdp.n_states):
        for action in np.flatnonzero(mdp.available[state]):
            k = int(action) if mdp.actions is None else found.action_index(mdp.actions[action])
            assert found.available[state, k]
            assert found.rewards[state, k] == mdp.rewards[state, action]
            one, other = found.transitions[k].toarray(), mdp.transitions[action].toarray()
            assert np.array_equal(one[state], other[state])
    assert found.available.sum() == mdp.available.sum()
    assert found.names == mdp.names
    assert (found.actions is None) == (mdp.actions is None)


def test_a_frozen_lake_comes_back(tmp_path):
    """With the cells of its map, and its labels."""
    lake = bm.from_gymnasium("FrozenLake-v1")
    for name in ("lake.drn", "lake.tra"):
        bm.save(lake, tmp_path / name)
        assert bm.as_mdp(tmp_path / name) == lake


@pytest.mark.parametrize("names", ['["a"]', '["a", "a"]', "[1, 2]", "{", "[" * 9999])
def test_wrong_names_are_errors_of_the_file(tmp_path, names):
    """Names are a list of one text per state."""
    path = tmp_path / "model.drn"
    bm.save(bm.MarkovChain(TWO, names=["x", "y"]), path)
    path.write_text(path.read_text().replace('["x", "y"]', names))
    with pytest.raises(FileFormatError, match=r"model\.drn"):
        bm.from_drn(path)


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


def test_only_models(tmp_path):
    """A solution has no place in these files."""
    chain = bm.MarkovChain(TWO, reward=[0, 1])
    solution = bm.solve(bm.Problem(chain, chain, discount=0.5))
    with pytest.raises(InvalidOption, match="MarkovChain or an MDP"):
        bm.save(solution, tmp_path / "solution.drn")


def test_load_says_who_reads_it(tmp_path):
    """`load` reads what holds everything that the package knows of a model."""
    bm.save(bm.MarkovChain(TWO), tmp_path / "model.drn")
    with pytest.raises(InvalidOption, match="as_chain"):
        bm.load(tmp_path / "model.drn")
