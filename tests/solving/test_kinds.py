"""The table of kinds: every problem finds its question."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.problems.control import Control
from bisimetric.problems.game import Game
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solving.kinds import KINDS

CHAIN = bm.environments.grid_3x3()
LABELLED = bm.MarkovChain(CHAIN.transitions, labels=[*"abcabcabc"])
PROBLEMS = {
    bm.Problem: bm.Problem(CHAIN, CHAIN, discount=0.9),
    BisimilarityProblem: BisimilarityProblem(LABELLED, LABELLED),
    Game: Game(bm.as_mdp(CHAIN), bm.as_mdp(CHAIN), discount=0.9),
    Control: Control(bm.as_mdp(CHAIN), discount=0.9),
    bm.AverageProblem: bm.AverageProblem(CHAIN, CHAIN),
    bm.HorizonProblem: bm.HorizonProblem(CHAIN, CHAIN, horizon=5),
    ManyProblems: ManyProblems([bm.Problem(CHAIN, CHAIN, discount=0.9), bm.Problem(CHAIN, CHAIN, discount=0.9)]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_solved_by_its_own_solver(kind):
    """`solve` with nothing but a problem answers it; adding a kind is one more problem above."""
    answer = bm.solve(PROBLEMS[kind])
    for part in answer.solutions() if kind is ManyProblems else [answer]:
        assert part.reached_tol
        assert part.solver == KINDS[kind].default_solver.name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_complete(kind):
    """It leaves no part of a question out."""
    assert not inspect.isabstract(KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_names_the_class_of_its_answers(kind):
    """Fields have no defaults, which `MadeLater` would take for values."""
    answers = KINDS[kind].answers
    assert type(bm.solve(PROBLEMS[kind])) is answers
    for field in dataclasses.fields(answers):
        assert field.default is field.default_factory is dataclasses.MISSING, field.name


def test_a_subclass_of_a_problem_is_that_problem():
    """Whoever extends a problem keeps its question."""

    class Named(bm.Problem):
        """The same problem with another name."""

    named = Named(CHAIN, CHAIN, discount=0.9)
    assert np.array_equal(bm.solve(named).value, bm.solve(PROBLEMS[bm.Problem]).value)
