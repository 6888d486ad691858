"""Two phases: steps, then projections that make couplings feasible; what they reach, and when there is only one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.sinkhorn.phases import FEWEST_ROUNDS, OVER_RELAXATION, Phases

METHODS = (bm.SinkhornValueIteration, bm.SinkhornPolicyIteration)
env = bm.environments


def errors(problem, solver, truth):
    """Relative errors at the starts, in the mean and at the largest; starts may be missing."""
    value = bm.solve(problem, solver).value
    off = [(value - truth).mean() / truth.mean(), (value - truth).max() / truth.max()]
    if problem.source.start is not None:
        at = np.outer(problem.source.start, problem.target.start)
        off.append(((value - truth) * at).sum() / (truth * at).sum())
    return off


def dense(n, m, seed, discount):
    """Random dense chains of n and m states."""
    random = np.random.default_rng(seed)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(k), k), start=0) for k in (n, m)]
    return bm.Problem(*chains, discount=discount, cost=random.random((n, m)))


def periodic(discount):
    """A cycle of six states against one of nine with a chance to stay, n ≠ m."""
    random = np.random.default_rng(3)
    round_trip = [np.roll(np.eye(k), 1, axis=1) for k in (6, 9)]
    chains = bm.MarkovChain(round_trip[0]), bm.MarkovChain(0.75 * round_trip[1] + 0.25 * np.eye(9))
    return bm.Problem(*chains, discount=discount, cost=random.random((6, 9)))


PROBLEMS = {  # none of them was used to choose constants
    "rooms": lambda: bm.Problem(env.small_four_rooms("b"), env.four_rooms("p6"), discount=0.9),
    "dense": lambda: dense(12, 15, 11, 0.97),
    "sparse": lambda: bm.Problem(*(env.random_sparse_chain(14, 3, seed=k) for k in (41, 42)), discount=0.6),
    "periodic": lambda: periodic(0.9),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_default_is_closer_than_plain_rounds(name):
    """In every norm at most 1.5 times the error of the best plain schedule, and four times closer in the mean."""
    problem = PROBLEMS[name]()
    truth = bm.solve(problem).value
    make = bm.SinkhornValueIteration.as_in_paper
    plain = [errors(problem, make(step), truth) for step in ("auto", 1.0, bm.Decaying(10.0))]
    best = np.min(plain, axis=0)
    for method in METHODS:
        found = np.maximum(errors(problem, method(), truth), 1e-12)
        assert (found <= 1.5 * np.maximum(best, 1e-9)).all()
        assert np.exp(np.log(found / np.maximum(best, 1e-9)).mean()) <= 1 / 4


def test_few_rounds_all_take_steps():
    """Below FEWEST_ROUNDS there is one phase, with decaying steps; with an explicit number of projections two."""
    problem = bm.Problem(env.small_four_rooms("a"), env.small_four_rooms("b"), discount=0.9)
    for rounds in (1, 2, FEWEST_ROUNDS - 1):
        assert Phases.split(rounds, None) == (rounds, rounds)
        few, plain = (bm.solve(problem, bm.SinkhornValueIteration(rounds=rounds, projections=p)) for p in (None, 0))
        assert np.array_equal(few.value, plain.value)
    assert Phases.split(FEWEST_ROUNDS, None).projections > 0
    assert Phases.split(750, None) == (250, 750)
    tiny = bm.solve(problem, bm.SinkhornValueIteration(rounds=2, projections=1))
    assert len(tiny.history) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"projections": 750}, "projections is 750, expected a whole number from 0 to 749"),
        ({"rounds": 1, "projections": 1}, "projections is 1, expected a whole number from 0 to 0"),
        ({"projections": -1}, "projections is -1"),
        ({"projections": 2.5}, "projections is 2.5"),
        ({"projections": 5, "output": "average"}, "leave projections=None"),
        ({"projections": 5, "step_size": bm.FromTheorem(1.0)}, "rounds are set by FromTheorem"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_projections_that_do_not_fit(method, options, message):
    """Said when the solver is made."""
    with pytest.raises(InvalidOption, match=message):
        method(**options)


def test_explicit_steps_and_averages_are_plain():
    """A step size of one's own, or the averaged output, has no projections unless they are asked for."""
    for options in ({"step_size": 1.0}, {"step_size": bm.Decaying(1.0)}, {"output": "average", "rounds": 250}):
        for method in METHODS:
            assert method(**options)._schedule(Bellman.of(dense(3, 3, 0, 0.5))).phases.projections == 0


