"""Approximate solvers round by round, and CPU seconds."""

import time
from contextlib import suppress

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.blocks import thread_count
from bisimetric.experiments.rounds import (
    answer,
    iterates,
    relative_error,
    spaced_rounds,
    stopping_round,
    truth,
    values,
)
from bisimetric.experiments.running_time import cpu_seconds, single_threaded


@pytest.fixture(scope="module")
def problem():
    """Two dense chains of nine states."""
    source, target = (bm.environments.random_chain(9, kind="uniform", seed=k) for k in range(2))
    cost = bm.environments.random_cost(9, 9, kind="uniform", seed=0)
    return bm.Problem(source, target, discount=0.9, cost=cost)


@pytest.mark.parametrize(
    "solver",
    [bm.SinkhornValueIteration(rounds=30), bm.SinkhornPolicyIteration(rounds=30), bm.SinkhornBellman(rounds=4)],
)
def test_rounds_are_those_of_solve(problem, solver):
    """The value at the end is what `solve` gives, and the number of rounds is the solver's."""
    by_hand = answer(problem, solver)
    np.testing.assert_allclose(by_hand.value, bm.solve(problem, solver).value, rtol=1e-4)
    assert (by_hand.own is None) == (not isinstance(solver, bm.SinkhornBellman))
    assert [k for k, _ in iterates(problem, solver)][-1] == solver.rounds


def test_looks_are_yielded_in_order(problem):
    """Values come at the looks only, and each is an upper bound."""
    exact = truth(problem)
    found = dict(values(problem, bm.SinkhornValueIteration(rounds=100), (1, 4, 20), exact))
    assert list(found) == [1, 4, 20]
    errors = [relative_error(value, exact) for value in found.values()]
    assert errors[0] > errors[1] > errors[2] > 0.0


def test_a_run_that_settles_ends_early(problem):
    """A run that does not change any more ends, and is evaluated once at its end."""
    solver = bm.SinkhornBellman(rounds=100_000, regularisation=0.3, projections=50)
    rounds = [k for k, _ in values(problem, solver, (1, 100_000), truth(problem))]
    assert rounds[0] == 1
    assert 10 < rounds[-1] < 1000


def test_a_baseline_ends_at_its_tolerance(problem):
    """A run ends when its own value changes by less than a share of it, and not before."""
    solver = bm.SinkhornBellman(rounds=1000, regularisation=0.1, projections=10)
    rough, fine = (answer(problem, solver, tolerance) for tolerance in (1e-2, 1e-6))
    assert 2 < rough.rounds < fine.rounds < 1000
    assert np.abs(rough.own / fine.own - 1).max() < 1e-2 / (1 - 0.9)
    assert answer(problem, bm.SinkhornValueIteration(rounds=30), 1.0).rounds == 30


def test_the_authors_early_stop():
    """A run ends when no entry of π moves by 1e-4: soon with tiny steps, never with a constant step that cycles."""
    rooms = [bm.environments.small_four_rooms(name) for name in "ab"]
    easy = bm.Problem(*rooms, discount=0.5)
    paper = bm.SinkhornValueIteration.as_in_paper
    assert stopping_round(easy, paper(step_size=1e-6, rounds=50)) == 2
    assert stopping_round(easy, paper(step_size=10.0, rounds=50)) is None


def test_spaced():
    """One and even numbers, ascending, to the end."""
    looks = spaced_rounds(750, 12)
    assert looks[0] == 1
    assert looks[-1] == 750
    assert looks == sorted(set(looks))
    assert all(k % 2 == 0 for k in looks[1:])


def test_seconds_of_short_calls():
    """A short call is repeated until the clock can tell; the result is its own."""
    calls = []

    def work():
        calls.append(1)
        deadline = time.process_time() + 0.004
        while time.process_time() < deadline:
            pass
        return len(calls)

    result, seconds = cpu_seconds(work)
    assert result == len(calls) > 1
    assert seconds > 0.003


def test_one_thread_is_given_back(monkeypatch):
    """Inside there is one thread, and outside as many as before, after an error too."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    with suppress(RuntimeError), single_threaded():
        assert thread_count() == 1
        raise RuntimeError
    assert thread_count() == 2
