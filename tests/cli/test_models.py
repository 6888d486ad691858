"""Models of the command line: texts, options for all of them, and stdin."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

import bisimetric as bm
from bisimetric.cli.models import Reading, model_to_stdout, transition_count, write_model
from bisimetric.errors import InvalidChain, InvalidOption

PLAIN = Reading(const=None, normalise_rows=False)


def test_names_files_and_counts(tmp_path):
    """A chain and a decision process, and how many transitions they have."""
    mdp = bm.environments.four_rooms_mdp(side=3)
    write_model(mdp, str(tmp_path / "mdp.json"))
    chain, process = PLAIN.models(["grid-3x3", str(tmp_path / "mdp.json")])
    assert chain == bm.environments.grid_3x3()
    assert process == mdp
    assert transition_count(chain) == chain.transitions.nnz
    assert transition_count(process) == sum(matrix.nnz for matrix in mdp.transitions)


def test_stdin_is_read_once(monkeypatch, capsys):
    """As a model in JSON; a second time it would be empty."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    model_to_stdout(chain, ".json")
    written = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(written.encode())))
    assert PLAIN.chains(["-"]) == [chain]
    with pytest.raises(InvalidOption, match="given twice"):
        PLAIN.chains(["-", "-"])


def test_rows_are_rescaled_on_request(tmp_path):
    """For matrix files only; without one the option is a mistake."""
    (tmp_path / "counts.csv").write_text("3,1\n0,2\n")
    asked = Reading(const=None, normalise_rows=True)
    (chain,) = asked.chains([str(tmp_path / "counts.csv")])
    assert chain.transitions.toarray().tolist() == [[0.75, 0.25], [0.0, 1.0]]
    with pytest.raises(InvalidChain, match=r"divide each row by its sum|normalise"):
        PLAIN.chains([str(tmp_path / "counts.csv")])
    with pytest.raises(InvalidOption, match="--normalise-rows is for files"):
        asked.chains(["grid-3x3"])


@pytest.mark.parametrize("const", [["N"], ["N=1,N=2"], ["=1"]])
def test_constants_that_are_none(const, tmp_path):
    """Are refused with an example, before any file is read."""
    (tmp_path / "m.prism").write_text("dtmc")
    with pytest.raises(InvalidOption, match="--const"):
        Reading(const=const, normalise_rows=False).chains([str(tmp_path / "m.prism")])
