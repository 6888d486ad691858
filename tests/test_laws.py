"""Laws that any solver of the fixed-point equation must obey, tried on every exact solver.

V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm
from bisimetric import solvers
from bisimetric._support import blocks
from tests import reference, strategies


def assert_close(value, truth, tol):
    """Equal up to `tol` of the largest distance."""
    truth = np.asarray(truth, float)
    np.testing.assert_allclose(value, truth, rtol=0, atol=tol * np.abs(truth).max())


def assert_overlap(one, other):
    """Two certified answers to the same question must have a distance in common at every pair."""
    assert (one.lower <= other.upper).all()
    assert (other.lower <= one.upper).all()


def test_every_solver_is_known(known_solvers):
    """A new solver must be entered in conftest.py, as exact or as approximate, so that the laws are tried on it."""
    assert set(solvers.all_solvers()) == known_solvers


# ------------------------------------------------------------------ the oracle


@settings(max_examples=60)
@given(strategies.tame_problems(max_states=6))
def test_equals_linear_programs(exact_solver, problem):
    """Policy iteration with HiGHS transports gives the same distances, inside the interval."""
    truth = reference.distances(problem)
    solution = exact_solver.solve(problem)
    assert_close(solution.value, truth, exact_solver.tol)
    slip = 1e-10 * truth.max()
    assert (solution.lower <= truth + slip).all()
    assert (truth - slip <= solution.upper).all()


@settings(max_examples=100)
@given(strategies.problems())
def test_equals_rationals(exact_solver, problem):
    """Rational policy iteration gives the same distances, whatever the scale and the discount."""
    truth = np.array(reference.exact_distances(problem))
    largest = truth.max()
    scaled = np.array([[float(v / largest) if largest else 0.0 for v in row] for row in truth])
    value = exact_solver.solve(problem).value
    assert_close(value / float(largest) if largest else value, scaled, exact_solver.tol)


@pytest.mark.slow
@settings(max_examples=200)
@given(strategies.tame_problems(max_states=10))
def test_equals_linear_programs_long(exact_solver, problem):
    """The same with more states and for longer."""
    assert_close(exact_solver.solve(problem).value, reference.distances(problem), exact_solver.tol)


def test_known_answers(exact_solver):
    """The paper's four rooms, p1 against p0 at γ = 0.95: two published numbers."""
    one, zero = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    plain = exact_solver.solve(bm.Problem(one, zero, discount=0.95))
    assert plain.distance == pytest.approx(0.4355817651, abs=max(1e-10, exact_solver.tol))
    assert plain.value[9, 21] == plain.distance
    normalised = exact_solver.solve(bm.Problem(one, zero, discount=0.95, normalised=True))
    assert normalised.value[0, 0] == pytest.approx(0.0984360076, abs=max(1e-10, exact_solver.tol / 10))


# ------------------------------------------------------------------ bounds from couplings and from values


def north_west(p, q):
    """The north-west corner coupling of two laws."""
    p, q = p.copy(), q.copy()
    plan = np.zeros((len(p), len(q)))
    i = j = 0
    while i < len(p) and j < len(q):
        moved = min(p[i], q[j])
        plan[i, j] = moved
        p[i] -= moved
        q[j] -= moved
        if p[i] <= q[j]:
            i += 1
        else:
            j += 1
    return plan


@given(strategies.tame_problems(), st.randoms(use_true_random=False))
def test_no_coupling_is_better(exact_solver, problem, random):
    """The distance is at most the value of the independent coupling, and of north-west corners in any order."""
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    (n, m), lower = problem.shape, exact_solver.solve(problem).lower
    independent = reference.evaluate(problem, np.einsum("xi,yj->xyij", P, Q))
    assert (lower <= independent + 1e-12 * independent.max()).all()  # the reference is rounded, too
    rows, columns = list(range(n)), list(range(m))
    random.shuffle(rows)
    random.shuffle(columns)
    plans = np.zeros((n, m, n, m))
    for x in range(n):
        for y in range(m):
            plans[x, y][np.ix_(rows, columns)] = north_west(P[x, rows], Q[y, columns])
    corner = reference.evaluate(problem, plans)
    assert (lower <= corner + 1e-12 * corner.max()).all()


