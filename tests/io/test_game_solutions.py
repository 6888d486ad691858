"""Solutions between decision processes in files: exact round trips, and forged bounds."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import bisimetric as bm
from tests.io.io_samples import (
    SUFFIXES,
    archive,
    as_bytes,
    assert_same_mdp_solution,
    edited,
    mdp_solutions,
    mdps,
    members,
    npy,
    refusal,
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", mdp_solutions())
def test_a_solution_comes_back_as_it_was(name, suffix, tmp_path):
    """Its bounds, its couplings, its potentials, its decisive actions and its explanation."""
    path = tmp_path / f"solution.{suffix}"
    mdp_solutions()[name].save(path)
    loaded = bm.load(path)
    assert isinstance(loaded, bm.MDPSolution)
    assert_same_mdp_solution(mdp_solutions()[name], loaded)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_interrupted_solve_comes_back(suffix, tmp_path):
    """Before and after the first sweep."""

    def stop(step):
        raise KeyboardInterrupt

    mdp = mdps()["rooms"]
    solution = bm.bisimulation_metric(mdp, discount=0.9, on_step=stop, throw=False)
    solution.save(tmp_path / f"a.{suffix}")
    assert_same_mdp_solution(solution, bm.load(tmp_path / f"a.{suffix}"))


@pytest.mark.parametrize("name", ["same", "matched", "free", "zero", "tiny", "huge", "rooms"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bounds_that_nothing_supports_are_refused(name, suffix, tmp_path):
    """A lower bound raised, or an upper bound cut, by a millionth at one pair."""
    solution = mdp_solutions()[name]
    at = np.unravel_index(int(solution.upper.argmax()), solution.upper.shape)
    for factor in (1 + 1e-6, 1 - 1e-6):
        lower, upper, value = solution.lower.copy(), solution.upper.copy(), solution.value.copy()
        value[at] = lower[at] = upper[at] = upper[at] * factor if upper[at] else factor
        forged = replace(solution.certificate, lower=lower, upper=upper, value=value)
        bm.save(replace(solution, certificate=forged), tmp_path / f"a.{suffix}")
        assert "not supported by the stored coupling and potentials" in refusal(tmp_path / f"a.{suffix}")


def _set(*path, to):
    def edit(document):
        node = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return edit


WRONG_SOLUTIONS = {
    "value above upper": (_set("value", 0, 0, to=99.0), "not between lower and upper"),
    "priced missing": (lambda d: d.pop("priced"), "priced is missing"),
    "priced absurd": (_set("priced", to=[[1e308, -1e308]] * 2), "not supported"),
    "scale": (_set("scale", to=2), "scale is 2.0, expected"),
    "no witness": (lambda d: d.pop("witness"), "not supported"),
    "actions": (_set("problem", "actions", to="other"), "problem: actions is 'other', expected"),
    "actions kind": (_set("problem", "actions", to=[]), "problem.actions is a list"),
    "other actions": (_set("problem", "actions", to="matched"), "witness.indptr has shape [9], expected [17]"),
    "discount": (_set("problem", "discount", to=0.89), "not supported"),
    "rewards": (_set("problem", "source", "rewards", 0, 1, to=0.9), "not supported"),
    "a process is wrong": (_set("problem", "source", "transitions", "data", 0, to=0.5), "problem.source: row 0"),
    "a process is none": (_set("problem", "target", to=[]), "problem.target is a list"),
    "left outside": (_set("witness", "left", 0, to=3), "witness.left[0] is 3"),
    "right of the second block": (lambda d: d["witness"]["right"].__setitem__(-1, 9), "is 9, but there is no such"),
    "weight wrong": (_set("witness", "weight", 0, to=0.9), "couplings are not valid"),
    "potential short": (lambda d: d["witness"]["potential"].pop(), "witness.potential has shape"),
    "potential absurd": (_set("witness", "potential", to=[1e308] * 10), "not supported"),
    "indptr": (_set("witness", "indptr", 5, to=99), "expected to ascend"),
    "a cost": (_set("problem", "cost", to=[[1.0]]), "unknown key 'problem.cost'"),
    "status": (_set("status", to="PERFECT"), "expected one of SOLVED"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_SOLUTIONS)
def test_what_is_wrong_with_a_solution_is_said(case, tmp_path):
    """One line for each; the sample is valid before the edit."""
    edit, said = WRONG_SOLUTIONS[case]
    data = as_bytes(mdp_solutions()["same"], "json", tmp_path)
    (tmp_path / "a.json").write_bytes(edited(data, edit))
    assert said in refusal(tmp_path / "a.json")


def test_a_witness_where_none_is_needed_is_refused(tmp_path):
    """V = c needs no proof, so what is stored would prove nothing."""
    witness = json.loads(as_bytes(mdp_solutions()["same"], "json", tmp_path))["witness"]
    data = as_bytes(mdp_solutions()["free"], "json", tmp_path)
    (tmp_path / "a.json").write_bytes(edited(data, _set("witness", to=witness)))
    assert "leave it out" in refusal(tmp_path / "a.json")


def test_arrays_of_the_wrong_type_are_refused(tmp_path):
    """An .npz whose arrays are well-formed but of another type or shape."""
    whole = members(as_bytes(mdp_solutions()["matched"], "npz", tmp_path))
    wrong = {
        "value.npy": np.zeros((3, 3), np.int64),
        "problem.source.available.npy": np.zeros((3, 3)),
        "problem.source.rewards.npy": np.zeros(9),
        "witness.left.npy": np.zeros(3),
        "upper.npy": np.full((3, 3), np.inf),
    }
    for name, array in wrong.items():
        (tmp_path / "a.npz").write_bytes(archive(whole | {name: npy(array)}))
        assert name.removesuffix(".npy") in refusal(tmp_path / "a.npz")


def test_a_witness_in_many_blocks_is_the_same_file(tmp_path, small_blocks):
    """Streaming in blocks does not show."""
    solution = mdp_solutions()["rooms"]
    data = {suffix: as_bytes(solution, suffix, tmp_path) for suffix in SUFFIXES}
    small_blocks()
    assert as_bytes(solution, "json", tmp_path) == data["json"]
    assert members(as_bytes(solution, "npz", tmp_path)) == members(data["npz"])
