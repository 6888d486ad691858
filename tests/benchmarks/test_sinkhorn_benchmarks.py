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


def test_tuning_measures_the_last_coupling():
    """The error is that of the solution after so many rounds; extra projections count as rounds."""
    question = instances.problem("dense-9", 0.9)
    truth = bm.solve(question, tol=1e-10).value
    found = tuning.errors(question, tuning.SETTINGS[tuning.DEFAULT], (1, 20))
    for rounds, error in zip((1, 20), found, strict=True):
        value = bm.solve(question, bm.SinkhornValueIteration(rounds=rounds)).value
        assert error == pytest.approx((value - truth).max() / truth.max(), rel=1e-5)
    extra = tuning.errors(question, tuning.Setting("svi", {}, 2), (1, 3))
    assert extra[0] == pytest.approx(found[0])
    assert extra[1] != pytest.approx(found[0], rel=1e-3)


def test_tuning_table():
    """Rounds to the error at which the baseline ends, and what is wanted."""
    looks = [tuning.FIFTH, tuning.LAST]
    rows = [
        {"instance": "dense-20", "setting": tuning.BASELINE, "rounds": looks, "error": [0.2, 0.1]},
        {"instance": "dense-20", "setting": tuning.DEFAULT, "rounds": looks, "error": [0.09, 0.04]},
        {"instance": "dense-20", "setting": "η = 100", "rounds": looks, "error": [0.5, 0.5]},
    ]
    (table,) = tuning.tables(rows)
    assert [line[3] for line in table.body] == ["≤ 750", "≤ 150", "> 750"]
    assert "0.100 after 150 rounds and 0.050 after 750" in table.notes[0]


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