@given(
    strategies.chains(max_states=5, reward=True),
    strategies.chains(max_states=5, reward=True),
    strategies.tame_discounts,
)
def test_no_smaller_than_the_value_gap(exact_solver, source, target, discount):
    """|v_X(x) - v_Y(y)| ≤ V(x, y) for c = |r - r'|, with v = (I - γP)⁻¹ r."""
    upper = exact_solver.solve(bm.Problem(source, target, discount=discount)).upper
    values = [
        np.linalg.solve(np.eye(c.n_states) - discount * c.transitions.toarray(), c.reward) for c in (source, target)
    ]
    gap = np.abs(np.subtract.outer(*values))
    assert (gap <= upper + 1e-12 * np.abs(np.concatenate(values)).max()).all()


# ------------------------------------------------------------------ scaling, shifting, relabelling, swapping


@given(strategies.problems(max_states=4), st.integers(-600, 600))
def test_scaling_by_a_power_of_two_is_exact(exact_solver, problem, power):
    """c → 2^k·c scales value, lower and upper without any rounding."""
    largest = problem.cost.max()
    assume(largest == 0 or -900 < np.log2(largest) + power < 900)
    assume(largest == 0 or problem.cost[problem.cost > 0].min() > 2.0**-300 * largest)
    factor = 2.0**power
    scaled = bm.Problem(
        problem.source, problem.target, discount=problem.discount, cost=problem.cost * factor, stop=problem.stop
    )
    one, other = exact_solver.solve(problem), exact_solver.solve(scaled)
    for name in ("value", "lower", "upper"):
        assert np.array_equal(getattr(one, name) * factor, getattr(other, name))


@given(strategies.problems(max_states=4), st.floats(1e-3, 1e3))
def test_scaling(exact_solver, problem, factor):
    """c → a·c scales the distances by a."""
    scaled = bm.Problem(
        problem.source, problem.target, discount=problem.discount, cost=problem.cost * factor, stop=problem.stop
    )
    largest = problem.cost.max() or 1.0  # the distances themselves may be near the ends of the range
    assert_close(
        exact_solver.solve(scaled).value / largest,
        exact_solver.solve(problem).value / largest * factor,
        exact_solver.tol,
    )


@given(strategies.tame_problems(stop=False), st.floats(0.0, 10.0))
def test_adding_a_constant(exact_solver, problem, constant):
    """c + b adds b/(1-γ) to every distance."""
    shifted = bm.Problem(problem.source, problem.target, discount=problem.discount, cost=problem.cost + constant)
    expected = exact_solver.solve(problem).value + constant / (1 - problem.discount)
    assert_close(exact_solver.solve(shifted).value, expected, exact_solver.tol)


def relabelled(chain, order):
    """The same chain with state order[k] as its k-th."""
    matrix = chain.transitions.toarray()[np.ix_(order, order)]
    return bm.MarkovChain(matrix, reward=None if chain.reward is None else chain.reward[order])


@given(st.data(), strategies.problems(max_states=4))
def test_relabelling_permutes(exact_solver, data, problem):
    """New names for the states permute the distances, whatever the other order makes the solver do."""
    n, m = problem.shape
    rows, columns = data.draw(st.permutations(range(n))), data.draw(st.permutations(range(m)))
    renamed = bm.Problem(
        relabelled(problem.source, rows),
        relabelled(problem.target, columns),
        discount=problem.discount,
        cost=problem.cost[np.ix_(rows, columns)],
        stop=None if problem.stop is None else problem.stop[np.ix_(rows, columns)],
    )
    one, other = exact_solver.solve(problem), exact_solver.solve(renamed)
    largest = one.upper.max() or 1.0
    assert_close(other.value / largest, one.value[np.ix_(rows, columns)] / largest, exact_solver.tol)
    assert (other.lower <= one.upper[np.ix_(rows, columns)]).all()
    assert (one.lower[np.ix_(rows, columns)] <= other.upper).all()


