"""The certificate in rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.couplings.witness import StoredWitness
from bisimetric.kernels.layout import Cells
from bisimetric.solvers import Solver
from tests.reference import exact_distances
from tests.strategies import problems


@given(problems())
def test_the_rational_interval_holds_the_answer_and_lies_in_the_floating_one(problem: bm.Problem) -> None:
    """Rationals need no widening: true value inside, and inside what the floating-point checker said."""
    solution = bm.solve(problem)
    proof = bm.certify_exactly(solution)
    truth = exact_distances(problem)
    for pair in np.ndindex(*problem.shape):
        assert proof.lower[pair] <= truth[pair[0]][pair[1]] <= proof.upper[pair]
        assert Fraction(float(solution.lower[pair])) <= truth[pair[0]][pair[1]] <= Fraction(float(solution.upper[pair]))


@pytest.mark.parametrize("solver", [bm.PolicyIteration(), bm.ValueIteration(), bm.LinearProgram()])
def test_every_exact_solver_is_proved_to_its_tolerance(solver: Solver) -> None:
    """The rational gap is no larger than the certified one."""
    rooms = bm.environments.small_four_rooms
    solution = bm.solve(bm.Problem(rooms("a"), rooms("b"), discount=0.9), solver)
    proof = bm.certify_exactly(solution)
    assert 0 < proof.gap <= Fraction(solution.gap)
    assert "gap" in repr(proof)


def solved() -> bm.Solution:
    """Two chains of two states."""
    chain = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]], reward=[0, 1])
    return bm.solve(bm.Problem(chain, chain, discount=0.5))


def with_cells(solution: bm.Solution, **parts: object) -> bm.Solution:
    """The solution with a coupling that somebody tampered with."""
    cells: Cells = solution._proof.witness.cells(0, 4)
    return replace(solution, _proof=solution._proof._replace(witness=StoredWitness(cells._replace(**parts))))


def test_negative_mass_is_refused() -> None:
    """A coupling with negative mass proves nothing."""
    solution = solved()
    weight = -solution._proof.witness.cells(0, 4).weight
    with pytest.raises(bm.errors.InvalidWitness, match="mass"):
        bm.certify_exactly(with_cells(solution, weight=weight))


def test_missing_mass_is_paid_for() -> None:
    """A coupling that lacks mass widens the interval, and the truth stays inside."""
    solution = solved()
    weight = solution._proof.witness.cells(0, 4).weight * (1 - 1e-6)
    proof = bm.certify_exactly(with_cells(solution, weight=weight))
    truth = exact_distances(solution.problem)
    assert all(proof.lower[p] <= truth[p[0]][p[1]] <= proof.upper[p] for p in np.ndindex(2, 2))
    assert proof.gap > bm.certify_exactly(solution).gap


def test_too_large_is_refused() -> None:
    """Rational arithmetic on a large problem is refused before it begins."""
    chain = bm.environments.four_rooms(side=20)
    problem = bm.Problem(chain, chain, discount=0.5)
    with pytest.raises(bm.errors.InvalidProblem, match="too many for rational"):
        bm.certify_exactly(bm.solve(problem, tol=0.5))


@given(problems(), st.sampled_from((None, 0.1, 1e-3)), st.integers(1, 3))
def test_unfinished_solves_are_proved_too(problem: bm.Problem, tol: float | None, max_steps: int) -> None:
    """lower ≤ V* ≤ upper, all of them rational numbers, wherever the solve stopped."""
    proof = bm.certify_exactly(bm.solve(problem, tol=tol, max_steps=max_steps, throw=False))
    truth = np.array(exact_distances(problem))
    assert (proof.lower <= truth).all()
    assert (truth <= proof.upper).all()


@settings(max_examples=100)
@given(problems(), st.sampled_from((None, 0.1)))
def test_floats_claim_no_more_than_rationals_prove(problem: bm.Problem, tol: float | None) -> None:
    """The widened float bounds contain the exact ones, except where zeros or the largest cost say more."""
    solution = bm.solve(problem, tol=tol, throw=False)
    proof = bm.certify_exactly(solution)
    lower, upper = (np.vectorize(Fraction, otypes=[object])(bound) for bound in (solution.lower, solution.upper))
    assert (lower <= proof.lower).all()
    cap = Fraction(float(problem.cost.max())) / (1 - Fraction(problem.discount))
    assert ((upper == 0) | (upper >= cap) | (proof.upper <= upper)).all()


@pytest.mark.parametrize(("name", "new"), [("left", 2), ("left", -1), ("right", 7)])
def test_cells_outside_the_supports_are_refused(name: str, new: int) -> None:
    """They are never read."""
    solution = solved()
    positions = getattr(solution._proof.witness.cells(0, 4), name).copy()
    positions[0] = new
    with pytest.raises(bm.errors.InvalidWitness, match="a cell of the supports"):
        bm.certify_exactly(with_cells(solution, **{name: positions}))


def test_any_potentials_prove_something_true() -> None:
    """Wrong potentials lower the bound and never lift it over the truth."""
    solution = solved()
    potential = solution._proof.witness.cells(0, 4).potential
    noise = np.random.default_rng(0).normal(size=potential.shape)
    proof = bm.certify_exactly(with_cells(solution, potential=potential + noise))
    assert (proof.lower <= np.array(exact_distances(solution.problem))).all()
    assert proof.gap > bm.certify_exactly(solution).gap
