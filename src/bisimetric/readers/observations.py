"""Sequences of observations become chains of hidden states: the paths that a fitted hidden Markov model decodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from bisimetric._support.frozen import changed
from bisimetric._support.options import as_index, shown
from bisimetric.cost.laws import emissions
from bisimetric.errors import InvalidChain, InvalidData
from bisimetric.models.estimated import EstimatedChain
from bisimetric.models.rows import Floats, Ints, as_array, real_array
from bisimetric.problems.discounted import Problem
from bisimetric.readers.hmm import check_fitted, from_hmm
from bisimetric.readers.trajectories import from_trajectories
from bisimetric.solving.solve import solve

MATCHING_DISCOUNT = 0.9  # states are matched by their emissions and by what follows in about ten steps
FEATURED = ("means_", "lambdas_", "emissionprob_")  # attributes whose last axis is the features, or the symbols
OBSERVATIONS = "a list of arrays, one per sequence, or observations one below the other with lengths="


def from_observations(
    model: Any,
    observations: Any,
    lengths: Iterable[int] | None = None,
    *,
    like: Any = None,
    smoothing: float | None = None,
    unseen: Literal["absorbing", "drop"] = "absorbing",
    end: bool | str = False,
) -> EstimatedChain:
    """Estimate a chain from the hidden states of sequences of observations, as a fitted model decodes them.

    Decode both logs with one model, so that states mean the same in both, and `compare` says whether behaviour changed:
    `compare(from_observations(model, before), from_observations(model, after), discount=0.9)`.

    Parameters
    ----------
    model : object
        A fitted model of `hmmlearn`, or anything with `transmat_` and `predict(X, lengths)`, which returns the most
        likely hidden state of every observation; in `hmmlearn` the most likely path (Viterbi), unless the model has
        another `algorithm`.
    observations : list of arrays, or array [steps, features]
        One array for each sequence: [steps, features], or [steps] where there is one feature, as with categorical
        models. Or all observations one below the other, with `lengths`; without, they are one sequence. A tuple is
        (observations, lengths).
    lengths : list of int, optional
        How many observations each sequence has, as in `hmmlearn`.
    like : object, optional
        Another fitted model, whose names the states get: those of `distance(model, like, discount=0.9,
        cost=cost.emissions).assignment()`. Mixtures are matched by their means and covariances. A state that is matched
        with none is called "unmatched" with its number.
    smoothing, unseen, end
        As for `from_trajectories`.

    Returns
    -------
    EstimatedChain
        Over all hidden states of the model, in its order; their names are their numbers, or by `like`.

    Raises
    ------
    InvalidChain
        The model is not fitted, or `like` is not.
    InvalidProblem
        The emissions of `like` are of another family.
    InvalidData
        There are no observations, or some are missing or not such as the model takes; the message says which.

    Notes
    -----
    What is found from such chains is conditional on the model and on the paths: neither the uncertainty of fitting nor
    that of decoding is in any interval. A decoded path is smoother than the true one, and need not be a Markov chain.
    The p-value of `compare` holds if one model decodes both logs and treats them alike: it was fitted to both together,
    or to other data. Fitted to one of them, or with two models and `like=`, the logs are decoded differently, and a
    small p-value may say no more than that.

    Examples
    --------
    >>> import bisimetric as bm
    >>> from hmmlearn.hmm import CategoricalHMM
    >>> model = CategoricalHMM(2)
    >>> model.startprob_, model.transmat_ = [0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]]
    >>> model.emissionprob_ = [[0.9, 0.1], [0.1, 0.9]]
    >>> bm.from_observations(model, [[0, 0, 0, 1, 1], [1, 1, 1, 0, 0, 0]]).counts.toarray().tolist()
    [[4, 1], [1, 3]]
    """
    if not callable(getattr(model, "predict", None)):
        raise InvalidChain(
            f"model is a {type(model).__name__} without predict(X, lengths), expected a fitted hidden Markov model; "
            "from_trajectories takes sequences of states"
        )
    check_fitted(model, "transmat_")
    parts = _sequences(observations, lengths)
    _check_features(model, parts)
    sizes = [len(part) for part in parts]
    path = _decoded(model, np.concatenate(parts), sizes)
    names = _names(model, like)
    paths = [[names[state] for state in part.tolist()] for part in np.split(path, np.cumsum(sizes)[:-1])]
    chain: EstimatedChain = from_trajectories(paths, states=names, smoothing=smoothing, unseen=unseen, end=end)
    return changed(chain, notes=(_note(model, like), *chain.notes))


def _note(model: Any, like: Any) -> str:
    note = f"states are hidden ones, as {type(model).__name__}.predict decodes them: no interval allows for its errors"
    return note if like is None else f"{note}, nor for those of matching them with another model's"


def _sequences(given: Any, lengths: Any) -> list[Floats]:
    """[steps, features] for every sequence."""
    if isinstance(given, tuple) and lengths is None:
        if len(given) != 2:
            raise InvalidData(
                f"observations is a tuple of {len(given)}, expected (observations, lengths), or sequences in a list"
            )
        given, lengths = given
        lengths = [len(given)] if lengths is None else lengths
    if lengths is not None:
        return _cut(_observed(given, "observations"), lengths)
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InvalidData(f"observations is {shown(given)}, expected {OBSERVATIONS}")
    if hasattr(given, "__array__"):
        array = as_array(given, "observations", InvalidData, OBSERVATIONS)
        if array.ndim <= 2 and array.dtype != object:
            return [_observed(array, "observations")]
    parts = [_observed(part, f"observations[{k}]") for k, part in enumerate(given)]
    if not parts:
        raise InvalidData(f"observations is empty, expected {OBSERVATIONS}")
    return parts


def _observed(given: Any, what: str) -> Floats:
    """The observations of one sequence [steps, features]."""
    ndim = as_array(given, what, InvalidData, "observations of one kind").ndim
    if ndim == 0:
        raise InvalidData(f"{what} is {shown(given)}, expected an array of observations; one sequence alone is [array]")
    array = real_array(given, what, InvalidData, ndim=min(ndim, 2))
    if not array.size:
        raise InvalidData(f"{what} is empty, expected observations; leave out sequences without any")
    return array[:, None] if ndim == 1 else array


def _cut(stacked: Floats, lengths: Any) -> list[Floats]:
    sizes = [as_index(size) or 0 for size in np.atleast_1d(np.asarray(lengths, object)).tolist()]
    if min(sizes, default=0) < 1 or sum(sizes) != len(stacked):
        raise InvalidData(
            f"lengths is {shown(lengths)}, expected positive whole numbers with the sum {len(stacked)}, the number of "
            "observations; a tuple is (observations, lengths), several sequences are in a list"
        )
    return np.split(stacked, np.cumsum(sizes)[:-1])


def _check_features(model: Any, parts: list[Floats]) -> None:
    """Refuse what the emissions of the model cannot be; models with other emissions are asked when they decode."""
    known = [np.shape(getattr(model, name)) for name in FEATURED if getattr(model, name, None) is not None]
    width = known[0][-1] if known and len(known[0]) > 1 else parts[0].shape[1]
    symbols = None
    if getattr(model, "emissionprob_", None) is not None and getattr(model, "n_trials", None) is None:
        width, symbols = 1, width
    kind = type(model).__name__
    for k, part in enumerate(parts):
        if part.shape[1] != width:
            raise InvalidData(
                f"observations[{k}] has {part.shape[1]} features, expected {width} as {kind} was fitted with; an array "
                "is [steps, features]"
            )
        if symbols is not None and (wrong := np.flatnonzero(~np.isin(part[:, 0], np.arange(symbols)))).size:
            raise InvalidData(
                f"observations[{k}][{wrong[0]}] is {part[wrong[0], 0]:g}, expected a symbol of {kind}, from 0 to "
                f"{symbols - 1}; number them as for the fit"
            )


def _decoded(model: Any, stacked: Floats, sizes: list[int]) -> Ints:
    """The hidden state of every observation."""
    kind = type(model).__name__
    counts = not hasattr(model, "means_") and not np.any(stacked % 1.0)  # of models that take whole numbers only
    try:
        path = np.asarray(model.predict(stacked.astype(np.int64) if counts else stacked, sizes))
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise InvalidData(f"{kind} cannot decode the observations: {error}") from None
    n = len(model.transmat_)
    if path.shape != (len(stacked),) or path.dtype.kind not in "iu" or path.min() < 0 or path.max() >= n:
        raise InvalidData(
            f"{kind}.predict returned {path.dtype} of shape {path.shape}, expected the number of a hidden state, from "
            f"0 to {n - 1}, for each of the {len(stacked)} observations"
        )
    return path.astype(np.int64)


def _names(model: Any, like: Any) -> list[str]:
    """The names of the hidden states: their numbers, or those of the states of another model that they match."""
    if like is None:
        return [str(k) for k in range(len(model.transmat_))]
    own, other = (from_hmm(one, mixtures="moments") for one in (model, like))
    matched = solve(Problem(own, other, discount=MATCHING_DISCOUNT, cost=emissions)).assignment()
    return [
        other.name_of(k) if k >= 0 else f"unmatched {own.name_of(i)}" for i, k in enumerate(matched.targets.tolist())
    ]