@given(strategies.problems(max_states=4))
def test_swapping_transposes(exact_solver, problem):
    """The distance from Y to X with the transposed cost is the transpose."""
    swapped = bm.Problem(
        problem.target,
        problem.source,
        discount=problem.discount,
        cost=problem.cost.T,
        stop=None if problem.stop is None else problem.stop.T,
    )
    one, other = exact_solver.solve(problem), exact_solver.solve(swapped)
    largest = one.upper.max() or 1.0
    assert_close(other.value.T / largest, one.value / largest, exact_solver.tol)
    assert (one.upper >= other.lower.T).all()
    assert (one.lower <= other.upper.T).all()


# ------------------------------------------------------------------ bisimilar copies, forced couplings


@given(st.data(), strategies.chains(max_states=4, reward=True), strategies.discounts)
def test_splitting_changes_nothing(exact_solver, data, chain, discount):
    """Copies of a state that share its incoming mass are at distance exactly 0, and no other distance changes."""
    n = chain.n_states
    state = data.draw(st.integers(0, n - 1))
    share = data.draw(st.sampled_from((0.5, 0.25, 0.125)))  # keeps the split rows exact
    matrix = chain.transitions.toarray()
    split = np.zeros((n + 1, n + 1))
    split[:n, :n] = matrix
    split[n, :n] = matrix[state]
    split[:, n] = split[:, state] * share
    split[:, state] -= split[:, n]
    twin = bm.MarkovChain(split, reward=np.append(chain.reward, chain.reward[state]))
    assume((np.abs(twin.row_error) == 0).all())  # an entry that was a single grain can't be split
    before = exact_solver.solve(bm.Problem(chain, chain, discount=discount))
    after = exact_solver.solve(bm.Problem(twin, chain, discount=discount))
    inside = exact_solver.solve(bm.Problem(twin, twin, discount=discount))
    assert_close(after.value[:n], before.value, exact_solver.tol)
    assert_close(after.value[n], before.value[state], exact_solver.tol)
    assert_close(inside.value[:n, :n], before.value, exact_solver.tol)
    for a, b in ((state, n), (n, state), (n, n)):
        assert inside.lower[a, b] == 0.0
        assert not exact_solver.proves_zeros or inside.value[a, b] == inside.upper[a, b] == 0.0
    assert not exact_solver.proves_zeros or after.upper[n, state] == after.upper[state, state] == 0.0


@st.composite
def maps(draw, max_states=6):
    """A deterministic chain, as the list of its successors."""
    n = draw(st.integers(1, max_states))
    return draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))


@given(st.data(), maps(), maps(), strategies.discounts)
def test_deterministic_chains_sum_along_two_paths(exact_solver, data, f, g, discount):
    """One coupling only: V(x, y) = Σ γᵗ c(fᵗx, gᵗy), a finite sum and a geometric one over the cycle."""
    n, m = len(f), len(g)
    cost = data.draw(strategies.base_costs(n, m))
    problem = bm.Problem(bm.MarkovChain(np.eye(n)[f]), bm.MarkovChain(np.eye(m)[g]), discount=discount, cost=cost)
    truth = np.zeros((n, m))
    for x in range(n):
        for y in range(m):
            path, at = [], (x, y)
            while at not in path:
                path.append(at)
                at = f[at[0]], g[at[1]]
            enters = path.index(at)
            discounted = [discount**t * cost[pair] for t, pair in enumerate(path)]
            loop = sum(discounted[enters:]) / (1 - discount ** (len(path) - enters))
            truth[x, y] = sum(discounted[:enters]) + loop
    assert_close(exact_solver.solve(problem).value, truth, exact_solver.tol)


