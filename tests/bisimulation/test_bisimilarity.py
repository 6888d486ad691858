"""The bisimilarity distance without a discount: known answers, rational oracle, laws, files, explanations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from tests import reference
from tests.bisimulation.labelled import UNIT, coin, die, distances, ending_chains, labelled_chains, split, throw

# ------------------------------------------------------------------ known answers


@pytest.mark.parametrize("gap", [0.25, 1e-3, 1e-6, 1e-9, 1e-11])
def test_coins_tossed_forever_are_at_one(gap):
    """However small the difference, all of it is seen in the end; the proof is a graph search, without rounding."""
    assert distances(coin(0.5), coin(0.5 + gap)).interval == (1.0, 1.0)


@pytest.mark.parametrize("gap", [0.25, 1e-3, 1e-6])
@pytest.mark.parametrize("end", [0.5, 0.01])
def test_coins_that_get_lost(gap, end):
    """d = (1-e)·gap + (1-e)(1-gap)·d."""
    solution = distances(coin(0.5, end), coin(0.5 + gap, end))
    expected = (1 - end) * gap / (1 - (1 - end) * (1 - gap))
    assert solution.distance == pytest.approx(expected, rel=1e-7)
    assert solution.status is bm.Status.SOLVED


def test_equal_coins_up_to_rounding_are_bisimilar():
    """A difference in the last digit is no difference, also where it would be seen forever."""
    third = bm.MarkovChain([[1 / 3, 2 / 3], [1 / 3, 2 / 3]], labels=["h", "t"], start=0)
    other = bm.MarkovChain([[1 - 2 / 3, 2 / 3], [1 / 6 + 1 / 6, 1 - 1 / 3]], labels=["h", "t"], start=0)
    assert distances(third, other).interval == (0.0, 0.0)


def test_the_die_and_its_quotient():
    """The smallest die that behaves alike is at 0, a bent one is not, and a die of one throw is seen at once."""
    assert distances(die(), bm.quotient(die())[0]).interval == (0.0, 0.0)
    bent = distances(die(), die(0.01))
    assert 0 < bent.interval[0] <= bent.interval[1] < 0.1
    assert distances(die(), throw()).distance == pytest.approx(1, abs=1e-12)


def test_all_labels_alike_or_all_different():
    """Nothing to see, or seen at once."""
    chain = bm.environments.random_chain(5, seed=1)
    same = [bm.MarkovChain(chain.transitions, labels=[label] * 5, start=0) for label in "ab"]
    assert not distances(same[0], same[0]).upper.any()
    assert distances(*same).lower.min() == 1.0


# ------------------------------------------------------------------ oracle


@given(*2 * (st.one_of(labelled_chains(), ending_chains()),))
def test_contains_the_exact_distances(source, target):
    """Against policy iteration in rational numbers, with bisimilarity in rational numbers."""
    solution = distances(source, target)
    bisimilar = reference.joint_bisimilarity(source, target)
    truth = reference.exact_bisimilarity_distances(source, target, bisimilar)
    lower, upper = (np.vectorize(Fraction, otypes=[object])(bound) for bound in (solution.lower, solution.upper))
    assert (lower <= truth).all()
    assert (truth <= upper).all()
    assert not solution.upper[bisimilar].any()
    assert solution.status is bm.Status.SOLVED


@pytest.mark.slow
@settings(max_examples=300)
@given(labelled_chains(max_states=4), labelled_chains(max_states=3))
def test_contains_the_exact_distances_long(source, target):
    """The same for longer."""
    test_contains_the_exact_distances.hypothesis.inner_test(source, target)


@given(ending_chains(), ending_chains())
def test_value_iteration_agrees(source, target):
    """The other solver that needs no discount."""
    one, other = distances(source, target), distances(source, target, solver="value-iteration", tol=1e-7)
    assert np.abs(one.value - other.value).max() <= 2e-7


# ------------------------------------------------------------------ laws


@given(*2 * (st.one_of(labelled_chains(), ending_chains()),))
def test_symmetric_and_above_every_discount(source, target):
    """d(x, y) = d(y, x); d_γ rises with γ, and to d."""
    solution = distances(source, target)
    assert np.abs(solution.value - distances(target, source).value.T).max() <= 1e-9
    before = 0.0
    for discount in (0.5, 0.9, 0.999):
        discounted = bm.bisimilarity_distance(source, target, discount=discount)
        assert (discounted.upper >= before).all()
        assert (discounted.lower <= solution.upper).all()
        before = discounted.lower


@given(*3 * (st.one_of(labelled_chains(), ending_chains()),))
def test_triangle(a, b, c):
    """d(x, z) ≤ d(x, y) + d(y, z)."""
    ab, bc, ac = distances(a, b), distances(b, c), distances(a, c)
    assert (ac.lower[:, None, :] <= ab.upper[:, :, None] + bc.upper[None] + 1e-12).all()


@given(ending_chains(), ending_chains(), st.data())
def test_splitting_a_state_changes_nothing(source, target, data):
    """Two copies of a state that share what leads to it."""
    state = data.draw(st.integers(0, source.n_states - 1))
    share = data.draw(st.integers(1, UNIT - 1)) / UNIT
    copies, map_back = split(source, state, share)
    whole, parts = distances(source, target), distances(copies, target)
    assert np.abs(parts.value - whole.value[map_back]).max() <= 1e-9
    assert not distances(copies, source).upper[range(copies.n_states), map_back].any()


@given(labelled_chains(max_states=4), labelled_chains(max_states=4))
def test_bounds_the_probability_of_ever_seeing_a_label(source, target):
    """|Pr(reach a) - Pr'(reach a)| ≤ d, one of the properties that the distance bounds."""
    solution = distances(source, target)
    ever = [_probability_of_reaching(chain, "a") for chain in (source, target)]
    assert (np.abs(np.subtract.outer(*ever)) <= solution.upper + 1e-9).all()


