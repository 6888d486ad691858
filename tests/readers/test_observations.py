"""Chains of hidden states: what hmmlearn decodes, in all shapes of observations, matched with another model."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hmmlearn import hmm

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain, InvalidData

ROWS = np.array([[0.9, 0.1, 0.0], [0.1, 0.7, 0.2], [0.3, 0.0, 0.7]])
CHANGED = np.array([[0.6, 0.4, 0.0], [0.1, 0.7, 0.2], [0.3, 0.0, 0.7]])
ORDER = [2, 0, 1]


def gaussian(rows=ROWS, order=(0, 1, 2)):
    """A model of three states far apart, in this order."""
    model = hmm.GaussianHMM(3, covariance_type="spherical")
    place = list(order)
    model.startprob_, model.transmat_ = np.array([0.5, 0.3, 0.2])[place], rows[np.ix_(place, place)]
    model.means_, model.covars_ = np.array([[0.0, 0.0], [4.0, 1.0], [-4.0, 2.0]])[place], np.full(3, 0.3)
    model.n_features = 2
    return model


def categorical(rows=ROWS):
    """A model with four symbols."""
    model = hmm.CategoricalHMM(3)
    model.startprob_, model.transmat_ = np.array([0.5, 0.3, 0.2]), rows
    model.emissionprob_ = np.array([[0.94, 0.02, 0.02, 0.02], [0.02, 0.94, 0.02, 0.02], [0.02, 0.02, 0.48, 0.48]])
    model.n_features = 4
    return model


@cache
def sample(make, seed, rows_changed=False, sequences=30):
    """Sequences that a model emits, and their true hidden states."""
    model = make(CHANGED if rows_changed else ROWS)
    drawn = [model.sample(12 + k % 5, random_state=1000 * seed + k) for k in range(sequences)]
    return [observed for observed, _ in drawn], [path for _, path in drawn]


def counts_of(paths, n=3):
    """Transitions, counted one by one."""
    found = np.zeros((n, n), int)
    for path in paths:
        for source, target in pairwise(path):
            found[source, target] += 1
    return found


@pytest.mark.parametrize("make", [gaussian, categorical])
def test_every_shape_of_observations_gives_the_decoded_paths(make):
    """Lists of arrays, stacked ones with lengths, tuples, columns or not: the transitions of the most likely paths."""
    model, (observed, _) = make(), sample(make, 0)
    paths = [model.decode(one, algorithm="viterbi")[1] for one in observed]
    chain = bm.from_observations(model, observed)
    assert isinstance(chain, bm.EstimatedChain)
    assert chain.names == ("0", "1", "2")
    np.testing.assert_array_equal(chain.counts.toarray(), counts_of(paths))
    np.testing.assert_array_equal(chain.start_counts, np.bincount([path[0] for path in paths], minlength=3))
    stacked, lengths = np.concatenate(observed), [len(one) for one in observed]
    same = [(stacked, lengths), ((stacked, lengths),), (stacked, np.array(lengths)), (iter(observed),)]
    same += [([one.tolist() for one in observed],), (dict(enumerate(observed)),)]
    if make is categorical:
        same += [([one[:, 0] for one in observed],), (stacked[:, 0], lengths), ([one / 1.0 for one in observed],)]
    for given in same:
        assert bm.from_observations(model, *given) == chain
    alone = bm.from_observations(model, observed[0])
    assert alone.n_sequences == 1
    assert alone == bm.from_observations(model, observed[:1])
    assert "GaussianHMM.predict" in chain.notes[0] or make is categorical


def test_paths_are_the_true_ones_where_states_are_far_apart():
    """So the chain is the one that the hidden states give."""
    observed, paths = sample(gaussian, 1)
    np.testing.assert_array_equal(bm.from_observations(gaussian(), observed).counts.toarray(), counts_of(paths))


def test_poisson_models():
    """Counts as observations; a state that is never met is there all the same."""
    model = hmm.PoissonHMM(3)
    model.startprob_, model.transmat_ = np.array([0.5, 0.5, 0.0]), np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1.0]])
    model.lambdas_ = np.array([[1.0, 1.0], [50.0, 9.0], [9.0, 9.0]])
    model.n_features = 2
    chain = bm.from_observations(model, [[[1, 0], [48, 9], [0, 2]], [[51, 7], [47, 8]]], end="left")
    assert chain.names == ("0", "1", "2", "left")
    assert chain.counts.toarray().tolist() == [[0, 1, 0, 1], [1, 1, 0, 1], [0] * 4, [0] * 4]


def test_logs_of_one_model_are_compared():
    """A change is found where there is one, and the comparison says what it is conditional on."""
    model = gaussian()
    before, same, after = (
        bm.from_observations(model, sample(gaussian, *which)[0]) for which in ((2,), (3,), (4, True))
    )
    changed = bm.compare(before, after, discount=0.8, resamples=39)
    assert changed.p_value <= 0.05
    assert {change.source for change in changed.changed.significant()} == {"0"}
    assert any("predict" in note for note in changed.notes)
    assert bm.compare(before, same, discount=0.8, resamples=39).p_value > 0.05


def test_states_of_two_models_are_matched():
    """The same model with its states in another order gives the same chain, by name."""
    observed, _ = sample(gaussian, 5)
    one, other = gaussian(), gaussian(order=ORDER)
    plain, renamed = bm.from_observations(one, observed), bm.from_observations(other, observed, like=one)
    assert renamed.names == ("2", "0", "1")
    np.testing.assert_array_equal(renamed.frame().loc[list("012"), list("012")], plain.counts.toarray())
    assert bm.compare(plain, renamed, discount=0.8, resamples=3).distance == 0.0
    matched = bm.distance(other, one, discount=0.9, cost=bm.cost.emissions).assignment()
    assert [matched.names[1][k] for k in matched.targets] == list(renamed.names)
    assert "matching" in renamed.notes[0]


def test_a_state_without_a_match_says_so():
    """A model with a state more than the other."""
    small = hmm.GaussianHMM(2, covariance_type="spherical")
    small.startprob_, small.transmat_ = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.2, 0.8]])
    small.means_, small.covars_ = np.array([[4.0, 1.0], [0.0, 0.0]]), np.full(2, 0.3)
    assert bm.from_observations(gaussian(), sample(gaussian, 6)[0], like=small).names == ("1", "0", "unmatched 2")


BAD = {
    "not fitted": (hmm.GaussianHMM(3), [np.zeros((4, 2))], {}, "call model.fit"),
    "no model": (3, [np.zeros((4, 2))], {}, "from_trajectories"),
    "none": (gaussian(), [], {}, "observations is empty"),
    "an empty sequence": (gaussian(), [np.zeros((4, 2)), np.zeros((0, 2))], {}, "observations[1] is empty"),
    "features": (gaussian(), [np.zeros((4, 2)), np.zeros((4, 3))], {}, "observations[1] has 3 features, expected 2"),
    "a row instead of a column": (gaussian(), [np.zeros(4)], {}, "has 1 features, expected 2"),
    "numbers": (categorical(), [0, 1, 2], {}, "observations[0] is 0"),
    "text": (categorical(), [["a", "b"]], {}, "expected real numbers"),
    "a symbol": (categorical(), [[0, 1], [0, 4]], {}, "observations[1][1] is 4, expected a symbol"),
    "a negative symbol": (categorical(), [[0, -1]], {}, "expected a symbol"),
    "half a symbol": (categorical(), [[0, 0.5]], {}, "expected a symbol"),
    "a gap": (gaussian(), [[[0.0, np.nan], [0.0, 1.0]]], {}, "nan"),
    "ragged": (gaussian(), [[[0.0, 1.0], [0.0]]], {}, "ragged"),
    "lengths": (categorical(), [0, 1, 2, 1], {"lengths": [2, 3]}, "with the sum 4"),
    "no length": (categorical(), [0, 1, 2, 1], {"lengths": [4, 0]}, "positive"),
    "a tuple of sequences": (categorical(), ([0, 1], [1, 1], [2, 1]), {}, "in a list"),
    "two sequences in a tuple": (categorical(), ([0, 1, 1], [1, 1]), {}, "in a list"),
    "single steps": (categorical(), [[0], [1]], {}, "no transition"),
    "another family": (categorical(), [[0, 1]], {"like": gaussian()}, "one family"),
    "like is not fitted": (categorical(), [[0, 1]], {"like": hmm.GaussianHMM(3)}, "call model.fit"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_models_and_observations(what):
    """Errors of the package, which say where and what to do."""
    model, observed, options, said = BAD[what]
    with pytest.raises(BisimetricError) as caught:
        bm.from_observations(model, observed, **options)
    assert said in str(caught.value)


def test_decoders_of_other_packages():
    """Anything with `transmat_` and `predict`; what it returns is checked."""
    found = SimpleNamespace(transmat_=ROWS, predict=lambda stacked, lengths: stacked[:, 0] > 0.5)
    with pytest.raises(InvalidData, match="returned bool"):
        bm.from_observations(found, [[0.1, 0.9]])
    found.predict = lambda stacked, lengths: (stacked[:, 0] > 0.5).astype(int)
    assert bm.from_observations(found, [[0.1, 0.9, 0.2]]).counts.toarray()[:2, :2].tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InvalidChain, match="startprob_"):
        bm.from_observations(found, [[0.1, 0.9]], like=gaussian())
