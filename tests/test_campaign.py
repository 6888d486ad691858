"""A short version of the search for wrong answers, and tests of its oracles."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

import bisimetric as bm
from tests import reference
from tests.campaign import exact_games, examine, oracles, run
from tests.campaign.cases import make_case
from tests.campaign.checks import CHECKS
from tests.campaign.findings import intervals
from tests.campaign.kinds import KINDS
from tests.campaign.oracles import Ratio


def _fractions(found: list[Ratio]) -> list[Fraction]:
    return [Fraction(*ratio) for ratio in found]


def _flat(table: list[list[Fraction]]) -> list[Fraction]:
    return [entry for row in table for entry in row]


def test_nothing_is_found_in_a_short_campaign() -> None:
    """The first problems of the long search, on every run."""
    report = run(1, range(80))
    assert set(report.checks) == set(CHECKS)
    assert set(report.problems) == set(KINDS)
    assert [str(trouble) for trouble in report.troubles] == []


@pytest.mark.slow
def test_nothing_is_found_in_a_longer_campaign() -> None:
    """Some minutes of the whole search are a command; this is what a run of all tests can afford."""
    report = run(2, range(2000))
    assert [str(trouble) for trouble in report.troubles] == []
    assert set(report.checks) == set(CHECKS)


def test_a_problem_can_be_examined_again() -> None:
    """The same seed and number give the same problem, alone or among others, and the same checks."""
    first, again = make_case(3, 14), make_case(3, 14)
    assert repr(first) == repr(again)
    np.testing.assert_array_equal(first.source.transitions.toarray(), again.source.transitions.toarray())
    assert make_case(3, 14, "cycle").kind == "cycle"
    among = run(3, range(13, 16)).checks
    alone = [examine(3, number).checks for number in range(13, 16)]
    assert among == sum(alone[1:], alone[0])


@pytest.mark.parametrize("seed", range(30))
def test_exact_distances_equal_those_from_listed_vertices(seed: int) -> None:
    """Two rational oracles that share nothing but the fixed point."""
    random = np.random.default_rng(seed)
    kind, other = random.choice(["sparse", "ties", "tiny", "cycle", "path", "walk"], 2)
    source, target = (
        bm.MarkovChain.normalised(KINDS[str(name)].rows(random, int(random.integers(1, 4)))) for name in (kind, other)
    )
    shape = source.n_states, target.n_states
    stop = random.random(shape) < 0.2
    discount = float(random.choice([0.0, 0.5, 0.9, 1 - 1e-9]))
    problem = bm.Problem(source, target, discount=discount, cost=random.random(shape), stop=stop)
    found = oracles.distances(
        oracles.rows_of(source.transitions),
        oracles.rows_of(target.transitions),
        oracles.whole(problem.cost.ravel()),
        discount,
        stop=stop.ravel().tolist(),
        hint=random.random(stop.size).tolist(),
    )
    assert _fractions(found) == _flat(reference.exact_distances(problem))


def test_sums_along_paths_equal_elimination() -> None:
    """The closed form around a cycle with a tail and a slip, and where it stops."""
    half = oracles.GRAINS // 2
    moves = [[(1, oracles.GRAINS)], [(2, half), (1, half)], [(1, oracles.GRAINS)], [(0, half), (3, half)], []]
    costs = oracles.Costs([3, 1, 4, 1, 5], 7)
    found = _fractions(oracles.linear_values(moves, costs, 0.9))
    g, unit = (0.9).as_integer_ratio()
    plain = oracles._eliminate(moves, costs.above, g, unit * oracles.GRAINS)
    assert found == [Fraction(above, 7 * below) for above, below in plain]
    assert found[4] == Fraction(5, 7)


@pytest.mark.parametrize("matched", [False, True])
def test_exact_games_equal_value_iteration(matched: bool) -> None:
    """The rational metric of decision processes against plain sweeps over listed vertices."""
    random = np.random.default_rng(5)
    mdps = []
    for n in (2, 3):
        rows = [KINDS["ties"].rows(random, n) for _ in range(2)]
        mdps.append(bm.MDP([weights / weights.sum(axis=1, keepdims=True) for weights in rows], random.random((n, 2))))
    found = exact_games.game_distances(*mdps, 0.9, matched=matched)
    np.testing.assert_allclose(
        [float(v) for v in found], reference.game_distances(*mdps, 0.9, matched=matched).ravel(), rtol=1e-10
    )


def test_the_campaign_sees_a_wrong_interval() -> None:
    """An interval that is moved by an ulp beyond the truth is reported, and one at NaN is not."""
    for number in range(20):
        case = make_case(0, number)
        solution = case.solution
        moved = dataclasses.replace(solution.certificate, lower=np.nextafter(solution.upper, np.inf))
        assert list(intervals("moved", case.truth, moved.lower, np.full(case.shape, np.inf)))
    nothing = np.full(case.shape, np.nan)
    assert not list(intervals("nothing", case.truth, nothing, nothing, nothing))
