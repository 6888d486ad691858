"""Bounds for all chains within radii: no such chain leaves them, and they are no wider than the uniform term."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric._support.frozen import changed
from bisimetric.errors import InvalidChain, InvalidProblem
from tests import strategies
from tests.reference.robust import least_transport, moved_rows

RADII = st.one_of(st.sampled_from((0.0, 1e-6, 0.01, 0.1, 1.0, 2.0)), st.floats(0.0, 2.0))
REWARD = [0.0, 1.0, 3.0, 4.0]


def uncertain(problem, errors, start_errors=(0.0, 0.0)):
    """The same problem between chains with row errors."""
    made = [
        changed(chain, row_error=np.asarray(error, float), start_error=off)
        for chain, error, off in zip((problem.source, problem.target), errors, start_errors, strict=True)
    ]
    return problem.part(*made, problem.cost, problem.stop)


@st.composite
def problems(draw, **options):
    """A problem whose rows are known up to errors, of which some are zero or everything."""
    problem = draw(strategies.problems(**options))
    errors = [
        draw(st.lists(RADII, min_size=chain.n_states, max_size=chain.n_states))
        for chain in (problem.source, problem.target)
    ]
    start = [draw(RADII) if options.get("start") else 0.0 for _ in range(2)]
    return uncertain(problem, errors, start)


def neighbour(problem, random, value):
    """A problem between chains within the errors: mass is moved at random, or where it changes most."""
    chains, by = [], random.integers(3)
    for axis, chain in enumerate((problem.source, problem.target)):
        along = None if by == 0 else (1 - 2 * (by == 1)) * value.mean(axis=1 - axis)
        if by and axis:  # the other chain moves the other way
            along = -along
        rows = moved_rows(chain.transitions.toarray(), chain.row_error, random, along)
        start = chain.start
        if start is not None:
            start = moved_rows([start], [chain.start_error], random, along)[0]
        chains.append(bm.MarkovChain.normalised(rows, start=start))
    return problem.part(*chains, problem.cost, problem.stop)


def assert_inside(problem, solution, other):
    """The true distances of `other` are between the bounds."""
    truth = bm.solve(other)
    slack = 1e-12 * solution.upper.max() / (1.0 - problem.discount)  # moving mass in floats rounds
    assert (solution.lower <= truth.upper + slack).all()
    assert (solution.upper >= truth.lower - slack).all()
    if problem.source.start is not None:
        assert solution.interval[0] <= truth.interval[1] + slack
        assert solution.interval[1] >= truth.interval[0] - slack


@given(problems(start=True, tiny=False), st.integers(0, 1000))
def test_no_chain_within_the_errors_leaves_the_bounds(problem, seed):
    """At all pairs and from the starts, for the stored chains, moves at random and moves against the bounds."""
    solution, random = bm.solve(problem), np.random.default_rng(seed)
    assert_inside(problem, solution, problem.as_given())
    for _ in range(4):
        assert_inside(problem, solution, neighbour(problem, random, solution.value))


@pytest.mark.parametrize(("n", "m", "discount", "error"), [(6, 5, 0.9, 0.1), (5, 7, 0.99, 0.01), (4, 4, 0.5, 0.6)])
def test_larger_chains(n, m, discount, error):
    """Sparse rows, radii that differ from row to row, many neighbours."""
    random = np.random.default_rng(n)
    matrices = [random.dirichlet(np.full(k, 0.4), k) * (random.random((k, k)) < 0.7) + 1e-3 * np.eye(k) for k in (n, m)]
    chains = [
        bm.MarkovChain.normalised(matrix, start=0, row_error=error * random.random(len(matrix)), start_error=error)
        for matrix in matrices
    ]
    problem = bm.Problem(*chains, discount=discount, cost=np.abs(np.subtract.outer(np.arange(n), np.arange(m))))
    solution = bm.solve(problem)
    assert solution.status is bm.Status.SOLVED
    for _ in range(40):
        assert_inside(problem, solution, neighbour(problem, random, solution.value))


@given(problems(stop=False, gammas=strategies.tame_discounts, scale=st.just(1.0)))
def test_never_wider_than_the_uniform_term(problem):
    """γ/(1-γ) · ½(max r_x + max r_y) · span V on either side of the distances."""
    solution = bm.solve(problem)
    value, discount = solution.value, problem.discount
    half = 0.5 * (problem.source.row_error.max() + problem.target.row_error.max())
    uniform = discount / (1.0 - discount) * half * np.ptp(value)
    slack = 1e-9 * (1.0 + value.max()) / (1.0 - discount)
    assert (solution.upper <= value + uniform + slack).all()
    assert (solution.lower >= value - uniform - slack).all()


@given(problems(max_states=2, stop=False, gammas=st.floats(0.1, 0.8), scale=st.just(1.0), tiny=False))
def test_below_the_best_case_by_linear_programs(problem):
    """`lower` is no more than the fixed point of the smallest transport within the radii."""
    solution = bm.solve(problem)
    P, Q = (chain.transitions.toarray() for chain in (problem.source, problem.target))
    halves = [np.minimum(chain.row_error / 2, 1.0) for chain in (problem.source, problem.target)]
    least = solution.lower
    for _ in range(3):  # the operator of the best case may not take the bound below itself
        future = [
            [least_transport(P[x], Q[y], halves[0][x], halves[1][y], least) for y in range(len(Q))]
            for x in range(len(P))
        ]
        after = problem.cost + problem.discount * np.array(future)
        assert (least <= after + 1e-8).all()
        least = after


def test_row_errors_are_paid_where_couplings_lead():
    """A row that is unknown and never reached from a pair costs that pair next to nothing."""
    rows = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    source = bm.MarkovChain(rows, reward=[0, 1, 2], row_error=[0.0, 0.0, 2.0])
    target = bm.MarkovChain([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.0, 0.0, 1.0]], reward=[0, 1, 2])
    solution = bm.distance(source, target, discount=0.9)
    width = solution.upper - solution.lower
    assert width[:2, :2].max() < 1e-9
    assert width[2].min() > 1.0


@given(st.floats(0.0, 2.0), st.floats(0.1, 0.99))
def test_one_state_is_known_whatever_the_errors(error, discount):
    """There is no other state to go to."""
    one = bm.MarkovChain([[1.0]], start=0, row_error=error, start_error=error)
    low, high = bm.distance(one, bm.MarkovChain([[1.0]], start=0), discount=discount, cost=[[3.0]]).interval
    assert low == pytest.approx(3.0 / (1.0 - discount), rel=1e-12)
    assert high == pytest.approx(low, rel=1e-12)


def test_nothing_known_gives_the_range_of_all_distances():
    """With errors of 2 a bound is the best or worst cost forever."""
    nothing = bm.MarkovChain(np.eye(4), reward=REWARD, start=0, row_error=2, start_error=2)
    solution = bm.distance(nothing, bm.MarkovChain(np.eye(4), reward=REWARD, start=0), discount=0.5)
    assert solution.interval[1] == pytest.approx(8.0)
    assert solution.interval[0] == 0.0
    assert solution.computed_interval == (0.0, 0.0)


def test_one_unknown_chain_against_itself():
    """Equal states of one chain are at distance zero; those of two chains with equal estimates are not."""
    rows = np.random.default_rng(4).dirichlet(np.ones(4), 4)
    chain, twin = (bm.MarkovChain(rows, reward=REWARD, start=0, row_error=0.1, start_error=0.1) for _ in range(2))
    itself, other = bm.bisimulation_metric(chain, discount=0.9), bm.distance(chain, twin, discount=0.9, normalised=True)
    assert not itself.upper.diagonal().any()
    assert itself.interval == (0.0, 0.0)
    assert (other.upper.diagonal() > 0.1).all()
    assert other.interval[1] > 0.1
    assert (itself.upper <= other.upper + 1e-12).all()
    random = np.random.default_rng(0)
    for _ in range(20):
        near = bm.MarkovChain.normalised(moved_rows(rows, [0.1] * 4, random), reward=REWARD)
        truth = bm.bisimulation_metric(near, discount=0.9).value
        assert ((itself.lower <= truth + 1e-9) & (truth <= itself.upper + 1e-9)).all()


def test_knowledge_and_computation_are_kept_apart():
    """The tolerance is about the stored chains; the bounds are about all chains within the errors."""
    rows = np.random.default_rng(4).dirichlet(np.ones(4), 4)
    exact = bm.MarkovChain(rows, reward=REWARD, start=0)
    rough = bm.MarkovChain(rows, reward=REWARD, start=0, row_error=0.1)
    target = bm.MarkovChain(np.eye(4), reward=REWARD, start=1)
    solution, plain = (bm.distance(chain, target, discount=0.9, tol=1e-10) for chain in (rough, exact))
    assert solution.status is bm.Status.SOLVED
    assert solution.reached_tol
    assert solution.relative_gap > 0.01
    assert solution.computation.relative_gap <= 1e-10
    assert solution.distance == plain.distance
    assert solution.computed_interval == pytest.approx(plain.interval, rel=1e-12)  # given and stored rows differ
    assert plain.computed_interval == plain.interval
    assert plain.computation is plain.certificate
    low, high = solution.interval
    assert low < plain.interval[0] < plain.interval[1] < high
    assert (solution.lower <= solution.value).all()
    np.testing.assert_allclose(solution.potentials[0, 1][0], plain.potentials[0, 1][0], atol=1e-9)


@pytest.mark.parametrize("solver", ["linear-program", "value-iteration", "sinkhorn-value-iteration"])
def test_every_solver_has_these_bounds(solver):
    """They come from the distances that a solver found, not from its couplings."""
    random = np.random.default_rng(5)
    chains = [
        bm.MarkovChain(random.dirichlet(np.ones(4), 4), reward=REWARD, start=0, row_error=0.05, start_error=0.01)
        for _ in range(2)
    ]
    best = bm.distance(*chains, discount=0.9)
    found = bm.distance(*chains, discount=0.9, solver=solver)
    np.testing.assert_allclose(found.interval, best.interval, rtol=0.02)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e300])
def test_units_do_not_matter(scale):
    """Bounds scale with the cost."""
    random = np.random.default_rng(6)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(3), 3), row_error=0.1) for _ in range(2)]
    cost = random.random((3, 3))
    one, scaled = (bm.distance(*chains, discount=0.9, cost=cost * by) for by in (1.0, scale))
    np.testing.assert_allclose(scaled.lower / scale, one.lower, rtol=1e-4)
    np.testing.assert_allclose(scaled.upper / scale, one.upper, rtol=1e-4)


def test_certify_is_about_all_chains_too():
    """Bounds from a guess are at least as wide as the errors make them."""
    random = np.random.default_rng(6)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(3), 3), row_error=0.1) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.9, cost=random.random((3, 3)))
    solution = bm.solve(problem)
    found = bm.certify(problem, solution.value)
    np.testing.assert_allclose(found.lower, solution.lower, rtol=1e-3)
    np.testing.assert_allclose(found.upper, solution.upper, rtol=1e-3)


def test_classes_of_states_with_different_errors():
    """States with equal rows are solved as one, and keep errors of their own."""
    rows = np.repeat(np.kron([[0.5, 0.5], [0.25, 0.75]], np.full((1, 30), 1 / 30)), 30, axis=0)
    error = np.tile(np.repeat([0.0, 0.1], 15), 2)
    source = bm.MarkovChain(rows, reward=np.repeat([0, 1], 30), row_error=error)
    target = bm.MarkovChain([[0.5, 0.5], [0.1, 0.9]], reward=[0, 1])
    problem = bm.Problem(source, target, discount=0.5)
    found, plain = bm.solve(problem), bm.solve(problem, quotient=False)
    np.testing.assert_allclose(found.upper, plain.upper, rtol=1e-3)
    np.testing.assert_allclose(found.lower, plain.lower, rtol=1e-3)
    assert (found.upper[0] < found.upper[15]).all()


def test_what_row_errors_do_not_go_with():
    """Reachable pairs, no discount, a decision process's start."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], labels=["a", "b"], start=0, row_error=0.1)
    with pytest.raises(InvalidProblem, match="pairs='all'"):
        bm.distance(chain, chain, discount=0.9, pairs="reachable")
    with pytest.raises(InvalidProblem, match="discount below 1"):
        bm.bisimilarity_distance(chain, chain, discount=1)
    with pytest.raises(InvalidProblem, match="discount below 1"):
        bm.average_distance(chain, chain)
    unknown = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0, start_error=0.1)
    with pytest.raises(InvalidProblem, match="start_error"):
        bm.HorizonProblem(unknown, chain, horizon=3)
    assert bm.bisimilarity_distance(chain, chain, discount=0.9).upper[0, 1] == 1.0
    with pytest.raises(InvalidChain, match="start_error"):
        bm.as_mdp(bm.MarkovChain([[1.0]], reward=[0], start=0, start_error=0.1))


