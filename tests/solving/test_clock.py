"""The time limit of a solve: what is measured, reserved and given up. Times are given, not waited for."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.compiling import Stopwatch
from bisimetric._support.threads import DEADLINE, OutOfTime, require_time
from bisimetric.solving import clock as clocks
from bisimetric.solving.clock import Clock

CHAIN = bm.environments.random_sparse_chain(6, 2, seed=0)
PROBLEM = bm.Problem(CHAIN, bm.environments.random_sparse_chain(5, 2, seed=1), discount=0.99)


@pytest.fixture
def time(monkeypatch):
    """A clock that stands still: time[0] is now."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(clocks, "COMPILING", Stopwatch())
    return now


def test_without_a_limit_nothing_is_reserved(time):
    """Steps go on, and certificates take as long as they like."""
    clock = Clock(np.inf)
    time[0] += 1e6
    assert not clock.is_limited
    assert not clock.is_over
    assert not clock.wants_certificate
    with clock.work(), clock.certificate():
        assert DEADLINE.get() == np.inf
    assert clock.elapsed == 1e6


def test_steps_end_so_early_that_a_certificate_fits(time):
    """After one that took two seconds, of ten seconds and two of grace; the last one may use the grace."""
    clock = Clock(10.0)
    assert not clock.wants_certificate  # after next to no time it will be cheap
    time[0] += 1.0
    assert clock.wants_certificate
    with clock.work():
        assert DEADLINE.get() == pytest.approx(110.0)
    with clock.certificate():
        assert 110.0 < DEADLINE.get() < 112.0
        time[0] += 2.0
    assert not clock.wants_certificate
    with clock.work():
        assert DEADLINE.get() + 2.0 < 112.0
    assert not clock.is_over
    time[0] += 6.5
    assert clock.is_over
    assert time[0] < 110.0


def test_a_surrounding_limit_counts_too(time):
    """Nothing inside goes on longer."""
    token = DEADLINE.set(101.0)
    try:
        clock = Clock(10.0)
        with clock.work():
            assert DEADLINE.get() == 101.0
        with clock.certificate():
            assert DEADLINE.get() == 101.0
        time[0] = 102.0
        assert clock.is_over
        with pytest.raises(OutOfTime), clock.certificate():
            require_time()
    finally:
        DEADLINE.reset(token)


def test_what_cannot_be_certified_in_time_is_known_a_priori(monkeypatch):
    """The status says that time is up, the interval holds, and a promise that is missed raises."""
    truth = bm.solve(PROBLEM)

    def too_long(*_):
        raise OutOfTime

    monkeypatch.setattr("bisimetric.certificates.check.check_application", too_long)
    found = bm.solve(PROBLEM, time_limit=60.0)
    assert found.status is bm.Status.TIME_LIMIT
    assert (found.lower <= truth.upper).all()
    assert (truth.lower <= found.upper).all()
    with pytest.raises(bm.errors.ToleranceNotReached, match="raise time_limit"):
        bm.solve(PROBLEM, tol=1e-6, time_limit=60.0)
