"""Errors reach another process whole, or without what cannot travel."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import bisimetric as bm
from bisimetric import errors
from bisimetric.errors import PairFailed, PairwiseInterrupted, SolveInterrupted, ToleranceNotReached


def sent(error):
    """The error as another process gets it."""
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("name", sorted(errors.__all__))
def test_every_kind_travels(name):
    """With its kind and message."""
    kind = getattr(errors, name)
    arrived = sent(kind("what, where, remedy"))
    assert type(arrived) is kind
    assert str(arrived) == "what, where, remedy"


def test_what_errors_say_travels():
    """The pair that failed, how far a run came, the solution that missed its tolerance."""
    assert sent(PairFailed("lost", (2, 3))).pair == (2, 3)
    interrupted = sent(PairwiseInterrupted("stopped", 4, 6))
    assert (interrupted.done, interrupted.total) == (4, 6)
    with pytest.raises(ToleranceNotReached) as caught:
        bm.distance("four-rooms:p0", "four-rooms:p1", discount=0.9, tol=1e-30, pairs="reachable")
    assert sent(caught.value).solution.interval == caught.value.solution.interval


@pytest.mark.parametrize("evil", ["\x1b[31mred", "two\nlines", "\u202eright to left"])
def test_messages_are_inert(evil, tmp_path):
    """Names of states, actions and files are data: every message is one line in which nothing moves."""
    chain = bm.MarkovChain([[1.0, 0.0], [0.0, 1.0]], names=[evil, "b"])
    mdp = bm.MDP([[[1.0]], [[1.0]]], [[0.0, 0.0]], actions=[evil, "b"], available=[[False, True]])
    for call in (
        lambda: chain.with_start("nope"),
        lambda: chain.with_start(evil + "?"),
        lambda: mdp.under([0]),
        lambda: bm.load(tmp_path / f"{evil}.json"),
        lambda: bm.as_chain(evil),
    ):
        with pytest.raises(errors.BisimetricError) as caught:
            call()
        assert str(caught.value).isprintable()
        assert str(sent(caught.value)) == str(caught.value)


def test_an_interrupted_solve_travels_without_its_solution():
    """Certifying it takes time, and Ctrl-C must not; where it was raised it stays."""
    here = SolveInterrupted("stopped", lambda: "solution")
    for _ in range(2):
        assert sent(here).solution is None
        assert here.solution == "solution"


def fail():
    """What a pool of processes runs."""
    raise PairFailed("pair (2, 3): lost", (2, 3))


def test_a_pool_of_processes_hands_an_error_on():
    """And is not broken by it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for _ in range(2):
            with pytest.raises(PairFailed, match="lost") as caught:
                pool.submit(fail).result()
            assert caught.value.pair == (2, 3)
