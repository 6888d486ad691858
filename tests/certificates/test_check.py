"""What the checker proves, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.certificates.check import a_priori, check
from bisimetric.couplings.witness import IndependentWitness, StoredWitness
from bisimetric.errors import InvalidWitness
from bisimetric.kernels.layout import Cells
from bisimetric.operators.bellman import Bellman
from tests import reference, strategies

ONE = bm.MarkovChain([[1.0]])

PLAIN = bm.Problem(ONE, ONE, discount=0.9, cost=[[1.0]])


def one_cell(weight, potential=0.0, left=0, right=0):
    """A witness for a 1×1 problem."""
    return StoredWitness(
        Cells(
            np.array([0, 1]),
            np.array([left], np.int32),
            np.array([right], np.int32),
            np.array([weight]),
            np.array([0, 1]),
            np.array([potential]),
        )
    )


TRUTH = 1 / (1 - Fraction(0.9))


@pytest.mark.parametrize("weight", [1.0, 1 - 1e-7, 1 + 1e-7, 1 - 2.0**-53, 1 - 4e-7])
@pytest.mark.parametrize("value", [10.0, 9.0, 0.0])
def test_mass_that_is_missing_is_paid_for(weight, value):
    """A coupling with a little too much or too little mass widens the interval; it never misleads."""
    certificate = check(PLAIN, Bellman.of(PLAIN), np.array([[value]]), one_cell(weight))
    assert Fraction(certificate.lower[0, 0]) <= TRUTH <= Fraction(certificate.upper[0, 0])


@pytest.mark.parametrize(
    "witness",
    [
        one_cell(0.5),
        one_cell(1.5),
        one_cell(-1.0),
        one_cell(np.nan),
        one_cell(np.inf),
        one_cell(1.0, left=1),
        one_cell(1.0, right=-1),
        one_cell(1.0, potential=np.nan),
        one_cell(1.0, potential=np.inf),
    ],
    ids=["half", "more", "negative", "nan", "inf", "left", "right", "nan g", "inf g"],
)
def test_wrong_witnesses_are_refused(witness):
    """Wrong marginals, negative mass, cells outside the supports, potentials that are no numbers."""
    with pytest.raises(InvalidWitness, match="in a marginal"):
        check(PLAIN, Bellman.of(PLAIN), np.array([[10.0]]), witness)


@given(st.data(), strategies.problems(), st.floats(-10.0, 10.0))
def test_any_valid_witness_gives_a_true_interval(data, problem, bias):
    """The independent coupling with arbitrary potentials, at any value, proves something true."""
    if not problem.cost.any():
        return
    bellman = Bellman.of(problem)
    n, m = problem.shape
    value = np.array(data.draw(st.lists(st.floats(-2.0, 20.0), min_size=n * m, max_size=n * m))).reshape(n, m)
    cells = IndependentWitness(bellman).cells(0, n * m)
    noise = data.draw(st.lists(st.floats(-3.0, 3.0), min_size=len(cells.potential), max_size=len(cells.potential)))
    witness = StoredWitness(cells._replace(potential=np.array(noise) + bias))
    certificate = check(problem, bellman, value, witness)
    truth = reference.exact_distances(problem)
    for x in range(n):
        for y in range(m):
            assert Fraction(certificate.lower[x, y]) <= truth[x][y] <= Fraction(certificate.upper[x, y])


@pytest.mark.parametrize("value", [(0.0, 0.0), (20.0, 5.0), (1.9, 1.0), (3.0, 0.0)])
def test_stops_let_no_shift_go_on(value):
    """From the first pair the game moves to the second, where it stops: V = 1 + 0.9, whatever value is checked.

    A residual of one sign everywhere would go on forever in a game without stops; here it does not.
    """
    source = bm.MarkovChain([[0, 1], [0, 1]])
    problem = bm.Problem(source, ONE, discount=0.9, cost=[[1.0], [1.0]], stop=[[False], [True]])
    bellman = Bellman.of(problem)
    certificate = check(problem, bellman, np.array(value)[:, None], IndependentWitness(bellman))
    truth = 1 + Fraction(0.9)
    assert Fraction(certificate.lower[0, 0]) <= truth <= Fraction(certificate.upper[0, 0])
    assert certificate.lower[1, 0] == certificate.upper[1, 0] == 1.0


def assert_encloses(answer, truth):
    """Every bound, in rational arithmetic."""
    for x, row in enumerate(truth):
        for y, true in enumerate(row):
            assert Fraction(answer.lower[x, y].item()) <= true <= Fraction(answer.upper[x, y].item())


@pytest.mark.parametrize("discount", [0.0, 0.1, 0.2, 0.3, 0.45, 0.9, 5e-324])
@pytest.mark.parametrize("scale", [1.0, 1e-300, 5e-324])
def test_distances_that_are_paid_at_once(discount, scale):
    """States 0 and 1 move to state 2, so d = (1-γ)|r - r'|: no bound is that product as rounded."""
    for rewards in ([0.0, 1.0, 0.5], [0.1, 0.7, 0.5], [1e-17, 1.0, 0.5], [-0.3, 0.9, 0.5], [0.0, 3.0, 1.0]):
        chain = bm.MarkovChain(np.eye(3)[[2, 2, 2]], reward=np.array(rewards) * scale)
        for normalised in (True, False):
            problem = bm.Problem(chain, chain, discount=discount, normalised=normalised)
            truth = reference.exact_distances(problem, reference.exact_gaps(problem))
            assert_encloses(bm.solve(problem), truth)
            stop = ~np.eye(3, dtype=bool)
            ended = bm.Problem(chain, chain, discount=discount, normalised=normalised, stop=stop)
            solution = bm.solve(ended)
            assert_encloses(solution, reference.exact_gaps(ended))
            assert (solution.upper.diagonal() == 0).all()
            assert_encloses(
                bm.solve(bm.Problem(chain, chain, discount=discount, cost=problem.cost, stop=stop)),
                [[Fraction(cost) for cost in row] for row in problem.cost.tolist()],
            )


