"""Ray on this machine: the same numbers, and a killed worker costs nothing that is finished."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import ClusterUnavailable
from tests.extras import package
from tests.many.pair_samples import LARGER, random_chains, solver_for_workers, tables

pytestmark = pytest.mark.slow  # servers and processes of their own
ray = package("ray")


@pytest.fixture(scope="module")
def local():
    """One Ray for all tests."""
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def test_the_same_bits(local):
    """Small chains too, and with progress."""
    for sizes in (LARGER, (3, 6, 4, 5)):
        made = random_chains(sizes=sizes)
        seen = []
        found = bm.pairwise(made, discount=0.9, backend="ray", on_pair=seen.append)
        np.testing.assert_array_equal(tables(found), tables(bm.pairwise(made, discount=0.9)))
        assert len(seen) == 6
    assert ray.is_initialized()


def test_a_killed_worker(local, tmp_path):
    """kill -9 in the middle: its pair is solved again."""

    def die_once():
        try:
            os.close(os.open(tmp_path / "died", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    made = random_chains(sizes=LARGER)
    found = bm.pairwise(made, discount=0.9, backend="ray", n_jobs=2, solver=solver_for_workers(die_once))
    np.testing.assert_array_equal(tables(found), tables(bm.pairwise(made, discount=0.9)))
    assert (tmp_path / "died").exists()


def test_a_time_limit(local):
    """What is not begun by then is unknown."""
    made = random_chains(sizes=(60, 61, 62))
    found = bm.pairwise(made, discount=0.9, backend="ray", time_limit=1e-3)
    assert set(found.status[np.triu_indices(3, 1)]) == {bm.Status.TIME_LIMIT}


def test_a_cluster_that_is_not_there():
    """An error that names the address."""
    if ray.is_initialized():
        ray.shutdown()
    with pytest.raises(ClusterUnavailable, match=r"ray://127\.0\.0\.1:1"):
        bm.pairwise(random_chains(), discount=0.9, backend="ray://127.0.0.1:1")