def _probability_of_reaching(chain, label):
    rows, there = chain.transitions.toarray(), np.array([mine == label for mine in chain.labels])
    can = there.copy()
    for _ in there:
        can |= (rows[:, can] > 0).any(axis=1)
    ever, open_ = there.astype(float), can & ~there
    system = np.eye(int(open_.sum())) - rows[np.ix_(open_, open_)]
    ever[open_] = np.linalg.solve(system, rows[np.ix_(open_, there)].sum(axis=1))
    return ever


# ------------------------------------------------------------------ the answer


@given(*2 * (st.one_of(labelled_chains(), ending_chains()),))
def test_couplings_everywhere(source, target):
    """At all pairs of equal labels; bisimilar states stay bisimilar, and the parts add up to the distance."""
    solution = distances(source.with_start(0), target.with_start(0))
    P, Q = source.transitions.toarray(), target.transitions.toarray()
    same = reference.joint_bisimilarity(source, target)
    for x, y in np.ndindex(solution.value.shape):
        law = solution.coupling[x, y].toarray()
        if source.labels[x] != target.labels[y]:
            assert not law.any()
            continue
        assert np.array_equal(law.sum(axis=1), P[x])
        assert np.array_equal(law.sum(axis=0), Q[y])
        assert not same[x, y] or not law[~same].any()
    explanation = solution.explain(start=(0, 0))
    assert explanation.distance == pytest.approx(solution.value[0, 0], abs=1e-9)
    assert all(part.cost == 1 for part in explanation.parts)


@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize("end", [0.0, 0.01, 1e-9])
def test_files_prove_the_bounds_again(tmp_path, ending, end):
    """Exact ends, an ordinary solve, and one that rounding stops."""
    solution = distances(coin(0.5, end), coin(0.5 + 1e-6, end))
    solution.save(tmp_path / f"d.{ending}")
    again = bm.load(tmp_path / f"d.{ending}")
    assert again.problem == solution.problem
    assert np.array_equal(again.value, solution.value)
    assert np.allclose(again.lower, solution.lower, rtol=0, atol=1e-12)
    assert np.allclose(again.upper, solution.upper, rtol=0, atol=1e-12)
    assert again.explain().distance == pytest.approx(solution.explain().distance)
