"""The study of simulated logs: logs are from the process that they should be from, and tables show what was found."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import coverage, coverage_pictures


def test_logs_follow_their_process():
    """Shares of many sequences are close to the process; a share of zero is the same process."""
    truth = coverage.process(10)
    log = coverage.simulated(truth, 4000, np.random.default_rng(0))
    seen = log.visits > 500
    assert seen.sum() >= 5
    np.testing.assert_allclose(log.transitions.toarray()[seen], truth.rows[seen], atol=0.07)
    np.testing.assert_allclose(log.start, truth.start, atol=0.05)
    assert log.n_sequences == 4000
    assert np.array_equal(coverage.process(10, 0.0).rows, truth.rows)
    assert not np.array_equal(coverage.process(10, 0.5).rows, truth.rows)


@pytest.mark.slow
def test_a_setting_and_its_tables():
    """Rates are between 0 and 1; every column has its number, or none where it was not asked for."""
    rows = [
        coverage.summary(setting, coverage.repetitions(setting, range(setting.repetitions)))
        for setting in (
            coverage.Setting(10, 50, 0.0, 3, 1, 1),
            coverage.Setting(10, 50, 0.5, 2, 1, 1, tested=False),
            coverage.Setting(10, 50, 0.2, 2),
        )
    ]
    assert [list(part) for part in coverage.chunks(coverage.Setting(10, 50, 0.0, 30))] == [
        [*range(25)],
        [*range(25, 30)],
    ]
    assert rows[0]["truth"] == 0
    assert rows[0]["distance"] > 0.1
    assert all(0 <= rows[0][name] <= 1 for name in ("rejected", "guarantee", "bootstrap", "percentile"))
    assert rows[0]["guarantee"] == 1
    covered, power, _ = coverage.tables(rows)
    assert [len(line) for line in covered.body] == [11, 11]
    assert covered.body[1][4:6] == ["", ""]
    assert len(power.body) == 1
    assert len(coverage_pictures.power(rows).axes) == 2
    assert len(coverage_pictures.intervals(rows).axes) == 2


def test_the_guarantee_is_much_narrower_than_the_largest_radius_everywhere():
    """On the smallest of the committed examples."""
    row = coverage.width("shop, 10 pages")
    assert row["share"] < 0.5
    assert row["guarantee"][0] <= row["distance"] <= row["guarantee"][1]
