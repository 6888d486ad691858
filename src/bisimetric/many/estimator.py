"""Distances between many models as a transformer of scikit-learn (`pip install 'bisimetric[ml]'`).

From lists of chains or decision processes to matrices of distances, which estimators with `metric="precomputed"` take:
nearest neighbours, clustering, MDS, and kernel methods behind a pipeline. `pairwise` does all of the work, and its
options are the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric.errors import MissingExtra
from bisimetric.many.pairwise import pairwise, read_models
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import checked_discount

if TYPE_CHECKING:
    from bisimetric.cost.ground import Cost
    from bisimetric.many.table import Distances
    from bisimetric.many.table_run import PairDone
    from bisimetric.problems.game import Actions
    from bisimetric.solvers.base import AnySolver

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError:  # then an object cannot be made, and the error says why
    BaseEstimator, TransformerMixin = object, type("TransformerMixin", (), {})


class MarkovDistance(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer from lists of chains or decision processes to distances between their starts.

    `fit` keeps the models; `transform` returns the certified distances from other models to those. Its parameters are
    the options of `pairwise`, and `get_params`, `set_params`, `clone` and grids of parameters work. As for all
    estimators, parameters are checked when they are used.

    Parameters
    ----------
    discount : float in [0, 1), default 0.95
        γ, the weight of each step relative to the one before.
    cost : array, function or None
        As for `pairwise`; None is the gap between rewards.
    normalised : bool, default False
        Multiply the cost by 1 - γ. Distances between decision processes always are.
    actions : "same" or "matched"
        How actions of decision processes meet.
    solver : Solver or str, optional
        As for `solve`.
    tol : float, optional
        The relative gap of every pair.
    time_limit : float, optional
        Seconds for each table; pairs that are not finished by then may be NaN, and `distances_.status` says which.
    throw : bool, default True
        Raise where a pair failed or missed `tol`.
    n_jobs : int, optional
        The number of processes, -1 for one on every core, -2 for all cores but one; by default as for `pairwise`.
    backend : str, optional
        Who solves the pairs: "loky", "threading", "ray" or the address of a Ray cluster.
    store : path, optional
        A folder that keeps every finished pair.
    on_pair : function of a `PairDone`, optional
        Called after every pair that was solved.

    Attributes
    ----------
    chains_ : list of MarkovChain or MDP
        What was fitted.
    distances_ : Distances
        The last table that was computed, with certified bounds on every entry.
    n_features_out_ : int
        How many models were fitted: the columns of what `transform` returns.

    Raises
    ------
    MissingExtra
        scikit-learn is not installed.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = [f"four-rooms:p{k}" for k in range(4)]
    >>> distances = bm.MarkovDistance(discount=0.9).fit_transform(rooms)
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(distances).shape
    (4,)
    """

    def __init__(
        self,
        *,
        discount: float = 0.95,
        cost: npt.ArrayLike | Cost | None = None,
        normalised: bool = False,
        actions: Actions = "same",
        solver: AnySolver | str | None = None,
        tol: float | None = None,
        time_limit: float | None = None,
        throw: bool = True,
        n_jobs: int | None = None,
        backend: str | None = None,
        store: object = None,
        on_pair: Callable[[PairDone], None] | None = None,
    ) -> None:
        if BaseEstimator is object:
            raise MissingExtra("MarkovDistance needs scikit-learn, which is missing: pip install 'bisimetric[ml]'")
        self.discount = discount
        self.cost = cost
        self.normalised = normalised
        self.actions = actions
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.throw = throw
        self.n_jobs = n_jobs
        self.backend = backend
        self.store = store
        self.on_pair = on_pair

    def fit(self, X: Iterable[Any], y: object = None) -> MarkovDistance:
        """Keep the models that others are compared with.

        Parameters
        ----------
        X : list of models
            As for `pairwise`: anything that `as_chain` takes, or decision processes, each with a start.
        y : ignored
            For pipelines.

        Returns
        -------
        MarkovDistance
            This object.

        Raises
        ------
        InvalidProblem, InvalidOption, MissingStart
            The discount is not below 1, the list is empty, or a model has no start.
        """
        checked_discount(self.discount)
        self.chains_ = read_models(X, "X")[0]
        self.n_features_out_ = len(self.chains_)
        return self

    def transform(self, X: Iterable[Any]) -> Floats:
        """The distances from these models to the fitted ones.

        Parameters
        ----------
        X : list of N models
            As for `fit`; errors call them `chains`, and the fitted ones `others`, as `pairwise` does.

        Returns
        -------
        array [N, fitted models]
            With bounds in `distances_`.
        """
        self._require_fit()
        return self._values(pairwise(X, self.chains_, **self.get_params()))

    def fit_transform(self, X: Iterable[Any], y: object = None) -> Floats:
        """Fit, and the distances between all models; each pair is solved once.

        Parameters
        ----------
        X : list of N models
            As for `fit`.
        y : ignored
            For pipelines.

        Returns
        -------
        array [N, N]
            Symmetric, with bounds in `distances_`.
        """
        self.fit(X)
        return self._values(pairwise(self.chains_, **self.get_params()))

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """Names of the columns that `transform` returns: the titles of the fitted models, or numbers.

        Parameters
        ----------
        input_features : ignored
            For pipelines.

        Returns
        -------
        array of str
        """
        self._require_fit()
        return np.array([f"distance to {chain.title or k}" for k, chain in enumerate(self.chains_)], object)

    def _require_fit(self) -> None:
        if not hasattr(self, "chains_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("this MarkovDistance is not fitted; call fit(models) first")

    def _values(self, distances: Distances) -> Floats:
        self.distances_ = distances
        return distances.value.copy()
