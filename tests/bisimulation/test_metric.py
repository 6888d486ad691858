"""Bisimulation metrics of decision processes and chains, and the distance on labels, against naive oracles and laws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidProblem
from tests import reference, strategies

DISCOUNTS = st.sampled_from((0.3, 0.5, 0.9, 0.95))


def assert_contains(solution, truth):
    """The interval contains the oracle's distances up to the oracle's rounding, and is tight."""
    slip = 1e-12 * truth.max()
    assert (solution.lower <= truth + slip).all()
    assert (truth <= solution.upper + slip).all()
    assert solution.status is bm.Status.SOLVED
    assert solution.relative_gap <= 1e-9
    assert (solution.lower <= solution.value).all()
    assert (solution.value <= solution.upper).all()


# ------------------------------------------------------------------ against the oracle


@given(strategies.mdps(tiny=True), strategies.mdps(tiny=True), DISCOUNTS)
def test_same_actions_equal_value_iteration(source, target, discount):
    """The two witnesses bracket a naive value iteration, between two processes."""
    solution = bm.bisimulation_metric(source, target, discount=discount)
    assert_contains(solution, reference.game_distances(source, target, discount))


@given(strategies.mdps(n_actions=3, partial=True), strategies.mdps(partial=True), DISCOUNTS)
def test_matched_actions_equal_value_iteration(source, target, discount):
    """The lax metric, between processes with different numbers of actions, not all available."""
    solution = bm.bisimulation_metric(source, target, discount=discount, actions="matched")
    assert_contains(solution, reference.game_distances(source, target, discount, matched=True))


@pytest.mark.slow
@settings(max_examples=150)
@given(strategies.mdps(n_actions=3, tiny=True), strategies.mdps(n_actions=3, partial=True), DISCOUNTS, st.booleans())
def test_equal_value_iteration_long(source, target, discount, matched):
    """Both at once, for longer."""
    target = target if matched else bm.MDP(target.transitions, target.rewards)
    solution = bm.bisimulation_metric(source, target, discount=discount, actions="matched" if matched else "same")
    assert_contains(solution, reference.game_distances(source, target, discount, matched=matched))


@given(
    strategies.mdps(max_states=2, tiny=True),
    strategies.mdps(max_states=2, tiny=True),
    strategies.discounts,
    st.booleans(),
)
def test_intervals_contain_the_rational_truth(source, target, discount, matched):
    """Without any slip: rational numbers against floats."""
    actions = "matched" if matched else "same"
    truth = np.array(reference.exact_game_distances(source, target, discount, matched=matched))
    solution = bm.bisimulation_metric(source, target, discount=discount, actions=actions)
    for low, high, exact in zip(solution.lower.flat, solution.upper.flat, truth.flat, strict=True):
        assert Fraction(low) <= exact <= Fraction(high)
        assert exact > 0 or high <= 1e-9 * solution.upper.max()


@pytest.mark.parametrize("discount", [0.0, 0.1, 0.3, 0.45, 0.9])
@pytest.mark.parametrize("scale", [1.0, 5e-324])
def test_what_is_paid_at_once_is_not_a_rounded_product(discount, scale):
    """All states move to one, so d = (1-γ)|r - r'| for the worst action: the bounds are about rewards and γ."""
    mdp = bm.MDP([np.eye(3)[[2, 2, 2]]] * 2, np.array([[0.0, 1.0], [1e-17, 3.0], [7.0, 1.0]]) * scale)
    for matched in (False, True):
        truth = np.array(reference.exact_game_distances(mdp, mdp, discount, matched=matched))
        solution = bm.bisimulation_metric(mdp, discount=discount, actions="matched" if matched else "same")
        for low, high, exact in zip(solution.lower.flat, solution.upper.flat, truth.flat, strict=True):
            assert Fraction(low) <= exact <= Fraction(high)
            assert (high == 0) == (exact == 0)


def test_small_differences_among_large_ones():
    """Actions far apart that are never matched do not spoil the accuracy of a small lax distance."""
    rewards = np.array([[0.0, 1.0], [0.0, 1.0]])
    one = bm.MDP([np.eye(2)] * 2, rewards)
    other = bm.MDP([np.eye(2)] * 2, rewards + np.array([[1e-9, 0.0], [0.0, 0.0]]))
    solution = bm.bisimulation_metric(one, other, discount=0.9, actions="matched")
    assert solution.status is bm.Status.SOLVED
    np.testing.assert_allclose(solution.value, [[1e-9, 0.0], [1e-9, 0.0]], rtol=1e-9)
    assert (solution.upper[:, 1] == 0.0).all()


