"""Derivatives of the distance between two chains: kinds of problems, kinks, starts, errors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.blocks import one_thread
from bisimetric.errors import InvalidOption, InvalidProblem, MissingStart
from tests.derivatives import STEP, direction, parts_of, solved


def chain(n, seed, *, start=0):
    """A dense random chain with rewards."""
    random = np.random.default_rng(seed)
    return bm.MarkovChain(random.dirichlet(np.ones(n), n), reward=random.normal(size=n), start=start)


def test_one_chain_on_both_sides():
    """Its derivative is the sum of both sides; between two of its states."""
    random = np.random.default_rng(5)
    matrix, rewards = random.dirichlet(np.ones(4), 4), random.normal(size=4)

    def between(matrix, rewards):
        itself = bm.MarkovChain(matrix, reward=rewards)
        return bm.solve(bm.Problem(itself, itself, discount=0.8), tol=1e-13, throw=False)

    gradient = between(matrix, rewards).gradient(start=(0, 1))
    change = direction(matrix, random, law=True)
    ahead, behind = (between(matrix + sign * STEP * change, rewards).value[0, 1] for sign in (1, -1))
    both = gradient.source.toarray() + gradient.target.toarray()
    assert (ahead - behind) / (2 * STEP) == pytest.approx((both * change).sum(), rel=1e-5)
    change = random.normal(size=4)
    ahead, behind = (between(matrix, rewards + sign * STEP * change).value[0, 1] for sign in (1, -1))
    both = gradient.source_reward + gradient.target_reward
    assert (ahead - behind) / (2 * STEP) == pytest.approx((both * change).sum(), rel=1e-5)


def test_solved_on_classes(classes_of_any_size):
    """Where bisimilar states were merged, derivatives are by the rows of all states."""
    random = np.random.default_rng(2)
    small, target = chain(3, 1), chain(2, 2)
    owners = np.array([0, 0, 1, 1, 1, 2])
    share = random.random(6)
    rows = small.transitions.toarray()[np.ix_(owners, owners)] * share
    rows /= rows.sum(axis=1, keepdims=True)
    for owner in range(3):  # copies move alike into every class
        inside = owners == owner
        weights = share[inside] / share[inside].sum()
        rows[:, inside] = small.transitions.toarray()[owners, owner][:, None] * weights
    point = {"P": rows, "Q": target.transitions.toarray(), "r": small.reward[owners], "q": target.reward}
    point |= {"a": np.eye(6)[0], "b": np.eye(2)[0], "discount": 0.8}
    gradient = solved(point).gradient()
    for name in ("P", "Q"):
        change = direction(point[name], random, law=True)
        terms = parts_of(gradient)[name] * change
        ahead, behind = (solved(point | {name: point[name] + sign * STEP * change}).distance for sign in (1, -1))
        assert (ahead - behind) / (2 * STEP) == pytest.approx(terms.sum(), abs=1e-5 * np.abs(terms).sum())


def test_states_outside_the_support_of_a_start():
    """The derivative by the start says what moving mass there does."""
    a, b = chain(4, 1), chain(3, 2)
    solution = bm.distance(a, b, discount=0.9, tol=1e-13, throw=False)
    gradient = solution.gradient()
    for state in range(4):
        law = (1 - STEP) * np.eye(4)[0] + STEP * np.eye(4)[state]
        moved = bm.distance(a.with_start(law), b, discount=0.9, tol=1e-13, throw=False)
        assert moved.distance - solution.distance == pytest.approx(STEP * gradient.source_start[state], abs=1e-12)
    np.testing.assert_allclose(gradient.target_start, solution.value[0] - solution.value[0, 0])


def test_only_reachable_pairs():
    """The same derivatives where nothing else was solved; by the starts they are unknown elsewhere."""
    matrix = np.array([[0.2, 0.8, 0, 0], [0.6, 0.4, 0, 0], [0, 0, 0.3, 0.7], [0, 0, 0.9, 0.1]])
    a = bm.MarkovChain(matrix, reward=[0.0, 1.0, 5.0, 7.0], start=0)
    b = bm.MarkovChain([[0.35, 0.65], [0.55, 0.45]], reward=[0.1, 1.3], start=0)
    whole, part = (bm.distance(a, b, discount=0.9, pairs=pairs).gradient() for pairs in ("all", "reachable"))
    np.testing.assert_allclose(part.cost, whole.cost, atol=1e-12)
    np.testing.assert_allclose(part.source.data, whole.source.data, atol=1e-9)
    np.testing.assert_allclose(part.source_start[:2], whole.source_start[:2], atol=1e-9)
    assert np.isnan(part.source_start[2:]).all()


@pytest.mark.parametrize("solver", [bm.SinkhornValueIteration(rounds=200), bm.EntropicPolicyIteration()])
def test_approximate_solvers_state_their_error(solver):
    """Their own coupling's derivatives; the error bounds how much that costs beyond the best one."""
    a, b = chain(5, 1), chain(4, 2)
    exact = bm.distance(a, b, discount=0.8)
    found = bm.distance(a, b, discount=0.8, solver=solver)
    gradient = found.gradient()
    own = (gradient.cost * np.abs(np.subtract.outer(a.reward, b.reward))).sum()
    assert 0.0 <= own - exact.distance <= gradient.error * (1 + 1e-9)
    assert gradient.error > exact.gradient().error
    assert not gradient.is_unique
    scale = np.abs(exact.gradient().source.toarray()).max()
    assert np.abs(gradient.source.toarray() - exact.gradient().source.toarray()).max() < 0.5 * scale