def test_marks():
    """Before a mark and at the end one side is feasible; no kernel is replaced in the last two eighths."""
    phases = Phases.split(750, None)
    marks = [k for k in range(phases.steps + 1, phases.rounds + 1) if phases.is_mark(k)]
    assert marks[0] == phases.steps + 1
    assert set(np.diff(marks)) == {phases.spacing} == {62}
    limits = [phases.feasible(k) for k in marks]
    assert limits[0] == 0.0
    assert limits[1:7] == sorted(limits[1:7], reverse=True)
    assert limits[1] == pytest.approx(1e-3 * 438 / 500)
    assert min(limits[1:7]) > 0.0 == max(limits[7:])
    plain = {k for k in range(phases.steps + 1, 751) if phases.relaxation(k, OVER_RELAXATION) == 1.0}
    assert plain == {k - 1 for k in marks[1:]} | {749, 750}


def test_the_pace_follows_the_misfit():
    """Towards the goal, by at most a factor of two at once and of a hundred in all."""
    phases = Phases(250, 750)
    assert [k for k in range(1, 300) if phases.adjusts_pace(k)] == [3, 5, 9, 17, 33, 65, 129]
    goal = 2.4 / np.sqrt(250)
    assert phases.adjusted(1.0, goal / 1.5) == pytest.approx(1.5)
    assert phases.adjusted(1.0, 9.0) == 0.5
    assert phases.adjusted(1.0, 0.0) == 2.0
    assert phases.adjusted(100.0, 0.0) == 100.0
    assert phases.adjusted(0.01, 9.0) == 0.01


@pytest.mark.parametrize("method", METHODS)
def test_answers_scale_with_the_cost(method):
    """Two phases are scale-free: a power of two changes no digit."""
    problem = dense(4, 3, 5, 0.9)
    one = bm.solve(problem, method(rounds=240))
    for scale in (2.0**-990, 2.0**990):
        scaled = bm.Problem(problem.source, problem.target, discount=0.9, cost=problem.cost * scale)
        assert np.array_equal(one.value * scale, bm.solve(scaled, method(rounds=240)).value)


def test_stops_and_self_distances():
    """With a stop set, and for a chain against itself: intervals hold and errors are small."""
    chain = env.random_sparse_chain(10, 3, seed=7)
    labels = bm.MarkovChain(chain.transitions, labels=[str(k % 3) for k in range(10)])
    stop = np.random.default_rng(0).random((10, 10)) < 0.3
    for problem in (
        bm.Problem(chain, chain, discount=0.9),
        bm.Problem(chain, chain, discount=0.9, cost=np.random.default_rng(1).random((10, 10)), stop=stop),
        bm.Problem(labels, labels, discount=0.8, cost=bm.cost.label_mismatch),
        bm.Problem(chain, chain, discount=0.9, cost=np.ones((10, 10)), stop=np.ones((10, 10), bool)),
    ):
        exact = bm.solve(problem)
        for method in METHODS:
            found = bm.solve(problem, method(rounds=300))
            assert (found.lower <= exact.upper).all()
            assert (exact.lower <= found.upper).all()
            assert (found.value - exact.value).max() <= 0.02 * exact.value.max()


def test_a_growing_misfit_ends_over_relaxation():
    """From a mark at which the misfit is larger than at the last one, projections are plain."""
    problem = dense(6, 6, 2, 0.9)
    solver = bm.SinkhornValueIteration(rounds=400, projections=300)
    bellman = Bellman.of(problem)
    iterate = solver.init(bellman, None)
    while iterate.k < 100:
        iterate = solver.step(bellman, iterate)
    assert solver.step(bellman, iterate).relaxation == OVER_RELAXATION
    smaller = replace(iterate, misfit=0.0)
    assert solver.step(bellman, smaller).relaxation == 1.0
