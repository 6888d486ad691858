"""Solutions in files: exact round trips, and certificates that are proved again."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import bisimetric as bm
from bisimetric import solvers
from tests import strategies
from tests.io.io_samples import (
    SUFFIXES,
    archive,
    as_bytes,
    assert_same_solution,
    edited,
    members,
    npy,
    refusal,
    solutions,
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", solutions())
def test_a_solution_comes_back_as_it_was(name, suffix, tmp_path):
    """Numbers agree to the last bit; coupling, potentials, distance and explanation too."""
    path = tmp_path / f"solution.{suffix}"
    solutions()[name].save(path)
    loaded = bm.load(path)
    assert isinstance(loaded, bm.Solution)
    assert_same_solution(solutions()[name], loaded)
    before = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_solution_found_on_half_of_the_pairs(suffix, tmp_path):
    """Its bounds are proved again on all pairs, in another order of rounding: nothing is lost but a few bits."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p1", discount=0.95)
    solution.save(tmp_path / f"a.{suffix}")
    loaded = bm.load(tmp_path / f"a.{suffix}")
    assert np.array_equal(loaded.value, solution.value)
    assert np.array_equal(loaded.value == 0.0, loaded.upper == 0.0)
    for bound in ("lower", "upper"):
        np.testing.assert_allclose(getattr(loaded, bound), getattr(solution, bound), atol=1e-12)
    loaded.save(tmp_path / f"b.{suffix}")
    assert_same_solution(loaded, bm.load(tmp_path / f"b.{suffix}"))