# ------------------------------------------------------------------ metrics


@given(st.data(), strategies.tame_discounts)
def test_triangle_across_three_chains(exact_solver, data, discount):
    """d(X, Z) ≤ d(X, Y) + d(Y, Z) when costs come from distances between labels that the chains share."""
    family = [data.draw(strategies.chains(max_states=4, reward=True)) for _ in range(3)]

    def between(a, b):
        return exact_solver.solve(bm.Problem(family[a], family[b], discount=discount))

    direct, first, second = between(0, 2), between(0, 1), between(1, 2)
    detour = (first.upper[:, :, None] + second.upper[None, :, :]).min(axis=1)
    assert (direct.lower <= detour * (1 + 1e-15)).all()


@given(strategies.chains(max_states=5, reward=True), strategies.discounts)
def test_one_chain_against_itself_is_a_pseudometric(exact_solver, chain, discount):
    """Symmetric, zero on the diagonal (value, lower and upper, exactly), and the triangle inequality."""
    solution = exact_solver.solve(bm.Problem(chain, chain, discount=discount))
    assert (np.diag(solution.lower) == 0.0).all()
    if exact_solver.proves_zeros:
        assert (np.diag(solution.value) == 0.0).all()
        assert (np.diag(solution.upper) == 0.0).all()
    assert (solution.lower <= solution.upper.T).all()
    assert_close(solution.value, solution.value.T, exact_solver.tol)
    detour = (solution.upper[:, :, None] + solution.upper[None, :, :]).min(axis=1)
    assert (solution.lower <= detour * (1 + 1e-15)).all()


# ------------------------------------------------------------------ stopping, degenerate problems


@given(st.data(), strategies.problems(max_states=4, stop=False))
def test_stopped_pairs_cost_what_they_cost(exact_solver, data, problem):
    """V = c where the game stops, exactly; and stopping never makes anything dearer."""
    n, m = problem.shape
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))).reshape(n, m)
    stopped = exact_solver.solve(
        bm.Problem(problem.source, problem.target, discount=problem.discount, cost=problem.cost, stop=mask),
    )
    assert np.array_equal(stopped.value[mask], problem.cost[mask])
    assert (stopped.lower <= exact_solver.solve(problem).upper).all()


@given(strategies.problems(max_states=4, gammas=st.just(0.0)))
def test_no_future(exact_solver, problem):
    """γ = 0: V = c exactly, with no gap."""
    solution = exact_solver.solve(problem)
    for bound in (solution.value, solution.lower, solution.upper):
        assert np.array_equal(bound, problem.cost)
    assert solution.status is bm.Status.SOLVED


@given(strategies.problems(max_states=4, scale=st.just(0.0)))
def test_no_cost(exact_solver, problem):
    """An all-zero cost gives zeros with no gap."""
    solution = exact_solver.solve(problem)
    assert not solution.value.any()
    assert not solution.upper.any()
    assert solution.relative_gap == solution.gap == 0.0


# ------------------------------------------------------------------ what must not matter


@given(st.data(), strategies.problems(max_states=4))
def test_the_initial_guess_does_not_matter(exact_solver, data, problem):
    """From any guess, or from a solution, the answer is the same up to the intervals."""
    usual = exact_solver.solve(problem)
    guess = data.draw(strategies.guesses(problem))
    for initial in (guess, usual, usual.value):
        other = exact_solver.solve(problem, initial=initial)
        assert other.status is bm.Status.SOLVED
        assert_overlap(other, usual)


@given(st.data(), strategies.tame_problems())
def test_certify_contains_the_truth(data, problem):
    """Bounds from any guess contain the oracle's distances, and a good guess gives tight ones."""
    truth = reference.distances(problem)
    slip = 1e-10 * truth.max()
    certificate = bm.certify(problem, data.draw(strategies.guesses(problem)))
    assert (certificate.lower <= truth + slip).all()
    assert (truth - slip <= certificate.upper).all()
    assert bm.certify(problem, truth).gap <= 1e-7 * truth.max()


