"""What a solve tells those who look on, and that it changes nothing."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric._support.watching import watched
from bisimetric.solving import watch
from tests._support.test_watching import Notes

ROOMS = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0"), discount=0.95)


@pytest.fixture
def always(monkeypatch):
    """A look after every step."""
    monkeypatch.setattr(watch, "NO_LOOK_BEFORE", 0.0)
    monkeypatch.setattr(watch, "LOOK_SHARE", float("inf"))
    monkeypatch.setattr(watch, "FIRST_LOOK_SHARE", float("inf"))


@pytest.mark.parametrize("solver", ["policy-iteration", "value-iteration", "sinkhorn-value-iteration"])
def test_every_interval_holds(always, solver):
    """A priori and at every look; the estimate of the last step is the distance."""
    notes = Notes()
    exact = bm.solve(ROOMS).distance
    with watched(notes):
        solution = bm.solve(ROOMS, solver)
    assert [step for step, _, _ in notes.steps] == [step.step for step in solution.history]
    assert len(notes.bounds) > 2
    for (low, high), gap in notes.bounds:
        assert low <= exact <= high
        assert high - low <= gap * (1 + 1e-12)
    if solver != "sinkhorn-value-iteration":
        assert notes.steps[-1][2] == pytest.approx(exact, abs=1e-6)


def test_answers_do_not_depend_on_watchers(always):
    """Not by a bit, and nothing enters the history."""
    alone = bm.solve(ROOMS)
    with watched(Notes()):
        seen = bm.solve(ROOMS)
    assert (alone.value == seen.value).all()
    assert (alone.upper == seen.upper).all()
    assert [step._replace(seconds=0.0) for step in alone.history] == [
        step._replace(seconds=0.0) for step in seen.history
    ]


def test_short_solves_are_not_looked_at():
    """Nothing but what holds a priori is told."""
    notes = Notes()
    with watched(notes):
        bm.solve(ROOMS)
    assert len(notes.bounds) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda: bm.bisimulation_metric("gym:FrozenLake-v1", "gym:FrozenLake-v1,is_slippery=false", discount=0.9),
        lambda: bm.bisimilarity_distance("four-rooms:p1", "four-rooms:p0", discount=0.99),
        lambda: bm.as_mdp("gym:FrozenLake-v1").optimal_policy(discount=0.9),
        lambda: bm.distance(
            bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1]), bm.MarkovChain([[1.0]], reward=[0]), discount=0.9
        ),
    ],
)
def test_all_kinds_of_questions(always, ask):
    """Games, labels, policies, and chains without starts."""
    notes = Notes()
    with watched(notes):
        ask()
    assert notes.steps
    assert notes.bounds


def test_the_callers_function_is_told_too(always):
    """Every step once."""
    steps = []
    with watched(Notes()):
        solution = bm.solve(ROOMS, on_step=steps.append)
    assert tuple(steps) == solution.history


@pytest.mark.parametrize(
    "ask",
    [
        lambda a, b: bm.solve(bm.HorizonProblem(a, b, horizon=7)),
        lambda a, b: bm.average_distance(a, b),
    ],
)
def test_values_that_are_no_distances_are_not_told(always, ask):
    """Over a horizon they belong to later times, in the long run they are relative; certified intervals hold."""
    notes = Notes()
    with watched(notes):
        solution = ask(ROOMS.source, ROOMS.target)
    assert {estimate for _, _, estimate in notes.steps} == {None}
    for interval, _ in notes.bounds:
        assert interval is None or interval[0] <= solution.distance <= interval[1]
