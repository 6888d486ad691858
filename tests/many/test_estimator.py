"""Distances between chains in scikit-learn."""

from __future__ import annotations

import inspect
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
from sklearn.utils import estimator_checks

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.solving.history import Status
from tests.many.pair_samples import random_chains
from tests.many.test_pairwise_mdps import MADE

ROOMS = [f"four-rooms:p{k}" for k in range(3)]
CHECKS_WITHOUT_DATA = (
    "check_no_attributes_set_in_init", "check_parameters_default_constructible", "check_get_params_invariance",
    "check_set_params", "check_do_not_raise_errors_in_init_or_set_params", "check_estimator_cloneable",
    "check_estimator_repr", "check_estimator_tags_renamed", "check_valid_tag_types", "check_mixin_order",
)  # fmt: skip


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


def test_parameters_are_the_options_of_pairwise():
    """By the same names, in the same order and with the same defaults, except that a discount is not asked for."""

    def options(call):
        found = inspect.signature(call).parameters.values()
        return [(one.name, one.default) for one in found if one.kind is one.KEYWORD_ONLY]

    mine, theirs = options(bm.MarkovDistance), options(bm.pairwise)
    assert mine[1:] == theirs[1:]
    assert mine[0] == ("discount", 0.95)


@pytest.mark.parametrize("name", CHECKS_WITHOUT_DATA)
def test_checks_of_scikit_learn(name):
    """Those that need no matrix of features, which a list of models is not."""
    getattr(estimator_checks, name)("MarkovDistance", bm.MarkovDistance())


def test_every_option_counts(tmp_path):
    """Decision processes, a store, a limit of time, a backend, and a table with failures instead of an error."""
    seen = []
    distance = bm.MarkovDistance(discount=0.8, actions="matched", store=tmp_path, on_pair=seen.append)
    expected = bm.pairwise(MADE, discount=0.8, actions="matched").value
    np.testing.assert_array_equal(distance.fit_transform(MADE), expected)
    assert len(seen) == 3
    np.testing.assert_array_equal(clone(distance).fit(MADE).transform(MADE[:1]), expected[:1])
    assert len(seen) == 3  # all found in the store
    late = bm.MarkovDistance(time_limit=1e-9)
    late.fit_transform(ROOMS)
    assert (late.distances_.status == Status.TIME_LIMIT).any()
    here = bm.MarkovDistance(backend="threading", n_jobs=2).fit_transform(ROOMS)
    np.testing.assert_array_equal(here, bm.MarkovDistance().fit_transform(ROOMS))
    with pytest.raises(InvalidOption, match="backend"):
        bm.MarkovDistance(backend="nothing", n_jobs=2).fit_transform(ROOMS)

    def failing(a, b):
        raise ValueError("no cost here")

    chains = random_chains()
    with pytest.raises(bm.errors.BisimetricError, match="no cost here"):
        bm.MarkovDistance(cost=failing).fit_transform(chains)
    lenient = bm.MarkovDistance(cost=failing, throw=False)
    assert np.isnan(lenient.fit_transform(chains)).any()
    assert lenient.distances_.failures


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
    with pytest.raises(InvalidOption, match="X is empty, expected a list of at least one chain"):
        bm.MarkovDistance().fit([])
    with pytest.raises(bm.errors.MissingStart, match=r"X\[1\] has no start"):
        bm.MarkovDistance().fit([*ROOMS[:1], bm.MarkovChain([[1.0]], reward=[0])])
    with pytest.raises(bm.errors.InvalidProblem, match="one kind"):
        bm.MarkovDistance().fit(ROOMS).transform(MADE)


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