def test_inputs_are_never_modified(exact_solver):
    """Arrays handed in are the same afterwards, bit by bit, and can still be written to."""
    random = np.random.default_rng(3)
    dense, cost, mask = random.dirichlet(np.ones(4), 4), random.random((4, 4)), random.random((4, 4)) < 0.2
    stored = strategies.stored_with_zeros(np.array([[0.5, 0.5, 0, 0]] * 4))
    reward, start, guess = random.random(4), random.dirichlet(np.ones(4)), random.random((4, 4))
    arrays = [dense, cost, mask, stored.data, stored.indices, stored.indptr, reward, start, guess]
    before = [array.tobytes() for array in arrays]
    source = bm.MarkovChain(dense, reward=reward, start=start)
    target = bm.MarkovChain(stored, reward=reward, start=start)
    problem = bm.Problem(source, target, discount=0.9, cost=cost, stop=mask)
    kept = [problem.cost.tobytes(), source.transitions.data.tobytes(), target.transitions.data.tobytes()]
    solution = exact_solver.solve(problem, initial=guess)
    bm.certify(problem, guess)
    solution.coupling.occupancy()
    solution.explain()
    assert [array.tobytes() for array in arrays] == before
    assert kept == [problem.cost.tobytes(), source.transitions.data.tobytes(), target.transitions.data.tobytes()]
    for array in arrays:
        assert array.flags.writeable


# ------------------------------------------------------------------ threads


def sparse_chain(n, successors, seed):
    """A chain with ties and few successors."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), successors)
    columns = np.concatenate([random.choice(n, successors, replace=False) for _ in range(n)])
    return sparse.csr_array((np.full(n * successors, 1 / successors), (rows, columns)), shape=(n, n))


def answer(solver, problem, **options):
    """Everything that must not depend on threads, as bytes."""
    solution = solver.solve(problem, **options)
    coupling = solution.coupling.matrix()
    parts = (solution.value, solution.lower, solution.upper, coupling.indptr, coupling.indices, coupling.data)
    return [part.tobytes() for part in parts]


@pytest.mark.parametrize("n", [60, 240], ids=["sweeps", "krylov"])  # 3600 and 57,600 pairs
def test_threads_do_not_matter(exact_solver, monkeypatch, n):
    """The same bits with 1, 2 and 3 threads, at a size from which sweeps, and products too, take several."""
    cost = np.random.default_rng(5).integers(0, 4, (n, n + 1)).astype(float)
    problem = bm.Problem(
        bm.MarkovChain(sparse_chain(n, 3, 1)), bm.MarkovChain(sparse_chain(n + 1, 3, 2)), discount=0.9, cost=cost
    )
    answers = []
    for threads in "123":
        monkeypatch.setenv("BISIMETRIC_THREADS", threads)
        answers.append(answer(exact_solver, problem))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("crowd", [3, 30], ids=["small", "mixed"])
def test_block_length_does_not_matter(exact_solver, monkeypatch, crowd):
    """How work is cut into blocks depends on the clock; the answer does not, also if a few supports are large."""
    n = 60
    chains = []
    for seed in (1, 2):
        matrix = sparse_chain(n, 3, seed).toarray()
        matrix[0] = 0.0
        matrix[0, :crowd] = 1.0 / crowd
        chains.append(bm.MarkovChain(matrix))
    cost = np.random.default_rng(5).integers(0, 3, (n, n)).astype(float)
    problem = bm.Problem(*chains, discount=0.95, cost=cost)
    answers = []
    for seconds in (1e-9, 10.0):
        monkeypatch.setattr(blocks, "BLOCK_SECONDS", seconds)
        answers.append([answer(exact_solver, problem), answer(exact_solver, problem, max_steps=1)])
    assert answers[0] == answers[1]
