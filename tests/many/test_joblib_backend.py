"""Backends of joblib: the same numbers, and a killed worker costs nothing that is finished."""

from __future__ import annotations

import os
import signal

import joblib
import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import PairFailed
from tests.many.pair_samples import LARGER, random_chains, solver_for_workers, tables


def test_threads_give_the_same_bits():
    """Chosen by name, or by what surrounds the call; nothing has to be picklable."""
    made = random_chains(sizes=LARGER)
    expected = tables(bm.pairwise(made, discount=0.9))
    seen = []
    found = bm.pairwise(made, discount=0.9, n_jobs=2, backend="threading", on_pair=seen.append)
    np.testing.assert_array_equal(tables(found), expected)
    assert [pair.done for pair in seen] == [1, 2, 3, 4, 5, 6]
    with joblib.parallel_config("threading", n_jobs=2):
        np.testing.assert_array_equal(tables(bm.pairwise(made, discount=0.9)), expected)


@pytest.mark.slow
def test_loky_survives_a_killed_worker(tmp_path):
    """The same bits as without, after kill -9 in the middle; every pair is said once."""

    def die_once():
        try:
            os.close(os.open(tmp_path / "died", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    made = random_chains(sizes=(*LARGER, 13, 14))
    seen = []
    found = bm.pairwise(
        made, discount=0.9, n_jobs=2, backend="loky", solver=solver_for_workers(die_once), on_pair=seen.append
    )
    np.testing.assert_array_equal(tables(found), tables(bm.pairwise(made, discount=0.9)))
    assert sorted((pair.i, pair.j) for pair in seen) == [(i, j) for i in range(6) for j in range(i + 1, 6)]


@pytest.mark.slow
def test_a_pair_that_always_ends_its_worker_is_named():
    """With loky too, which does not say whose fault it was; the others are solved."""
    made = random_chains(sizes=LARGER)
    here, poison = os.getpid(), (12, 11)

    def cost(source, target):
        return np.abs(np.subtract.outer(source.reward, target.reward))

    class Poisoned(bm.PolicyIteration):
        def init(self, operator, *arguments):
            if os.getpid() != here and operator.shape in (poison, poison[::-1]):
                os.kill(os.getpid(), signal.SIGKILL)
            return bm.PolicyIteration.init(self, operator, *arguments)

    with pytest.raises(PairFailed, match=r"pair \(1, 3\), chain 2 and chain 4: .*signal 9") as caught:
        bm.pairwise(made, discount=0.9, cost=cost, n_jobs=2, backend="loky", solver=Poisoned())
    table = caught.value.distances
    assert (table.status == bm.Status.FAILED).sum() == np.isnan(table).sum() == 2
    assert table.value[0, 1] == pytest.approx(bm.distance(made[0], made[1], discount=0.9).distance)
