"""What a call of `solve_many` keeps when time runs out, when it is interrupted, and when a problem fails."""

from __future__ import annotations

import pickle
import signal
import time
from functools import partial

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import ManyInterrupted, NotEnoughMemory, ProblemFailed, ToleranceNotReached
from bisimetric.many.batch import FEWEST_TOGETHER, fitting
from bisimetric.many.work import PROBLEMS_OF_A_WAVE
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.control import Control
from bisimetric.problems.game import Game
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solvers.side_by_side import ManyPolicyIteration
from tests.many.test_solve_many import random_problem

RANDOM = np.random.default_rng(5)


def ends_in_batch(monkeypatch, number, end):
    """The solve of the batch with this number does something else first; one thread solves them."""
    begun, init = [], ManyPolicyIteration.init

    def watched(self, *args):
        begun.append(None)
        if len(begun) == number:
            end()
        return init(self, *args)

    monkeypatch.setenv("BISIMETRIC_THREADS", "1")
    monkeypatch.setattr(ManyPolicyIteration, "init", watched)
    return begun


def test_ctrl_c_in_a_batch_ends_the_call_and_keeps_the_batches_before(monkeypatch):
    """No further batch begins."""
    asked = [random_problem()] * (5 * FEWEST_TOGETHER)
    begun = ends_in_batch(monkeypatch, 3, partial(signal.raise_signal, signal.SIGINT))
    with pytest.raises(ManyInterrupted) as caught:
        bm.solve_many(asked)
    assert len(begun) == 3
    finished = [found is not None for found in caught.value.solutions]
    assert finished == [True] * (2 * FEWEST_TOGETHER) + [False] * (3 * FEWEST_TOGETHER)


def test_a_time_limit_keeps_the_batches_that_are_finished(monkeypatch):
    """The others have what is known without a solve."""
    asked = [random_problem()] * (5 * FEWEST_TOGETHER)
    bm.solve_many(asked[:2])  # compiled
    ends_in_batch(monkeypatch, 3, partial(time.sleep, 5.0))
    found = bm.solve_many(asked, time_limit=5.0)
    ended = [solution.status is bm.Status.SOLVED for solution in found]
    assert ended == [True] * (2 * FEWEST_TOGETHER) + [False] * (3 * FEWEST_TOGETHER)
    assert all(solution.status is bm.Status.TIME_LIMIT for solution in found[2 * FEWEST_TOGETHER :])


def test_after_the_time_limit_nobody_looks_at_the_rest_of_a_long_list(monkeypatch):
    """Only the first wave is divided into batches."""
    looked = []

    def counted(problems, wave):
        looked.append(len(wave))
        return fitting(problems, wave)

    monkeypatch.setattr("bisimetric.many.work.fitting", counted)
    bm.solve_many([random_problem()] * (3 * PROBLEMS_OF_A_WAVE), time_limit=1e-9)
    assert len(looked) <= 1


def of_all_kinds():
    """One problem of every kind, by name."""
    chains = [bm.MarkovChain(RANDOM.dirichlet(np.ones(3), 3), reward=[0, 1, 2], start=0) for _ in range(2)]
    rough = bm.MarkovChain(chains[0].transitions, reward=[0, 1, 2], start=0, row_error=0.1)
    ends = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    labelled = [bm.MarkovChain([row, *ends], labels=[*"abc"], start=0) for row in ([0.5, 0.3, 0.2], [0.4, 0.3, 0.3])]
    mdp = bm.as_mdp(chains[0])
    return {
        "discounted": bm.Problem(*chains, discount=0.9),
        "with row errors": bm.Problem(rough, chains[1], discount=0.9),
        "labelled": BisimilarityProblem(*labelled),
        "horizon": bm.HorizonProblem(*chains, horizon=5),
        "average": bm.AverageProblem(*chains),
        "game": Game(mdp, mdp.with_start(1), discount=0.9),
        "control": Control(mdp, discount=0.9),
        "many": ManyProblems([bm.Problem(*chains, discount=0.9)] * 2),
    }


@pytest.mark.parametrize("kind", of_all_kinds())
def test_a_late_answer_of_any_kind_is_computed_when_it_is_read(kind, monkeypatch):
    """It is that of a solve without time; nothing is computed before, and only once."""
    problem, asked = of_all_kinds()[kind], []
    at_once = bm.solve(problem, time_limit=1e-9)
    monkeypatch.setattr(
        "bisimetric.many.work.solve", lambda *args, **options: asked.append(None) or bm.solve(*args, **options)
    )
    (late,) = bm.solve_many([problem], time_limit=1e-9)
    assert isinstance(late, type(at_once))
    assert not asked
    assert late.status is at_once.status is bm.Status.TIME_LIMIT
    assert len(late.history) == len(at_once.history)
    assert late.relative_gap == at_once.relative_gap
    assert vars(late).keys() >= vars(at_once).keys()
    assert len(asked) == 1


