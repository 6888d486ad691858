"""Models that stormpy holds."""

from __future__ import annotations

import numpy as np
import pytest
import stormpy
from stormpy.examples import files

import bisimetric as bm
from bisimetric.errors import InvalidChain


def test_a_model_of_stormpy_is_a_chain():
    """Like the file that it was built from, but without names if it has none."""
    built = stormpy.build_model(stormpy.parse_prism_program(files.prism_dtmc_die))
    chain, read = bm.as_chain(built), bm.from_prism(files.prism_dtmc_die)
    assert np.array_equal(chain.transitions.toarray(), read.transitions.toarray())
    assert chain.labels == read.labels
    assert chain.reward.tolist() == read.reward.tolist()


def test_a_model_of_fractions():
    """Becomes one of floats."""
    built = stormpy.build_model[stormpy.Rational](stormpy.parse_prism_program(files.prism_dtmc_die))
    assert bm.as_chain(built).transitions.toarray()[0].tolist()[:3] == [0, 0.5, 0.5]


def test_a_parametric_model_is_refused():
    """Its probabilities are no numbers."""
    program = stormpy.parse_prism_program(files.prism_pdtmc_die)
    built = stormpy.build_model[stormpy.RationalFunction](program)
    with pytest.raises(InvalidChain, match="parameters"):
        bm.as_chain(built)


def test_a_process_of_stormpy():
    """Its choices are actions."""
    built = stormpy.build_model(stormpy.parse_prism_program(files.prism_mdp_coin_2_2))
    mdp = bm.as_mdp(built)
    assert mdp.n_states == built.nr_states
    assert mdp.available.sum() == built.nr_choices
