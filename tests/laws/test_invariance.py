"""What a change of the problem does to the distances: scaling, renaming, splitting states, stopping, other starts."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import bisimetric as bm
from tests import strategies
from tests.laws.closeness import assert_close, assert_overlap

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
