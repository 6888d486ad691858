"""All resamples: the same in any number of processes, kept when Ctrl-C comes."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from tests.estimation.logs import logs


@pytest.mark.slow
def test_processes_give_the_same_bits():
    """Every resample has a seed of its own."""
    alone = bm.compare(*logs(), discount=0.8, resamples=6, seed=3)
    together = bm.compare(*logs(), discount=0.8, resamples=6, seed=3, n_jobs=2)
    assert np.array_equal(alone.null, together.null)
    assert np.array_equal(alone.bootstrap, together.bootstrap)


def test_threads_give_the_same_bits(monkeypatch):
    """As everywhere."""
    one = bm.compare(*logs(), discount=0.8, resamples=3)
    monkeypatch.setenv("BISIMETRIC_THREADS", "1")
    assert np.array_equal(one.null, bm.compare(*logs(), discount=0.8, resamples=3).null)


def test_ctrl_c_gives_the_result_so_far():
    """From the resamples that are finished, and a note says so."""
    seen = []

    def stop(done):
        seen.append(done)
        if done.done == 9:
            raise KeyboardInterrupt

    found = bm.compare(*logs(), discount=0.8, resamples=40, on_resample=stop)
    assert [done.done for done in seen] == list(range(1, 10))
    assert seen[0].total == 80
    assert (len(found.null), len(found.bootstrap)) == (5, 4)
    assert 0 < found.p_value <= 1
    assert any("5 of 40" in note for note in found.notes)
    whole = bm.compare(*logs(), discount=0.8, resamples=40)
    assert np.array_equal(found.null, whole.null[:5])
