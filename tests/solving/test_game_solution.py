"""Solutions of decision processes: their witnesses, the distance between starts, and how a solve ends."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption, MissingStart, SolveInterrupted, ToleranceNotReached
from bisimetric.problems.game import Game
from bisimetric.solvers import GameIteration
from tests import strategies

# Two states, two deterministic actions: action 0 leads to state 1, action 1 stays.
GREEDY_CYCLE = bm.MDP([[[0, 1], [0, 1]], [[1, 0], [0, 1]]], [[3, 2], [1, 2]])


# ------------------------------------------------------------------ the witnesses


@given(
    strategies.mdps(n_actions=2, partial=True), strategies.mdps(n_actions=2, partial=True), st.sampled_from((0.3, 0.9))
)
def test_witnesses_of_the_lax_metric(source, target, discount):
    """Couplings have the right marginals, potentials are feasible, and both reproduce the distance at the decision."""
    solution = bm.bisimulation_metric(source, target, discount=discount, actions="matched")
    largest = max(solution.upper.max(), 1e-300)
    for s, t in product(range(source.n_states), range(target.n_states)):
        for a, b in product(np.flatnonzero(source.available[s]), np.flatnonzero(target.available[t])):
            law = solution.coupling[s, t, int(a), int(b)].toarray()
            np.testing.assert_allclose(law.sum(axis=1), source.transitions[a].toarray()[s], atol=1e-15)
            np.testing.assert_allclose(law.sum(axis=0), target.transitions[b].toarray()[t], atol=1e-15)
            f, g = solution.potentials[s, t, int(a), int(b)]
            mine = source.transitions[a].toarray()[s].nonzero()[0]
            theirs = target.transitions[b].toarray()[t].nonzero()[0]
            assert (np.add.outer(f, g) <= solution.upper[np.ix_(mine, theirs)] + 1e-9 * largest).all()
        a, b = solution.decisive[s, t]
        cost = (1 - discount) * abs(source.rewards[s, a] - target.rewards[t, b])
        expected = cost + discount * (solution.coupling[s, t].toarray() * solution.value).sum()
        assert expected == pytest.approx(solution.value[s, t], abs=1e-8 * largest)


def test_decisive_actions_and_couplings_of_rooms():
    """Names work; decisive actions are the same on both sides under "same"."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    solution = bm.bisimulation_metric(mdp, discount=0.9)
    assert (solution.decisive[..., 0] == solution.decisive[..., 1]).all()
    law = solution.coupling["(0,0)", "(0,1)", "right", "right"]
    assert law.sum() == pytest.approx(1.0, abs=1e-15)
    for place in ((0,), (0, 1, 2), (0, 1, "up", "left"), (0, 1, "up", "fly")):
        with pytest.raises(InvalidOption):
            solution.coupling[place]
    partial = bm.MDP([np.eye(1)] * 2, [[0, 1]], available=[[True, False]])
    with pytest.raises(InvalidOption, match="not available"):
        bm.bisimulation_metric(partial, discount=0.5, actions="matched").coupling[0, 0, 1, 0]


def test_no_future():
    """γ = 0: the distance is the cost, and any coupling will do."""
    solution = bm.bisimulation_metric(GREEDY_CYCLE, discount=0.0)
    assert solution.value.tolist() == [[0.0, 2.0], [2.0, 0.0]]
    assert solution.decisive[0, 1].tolist() == [0, 0]
    assert solution.coupling[0, 1].sum() == 1.0
    assert [part.tolist() for part in solution.potentials[0, 1]] == [[0.0], [0.0]]


# ------------------------------------------------------------------ starts and interrupts


def test_starts():
    """distance and interval as for chains, and an error where a start is missing."""
    mdp = bm.environments.four_rooms_mdp("p1", slip=0.1)
    other = bm.environments.four_rooms_mdp("p0", slip=0.1)
    solution = bm.bisimulation_metric(mdp, other, discount=0.9)
    assert solution.distance == solution.value[9, 21]
    assert solution.interval == (solution.lower[9, 21], solution.upper[9, 21])
    assert solution.match().shape == (40,)
    with pytest.raises(MissingStart, match="with_start"):
        bm.bisimulation_metric(GREEDY_CYCLE, discount=0.9).distance  # noqa: B018


class Stop:
    """Ctrl-C after some steps."""

    def __init__(self, at):
        self.at = at

    def __call__(self, step):
        if step.step == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("actions", ["same", "matched"])
@pytest.mark.parametrize("at", [1, 3])
def test_interrupts(actions, at):
    """The exception carries a certified solution."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    truth = bm.bisimulation_metric(mdp, discount=0.9, actions=actions)
    with pytest.raises(SolveInterrupted) as caught:
        bm.bisimulation_metric(mdp, discount=0.9, actions=actions, on_step=Stop(at))
    found = caught.value.solution
    assert found.status is bm.Status.INTERRUPTED
    assert (found.lower <= truth.upper).all()
    assert (truth.lower <= found.upper).all()
    assert len(found.history) == at
    quiet = bm.bisimulation_metric(mdp, discount=0.9, actions=actions, on_step=Stop(at), throw=False)
    np.testing.assert_array_equal(quiet.upper, found.upper)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_interrupts_inside_a_step(calls, after):
    """Ctrl-C before or after the work of a step, or of the start."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    truth = bm.bisimulation_metric(mdp, discount=0.9)
    left, usual = [calls], GameIteration()

    def interrupted(call, *arguments):
        left[0] -= 1
        if left[0] >= 0:
            return call(*arguments)
        if after:
            call(*arguments)
        raise KeyboardInterrupt

    @dataclass(frozen=True, slots=True)
    class Interrupted(GameIteration):
        def init(self, bellman, value, tol=0.0):
            return interrupted(usual.init, bellman, value, tol)

        def step(self, bellman, iterate):
            return interrupted(usual.step, bellman, iterate)

    with pytest.raises(SolveInterrupted) as caught:
        bm.bisimulation_metric(mdp, discount=0.9, solver=Interrupted())
    found = caught.value.solution
    assert (found.lower <= truth.upper).all()
    assert (truth.lower <= found.upper).all()
    assert found.coupling[0, 1].sum() == pytest.approx(1.0, abs=1e-12)


def test_missed_tolerance():
    """An explicit one raises with the solution, unless throw=False."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    with pytest.raises(ToleranceNotReached, match="tol") as caught:
        bm.bisimulation_metric(mdp, discount=0.9, tol=1e-300)
    assert caught.value.solution.relative_gap < 1e-9
    assert bm.bisimulation_metric(mdp, discount=0.9, tol=1e-300, throw=False).status is bm.Status.STALLED
    with pytest.raises(ToleranceNotReached, match="raise max_steps"):
        bm.solve(Game(mdp, mdp, discount=0.9), tol=1e-9, max_steps=2)


def test_threads_give_the_same_bits(monkeypatch):
    """One thread or three."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("BISIMETRIC_THREADS", threads)
        found.append(bm.bisimulation_metric(mdp, discount=0.9, actions="matched"))
    np.testing.assert_array_equal(found[0].value, found[1].value)
    np.testing.assert_array_equal(found[0].upper, found[1].upper)