def test_exact_costs_stay_exact():
    """An array of costs is nothing to widen for: V = c at stops and without a future, to the last bit."""
    cost, stop = np.array([[0.1, 0.7], [0.3, 0.0]]), np.array([[False, True], [True, True]])
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    for solution in (
        bm.solve(bm.Problem(chain, chain, discount=0.0, cost=cost)),
        bm.solve(bm.Problem(chain, chain, discount=0.9, cost=cost, stop=stop)),
    ):
        where = np.ones((2, 2), bool) if solution.problem.stop is None else stop
        assert (solution.lower[where] == cost[where]).all()
        assert (solution.upper[where] == cost[where]).all()
    assert bm.solve(bm.Problem(chain, chain, discount=0.0)).upper.tolist() == [[0, 1], [1, 0]]


@given(strategies.chains(reward=True), strategies.chains(reward=True), st.floats(0.0, 1 - 1e-9), st.booleans())
def test_intervals_are_about_rewards(source, target, discount, normalised):
    """In rational arithmetic from the rewards on; on the way, at the end, and before anything is solved."""
    problem = bm.Problem(source, target, discount=discount, normalised=normalised)
    truth = reference.exact_distances(problem, reference.exact_gaps(problem))
    assert_encloses(bm.solve(problem, throw=False), truth)
    assert_encloses(bm.certify(problem, problem.cost), truth)
    if discount > 0 and problem.cost.any():
        assert_encloses(a_priori(problem, Bellman.of(problem)), truth)


def test_the_largest_numbers():
    """Bounds that would overflow before they are cut do not: no warning, and the truth inside."""
    source, target = bm.MarkovChain([[0.3, 0.7], [0.6, 0.4]]), bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]])
    cost = np.array([[0, 1], [2, 0.5]]) * 1e290
    problem = bm.Problem(source, target, discount=float(np.nextafter(1, 0)), cost=cost)
    assert_encloses(bm.solve(problem, throw=False), reference.exact_distances(problem))
