"""The search for settings: the same grid, the same limits, and what it finds does what it says."""

from itertools import pairwise

import pytest

import bisimetric as bm
from bisimetric.experiments.methods import LADDERS, METHODS, PAPER, Setting, options
from bisimetric.experiments.rounds import answer, relative_error, truth
from bisimetric.experiments.running_time import random_problem
from bisimetric.experiments.search import STEP, Found, _first_rounds, grid_of_rounds, search


@pytest.fixture(scope="module")
def problem():
    """Two dense chains of six states."""
    return random_problem("uniform", 6, 0, 0.8)


def test_ladders_have_similar_sizes():
    """Sixteen or twenty settings each, with different names and options; the baselines have no fewer."""
    assert tuple(LADDERS) == METHODS
    assert [len(ladder) for ladder in LADDERS.values()] == [16, 16, 20, 20]
    for ladder in LADDERS.values():
        assert len({str((options(one.solver), one.phases)) for one in ladder.values()}) == len(ladder)
    assert sum(one.needs_rounds for one in LADDERS["SVI"].values()) == 6
    assert not any(one.needs_rounds for one in LADDERS["dWL"].values())


def test_the_grid():
    """Every number is at most STEP times the one before, or one more."""
    grid = grid_of_rounds()
    assert grid[:5] == [1, 2, 3, 4, 5]
    assert all(a < b <= STEP * a + 2 for a, b in pairwise(grid))


@pytest.mark.parametrize("method", METHODS)
def test_what_is_found(problem, method):
    """Settings reach their targets with the rounds found; a smaller error takes longer; the fastest comes first."""
    exact = truth(problem)
    found = search(problem, exact, LADDERS[method], (0.05, 0.01), 0.3)
    assert found[0.05][0].seconds <= found[0.01][0].seconds
    for target, settings in found.items():
        assert [one.seconds for one in settings] == sorted(one.seconds for one in settings)
        best = settings[0]
        again = answer(problem, LADDERS[method][best.setting].with_rounds(best.rounds))
        assert relative_error(again.value, exact) == pytest.approx(best.error, rel=1e-2, abs=1e-5)
        assert best.error <= target


def test_what_is_not_reached(problem):
    """An error that no setting reaches gives an empty list, within the limit."""
    exact = truth(problem)
    rough = {"rough": Setting(bm.SinkhornBellman(regularisation=1.0, projections=4))}
    assert search(problem, exact, rough, (1e-6,), 0.05) == {1e-6: []}


def test_the_best_come_first():
    """From a quarter of their rounds, the hardest target's first; then the others, from one round."""
    ladder = {str(k): Setting(PAPER["dWL"]) for k in range(4)}
    earlier = {0.1: [Found("3", 40, 1.0, 0.1), Found("1", 41, 1.0, 0.1)], 0.01: [Found("2", 3, 1.0, 0.01)]}
    assert list(_first_rounds(earlier, ladder).items()) == [("2", 1), ("3", 10), ("1", 10), ("0", 1)]
    assert _first_rounds(None, ladder) == dict.fromkeys(ladder, 1)


def test_few_settings_are_enough_unless_they_miss(problem):
    """The others are tried only for an error that the known ones do not reach."""
    exact = truth(problem)
    names = ["ε = 0.1, 10 projections", "ε = 0.003, 100 projections"]
    ladder = {name: LADDERS["dWL"][name] for name in names}
    earlier = {0.2: [Found(names[0], 1, 0.1, 0.1)]}
    easy = search(problem, exact, ladder, (0.2,), 0.3, earlier, few=True)
    assert [one.setting for one in easy[0.2]] == names[:1]
    hard = search(problem, exact, ladder, (0.2, 0.01), 0.3, earlier, few=True)
    assert hard[0.01][0].setting == names[1]