def test_tables_of_distances():
    """pairwise solves all pairs of states; a chain is at distance zero from itself only, not from its twin."""
    rows = np.random.default_rng(4).dirichlet(np.ones(4), 4)
    chain, twin = (bm.MarkovChain(rows, reward=REWARD, start=0, row_error=0.1) for _ in range(2))
    table = bm.pairwise([chain, twin], discount=0.9)
    assert table.upper.diagonal().tolist() == [0.0, 0.0]
    single = bm.distance(chain, twin, discount=0.9)
    assert (table.lower[0, 1], table.upper[0, 1]) == single.interval
    assert single.interval[1] > 1.0
    both = bm.solve_many([bm.Problem(chain, twin, discount=0.9)] * 2)
    assert [solution.interval for solution in both] == [single.interval] * 2


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_files_keep_the_errors_and_prove_the_bounds_again(tmp_path, ending):
    """Of chains and of solutions, also where both sides are one chain."""
    rows = np.random.default_rng(4).dirichlet(np.ones(4), 4)
    chain = bm.MarkovChain(rows, reward=REWARD, start=0, row_error=[0.1, 0, 0, 0.2], start_error=0.1)
    chain.save(tmp_path / f"chain.{ending}")
    assert bm.load(tmp_path / f"chain.{ending}") == chain
    other = bm.distance(chain, bm.MarkovChain(rows, reward=REWARD, start=1), discount=0.9)
    for number, solution in enumerate((other, bm.bisimulation_metric(chain, discount=0.9))):
        solution.save(tmp_path / f"{number}.{ending}")
        again = bm.load(tmp_path / f"{number}.{ending}")
        np.testing.assert_allclose(again.lower, solution.lower, rtol=1e-9)
        np.testing.assert_allclose(again.upper, solution.upper, rtol=1e-9)
        assert again.computed_interval == pytest.approx(solution.computed_interval)
        assert again.interval == pytest.approx(solution.interval)
    assert bm.MarkovChain.from_dict({"transitions": [[1.0]], "row_error": 0.5}).row_error.tolist() == [0.5]


def test_probabilities_are_at_most_one():
    """Where only the end of a game costs something, that bounds all distances."""
    chains = [bm.MarkovChain([[p, 1 - p], [0.2, 0.8]], labels=[0, 1], start=0, row_error=0.2) for p in (0.5, 0.6)]
    assert bm.bisimilarity_distance(*chains, discount=0.9).upper.max() == 1.0
