"""Two logs, one answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bisimetric as bm
from tests.estimation.logs import SHOP, comparison, logs, visits


def test_a_change_is_seen():
    """Far beyond what chance makes; the three statements are about the same distance."""
    found = comparison("changed")
    assert found.p_value == 1 / 41
    assert found.is_change
    assert found.distance > found.null.max()
    low, high = found.solution.interval
    assert low <= found.distance <= high
    assert found.guarantee[0] <= found.distance <= found.guarantee[1]
    assert found.only == ((), ("reviews",))


def test_noise_is_called_noise():
    """Two samples of one process are apart, and that is no change."""
    found = comparison()
    assert found.distance > 0
    assert found.p_value > 0.05
    assert not found.is_change
    assert found.near_zero


def test_the_same_seed_gives_the_same_bits():
    """And another seed others."""
    again = bm.compare(*logs(), discount=0.8, resamples=5)
    assert np.array_equal(again.null, comparison().null[:5])
    assert not np.array_equal(again.null, bm.compare(*logs(), discount=0.8, resamples=5, seed=1).null)


def test_swapped_logs_are_as_far_apart():
    """The distance and its null are symmetric."""
    a, b = logs("changed")
    assert bm.compare(b, a, discount=0.8, resamples=2).distance == pytest.approx(comparison("changed").distance)


def test_identical_logs():
    """Nothing differs, whatever the split."""
    found = bm.compare([["a", "b"]] * 5, [["a", "b"]] * 7, discount=0.9, resamples=5)
    assert found.distance == 0
    assert found.p_value == 1
    assert not found.null.any()


def test_rewards_are_compared_where_there_are_any():
    """The gap between means, estimated again in every resample."""
    random = np.random.default_rng(0)
    rows = [(who, t, "ab"[t % 2], float(random.normal(t % 2, 0.1))) for who in range(40) for t in range(6)]
    frame = pd.DataFrame(rows, columns=["who", "when", "what", "worth"])
    options = {"sequence": "who", "step": "when", "state": "what", "reward": "worth"}
    a = bm.from_trajectories(frame[frame.who < 20], **options)
    b = bm.from_trajectories(frame[frame.who >= 20].assign(worth=frame.worth + 1), **options)
    found = bm.compare(a, b, discount=0.5, resamples=20)
    assert found.solution.problem.cost_name == "reward_gap"
    assert found.distance == pytest.approx(2, abs=0.2)
    assert found.p_value < 0.05
    assert found.null.std() > 0


@pytest.mark.parametrize(
    "options", [{"order": 2}, {"end": True}, {"smoothing": 0.5}, {"unseen": "drop"}], ids=lambda o: next(iter(o))
)
def test_logs_of_every_rule(options):
    """Higher orders, ends, smoothing and dropped states."""
    a, b = (bm.from_trajectories(log, **options) for log in logs("changed"))
    found = bm.compare(a, b, discount=0.7, resamples=3)
    assert found.distance > 0
    assert len(found.null) == 3


def test_other_costs():
    """An array over the union, a function, normalised or not."""
    a, b = (bm.from_trajectories(log) for log in logs())
    n = a.n_states
    cost = 2.0 * (1.0 - np.eye(n))
    double = bm.compare(a, b, discount=0.8, cost=cost, resamples=2)
    single = bm.compare(a, b, discount=0.8, cost=bm.cost.label_mismatch, resamples=2, normalised=True)
    assert double.distance == pytest.approx(2 * comparison().distance)
    assert single.distance == pytest.approx(0.2 * comparison().distance)
    assert single.null == pytest.approx(0.2 * comparison().null[:2], rel=1e-3)
    with pytest.raises(bm.errors.InvalidProblem, match="states="):
        bm.compare(a, b, discount=0.8, cost=cost[1:], resamples=2)


def test_more_data_are_added():
    """As if all sequences had been there from the start."""
    a, b = logs()
    found = bm.compare(a[:100], b[:100], discount=0.8, resamples=4).update(a[100:], b[100:])
    whole = bm.compare(a, b, discount=0.8, resamples=4)
    assert found.distance == pytest.approx(whole.distance)
    assert found.null == pytest.approx(whole.null, rel=1e-3)
    assert found.update(more_b=visits(SHOP, 5, 9)).b.n_sequences == 155


def test_paths_of_hidden_states():
    """State paths of fitted models are sequences like any other; what is said is conditional on them."""
    random = np.random.default_rng(0)
    paths = [random.integers(0, 3, (20, 15)).tolist() for _ in range(2)]
    assert bm.compare(*paths, discount=0.5, resamples=3).a.n_states == 3


BAD = {
    "one sequence": (([["a", "b"]], [["a", "b"]] * 3), {}, "InvalidData", "one sequence"),
    "empty": (([], [["a", "b"]] * 3), {}, "InvalidData", "empty"),
    "a frame": ((pd.DataFrame({"a": [1]}), [["a", "b"]] * 3), {}, "InvalidOption", "from_trajectories"),
    "a chain": ((bm.MarkovChain(np.eye(2)), [["a", "b"]] * 3), {}, "InvalidOption", "from_trajectories"),
    "no resamples": (([["a", "b"]] * 2,) * 2, {"resamples": 0}, "InvalidOption", "resamples"),
    "confidence": (([["a", "b"]] * 2,) * 2, {"confidence": 95}, "InvalidOption", "confidence"),
    "seed": (([["a", "b"]] * 2,) * 2, {"seed": -1}, "InvalidOption", "seed"),
    "discount": (([["a", "b"]] * 2,) * 2, {"discount": 1.0}, "InvalidProblem", "discount"),
    "n_jobs": (([["a", "b"]] * 2,) * 2, {"n_jobs": 0}, "InvalidOption", "n_jobs"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input(what):
    """Each error says what to do."""
    data, options, kind, message = BAD[what]
    with pytest.raises(getattr(bm.errors, kind), match=message):
        bm.compare(*data, **({"discount": 0.9, "resamples": 2} | options))


def test_too_many_states_are_refused_before_anything_is_computed(monkeypatch):
    """By the memory that their pairs would take."""
    a, b = (bm.from_trajectories(log) for log in logs())
    monkeypatch.setattr("bisimetric._support.memory.available_bytes", lambda: 200 * a.n_states**2)
    monkeypatch.setattr("bisimetric._support.memory.NEGLIGIBLE", 1)
    with pytest.raises(bm.errors.NotEnoughMemory, match="group states"):
        bm.compare(a, b, discount=0.9)
