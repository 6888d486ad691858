"""Solving on classes of bisimilar states: same answers, same promises, lifted couplings."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.errors import SolveInterrupted, ToleranceNotReached
from bisimetric.solving import chains
from bisimetric.solving.lumping import find_quotient
from tests import reference, strategies

ROOMS = bm.environments.four_rooms(side=8, goal="all")
THIRDS = bm.environments.matching_four_rooms()  # steps of 1/3 and 1/2: classes lump up to rounding only


@pytest.fixture(scope="module")
def rooms():
    """A problem with symmetries on both sides, solved on classes and on states."""
    problem = bm.Problem(ROOMS, bm.environments.four_rooms(side=8), discount=0.9)
    return bm.solve(problem), bm.solve(problem, quotient=False)


def test_classes_are_used(rooms):
    """Where they pay, and not where they are not wanted."""
    on_classes, on_states = rooms
    assert isinstance(on_classes._proof.witness, LiftedWitness)
    assert not isinstance(on_states._proof.witness, LiftedWitness)
    assert on_classes.problem is on_states.problem
    assert on_classes.status is bm.Status.SOLVED
    assert on_classes.history


def test_same_distances(rooms):
    """Both intervals hold the truth, so they meet; zeros are proved at the same pairs."""
    on_classes, on_states = rooms
    assert (on_classes.lower <= on_states.upper).all()
    assert (on_states.lower <= on_classes.upper).all()
    np.testing.assert_array_equal(on_classes.upper == 0, on_states.upper == 0)
    assert on_classes.distance == pytest.approx(on_states.distance, rel=1e-9)


def test_a_guess_is_reduced(classes_of_any_size):
    """A solution of the same problem is a good start."""
    problem = bm.Problem(ROOMS, ROOMS, discount=0.9)
    cold = bm.solve(problem)
    warm = bm.solve(problem, initial=cold)
    assert len(warm.history) <= len(cold.history)
    assert (warm.lower <= cold.upper).all()


@st.composite
def copied_problems(draw, exact=None, max_states=3):
    """A problem on copies of states, the problem it comes from, and whose copies they are."""
    base = draw(strategies.problems(max_states=max_states, tiny=False, gammas=strategies.tame_discounts))
    (source, xs), (target, ys) = (
        draw(strategies.with_copies(chain, exact=exact)) for chain in (base.source, base.target)
    )
    here = np.ix_(xs, ys)
    stop = None if base.stop is None else base.stop[here]
    return bm.Problem(source, target, discount=base.discount, cost=base.cost[here], stop=stop), base, here


def solved_on_classes(problem, exact_solver=None, **options):
    """The solution, with classes looked for whatever the size."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "FEWEST_PAIRS", 1)
        return exact_solver.solve(problem, **options) if exact_solver else bm.solve(problem, **options)


@given(data=st.data())
def test_copies_change_nothing(data, exact_solver):
    """Splitting states into copies leaves all distances alone, with and without classes."""
    problem, base, here = data.draw(copied_problems())
    plain = bm.solve(base)
    for solution in (solved_on_classes(problem, exact_solver), exact_solver.solve(problem, quotient=False)):
        slack = 1e-12 * max(plain.upper.max(), 0.0)  # even shares of copies are rounded
        assert (solution.lower <= plain.upper[here] + slack).all()
        assert (plain.lower[here] <= solution.upper + slack).all()
        assert solution.status is bm.Status.SOLVED


@given(st.data())
def test_copies_are_at_zero(data):
    """Exact copies in one chain are at a distance of exactly zero."""
    base = data.draw(strategies.chains(max_states=3, reward=True, tiny=False))
    chain, owners = data.draw(strategies.with_copies(base, exact=True))
    solution = solved_on_classes(bm.Problem(chain, chain, discount=0.9))
    copies = owners[:, None] == owners
    assert (solution.value[copies] == 0).all()
    assert (solution.upper[copies] == 0).all()


@given(copied_problems(max_states=2))
def test_against_rational_arithmetic(drawn):
    """The interval holds the exact distance of the full problem, and the lifted witness proves one that does."""
    problem, base, _ = drawn
    if max(problem.shape) > 4:
        problem = base
    solution = solved_on_classes(problem)
    truth = reference.exact_distances(problem)
    again = bm.certify_exactly(solution)
    for x in range(problem.shape[0]):
        for y in range(problem.shape[1]):
            assert Fraction(solution.lower[x, y]) <= truth[x][y] <= Fraction(solution.upper[x, y])
            assert again.lower[x, y] <= truth[x][y] <= again.upper[x, y]