@pytest.mark.parametrize("normalised", [False, True])
def test_no_discount_and_no_cost(normalised):
    """At discount 0 only the start counts; the derivative by the discount is the next step's distance."""
    random = np.random.default_rng(4)
    a, b = chain(4, 1), chain(3, 2)
    cost = random.random((4, 3))
    at = {g: bm.distance(a, b, cost=cost, discount=g, normalised=normalised) for g in (0.0, 1e-7)}
    gradient = at[0.0].gradient()
    assert gradient.is_unique
    assert not gradient.source.data.any()
    assert gradient.cost[0, 0] == 1.0
    assert (at[1e-7].distance - at[0.0].distance) / 1e-7 == pytest.approx(gradient.discount, rel=1e-5)
    nothing = bm.distance(a, b, cost=np.zeros((4, 3)), discount=0.5, normalised=normalised).gradient()
    assert nothing.discount == 0.0
    assert not nothing.source.data.any()
    assert not nothing.is_unique


def test_kinks_are_seen():
    """Equal rewards, equal rows, tied starts: not unique; and where."""
    a = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1], start=0)
    assert not bm.distance(a, a, discount=0.9).gradient().is_unique
    b, c = chain(3, 1), chain(3, 2)
    unequal = np.random.default_rng(0).random((3, 3))
    assert bm.distance(b, c, discount=0.9, cost=unequal).gradient().is_unique
    halves = [0.5, 0.5, 0]
    tied = bm.distance(b.with_start(halves), c.with_start(halves), discount=0.9, cost=unequal).gradient()
    assert tied.starts_tie
    assert not tied.is_unique
    assert not tied.tied.any()
    assert "kink" in repr(tied)
    rewards = bm.MarkovChain(c.transitions, reward=[b.reward[0], 3.0, 4.0], start=0)
    assert bm.distance(b, rewards, discount=0.9).gradient().tied[0, 0]


def test_sums_of_costs_and_files(tmp_path):
    """The weight of the rewards is known for sums of costs of the package, also after saving; else it is None."""
    labelled = [
        bm.MarkovChain(one.transitions, reward=one.reward, labels=list("abc")[: one.n_states], start=0)
        for one in (chain(3, 1), chain(2, 2))
    ]
    plain = bm.distance(*labelled, discount=0.9, cost=bm.cost.reward_gap).gradient()
    one = bm.distance(*labelled, discount=0.9, cost=0.5 * bm.cost.reward_gap).gradient()
    np.testing.assert_allclose(one.source_reward, 0.5 * plain.source_reward, rtol=1e-9)
    both = bm.distance(*labelled, discount=0.9, cost=0.1 * bm.cost.reward_gap + bm.cost.label_mismatch)
    assert both.problem.reward_weight == 0.1
    both.save(tmp_path / "both.npz")
    np.testing.assert_array_equal(
        bm.load(tmp_path / "both.npz").gradient().source_reward, both.gradient().source_reward
    )
    labels = bm.distance(*labelled, discount=0.9, cost=bm.cost.label_mismatch).gradient()
    assert not labels.source_reward.any()
    unknown = bm.cost.function(lambda source, target: np.ones((3, 2))) + bm.cost.reward_gap
    assert bm.distance(*labelled, discount=0.9, cost=unknown).gradient().source_reward is None