@pytest.mark.parametrize("kind", ["discounted", "with row errors", "labelled", "horizon", "average", "game"])
def test_a_late_answer_travels_and_explains_as_others_do(kind, tmp_path):
    """Texts, copies, files and errors are those of a solve without time."""
    problem = of_all_kinds()[kind]
    at_once, (late,) = bm.solve(problem, time_limit=1e-9), bm.solve_many([problem], time_limit=1e-9)
    assert repr(late) == repr(at_once)
    for method in ("explain", "gradient"):
        assert outcome(
            lambda method=method: getattr(bm.solve_many([problem], time_limit=1e-9)[0], method)()
        ) == outcome(lambda method=method: getattr(at_once, method)())
    sent = pickle.loads(pickle.dumps(bm.solve_many([problem], time_limit=1e-9)[0]))
    assert type(sent) is type(at_once)
    for one in (late, sent):
        np.testing.assert_array_equal(one.lower, at_once.lower)
        np.testing.assert_array_equal(one.computation.upper, at_once.computation.upper)
        assert outcome(lambda one=one: one.save(tmp_path / "one.npz")) == outcome(
            lambda: at_once.save(tmp_path / "two.npz")
        )


def outcome(call):
    """What a call prints, or its error."""
    try:
        return repr(call())
    except bm.errors.BisimetricError as error:
        return repr(error)


def test_after_the_time_limit_nothing_is_solved(monkeypatch):
    """However many problems of whatever kind are left."""
    asked = list(of_all_kinds().values()) * 100
    monkeypatch.setattr("bisimetric.many.work.solve", None)
    for options in ({}, {"tol": 1e-9, "throw": False}):
        assert len(bm.solve_many(asked, time_limit=1e-9, **options)) == len(asked)
    with pytest.raises(ToleranceNotReached, match=r"first is problems\[0\].*no time was left") as caught:
        bm.solve_many(asked, tol=1e-9, time_limit=1e-9)
    assert len(caught.value.solutions) == len(asked)


class Refusing(bm.solvers.ValueIteration):
    """A solver that cannot solve problems of three rows."""

    def init(self, bellman, value, tol=0.0):
        if bellman.cost.shape[0] == 3:
            raise NotEnoughMemory("three rows need 9 EiB, available are 2 GiB; leave one out")
        return super().init(bellman, value, tol)


@pytest.mark.parametrize("throw", [True, False])
def test_a_problem_that_fails_costs_no_other(throw):
    """The others are solved; the error has them, names the place and is raised from the first."""
    asked, told = [random_problem(n) for n in (2, 3, 4, 3)], []
    with pytest.raises(
        ProblemFailed, match=r"^problems\[1\]: NotEnoughMemory: three rows .* leave one out; 2 of 4 "
    ) as caught:
        bm.solve_many(asked, Refusing(), throw=throw, on_solution=lambda k, _: told.append(k))
    error = caught.value
    assert [found is not None for found in error.solutions] == [True, False, True, False]
    assert told == [0, 2]
    assert list(error.failures) == [1, 3]
    assert error.__cause__ is error.failures[1]
    assert isinstance(error.failures[3], NotEnoughMemory)


def test_a_failure_counts_for_more_than_a_missed_tolerance():
    """The error has all solutions anyway."""
    with pytest.raises(ProblemFailed):
        bm.solve_many([random_problem(4), random_problem(3)], Refusing(), tol=1e-19)


def test_a_batch_that_fails_is_solved_one_by_one(monkeypatch):
    """So that a failure has its place."""
    monkeypatch.setattr(ManyPolicyIteration, "init", lambda *_: 1 / 0)
    for found in bm.solve_many([random_problem() for _ in range(3)]):
        assert found.status is bm.Status.SOLVED


def test_a_late_answer_that_fails_names_its_place():
    """When it is read, as there was no time before."""
    late = bm.solve_many([random_problem(3)] * 2, Refusing(), time_limit=1e-9)
    with pytest.raises(ProblemFailed, match=r"^problems\[1\]: NotEnoughMemory: three rows") as caught:
        repr(late[1])
    assert isinstance(caught.value.__cause__, NotEnoughMemory)
