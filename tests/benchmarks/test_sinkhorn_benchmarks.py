"""The benchmarks of the Sinkhorn solvers: same iterates on both sides, honest tables."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from benchmarks import instances, plain, sinkhorn, solvers, tuning


@pytest.mark.parametrize("instance", ["rooms-2", "dense-9", "sparse-6"])
@pytest.mark.parametrize(("method", "peer"), [("svi", "svi"), ("svi", "svi-log"), ("spi", "spi")])
def test_same_iterates(method, peer, instance):
    """Plain NumPy runs the same couplings, on full and on sparse supports."""
    question = instances.problem(instance, 0.9)
    for rounds in (1, 2, 31):
        assert sinkhorn.difference(method, peer, question, rounds) <= sinkhorn.AGREEMENT
    assert sinkhorn.difference(method, peer, question, 30, step=3.0) <= sinkhorn.AGREEMENT


def test_a_difference_is_seen():
    """Other steps give other couplings, so the comparison can fail."""
    question = instances.problem("dense-9", 0.9)
    ours = next(plain.rounds("svi", question, 1.0))
    assert np.abs(ours - next(plain.rounds("svi", question, 1.1))).max() > 1e-6


def test_plain_rounding():
    """Algorithm 3 in NumPy: couplings that are off come out with the right marginals, couplings stay as they are."""
    arrays = plain.Arrays.of(instances.problem("dense-4", 0.9))
    independent = arrays.source * arrays.target
    np.testing.assert_allclose(plain.rounded(independent, arrays), independent, atol=1e-16)
    off = np.random.default_rng(0).random(independent.shape)
    made = plain.rounded(off / off.sum((2, 3), keepdims=True), arrays)
    assert (made >= 0).all()
    np.testing.assert_allclose(made.sum(3, keepdims=True), np.broadcast_to(arrays.source, (4, 4, 4, 1)), atol=1e-15)
    np.testing.assert_allclose(made.sum(2, keepdims=True), np.broadcast_to(arrays.target, (4, 4, 1, 4)), atol=1e-15)


@pytest.mark.parametrize("name", ["plain auto", tuning.DEFAULT])
def test_tuning_measures_the_last_coupling(name):
    """The error is that of the solution after so many rounds."""
    question, setting = instances.problem("dense-9", 0.9), tuning.SETTINGS[name]
    truth = bm.solve(question, tol=1e-10).value
    for rounds, error in zip((1, 220), tuning.errors(question, setting, (1, 220)), strict=True):
        value = bm.solve(question, tuning.solver(setting, rounds)).value
        assert error == pytest.approx((value - truth).max() / truth.max(), rel=1e-4)


def test_tuning_norms():
    """At the starts, in the mean, of the largest; no starts, no error there."""
    chains = [bm.MarkovChain(np.eye(2), start=start) for start in (0, 1)]
    question = bm.Problem(*chains, discount=0.5, cost=np.ones((2, 2)))
    exact = np.array([[2.0, 4.0], [1.0, 1.0]])
    assert tuning.norms(question, exact + np.eye(2)[::-1], exact) == [0.25, 0.25, 0.25]
    bare = bm.Problem(bm.MarkovChain(np.eye(2)), chains[1], discount=0.5, cost=np.ones((2, 2)))
    assert tuning.norms(bare, exact, exact) == [None, 0.0, 0.0]


def test_tuning_tables():
    """Rounds to the error at which the baseline ends; ratios to the best plain schedule in each norm."""
    looks = [tuning.FIFTH, tuning.LAST]
    curve = {"kind": "curve", "instance": "dense-20", "rounds": looks}
    errors = {name: [None, 0.2, 0.4] for name in tuning.COMPARED} | {tuning.DEFAULT: [None, 0.1, 0.02]}
    numbers = dict.fromkeys(tuning.COMPARED, 0.5)
    case = tuning.Case("p3–p7", 0.9)._asdict() | {"kind": "case", "errors": errors, "gaps": numbers, "cpu": numbers}
    rows = [
        case,
        curve | {"setting": tuning.BASELINE, "error": [0.2, 0.1]},
        curve | {"setting": tuning.DEFAULT, "error": [0.09, 0.04]},
        curve | {"setting": "η = 100", "error": [0.5, 0.5]},
    ]
    further, by_round = tuning.tables(rows)
    assert tuning.ratios(case) == pytest.approx([0.5, 0.05])
    assert further.body[0][0] == "p3–p7, γ = 0.9"
    assert further.body[0][-4:] == ["0.50", "50", "50", "1.00"]
    assert "at most 0.50, geometric mean 0.158" in further.notes[1]
    assert [line[3] for line in by_round.body] == ["≤ 750", "≤ 150", "> 750"]


def test_tables_of_solvers():
    """The first run that is good enough counts; what is not reached is a lower bound."""
    runs = [
        {"rounds": 10, "cpu": 0.5, "error": 0.09, "interval": 1.0},
        {"rounds": 30, "cpu": 2.0, "error": 0.02, "interval": 0.5},
    ]
    start = {"rounds": 10, "sinkhorn_s": 1.0, "exact_s": 2.0}
    rows = [
        {"kind": "solver", "instance": "dense-20", "solver": "SinkhornValueIteration", "runs": runs},
        {"kind": "solver", "instance": "dense-20", "solver": "LinearProgram", "runs": []},
        {"kind": "start", "instance": "dense-50", "cold_s": 2.0, "from_answer_s": 1.5, "starts": [start]},
    ]
    by_solver, starts = solvers.tables(rows)
    assert by_solver.body == [["SinkhornValueIteration", "0.5 (10)", "> 2 (30)", "0.02", "0.5"]]
    assert starts.body == [["dense-50", "2", "1.5", "10", "1", "2", "1.50"]]


def test_start_from_a_sinkhorn_value():
    """The value of a valid coupling: above the distances, and close after enough rounds."""
    question = instances.problem("dense-9", 0.9)
    truth = bm.solve(question).value
    value = solvers.sinkhorn_value(question, 300)
    assert (value >= truth - 1e-9).all()
    assert (value - truth).max() < 0.05 * truth.max()
