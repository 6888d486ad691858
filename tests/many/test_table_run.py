"""A call under way: time limits, pairs that fail, and runs that share a store."""

from __future__ import annotations

import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Semaphore
from types import SimpleNamespace

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, PairFailed, ToleranceNotReached
from bisimetric.many import table_run
from bisimetric.many.store import PairStore
from tests.many.pair_samples import LARGER, random_chains, squared_gap, tables

LIMIT = 1000.0  # seconds

# ------------------------------------------------------------------ time limits


def slow_cost(source, target):
    """A cost that takes its time."""
    time.sleep(0.005)
    return squared_gap(source, target)


@pytest.fixture
def stop_after(monkeypatch):
    """Makes callbacks that let hours pass after so many pairs."""
    passed = [0.0]
    real = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: real() + passed[0])

    def callback(count):
        def on_pair(pair):
            if pair.done == count:
                passed[0] += 10 * LIMIT

        return on_pair

    return callback


def test_finished_pairs_are_kept(tmp_path, stop_after):
    """The others have a status and no number, and the same call goes on; a missing number is no error by default."""
    made = random_chains(sizes=LARGER)
    expected = bm.pairwise(made, discount=0.9)
    found = bm.pairwise(made, discount=0.9, time_limit=LIMIT, store=tmp_path, on_pair=stop_after(3))
    late = found.status == bm.Status.TIME_LIMIT
    assert late.sum() == np.isnan(found).sum() == found.unknown == 6
    assert (found.lower[late] == 0.0).all()
    most = max(chain.reward.max() for chain in made) - min(chain.reward.min() for chain in made)
    assert (expected.upper[late] <= found.upper[late]).all()
    assert (found.upper[late] <= most / (1 - 0.9) + 1e-9).all()
    assert "6 are unknown" in repr(found)
    np.testing.assert_array_equal(tables(found)[:, ~late], tables(expected)[:, ~late])
    rest = []
    again = bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=rest.append)
    assert len(rest) == 3
    np.testing.assert_array_equal(tables(again), tables(expected))


@pytest.mark.parametrize("cost", [None, bm.cost.label_mismatch, "array", squared_gap, "actions"])
@pytest.mark.parametrize("normalised", [False, True])
def test_without_time_the_largest_cost_forever_is_known(cost, normalised, stop_after):
    """For every kind of cost that has been computed or need not be; a model is at zero from itself."""
    rows = [chain.transitions for chain in random_chains(sizes=(9,) * 4)]
    rewards = np.random.default_rng(0).random((4, 9, 2))
    made = [
        bm.MarkovChain(P, reward=r[:, 0], labels=[0, 1, 2] * 3, start=0) for P, r in zip(rows, rewards, strict=True)
    ]
    options = {"discount": 0.9, "normalised": normalised}
    if cost == "actions":
        made = [bm.MDP([P, P], r, start=0) for P, r in zip(rows, rewards, strict=True)]
    elif cost is not None:
        options["cost"] = np.random.default_rng(0).random((9, 9)) if cost == "array" else cost
    exact = bm.pairwise(made, **options)
    for limit, callback in ((1e-9, None), (LIMIT, stop_after(1))):
        found = bm.pairwise(made, time_limit=limit, on_pair=callback, **options)
        late = found.status == bm.Status.TIME_LIMIT
        assert late.any()
        assert (exact.upper <= found.upper).all()
        assert (found.lower <= exact.lower).all()
        if cost is not squared_gap or callback is not None:
            assert np.isfinite(found.upper).all()
        if cost not in ("array", squared_gap):
            assert not found.value.diagonal().any()
            assert not late.diagonal().any()


def test_a_pair_under_way_has_the_interval_so_far():
    """It holds, though it is wide."""
    made = [bm.environments.random_sparse_chain(40, 4, seed=k) for k in range(2)]
    exact = bm.pairwise(made, discount=0.99).value[0, 1]
    found = bm.pairwise(made, discount=0.99, time_limit=1e-9, cost=slow_cost)
    assert found.status[0, 1] is bm.Status.TIME_LIMIT
    assert found.lower[0, 1] <= exact <= found.upper[0, 1]


@pytest.mark.slow
def test_a_time_limit_for_workers():
    """They stop too, and the call comes back."""
    made = [bm.environments.random_sparse_chain(400, 4, seed=k) for k in range(4)]
    began = time.monotonic()
    found = bm.pairwise(made, discount=0.999, n_jobs=2, time_limit=4.0, tol=None)
    assert time.monotonic() - began < 60.0
    assert (found.lower <= found.upper).all()
    assert set(found.status.flat) <= {bm.Status.SOLVED, bm.Status.TIME_LIMIT}


def test_a_tolerance_that_the_time_did_not_suffice_for(stop_after):
    """Is missed, which raises, with the table; or not, if that is asked for."""
    made, options = random_chains(sizes=LARGER), {"discount": 0.9, "tol": 1e-6, "time_limit": LIMIT}
    with pytest.raises(ToleranceNotReached, match="time_limit") as caught:
        bm.pairwise(made, on_pair=stop_after(3), **options)
    assert caught.value.distances.unknown == 6
    assert bm.pairwise(made, on_pair=stop_after(3), throw=False, **options).unknown == 6
    for wrong in (0, -1.0, "1", True):
        with pytest.raises(InvalidOption, match="time_limit"):
            bm.pairwise(made, discount=0.9, time_limit=wrong)


# ------------------------------------------------------------------ pairs that fail


