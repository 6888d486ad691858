"""Distances between chains as a transformer of scikit-learn (`pip install 'bisimetric[ml]'`).

From lists of chains to matrices of distances, which estimators with `metric="precomputed"` take: nearest neighbours,
clustering, MDS, and kernel methods behind a pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.errors import InvalidOption, MissingExtra
from bisimetric.many.pairwise import pairwise
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import checked_discount
from bisimetric.readers.convert import as_chain

if TYPE_CHECKING:
    from bisimetric.many.table import Distances

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError:  # then an object cannot be made, and the error says why
    BaseEstimator, TransformerMixin = object, type("TransformerMixin", (), {})


class MarkovDistance(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer from lists of chains to certified distances between their starts.

    `fit` keeps the chains; `transform` returns the distances from other chains to those. Its parameters mean
    what they mean in `pairwise`, and `get_params`, `set_params`, `clone` and grids of parameters work.

    Parameters
    ----------
    discount : float in [0, 1), default 0.95
        γ, the weight of each step relative to the one before.
    cost : array, function or None
        As for `pairwise`; None is the gap between rewards.
    normalised : bool, default False
        Multiply the cost by 1 - γ.
    solver : Solver or str
        As for `solve`.
    tol : float, optional
        The relative gap of every pair.
    n_jobs : int, default 1
        The number of processes, -1 for one on every core.
    store : path, optional
        A folder that keeps every finished pair.

    Attributes
    ----------
    chains_ : list of MarkovChain
        What was fitted.
    distances_ : Distances
        The last table that was computed, with certified bounds on every entry.
    n_features_out_ : int
        How many chains were fitted: the columns of what `transform` returns.

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
        cost: Any = None,
        normalised: bool = False,
        solver: Any = "policy-iteration",
        tol: float | None = None,
        n_jobs: int = 1,
        store: Any = None,
    ) -> None:
        if BaseEstimator is object:
            raise MissingExtra("MarkovDistance needs scikit-learn, which is missing: pip install 'bisimetric[ml]'")
        self.discount = discount
        self.cost = cost
        self.normalised = normalised
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.store = store

    def fit(self, X: Iterable[Any], y: object = None) -> MarkovDistance:
        """Keep the chains that others are compared with.

        Parameters
        ----------
        X : list of chains
            Anything that `as_chain` takes, each with a start.
        y : ignored
            For pipelines.

        Returns
        -------
        MarkovDistance
            This object.

        Raises
        ------
        InvalidProblem, InvalidOption
            The discount is not below 1, or the list is empty.
        """
        checked_discount(self.discount)
        self.chains_ = [as_chain(chain) for chain in _as_list(X)]
        if not self.chains_:
            raise InvalidOption("X is empty, expected a list of at least one chain")
        self.n_features_out_ = len(self.chains_)
        return self

    def transform(self, X: Iterable[Any]) -> Floats:
        """The distances from these chains to the fitted ones.

        Parameters
        ----------
        X : list of N chains
            As for `fit`.

        Returns
        -------
        array [N, fitted chains]
            With bounds in `distances_`.
        """
        self._require_fit()
        return self._values(pairwise(_as_list(X), self.chains_, **self.get_params()))

    def fit_transform(self, X: Iterable[Any], y: object = None) -> Floats:
        """Fit, and the distances between all chains; each pair is solved once.

        Parameters
        ----------
        X : list of N chains
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
        """Names of the columns that `transform` returns: the titles of the fitted chains, or numbers.

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

            raise NotFittedError("this MarkovDistance is not fitted; call fit(chains) first")

    def _values(self, distances: Distances) -> Floats:
        self.distances_ = distances
        return distances.value.copy()


def _as_list(X: object) -> list[Any]:
    if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
        raise InvalidOption(f"X is a {type(X).__name__}, expected a list of chains")
    return list(X)
