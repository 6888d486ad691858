"""Distances between chains in scikit-learn."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering
from sklearn.exceptions import NotFittedError
from sklearn.manifold import MDS
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.many.pair_samples import random_chains

ROOMS = [f"four-rooms:p{k}" for k in range(3)]


def coins(count, seed=0):
    """Coins that are fair or not, with their kinds."""
    random = np.random.default_rng(seed)
    kinds = np.arange(count) % 2
    chances = np.where(kinds, 0.5, 0.9) + random.uniform(-0.05, 0.05, count)
    return [bm.MarkovChain([[p, 1 - p], [p, 1 - p]], reward=[0, 1], start=0) for p in chances], kinds


def test_distances_are_those_of_pairwise():
    """Between all, and from others to those fitted; the bounds are there too."""
    chains = random_chains()
    distance = bm.MarkovDistance(discount=0.9)
    np.testing.assert_array_equal(distance.fit_transform(chains), bm.pairwise(chains, discount=0.9).value)
    np.testing.assert_array_equal(distance.transform(chains[:2]), bm.pairwise(chains[:2], chains, discount=0.9).value)
    assert (distance.distances_.lower <= distance.distances_.upper).all()
    assert len(distance.get_feature_names_out()) == distance.n_features_out_ == len(chains)


def test_parameters_are_those_of_an_estimator():
    """clone, get_params and set_params; nothing is checked or changed before fit."""
    distance = bm.MarkovDistance(discount=0.9, normalised=True)
    copy = clone(distance)
    assert copy.get_params() == distance.get_params()
    assert copy.set_params(discount=0.5).discount == 0.5
    assert "discount=0.9" in repr(distance)
    assert distance.fit(ROOMS) is distance


def test_pipelines_and_searches():
    """Neighbours tell fair coins from others, and a search over discounts runs."""
    chains, kinds = coins(12)
    pipeline = make_pipeline(bm.MarkovDistance(), KNeighborsClassifier(1, metric="precomputed"))
    others, expected = coins(6, seed=1)
    np.testing.assert_array_equal(pipeline.fit(chains, kinds).predict(others), expected)
    search = GridSearchCV(pipeline, {"markovdistance__discount": [0.5, 0.9]}, cv=2, error_score="raise")
    assert search.fit(np.array(chains, object), kinds).best_score_ == 1.0


def test_estimators_with_precomputed_distances():
    """Clusters and maps."""
    chains, kinds = coins(8)
    distances = bm.MarkovDistance(discount=0.9).fit_transform(chains)
    found = AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(distances)
    assert set(zip(found, kinds, strict=True)) in ({(0, 0), (1, 1)}, {(0, 1), (1, 0)})
    scaling = MDS(2, metric="precomputed", init="random", n_init=1, max_iter=50, random_state=0)
    assert scaling.fit_transform(distances).shape == (8, 2)


def test_bad_input():
    """Before fit, and things that are no lists of chains."""
    with pytest.raises(NotFittedError):
        bm.MarkovDistance().transform(ROOMS)
    with pytest.raises(NotFittedError):
        bm.MarkovDistance(discount=0.9).get_feature_names_out()
    with pytest.raises(InvalidOption, match="list of chains"):
        bm.MarkovDistance().fit("four-rooms:p1")
    with pytest.raises(bm.errors.InvalidProblem):
        bm.MarkovDistance(discount=2.0).fit(ROOMS)
    with pytest.raises(InvalidOption, match="at least one chain"):
        bm.MarkovDistance().fit([])


def test_the_extra_is_named():
    """Without scikit-learn the class is there, and making an object says what to install."""
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import bisimetric as bm\n"
        "try:\n    bm.MarkovDistance()\n"
        "except bm.errors.MissingExtra as error:\n    print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "bisimetric[ml]" in shown