class Picky(bm.PolicyIteration):
    """Fails for chains of some sizes."""

    def init(self, operator, *arguments):
        if sorted(operator.shape) == [9, 10]:
            raise ZeroDivisionError("nine by ten")
        return bm.PolicyIteration.init(self, operator, *arguments)


@pytest.mark.parametrize("options", [{}, {"n_jobs": 2, "backend": "threading"}], ids=["alone", "threads"])
def test_one_failing_pair(options):
    """Is named, with its error; the rest is finished, in the error or, on request, in the table."""
    made = random_chains(sizes=LARGER)
    expected = tables(bm.pairwise(made, discount=0.9))
    with pytest.raises(
        PairFailed, match=r"^pair \(0, 2\), chain 1 and chain 3: ZeroDivisionError: nine by ten; 2 of 16"
    ):
        bm.pairwise(made, discount=0.9, solver=Picky(), **options)
    found = bm.pairwise(made, discount=0.9, solver=Picky(), throw=False, **options)
    failed = found.status == bm.Status.FAILED
    assert np.argwhere(failed).tolist() == [[0, 2], [2, 0]]
    assert np.isnan(found.value[failed]).all()
    np.testing.assert_array_equal(tables(found)[:, ~failed], expected[:, ~failed])
    (error,) = found.failures
    assert error.pair == (0, 2)
    assert "status FAILED" in repr(found)


def test_names_of_files_are_said():
    """As they were given."""
    with pytest.raises(PairFailed, match=r"pair \(0, 0\), grid-3x3 and four-rooms:p0: ZeroDivisionError"):
        bm.pairwise(["grid-3x3"], ["four-rooms:p0"], discount=0.9, cost=lambda a, b: 1 / 0)


def test_a_cost_that_fails_for_one_pair():
    """Costs no other, and is no other status than a solve that fails."""
    made = random_chains()

    def cost(source, target):
        if (source, target) == (made[1], made[2]):
            raise ValueError("no")
        return squared_gap(source, target)

    found = bm.pairwise(made, discount=0.9, cost=cost, throw=False)
    assert np.argwhere(found.status == bm.Status.FAILED).tolist() == [[1, 2]]
    assert np.argwhere(np.isnan(found)).tolist() == [[1, 2]]


# ------------------------------------------------------------------ runs that share a store


def test_what_another_run_finishes_meanwhile_is_not_solved(tmp_path, monkeypatch):
    """It is taken from the store, and the table is whole."""
    monkeypatch.setattr(table_run, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(table_run, "LOOK_PAUSE", 0)
    made = random_chains(sizes=LARGER)
    mine, theirs = [], []

    def other_run(pair):
        mine.append((pair.i, pair.j))
        if len(mine) == 1:
            bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=theirs.append)

    found = bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=other_run)
    assert len(mine) == 1
    assert len(theirs) == 5
    np.testing.assert_array_equal(tables(found), tables(bm.pairwise(made, discount=0.9)))


def test_runs_at_the_same_time_divide_the_work(tmp_path, monkeypatch):
    """Two runs that solve a pair in turn, several between two looks, solve few pairs twice; every bit is as without."""
    made = random_chains(sizes=[9] * 12)
    passed, solved, seeds = [0.0], [0, 0], count()
    monkeypatch.setattr(table_run, "time", SimpleNamespace(monotonic=lambda: passed[0]))
    monkeypatch.setattr(secrets, "randbits", lambda _: next(seeds))
    turns = Semaphore(1), Semaphore(0)

    def run(me):
        def on_pair(_):
            solved[me] += 1
            passed[0] += table_run.LOOK_SECONDS / 8
            turns[1 - me].release()
            assert turns[me].acquire(timeout=60.0)

        assert turns[me].acquire(timeout=60.0)
        try:
            return bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=on_pair)
        finally:
            turns[1 - me].release(1000)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(run, range(2)))
    expected = bm.pairwise(made, discount=0.9)
    for distances in found:
        np.testing.assert_array_equal(tables(distances), tables(expected))
    pairs = len(made) * (len(made) - 1) // 2
    assert pairs <= sum(solved) < 1.3 * pairs
    assert min(solved) > 0.3 * pairs


def test_what_another_run_has_begun_comes_last(tmp_path):
    """Nobody waits for a run that may be dead."""
    made = random_chains(sizes=LARGER)
    seen = []
    bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=lambda pair: seen.append((pair.i, pair.j)))
    (journal,) = tmp_path.glob("*.pairs")
    first_claim = journal.read_bytes()[:64]
    journal.write_bytes(first_claim)  # of a run that died in its first pair
    again = []
    bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=lambda pair: again.append((pair.i, pair.j)))
    assert again[-1] == seen[0]
    assert sorted(again) == sorted(seen)


def test_small_chains_are_resumed_with_the_same_bits(tmp_path):
    """They are solved side by side, and again if one of them is missing."""
    made = random_chains()
    expected = tables(bm.pairwise(made, discount=0.9, store=tmp_path))
    (journal,) = tmp_path.glob("*.pairs")
    journal.write_bytes(journal.read_bytes()[: 3 * 64])  # one claim and two pairs
    seen = []
    found = bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=seen.append)
    assert [pair.done for pair in seen] == [3, 4, 5, 6]
    np.testing.assert_array_equal(tables(found), expected)
    assert len(PairStore(tmp_path).found(_Everything())) == 6


class _Everything:
    def __contains__(self, key):
        return True