def test_answers_that_cost_next_to_nothing_are_not_zero():
    """The answers that cost nothing lead far away and the good ones cost 1e-12: no pair like that is proved zero."""
    to_start, to_end = [[1, 0], [0, 1]], [[0, 1], [0, 1]]
    source = bm.MDP([to_end, to_start, to_end], [[0, 0, 1e-12], [1, 1, 1]])
    target = bm.MDP([to_end, to_start], [[0, 1e-12], [1, 1]])
    solution = bm.bisimulation_metric(source, target, discount=0.5, actions="matched")
    truth = reference.exact_game_distances(source, target, 0.5, matched=True)[0][0]
    assert truth > 0
    assert Fraction(solution.lower[0, 0]) <= truth <= Fraction(solution.upper[0, 0])
    assert solution.upper[1, 1] == 0.0


# ------------------------------------------------------------------ laws


@given(strategies.mdps(), strategies.mdps(), DISCOUNTS, st.sampled_from(("same", "matched")))
def test_values_differ_by_at_most_the_distance(source, target, discount, actions):
    """|V*(s) - V*(t)| ≤ d(s, t)/(1-γ)."""
    solution = bm.bisimulation_metric(source, target, discount=discount, actions=actions)
    mine, theirs = (reference.optimal_values(mdp, discount) for mdp in (source, target))
    gap = np.abs(np.subtract.outer(mine, theirs))
    assert (gap <= solution.upper / (1 - discount) + 1e-12 * max(1.0, gap.max())).all()


@given(strategies.mdps(n_actions=3), strategies.mdps(n_actions=3), DISCOUNTS)
def test_matched_is_never_more_than_same(source, target, discount):
    """Answering with the same action is one way to answer."""
    same = bm.bisimulation_metric(source, target, discount=discount)
    lax = bm.bisimulation_metric(source, target, discount=discount, actions="matched")
    assert (lax.lower <= same.upper).all()


@given(strategies.mdps(n_actions=3, partial=True), DISCOUNTS, st.sampled_from((1, 2)))
def test_a_process_against_itself(mdp, discount, copies):
    """Pseudometrics: zero on the diagonal, exactly; symmetric; splitting an action changes nothing for the lax one."""
    more = bm.MDP(mdp.transitions * copies, np.tile(mdp.rewards, copies), available=np.tile(mdp.available, copies))
    solution = bm.bisimulation_metric(mdp, more, discount=discount, actions="matched")
    assert (np.diag(solution.upper) == 0.0).all()
    assert (solution.lower <= solution.upper.T).all()
    if mdp.available.all():
        same = bm.bisimulation_metric(mdp, discount=discount)
        assert (np.diag(same.upper) == 0.0).all()
        assert (same.lower <= same.upper.T).all()


@given(strategies.chains(max_states=4, reward=True), strategies.chains(max_states=4, reward=True), DISCOUNTS)
def test_one_action_is_the_chain_metric(source, target, discount):
    """Both rules fall back to the metric of chains."""
    chains = bm.bisimulation_metric(source, target, discount=discount)
    for actions in ("same", "matched"):
        games = bm.bisimulation_metric(bm.as_mdp(source), bm.as_mdp(target), discount=discount, actions=actions)
        assert (games.lower <= chains.upper).all()
        assert (chains.lower <= games.upper).all()
        np.testing.assert_allclose(games.value, chains.value, rtol=0, atol=1e-9 * max(chains.value.max(), 1e-300))


@given(strategies.mdps(n_actions=2), strategies.mdps(n_actions=2), DISCOUNTS, st.floats(0, 1))
def test_on_policy_with_the_same_weights_is_never_more(source, target, discount, weight):
    """A policy that mixes the actions alike everywhere cannot tell states apart better than the worst action."""
    worst = bm.bisimulation_metric(source, target, discount=discount)
    chains = [mdp.under(np.tile([weight, 1 - weight], (mdp.n_states, 1))) for mdp in (source, target)]
    on_policy = bm.bisimulation_metric(*chains, discount=discount)
    assert (on_policy.lower <= worst.upper + 1e-12 * max(worst.upper.max(), 1e-300)).all()


@given(strategies.mdps(), strategies.mdps(), DISCOUNTS, st.sampled_from(("same", "matched")))
def test_swapping_transposes(source, target, discount, actions):
    """d(s, t) between source and target is d(t, s) between target and source."""
    there = bm.bisimulation_metric(source, target, discount=discount, actions=actions)
    back = bm.bisimulation_metric(target, source, discount=discount, actions=actions)
    assert (there.lower <= back.upper.T).all()
    assert (there.upper >= back.lower.T).all()


