"""Who solves the pairs: this process or several, with the same bits, and what is said when one of them cannot go on."""

from __future__ import annotations

import os

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import PairFailed, PairwiseInterrupted
from tests.pair_samples import SIZES, random_chains, squared_gap, tables


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_is_called_once_for_every_entry(tmp_path, n_jobs):
    """By this process; with a store and with workers, which then need not call it."""
    here, calls = os.getpid(), []

    def cost(source, target):
        assert os.getpid() == here
        calls.append((source.n_states, target.n_states))
        return np.subtract.outer(source.reward, target.reward) ** 2

    bm.pairwise(random_chains(), discount=0.9, cost=cost, store=tmp_path, n_jobs=n_jobs)
    assert sorted(calls) == sorted((n, m) for n in SIZES for m in SIZES)


def test_workers_give_the_same_bits():
    """Heaviest pairs first, with progress, and with functions that cannot be imported."""
    made = random_chains(sizes=(4, 3, 9, 5, 6))
    for cost in (None, squared_gap):
        alone, together = [], []
        first = bm.pairwise(made, discount=0.9, cost=cost, on_pair=alone.append)
        second = bm.pairwise(made, discount=0.9, cost=cost, n_jobs=2, on_pair=together.append)
        np.testing.assert_array_equal(tables(first), tables(second))
        assert [pair.done for pair in alone] == [pair.done for pair in together] == list(range(1, 11))
        assert {pair.total for pair in together} == {10}
        assert {(pair.i, pair.j) for pair in together} == {(pair.i, pair.j) for pair in alone}
        weights = [made[pair.i].n_states * made[pair.j].n_states for pair in alone]
        assert weights == sorted(weights, reverse=True)


def test_a_worker_uses_one_thread_and_gives_it_back(tmp_path, monkeypatch):
    """BISIMETRIC_THREADS is 1 inside, and as before afterwards; without room for costs workers call the function."""
    from joblib import Parallel, delayed

    monkeypatch.setattr("bisimetric._pair_plan.KEPT_BYTES", 0)

    def cost(source, target):
        inside = os.getpid() != here
        if inside:
            (tmp_path / f"{source.n_states}-{target.n_states}").touch()
        assert not inside or os.environ["BISIMETRIC_THREADS"] == "1"
        return np.ones((source.n_states, target.n_states))

    here = os.getpid()
    made = random_chains()
    distances = bm.pairwise(made, discount=0.5, cost=cost, n_jobs=2)
    np.testing.assert_allclose(distances.value, 2.0)
    assert len(list(tmp_path.iterdir())) == 10
    settings = Parallel(2)(delayed(os.environ.get)("BISIMETRIC_THREADS") for _ in range(2))
    assert settings == [os.environ.get("BISIMETRIC_THREADS")] * 2


def test_an_error_names_its_pair():
    """With its indices, its kind and its cause."""
    made = random_chains()
    made[3] = bm.MarkovChain(made[3].transitions, start=0)
    with pytest.raises(PairFailed, match=r"pair \(\d, 3\): ZeroDivisionError: no reward") as caught:
        bm.pairwise(made[:2], made, discount=0.9, cost=_picky)
    assert caught.value.pair[1] == 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_missed_tolerance_is_an_error(n_jobs):
    """Of the pair that missed it, whoever solved it."""
    with pytest.raises(PairFailed, match=r"pair \(\d, \d\): ToleranceNotReached: .* asked for 1e-30") as caught:
        bm.pairwise(random_chains(), discount=0.9, tol=1e-30, n_jobs=n_jobs)
    assert str(caught.value).startswith(f"pair {caught.value.pair}:")


def _picky(source, target):
    if target.reward is None:
        raise ZeroDivisionError("no reward")
    return np.abs(np.subtract.outer(source.reward, target.reward))


def test_a_lost_worker_is_said(monkeypatch):
    """A process that ends without a word, as when memory runs out."""
    monkeypatch.setattr("bisimetric._pair_plan.KEPT_BYTES", 0)
    here = os.getpid()

    def deadly(source, target):
        if os.getpid() != here:
            os._exit(3)
        return np.ones((source.n_states, target.n_states))

    made = random_chains()
    with pytest.raises(PairFailed, match="use fewer n_jobs") as caught:
        bm.pairwise(made, made, discount=0.9, cost=deadly, n_jobs=2)
    assert caught.value.pair is None


def test_an_interrupt_says_how_far_it_came():
    """Raised between two pairs here; SIGINT for real is in test_pairwise_runs.py."""

    def stop(pair):
        if pair.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(PairwiseInterrupted, match=r"after 4 of 6 pairs; store= would have kept them") as caught:
        bm.pairwise(random_chains(), discount=0.9, on_pair=stop)
    assert (caught.value.done, caught.value.total) == (4, 6)


def test_an_interrupt_in_a_slow_cost():
    """Before the first pair: the same kind of exception."""

    def slow(source, target):
        raise KeyboardInterrupt

    with pytest.raises(PairwiseInterrupted, match="while costs were computed") as caught:
        bm.pairwise(random_chains(), discount=0.9, cost=slow)
    assert (caught.value.done, caught.value.total) == (0, 0)
