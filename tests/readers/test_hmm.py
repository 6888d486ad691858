"""Hidden Markov models: every family of hmmlearn, objects like its models, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hmmlearn import hmm, vhmm
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain, InvalidOption

ROWS = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]])
START = np.array([0.5, 0.25, 0.25])
CENTRES = np.array([[0.0, 0.0], [5.0, 1.0], [-3.0, 4.0]])
ORDER = [2, 0, 1]


def model_like(**emissions):
    """An object with the attributes of a fitted model."""
    return SimpleNamespace(transmat_=ROWS, startprob_=START, **emissions)


def observations(seed=0, length=300):
    """A sequence of a Gaussian model."""
    model = hmm.GaussianHMM(3, covariance_type="full", random_state=seed)
    model.startprob_, model.transmat_, model.means_ = START, ROWS, CENTRES
    model.covars_ = np.stack([np.eye(2), [[0.5, 0.2], [0.2, 0.3]], np.diag([0.2, 1.0])])
    return model.sample(length)[0]


def unfitted(kind, order=(0, 1, 2)):
    """A Gaussian model that begins its fit near the truth, with its states in this order; nothing is drawn."""
    model = hmm.GaussianHMM(3, covariance_type=kind, init_params="c", n_iter=40, tol=1e-9)
    model.startprob_, model.transmat_ = np.full(3, 1 / 3), np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    model.means_ = CENTRES[list(order)]
    return model


@cache
def fitted(kind):
    """A fitted model with this kind of covariance."""
    return unfitted(kind).fit(observations())


def covariance(label):
    """The covariance in the label of a Gaussian state."""
    d = label[1]
    return np.array(label[2 + d :]).reshape(d, d)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_gaussian_models(kind):
    """Every kind of covariance that hmmlearn has."""
    model = fitted(kind)
    chain = bm.from_hmm(model)
    np.testing.assert_allclose(chain.transitions.toarray(), model.transmat_, atol=1e-15)
    np.testing.assert_allclose(chain.start, model.startprob_, atol=1e-15)
    raw = model._covars_  # for spherical ones the public attribute has as many matrices as there are numbers
    expected = {
        "full": lambda k: raw[k],
        "tied": lambda k: raw,
        "diag": lambda k: np.diag(raw[k]),
        "spherical": lambda k: np.diag(raw[k]),
    }
    for k, label in enumerate(chain.labels):
        assert label[:2] == ("gaussian", 2)
        assert label[2:4] == tuple(model.means_[k])
        np.testing.assert_allclose(covariance(label), expected[kind](k), rtol=1e-12, atol=1e-14)
    assert bm.as_chain(model) == chain


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_mixtures(kind):
    """Refused, or replaced by Gaussians with the same two moments, which samples have too."""
    shapes = {"full": (2, 2, 2, 2), "tied": (2, 2, 2), "diag": (2, 2, 2), "spherical": (2, 2)}
    model = hmm.GMMHMM(2, n_mix=2, covariance_type=kind)
    model.transmat_, model.startprob_ = ROWS[1:, 1:] / ROWS[1:, 1:].sum(axis=1, keepdims=True), [0.5, 0.5]
    model.weights_, model.means_ = np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([CENTRES[:2], CENTRES[1:]])
    entries = np.arange(1.0, 1.0 + np.prod(shapes[kind])).reshape(shapes[kind]) / 4
    roots = entries + 2 * np.eye(2) if kind in ("full", "tied") else entries
    model.covars_ = roots @ np.swapaxes(roots, -1, -2) if kind in ("full", "tied") else entries
    with pytest.raises(InvalidChain, match="mixtures='moments'"):
        bm.as_chain(model)
    label = bm.from_hmm(model, mixtures="moments").labels[0]
    random = np.random.default_rng(0)
    part = random.choice(2, 200_000, p=model.weights_[0])
    full = {
        "full": model.covars_[0],
        "tied": model.covars_[[0, 0]],
        "diag": [np.diag(row) for row in model.covars_[0]] if kind == "diag" else None,
        "spherical": [row * np.eye(2) for row in model.covars_[0]],
    }[kind]
    roots = np.linalg.cholesky(np.array(full))
    sample = model.means_[0][part] + np.einsum("kij,kj->ki", roots[part], random.normal(size=(len(part), 2)))
    np.testing.assert_allclose(label[2:4], sample.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(covariance(label), np.cov(sample.T), rtol=0.05, atol=0.1)


def test_other_families():
    """Categorical and Poisson emissions, and variational models."""
    random = np.random.default_rng(0)
    symbols = hmm.CategoricalHMM(2, random_state=0, n_iter=1).fit(random.integers(0, 3, (200, 1)))
    for k, label in enumerate(bm.as_chain(symbols).labels):
        assert label[0] == "categorical"
        np.testing.assert_allclose(label[1:], symbols.emissionprob_[k], atol=1e-12)
    counts = hmm.PoissonHMM(2, random_state=0, n_iter=1).fit(random.poisson(3, (200, 2)))
    assert bm.as_chain(counts).labels[1] == ("poisson", *counts.lambdas_[1])
    variational = vhmm.VariationalGaussianHMM(2, random_state=0, n_iter=1).fit(observations(length=50))
    assert bm.as_chain(variational).labels[0][:2] == ("gaussian", 2)


@pytest.mark.parametrize("model", [hmm.GaussianHMM(3), hmm.CategoricalHMM(2), SimpleNamespace(startprob_=[1.0])])
def test_models_that_are_not_fitted(model):
    """They are told so."""
    with pytest.raises(InvalidChain, match=r"has no transmat_.*model\.fit"):
        bm.from_hmm(model)


def test_states_that_the_data_never_leave():
    """Their rows are zero, which the error explains."""
    model = model_like(lambdas_=[1.0, 2.0, 3.0])
    model.transmat_ = ROWS * [[1], [0], [1]]
    with pytest.raises(InvalidChain, match=r"state 1 .* never left.*fewer states"):
        bm.from_hmm(model)


def test_counts_in_trials_are_refused():
    """By name, with a way out."""
    with pytest.raises(InvalidChain, match=r"counts in 5 trials.*labels="):
        bm.from_hmm(model_like(emissionprob_=[[0.5, 0.5]] * 3, n_trials=5))


def test_objects_like_models():
    """Lists, and every way to store covariances."""
    eye = np.eye(2)
    stored = [[eye] * 3, [[1.0, 1.0]] * 3, [1.0, 1.0, 1.0], eye]
    labels = {bm.as_chain(model_like(means_=CENTRES, covars_=covars)).labels for covars in stored}
    assert labels == {tuple(("gaussian", 2, *centre, 1.0, 0.0, 0.0, 1.0) for centre in CENTRES)}
    single = bm.as_chain(model_like(means_=[1.0, 2.0, 3.0], covars_=[1.0, 4.0, 9.0]))
    assert single.labels[2] == ("gaussian", 1, 3.0, 9.0)


@pytest.mark.parametrize(
    ("emissions", "message"),
    [
        ({}, "no emissions that are known"),
        ({"emissionprob_": [[0.5, 0.4]] * 3}, "sum to 1"),
        ({"emissionprob_": [[1.5, -0.5]] * 3}, "sum to 1"),
        ({"emissionprob_": [[0.5, 0.5]] * 2}, r"expected \[3, any\]"),
        ({"lambdas_": [-1.0, 1.0, 1.0]}, "not negative"),
        ({"lambdas_": [np.nan, 1.0, 1.0]}, "finite"),
        ({"means_": CENTRES, "covars_": np.ones((3, 2, 3))}, "covars_ has shape"),
        ({"means_": np.zeros((3, 3)), "covars_": np.eye(3)}, "may mean several things"),
        ({"means_": CENTRES, "covars_": [[[1.0, 2.0], [0.0, 1.0]]] * 3}, r"covars_\[0\] is no covariance"),
        ({"means_": CENTRES, "covars_": [[[1.0, 2.0], [2.0, 1.0]]] * 3}, r"covars_\[0\] is no covariance"),
        ({"means_": CENTRES, "covars_": [[1.0, -1.0]] * 3}, r"covars_\[0\] is no covariance"),
        ({"means_": CENTRES}, "no emissions that are known"),
        ({"means_": "abc", "covars_": 1}, "dtype"),
    ],
)
def test_wrong_emissions(emissions, message):
    """The attribute, what came and what was expected."""
    with pytest.raises(InvalidChain, match=message):
        bm.as_chain(model_like(**emissions))


def permuted(model, order):
    """The same model with its states in another order."""
    other = hmm.GaussianHMM(len(order), covariance_type=model.covariance_type)
    other.startprob_, other.transmat_ = model.startprob_[order], model.transmat_[np.ix_(order, order)]
    other.means_ = model.means_[order]
    other._covars_ = model._covars_ if model.covariance_type == "tied" else model._covars_[order]
    return other


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_permuted_states(kind):
    """The same model at distance 0, matched by the permutation."""
    model = fitted(kind)
    solution = bm.distance(model, permuted(model, ORDER), discount=0.9, cost=bm.cost.emissions)
    assert solution.distance <= 1e-9
    for matching in (solution.match(), solution.assignment().targets):
        assert [ORDER[k] for k in matching] == [0, 1, 2]
    changed = permuted(model, ORDER)
    changed.means_ = changed.means_ + 1.0
    assert bm.distance(model, changed, discount=0.9, cost=bm.cost.emissions).distance > 1.0


def test_two_fits_to_the_same_data():
    """From other starting points: other numbers of states, nearly the same model, and the matching that maps them."""
    one, other = (unfitted("full", order).fit(observations()) for order in ([0, 1, 2], ORDER))
    solution = bm.distance(one, other, discount=0.9, cost=bm.cost.emissions)
    assert solution.distance <= 1e-6
    assert [ORDER[k] for k in solution.match()] == [0, 1, 2]


@pytest.mark.parametrize(
    "emissions", [{"emissionprob_": [[0.8, 0.2], [0.3, 0.7], [0.5, 0.5]]}, {"lambdas_": [1.0, 5.0, 2.0]}]
)
def test_other_families_permuted(emissions):
    """Categorical and Poisson models."""
    model = model_like(**emissions)
    ((name, values),) = emissions.items()
    other = SimpleNamespace(
        transmat_=ROWS[np.ix_(ORDER, ORDER)], startprob_=START[ORDER], **{name: np.array(values)[ORDER]}
    )
    solution = bm.distance(model, other, discount=0.9, cost=bm.cost.emissions)
    assert solution.distance == 0.0
    assert [ORDER[k] for k in solution.match()] == [0, 1, 2]


def test_wrong_options():
    """The way to treat mixtures, by name."""
    with pytest.raises(InvalidOption, match="did you mean 'moments'"):
        bm.from_hmm(model_like(lambdas_=[1.0, 2.0, 3.0]), mixtures="moment")


ARRAYS = arrays.arrays(np.float64, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
                       elements=st.sampled_from([0.0, 0.5, 1.0, -1.0, np.nan, 1e308]))  # fmt: skip
VALUES = ARRAYS | st.none() | st.text(max_size=2) | st.lists(st.floats(), max_size=2)
NAMES = ("transmat_", "startprob_", "means_", "covars_", "weights_", "lambdas_", "emissionprob_", "covariance_type")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, VALUES)), st.booleans())
def test_any_model(attributes, fitted):
    """A chain, or an error of ours."""
    known = {"transmat_": ROWS, "startprob_": START} if fitted else {}
    model = SimpleNamespace(**attributes | known)
    for make in (bm.as_chain, bm.as_mdp, lambda model: bm.from_hmm(model, mixtures="moments")):
        with suppress(BisimetricError):
            make(model)