@pytest.mark.parametrize("actions", ["same", "matched"])
@pytest.mark.parametrize("scale", [1e-300, 2.0**-1060, 1e-9, 1e300])
def test_any_scale(scale, actions):
    """Rewards times a constant give distances times that constant."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    plain = bm.bisimulation_metric(mdp, discount=0.9, actions=actions)
    scaled = bm.bisimulation_metric(bm.MDP(mdp.transitions, mdp.rewards * scale), discount=0.9, actions=actions)
    np.testing.assert_allclose(scaled.value / scale, plain.value, rtol=1e-9 if scale > 1e-310 else 1e-2, atol=1e-9)
    assert (scaled.lower <= scaled.upper).all()


def test_actions_are_matched_by_name():
    """The same actions in another order are the same actions."""
    mdp = bm.environments.four_rooms_mdp(side=4, slip=0.1)
    order = [2, 0, 3, 1]
    turned = bm.MDP([mdp.transitions[a] for a in order], mdp.rewards[:, order], actions=[mdp.actions[a] for a in order])
    solution = bm.bisimulation_metric(mdp, turned, discount=0.9)
    assert (np.diag(solution.upper) == 0.0).all()
    unnamed = bm.MDP(turned.transitions, turned.rewards)
    assert bm.bisimulation_metric(mdp, unnamed, discount=0.9).value.diagonal().max() > 0.01
    lax = bm.bisimulation_metric(mdp, unnamed, discount=0.9, actions="matched")
    assert (np.diag(lax.upper) == 0.0).all()


def test_actions_available_nowhere_do_not_matter():
    """They are left out on both sides."""
    plain = bm.MDP([np.eye(2)], [[0.0], [1.0]])
    padded = bm.MDP([np.eye(2)] * 2, [[0.0, 5.0], [1.0, 7.0]], available=[[True, False]] * 2)
    expected = bm.bisimulation_metric(plain, discount=0.5).value
    np.testing.assert_array_equal(bm.bisimulation_metric(padded, discount=0.5).value, expected)


# ------------------------------------------------------------------ labels


@st.composite
def labelled_chains(draw):
    """A chain whose states carry few labels."""
    chain = draw(strategies.chains(max_states=3, tiny=False))
    labels = [draw(st.sampled_from("ab")) for _ in range(chain.n_states)]
    return bm.MarkovChain(chain.transitions, labels=labels)


def word_laws(chain, steps):
    """For every state, the probability of each word of labels on the first steps."""
    laws = [{(label,): 1.0} for label in chain.labels]
    rows = chain.transitions.toarray()
    for _ in range(steps):
        after = []
        for s, label in enumerate(chain.labels):
            law: dict = {}
            for t in rows[s].nonzero()[0]:
                for word, chance in laws[t].items():
                    law[(label, *word)] = law.get((label, *word), 0.0) + rows[s, t] * chance
            after.append(law)
        laws = after
    return laws


@given(labelled_chains(), labelled_chains(), st.sampled_from((0.3, 0.9, 0.99)), st.integers(0, 4), st.data())
def test_properties_of_the_first_steps(source, target, discount, steps, data):
    """|Pr(φ) - Pr'(φ)| ≤ d/γ^h for any set φ of words of h + 1 labels, also for the set that differs most."""
    solution = bm.bisimilarity_distance(source, target, discount=discount)
    mine, theirs = word_laws(source, steps), word_laws(target, steps)
    words = sorted({word for law in (*mine, *theirs) for word in law})
    some = data.draw(st.sets(st.sampled_from(words)))
    for s, t in product(range(source.n_states), range(target.n_states)):
        gaps = {word: mine[s].get(word, 0.0) - theirs[t].get(word, 0.0) for word in words}
        bound = solution.upper[s, t] / discount**steps + 1e-12
        assert abs(sum(gaps[word] for word in some)) <= bound
        assert sum(max(gap, 0.0) for gap in gaps.values()) <= bound


@given(labelled_chains(), DISCOUNTS)
def test_distance_on_labels(chain, discount):
    """The fixed point of the verification literature: 1 where labels differ, else γ·OT; zero on the diagonal."""
    solution = bm.bisimilarity_distance(chain, chain, discount=discount)
    differ = np.array([[a != b for b in chain.labels] for a in chain.labels])
    problem = bm.Problem(chain, chain, discount=discount, cost=differ.astype(float), stop=differ)
    np.testing.assert_allclose(solution.value, reference.distances(problem), atol=1e-9)
    assert (solution.value[differ] == 1.0).all()
    assert (np.diag(solution.upper) == 0.0).all()


def test_labels_must_be_there():
    """With the remedy."""
    with pytest.raises(InvalidProblem, match="labels"):
        bm.bisimilarity_distance([[1.0]], [[1.0]], discount=0.9)