def test_where_it_starts():
    """From a pair of states, from a joint law, or from the chains' starts; else an error with the remedy."""
    a, b = chain(3, 1), chain(3, 2)
    solution = bm.distance(a, b, discount=0.9)
    from_pair = solution.gradient(start=(0, 0))
    np.testing.assert_array_equal(from_pair.cost, solution.gradient().cost)
    np.testing.assert_allclose(from_pair.source_start, solution.gradient().source_start)
    law = np.full((3, 3), 1 / 9)
    joint = solution.gradient(start=law)
    assert joint.source_start is None
    costs = np.abs(np.subtract.outer(a.reward, b.reward))
    assert (joint.cost * costs).sum() == pytest.approx((law * solution.value).sum())
    without = bm.distance(bm.MarkovChain(a.transitions, reward=a.reward), b, discount=0.9)
    with pytest.raises(MissingStart, match="with_start"):
        without.gradient()
    assert without.gradient(start=(1, 2)).cost.sum() == pytest.approx(10.0)
    with pytest.raises(InvalidOption):
        solution.gradient(start=3)


def test_bad_input():
    """No discount, numbers out of range."""
    labelled = bm.MarkovChain([[0.5, 0.5], [0, 1]], labels=["a", "b"], start=0)
    other = bm.MarkovChain([[0.3, 0.7], [0, 1]], labels=["a", "b"], start=0)
    with pytest.raises(InvalidProblem, match="discount"):
        bm.bisimilarity_distance(labelled, other, discount=1.0).gradient()
    assert bm.bisimilarity_distance(labelled, other, discount=0.9).gradient().source.nnz == 3
    a, b = chain(3, 1), chain(3, 2)
    with pytest.raises(InvalidProblem, match="overflow"):
        bm.distance(a, b, discount=0.99, cost=1e305 * np.random.default_rng(0).random((3, 3))).gradient()


def test_read_only_and_the_same_with_any_threads():
    """Arrays cannot be written, copies and pickles neither; threads change no bit."""
    a, b = chain(60, 1), chain(50, 2)
    solution = bm.distance(a, b, discount=0.9)
    gradient = solution.gradient()
    with one_thread():
        alone = solution.gradient()
    for name in ("cost", "source_start", "source_reward", "tied"):
        assert np.array_equal(getattr(gradient, name), getattr(alone, name))
        with pytest.raises(ValueError, match="read-only"):
            getattr(gradient, name)[...] = 0
    assert np.array_equal(gradient.source.data, alone.source.data)
    assert np.array_equal(gradient.target.data, alone.target.data)
    with pytest.raises(ValueError, match="read-only"):
        gradient.source.data[0] = 1.0
    copied = pickle.loads(pickle.dumps(gradient))
    assert np.array_equal(copied.source.data, gradient.source.data)
    with pytest.raises(ValueError, match="read-only"):
        copied.cost[0, 0] = 1.0


def test_masses_that_are_rounding_make_no_tree():
    """4/7 and 2/7 + 2/7 differ in their last digits only: the transport is degenerate, and its kink is seen."""
    source = bm.MarkovChain([[0, 4 / 7, 3 / 7], [0, 1, 0], [0, 0, 1]], start=0)
    target = bm.MarkovChain([[0, 2 / 7, 2 / 7, 3 / 7], *np.eye(4)[1:]], start=0)
    cost = np.array([[0.5, 0, 0, 0], [0, 0.1, 0.2, 1], [0, 1.3, 0.9, 0.3]])
    gradient = bm.distance(source, target, discount=0.9, cost=cost).gradient()
    assert not gradient.is_unique
    assert gradient.tied[0, 0]


def test_masses_of_starts_that_are_rounding_make_no_tree():
    """The same for the transport between the starts."""
    source = bm.MarkovChain(np.eye(2), start=[4 / 7, 3 / 7])
    target = bm.MarkovChain(np.eye(3), start=[2 / 7, 2 / 7, 3 / 7])
    cost = np.array([[0.1, 0.2, 1], [1.3, 0.9, 0.3]])
    assert bm.distance(source, target, discount=0.9, cost=cost).gradient().starts_tie


@pytest.mark.parametrize("discount", [1e-3, 1e-9, 1e-14, 1e-18, 1e-300])
def test_the_derivative_by_tiny_discounts(discount):
    """It tends to that at 0: nothing cancels."""
    chains = [bm.environments.random_chain(n, kind="uniform", seed=n) for n in (5, 4)]
    slope, limit = (bm.distance(*chains, discount=gamma).gradient().discount for gamma in (discount, 0.0))
    assert slope == pytest.approx(limit, rel=10 * discount + 1e-9)
