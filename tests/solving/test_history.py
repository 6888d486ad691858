"""Histories: statuses, steps, and what looks of the checker add to them."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.compiling import COMPILING
from bisimetric.errors import InvalidOption
from bisimetric.problems.bisimilarity import BisimilarityProblem

ROOMS = bm.environments.small_four_rooms


def rooms(**options):
    """Two small rooms."""
    return bm.Problem(ROOMS("a"), ROOMS("b"), discount=0.9, **options)


@pytest.mark.parametrize(
    ("solver", "every", "looked_at"),
    [
        (bm.SinkhornValueIteration(rounds=12), None, [1, 2, 4, 8, 12]),
        (bm.SinkhornValueIteration(rounds=12), 3, [1, 2, 3, 4, 6, 8, 9, 12]),
        (bm.SinkhornBellman(rounds=5, projections=4), 1, [1, 2, 3, 4, 5]),
        (bm.PolicyIteration(), None, []),
        (bm.PolicyIteration(), 1, None),
        (bm.ValueIteration(), 4, None),
    ],
    ids=repr,
)
def test_looks(solver, every, looked_at):
    """The distance between the starts and its interval at every look, and nowhere else; the interval is true."""
    problem = rooms()
    truth = bm.solve(problem)
    found = bm.solve(problem, solver, look_every=every)
    looked_at = [k for k in range(1, len(found.history) + 1) if k % every == 0] if looked_at is None else looked_at
    assert [step.step for step in found.history if step.distance is not None] == looked_at
    for step in found.history:
        assert (step.distance is None) == (step.interval is None)
        if step.interval is not None:
            low, high = step.interval
            assert low <= step.distance <= high
            assert low <= truth.interval[1]
            assert high >= truth.interval[0]
    if solver.default_tol == 0.0:
        assert found.history[-1].distance == found.distance
        assert found.history[-1].interval == found.interval


@pytest.mark.parametrize("solver", [bm.PolicyIteration(), bm.SinkhornValueIteration(rounds=240)], ids=repr)
def test_looks_change_no_answer(solver):
    """Only the history."""
    plain, looked = (bm.solve(rooms(), solver, look_every=every) for every in (None, 1))
    np.testing.assert_allclose(looked.value, plain.value, rtol=1e-9, atol=1e-12)


def test_starts_of_any_kind():
    """Laws on several states, classes of states, and no starts at all."""
    spread = np.full(20, 1 / 20)
    problem = bm.Problem(ROOMS("a").with_start(spread), ROOMS("b").with_start(spread), discount=0.9)
    found = bm.solve(problem, bm.SinkhornValueIteration(rounds=9))
    assert found.history[-1].distance == pytest.approx(found.distance)
    without = [bm.MarkovChain(ROOMS(name).transitions, reward=ROOMS(name).reward) for name in "ab"]
    nothing = bm.solve(bm.Problem(*without, discount=0.9), look_every=1)
    assert all(step.distance is None for step in nothing.history)
    corners = bm.environments.four_rooms(side=8, goal="all").with_start(0)
    lumped = bm.solve(bm.Problem(corners, corners.with_start(30), discount=0.9), look_every=1)
    last = lumped.history[-1]
    assert last.interval[0] <= lumped.interval[1]
    assert lumped.interval[0] <= last.interval[1]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "often", True])
def test_wrong_looks(wrong):
    """Whole numbers from 1."""
    with pytest.raises(InvalidOption, match=r"look_every is .*, expected a whole number ≥ 1"):
        bm.solve(rooms(), look_every=wrong)


def test_looks_at_label_distances():
    """The distance without a discount, on classes of states."""
    chains = [
        bm.MarkovChain([[0.5, 0.5, 0.0], [0.0, stay, 1.0 - stay], [0.0, 0.0, 1.0]], labels=["a", "a", "b"], start=0)
        for stay in (0.2, 0.6)
    ]
    found = bm.solve(BisimilarityProblem(*chains), look_every=1)
    for step in found.history:
        assert step.interval[0] <= found.interval[1]
        assert found.interval[0] <= step.interval[1]


def test_a_status_is_its_message():
    """A sentence each, all different."""
    messages = {status.value for status in bm.Status}
    assert len(messages) == len(bm.Status)
    assert all(len(message.split()) > 5 for message in messages)


def test_steps_are_plain_data():
    """Three numbers and what looks add; unknown by default."""
    step = bm.Step(3, 0.5, 1.25)
    assert set(step[3:]) == {None}
    looked = step._replace(distance=2.0, interval=(1.5, 2.5))
    assert pickle.loads(pickle.dumps(looked)) == looked
    assert looked.interval == (1.5, 2.5)


def test_seconds_leave_out_compilation():
    """They stand still meanwhile, and never run backwards when another thread compiles."""
    before = COMPILING.total

    def compile_something(step):
        COMPILING.total += 1000.0 * step.step

    try:
        found = bm.solve(rooms(), bm.ValueIteration(), on_step=compile_something)
    finally:
        COMPILING.total = before
    seconds = [step.seconds for step in found.history]
    assert seconds == [seconds[0]] * len(seconds)
    assert 0.0 <= seconds[0] < time.perf_counter()