def test_stopping_pairs(classes_of_any_size):
    """Rows of the stop mask count: states that agree in cost only are not merged."""
    chain = bm.MarkovChain(np.full((4, 4), 0.25))
    cost = np.ones((4, 4))
    stop = np.zeros((4, 4), bool)
    stop[3] = True
    solution = bm.solve(bm.Problem(chain, chain, discount=0.5, cost=cost, stop=stop))
    assert isinstance(solution._proof.witness, LiftedWitness)
    assert solution._proof.witness.class_x.tolist() == [0, 0, 0, 1]
    assert (solution.value[3] == 1.0).all()
    assert solution.coupling[3, 0].nnz == 0
    assert solution.value[0, 0] == pytest.approx(1.8)  # V = 1 + (3V/4 + 1/4)/2


def test_where_it_does_not_pay():
    """Small problems, problems without symmetry, and classes that lump too roughly for the tolerance."""
    p0 = bm.environments.four_rooms("p0")
    assert find_quotient(bm.Problem(p0, p0, discount=0.9), 1e-9) is None
    random = bm.environments.random_sparse_chain(60, 3, seed=0)
    assert find_quotient(bm.Problem(random, random, discount=0.9, cost=np.ones((60, 60))), 1e-9) is not None
    assert find_quotient(bm.Problem(random, random, discount=0.9), 1e-9) is None
    assert find_quotient(bm.Problem(ROOMS, ROOMS, discount=1 - 1e-12), 1e-9) is not None  # lumps exactly


def test_a_chain_against_itself_stays_one():
    """One small chain on both sides; two if the cost treats the sides differently."""
    both = find_quotient(bm.Problem(ROOMS, ROOMS, discount=0.9), 1e-9).small
    assert both.source is both.target
    cost = np.abs(np.subtract.outer(ROOMS.reward, ROOMS.reward))
    cost[0] += 1.0
    apart = find_quotient(bm.Problem(ROOMS, ROOMS, discount=0.9, cost=cost), 1e-9).small
    assert apart.source.n_states > apart.target.n_states


def test_rough_classes_are_refused():
    """An error of lumping that would eat the tolerance is not taken on."""
    problem = bm.Problem(THIRDS, THIRDS, discount=0.999999)
    assert find_quotient(problem, 1e-3) is not None
    assert find_quotient(problem, 1e-12) is None


def test_step_limit(classes_of_any_size):
    """A missed tolerance carries the full problem's solution."""
    problem = bm.Problem(ROOMS, ROOMS, discount=0.99)
    with pytest.raises(ToleranceNotReached) as missed:
        bm.solve(problem, bm.ValueIteration(), tol=1e-9, max_steps=1)
    assert missed.value.solution.value.shape == problem.shape


@dataclass(frozen=True, slots=True)
class Interrupted(bm.PolicyIteration):
    """Ctrl-C in a phase of the solve."""

    phase: str = "init"

    def init(self, bellman, value, tol=0.0):
        return _interrupt() if self.phase == "init" else bm.PolicyIteration().init(bellman, value, tol)

    def step(self, bellman, iterate):
        return _interrupt() if self.phase == "step" else bm.PolicyIteration().step(bellman, iterate)


@pytest.mark.parametrize("phase", ["classes", "init", "step"])
def test_interrupts(phase, monkeypatch, rooms):
    """Ctrl-C in the search for classes, before the first sweep, and after it: certified on all states."""
    problem, truth = rooms[0].problem, rooms[1]
    if phase == "classes":
        monkeypatch.setattr(chains, "find_quotient", _interrupt)
    with pytest.raises(SolveInterrupted) as stopped:
        bm.solve(problem, Interrupted(phase=phase))
    solution = stopped.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert solution.problem is problem
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()
    assert isinstance(solution._proof.witness, LiftedWitness) == (phase != "classes")
    row = problem.source.transitions[[0]].toarray()[0]
    np.testing.assert_allclose(solution.coupling[0, 1].sum(axis=1), row, atol=1e-15)


def _interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_long_search(data):
    """Copies, once more, with the file format's proof on top."""
    problem, base, here = data.draw(copied_problems(max_states=4))
    plain, solution = bm.solve(base), solved_on_classes(problem)
    slack = 1e-12 * plain.upper.max()
    assert (solution.lower <= plain.upper[here] + slack).all()
    assert (plain.lower[here] <= solution.upper + slack).all()
    test_copies_are_at_zero.hypothesis.inner_test(data)
    with tempfile.TemporaryDirectory() as folder:
        solution.save(f"{folder}/solution.npz")
        np.testing.assert_array_equal(bm.load(f"{folder}/solution.npz").value, solution.value)