@pytest.mark.parametrize("name", solvers.all_solvers())
@pytest.mark.parametrize("stop", [False, True])
def test_every_solver_s_solution_comes_back(name, stop, tmp_path):
    """Whatever a solver proposes, the checker proves it again from the file."""
    one, other = solutions()["n ≠ m"].problem.source, solutions()["n ≠ m"].problem.target
    cost = np.arange(12.0).reshape(3, 4) / 7
    problem = bm.Problem(one, other, discount=0.9, cost=cost, stop=cost > 1 if stop else None)
    solution = bm.solve(problem, solvers.all_solvers()[name](), max_steps=3, throw=False)
    bm.save(solution, tmp_path / "a.npz")
    assert_same_solution(solution, bm.load(tmp_path / "a.npz"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_solution_comes_back_as_it_was(suffix, tmp_path):
    """The same for generated problems of any scale."""

    @settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
    @given(strategies.problems(start=True))
    def check(problem):
        solution = bm.solve(problem, throw=False)
        bm.save(solution, tmp_path / f"a.{suffix}")
        assert_same_solution(solution, bm.load(tmp_path / f"a.{suffix}"))

    check()


def test_a_witness_in_many_blocks_is_the_same_file(tmp_path, small_blocks):
    """Streaming in blocks does not show."""
    solution = solutions()["rooms"]
    data = {suffix: as_bytes(solution, suffix, tmp_path) for suffix in SUFFIXES}
    small_blocks()
    assert as_bytes(solution, "json", tmp_path) == data["json"]
    assert members(as_bytes(solution, "npz", tmp_path)) == members(data["npz"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_unknown_gap_is_infinite_again(suffix, tmp_path):
    """JSON has no infinity; null stands for it."""
    steps = (bm.Step(1, math.inf, 0.5), bm.Step(2, 1e-3, 1.25))
    solution = replace(solutions()["n ≠ m"], history=steps)
    bm.save(solution, tmp_path / f"a.{suffix}")
    assert bm.load(tmp_path / f"a.{suffix}").history == steps


def test_the_certificate_is_proved_again_not_trusted(tmp_path):
    """Bounds that another processor rounds differently become the wider ones; the old ones are not taken on trust."""
    solution = solutions()["n ≠ m"]
    certificate = solution.certificate
    upper = np.nextafter(certificate.upper, 0)
    tight = replace(certificate, upper=upper, value=np.minimum(certificate.value, upper))
    bm.save(replace(solution, certificate=tight), tmp_path / "a.npz")
    loaded = bm.load(tmp_path / "a.npz")
    assert np.array_equal(loaded.upper, certificate.upper)
    assert np.array_equal(loaded.value, tight.value)


def test_wider_bounds_stay_as_they_are(tmp_path):
    """A file may claim less than it proves."""
    solution = solutions()["n ≠ m"]
    wide = replace(solution.certificate, lower=0 * solution.lower, upper=2 * solution.upper)
    bm.save(replace(solution, certificate=wide), tmp_path / "a.npz")
    assert_same_solution(replace(solution, certificate=wide), bm.load(tmp_path / "a.npz"))


@pytest.mark.parametrize("name", ["n ≠ m", "stop", "normalised", "no discount", "tiny cost", "huge cost"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bounds_that_nothing_supports_are_refused(name, suffix, tmp_path):
    """A lower bound raised, or an upper bound cut, by a millionth at one pair."""
    solution = solutions()[name]
    lower, upper, value = solution.lower.copy(), solution.upper.copy(), solution.value.copy()
    value[1, 2] = lower[1, 2] = upper[1, 2] = upper[1, 2] * (1 + 1e-6)
    raised = replace(solution.certificate, lower=lower, upper=upper, value=value)
    lower, upper, value = solution.lower.copy(), solution.upper.copy(), solution.value.copy()
    value[1, 2] = lower[1, 2] = upper[1, 2] = lower[1, 2] * (1 - 1e-6)
    cut = replace(solution.certificate, lower=lower, upper=upper, value=value)
    for forged in (raised, cut):
        bm.save(replace(solution, certificate=forged), tmp_path / f"a.{suffix}")
        assert "not supported by the stored coupling and potentials" in refusal(tmp_path / f"a.{suffix}")


def test_a_smaller_cost_does_not_keep_the_old_bounds(tmp_path):
    """The question is part of what is checked."""
    data = as_bytes(solutions()["n ≠ m"], "json", tmp_path)

    def cheaper(document):
        document["problem"]["cost"][2][3] *= 0.99

    (tmp_path / "a.json").write_bytes(edited(data, cheaper))
    assert "not supported" in refusal(tmp_path / "a.json")


def _set(*path, to):
    def edit(document):
        node = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return edit


WRONG = {
    "value above upper": (_set("value", 0, 0, to=99.0), "not between lower and upper"),
    "negative": (_set("lower", 0, 0, to=-1.0), "lower[0, 0] is -1.0, expected at least 0"),
    "infinite": (lambda d: d["upper"].__setitem__(0, [0.0] * 4), "not between"),
    "shape": (lambda d: d["upper"].pop(), "upper has shape [2, 4], expected [3, 4]"),
    "ragged": (lambda d: d["upper"][1].pop(), "upper[1] has 3 entries"),
    "priced missing": (lambda d: d.pop("priced"), "priced is missing"),
    "priced absurd": (_set("priced", 0, 0, to=1e308), "not supported"),
    "all priced absurd": (_set("priced", to=[[1e308, -1e308] * 2] * 3), "not supported"),
    "scale": (_set("scale", to=2), "scale is 2.0, expected 1.0"),
    "scale huge": (_set("scale", to=10**400), "scale is too large"),
    "scale as text": (_set("scale", to="1"), "scale is text"),
    "status": (_set("status", to="PERFECT"), "expected one of SOLVED"),
    "status kind": (_set("status", to=1), "status is a whole number"),
    "solver kind": (_set("solver", to=[]), "solver is a list"),
    "history": (_set("history", to=[[1, 2]]), "history[0] is not [step, gap, seconds]"),
    "history kinds": (_set("history", to=[[1, "2", 3]]), "history[0] is not"),
    "history step": (_set("history", to=[[1.5, 2, 3]]), "history[0] is not"),
    "history huge": (_set("history", to=[[1, 10**400, 3]]), "history[0] is not"),
    "history kind": (_set("history", to=3), "history is a whole number"),
    "discount one": (_set("problem", "discount", to=1.0), "problem: discount is 1, expected"),
    "discount kind": (_set("problem", "discount", to="0.9"), "problem.discount is text"),
    "discount huge": (_set("problem", "discount", to=10**400), "problem.discount is too large"),
    "discount lower": (_set("problem", "discount", to=0.8), "not supported"),
    "cost error": (_set("problem", "cost_error", to=0.5), "problem.cost_error is 0.5, expected a number from 0"),
    "normalised kind": (_set("problem", "normalised", to=1), "problem.normalised is a whole number"),
    "cost negative": (_set("problem", "cost", 0, 0, to=-1), "problem: cost[0, 0] is -1"),
    "cost shape": (_set("problem", "cost", to=[[1.0]]), "problem.cost has shape [1, 1], expected [3, 4]"),
    "cost overflows": (_set("problem", "cost", 0, 0, to=1.7e308), "overflow"),
    "stop shape": (_set("problem", "stop", to=[[True]]), "problem.stop has shape [1, 1]"),
    "stop kind": (_set("problem", "stop", to=[[0] * 4] * 3), "problem.stop[0][0] is a whole number"),
    "stop with a coupling": (_set("problem", "stop", to=[[True] * 4] * 3), "at which the game stops"),
    "a chain is wrong": (_set("problem", "source", "transitions", "data", 0, to=0.5), "problem.source: row 0"),
    "a chain is none": (_set("problem", "target", to=[]), "problem.target is a list"),
    "a chain with a version": (_set("problem", "target", "version", to=1), "'problem.target.version'"),
    "typo": (lambda d: d.update(histroy=[]), "did you mean 'history'"),
    "typo inside": (_set("problem", "costs", to=1), "unknown key 'problem.costs'; did you mean 'cost'"),
    "problem missing": (lambda d: d.pop("problem"), "problem is missing"),
    "problem a list": (_set("problem", to=[]), "problem is a list"),
    "witness a number": (_set("witness", to=5), "witness is a whole number"),
    "left outside": (_set("witness", "left", 0, to=3), "witness.left[0] is 3"),
    "right outside": (_set("witness", "right", 0, to=1), "witness.right[0] is 1"),
    "right negative": (_set("witness", "right", 0, to=-1), "witness.right[0] is -1"),
    "right enormous": (_set("witness", "right", 0, to=2**32), "witness.right[0] is 4294967296"),
    "weight negative": (_set("witness", "weight", 0, to=-0.1), "witness.weight[0] is -0.1"),
    "weight wrong": (_set("witness", "weight", 0, to=0.9), "couplings are not valid"),
    "weight huge": (_set("witness", "weight", 0, to=1e308), "couplings are not valid"),
    "potential absurd": (_set("witness", "potential", 0, to=1e308), "not supported"),
    "potential overflows": (_set("witness", "potential", 0, to=-1.7e308), "not supported"),
    "potential short": (lambda d: d["witness"]["potential"].pop(), "witness.potential has shape [11], expected [12]"),
    "indptr": (_set("witness", "indptr", 1, to=50), "expected to ascend"),
    "a pair without a coupling": (_set("witness", "indptr", 1, to=0), "couplings are not valid"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_solution_is_said(case, tmp_path):
    """One line for each; the sample is valid before the edit."""
    edit, said = WRONG[case]
    data = as_bytes(solutions()["n ≠ m"], "json", tmp_path)
    (tmp_path / "a.json").write_bytes(edited(data, edit))
    assert said in refusal(tmp_path / "a.json")


def test_arrays_of_the_wrong_type_are_refused(tmp_path):
    """An .npz whose arrays are well-formed but of another type or shape."""
    whole = members(as_bytes(solutions()["stop"], "npz", tmp_path))
    wrong = {
        "value.npy": np.zeros((3, 4), np.int64),
        "problem.stop.npy": np.zeros((3, 4)),
        "witness.left.npy": np.zeros(3),
        "problem.cost.npy": np.zeros(12),
        "witness.weight.npy": np.full(np.frombuffer(whole["witness.weight.npy"][128:]).shape, np.nan),
        "upper.npy": np.full((3, 4), np.inf),
    }
    for name, array in wrong.items():
        (tmp_path / "a.npz").write_bytes(archive(whole | {name: npy(array)}))
        assert name.removesuffix(".npy") in refusal(tmp_path / "a.npz")


def test_cells_at_stopped_pairs_are_refused(tmp_path):
    """The checker skips stopped pairs, so the reader looks at them."""
    data = as_bytes(solutions()["stop"], "json", tmp_path)
    stop = np.array(json.loads(data)["problem"]["stop"]).ravel()
    last = int(np.flatnonzero(stop)[-1])

    def edit(document):
        witness = document["witness"]
        for key in ("left", "right", "weight"):
            witness[key].insert(witness["indptr"][last + 1], 0)
        for k in range(last + 1, len(stop) + 1):
            witness["indptr"][k] += 1

    (tmp_path / "a.json").write_bytes(edited(data, edit))
    assert "at which the game stops" in refusal(tmp_path / "a.json")


def test_an_immediate_answer_needs_a_valid_coupling_too(tmp_path):
    """Where V = c the coupling is not needed for the bounds, but it is shown to people."""
    data = as_bytes(solutions()["zero cost"], "json", tmp_path)
    (tmp_path / "a.json").write_bytes(edited(data, _set("witness", "weight", 0, to=0.9)))
    assert "couplings are not valid" in refusal(tmp_path / "a.json")
    (tmp_path / "a.json").write_bytes(edited(data, _set("priced", 0, 0, to=1.0)))
    assert "priced is not the cost" in refusal(tmp_path / "a.json")
    (tmp_path / "a.json").write_bytes(edited(data, _set("upper", 0, 0, to=1.0)))
    assert bm.load(tmp_path / "a.json").upper[0, 0] == 1.0


def test_a_solution_is_not_a_chain(tmp_path):
    """`as_chain` says what is in the file."""
    bm.save(solutions()["n ≠ m"], tmp_path / "a.npz")
    with pytest.raises(bm.errors.InvalidChain, match="holds a solution"):
        bm.as_chain(str(tmp_path / "a.npz"))
