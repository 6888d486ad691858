"""Hidden Markov models: the chain of hidden states, labelled by their emissions.

Anything with the attributes of an `hmmlearn` model is one: `transmat_` [n, n], `startprob_` [n], and emissions. The
label of a state is a tuple that begins with the family of its emission:

    ("gaussian", d, mean…, covariance…)         d + d² numbers, the covariance row by row; `means_`, `covars_`
    ("categorical", p…)                         one probability per symbol; `emissionprob_`
    ("poisson", λ…)                             one rate per feature; `lambdas_`

`bisimetric.cost.emissions` compares such labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from bisimetric._support.options import one_of
from bisimetric.errors import InvalidChain
from bisimetric.models.chain import Label, MarkovChain
from bisimetric.models.rows import Floats, as_array, real_array
from bisimetric.readers.reader import Reader, is_from

SUM_TOL = 1e-6  # largest |sum - 1| of the probabilities of a state's symbols or mixture
SYMMETRY_TOL = (
    1e-8  # largest asymmetry of a covariance, and size of a negative eigenvalue, relative to its largest entry
)
KEPT_COVARS = "_covars_"  # where hmmlearn keeps covariances as they were given or fitted
MIXTURES = ("refuse", "moments")


def from_hmm(model: object, *, mixtures: Literal["refuse", "moments"] = "refuse") -> MarkovChain:
    """Make the chain of hidden states of a fitted hidden Markov model; its labels are the emissions.

    Parameters
    ----------
    model : object
        A fitted model of `hmmlearn` (Gaussian with any kind of covariance, categorical, Poisson, Gaussian mixtures), or
        anything with the same attributes: `transmat_`, `startprob_`, and `means_` with `covars_`, `emissionprob_` or
        `lambdas_`.
    mixtures : "refuse" or "moments"
        Mixtures of Gaussians have no simple distance. "moments" replaces each by the Gaussian with its mean and
        covariance.

    Returns
    -------
    MarkovChain
        With the start of the model. Labels are tuples: ("gaussian", d, mean…, covariance row by row…),
        ("categorical", probabilities…) or ("poisson", rates…), which `bisimetric.cost.emissions` compares.

    Raises
    ------
    InvalidChain
        The model is not fitted, has a state without transitions, or emissions that are not understood.
    InvalidOption
        `mixtures` is something else.

    Examples
    --------
    >>> import bisimetric as bm, types
    >>> model = types.SimpleNamespace(
    ...     transmat_=[[0.9, 0.1], [0.5, 0.5]], startprob_=[1, 0], emissionprob_=[[0.8, 0.2], [0.3, 0.7]]
    ... )
    >>> bm.from_hmm(model).labels
    (('categorical', 0.8, 0.2), ('categorical', 0.3, 0.7))
    """
    one_of(mixtures, "mixtures", MIXTURES)
    kind = type(model).__name__
    check_fitted(model, "transmat_", "startprob_")
    rows = real_array(getattr(model, "transmat_"), "transmat_", InvalidChain, ndim=2)  # noqa: B009
    empty = np.flatnonzero(~rows.any(axis=1))
    if len(empty):
        raise InvalidChain(
            f"state {int(empty[0])} of {kind} was never left in the data: its row of transmat_ is all zero; "
            f"fit fewer states, or set its row, as model.transmat_[{int(empty[0])}] = model.startprob_"
        )
    labels = _emissions(model, kind, len(rows), mixtures)
    return MarkovChain(rows, start=_given(model, "startprob_", len(rows)), labels=labels)


def check_fitted(model: object, *names: str) -> None:
    """Refuse a model without these attributes."""
    for name in names:
        if getattr(model, name, None) is None:
            kind = type(model).__name__
            raise InvalidChain(f"{kind} has no {name}, expected a fitted model; call model.fit(observations) first")


def _emissions(model: Any, kind: str, n: int, mixtures: str) -> list[Label]:
    """The labels of the states, by the attributes that the model has."""
    if getattr(model, "n_trials", None) is not None:
        raise InvalidChain(
            f"the emissions of {kind} are counts in {model.n_trials!r} trials, expected Gaussian, categorical or "
            "Poisson ones; MarkovChain(model.transmat_, start=model.startprob_, labels=...) takes labels of your own"
        )
    for needed, read in EMISSIONS:
        if all(_has(model, name) for name in needed):
            return read(model, n, mixtures)
    families = ", ".join(" with ".join(needed) for needed, _ in EMISSIONS[1:])
    raise InvalidChain(
        f"{kind} has no emissions that are known, expected {families}; fit the model first, or give "
        "labels of your own: MarkovChain(model.transmat_, start=model.startprob_, labels=...)"
    )


def _has(model: Any, name: str) -> bool:
    """Whether a model has an attribute; hmmlearn shows covariances that were set only after a fit, but stores them."""
    return getattr(model, name, None) is not None or (
        name == "covars_" and getattr(model, KEPT_COVARS, None) is not None
    )


def _given(model: Any, name: str, *shape: int | None) -> Floats:
    """An attribute as finite numbers of this shape; None stands for any length."""
    array = real_array(getattr(model, name), name, InvalidChain, ndim=len(shape))
    if any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)) or 0 in array.shape:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise InvalidChain(f"{name} has shape {array.shape}, expected [{wanted}]: one entry per state")
    return array


def _shares(model: Any, name: str, n: int) -> Floats:
    """Rows of probabilities, scaled so that they sum to one."""
    rows = _given(model, name, n, None)
    total = rows.sum(axis=1)
    wrong = np.flatnonzero((np.abs(total - 1.0) > SUM_TOL) | (rows < 0.0).any(axis=1))
    if len(wrong):
        k = int(wrong[0])
        raise InvalidChain(f"{name}[{k}] is {rows[k].tolist()}, expected probabilities that sum to 1")
    shares: Floats = rows / total[:, None]
    return shares


def _categorical(model: Any, n: int, mixtures: str) -> list[Label]:
    return [("categorical", *row) for row in _shares(model, "emissionprob_", n).tolist()]


def _poisson(model: Any, n: int, mixtures: str) -> list[Label]:
    rates = _per_feature(model, "lambdas_", n)
    if (rates < 0.0).any():
        raise InvalidChain(f"lambdas_ has {rates.min():g}, expected rates that are not negative")
    return [("poisson", *row) for row in rates.tolist()]


def _gaussian(model: Any, n: int, mixtures: str) -> list[Label]:
    means = _per_feature(model, "means_", n)
    return _gaussian_labels(means, _covariances(model, n, means.shape[1]))


def _mixture(model: Any, n: int, mixtures: str) -> list[Label]:
    """Gaussians with the mean Σ w μ and the covariance Σ w (C + μμᵀ) less the mean's own product."""
    if mixtures == "refuse":
        raise InvalidChain(
            f"the emissions of {type(model).__name__} are mixtures of Gaussians, between which there is no simple "
            "distance; from_hmm(model, mixtures='moments') replaces each by the Gaussian of its mean and covariance"
        )
    weight = _shares(model, "weights_", n)  # [n, m]
    parts = weight.shape[1]
    centres = _given(model, "means_", n, parts, None)  # [n, m, d]
    covariances = _mixture_covariances(model, centres.shape)  # [n, m, d, d]
    means = np.einsum("nm,nmd->nd", weight, centres)
    apart = centres - means[:, None, :]
    spread = covariances + apart[..., :, None] * apart[..., None, :]
    return _gaussian_labels(means, np.einsum("nm,nmde->nde", weight, spread))


def _gaussian_labels(means: Floats, covariances: Floats) -> list[Label]:
    checked = [_checked_covariance(matrix, k) for k, matrix in enumerate(covariances)]
    return [
        ("gaussian", len(mean), *mean.tolist(), *matrix.ravel().tolist())
        for mean, matrix in zip(means, checked, strict=True)
    ]


def _checked_covariance(matrix: Floats, k: int) -> Floats:
    """The covariance of state k, symmetric to the last bit."""
    size = np.abs(matrix).max() * SYMMETRY_TOL
    even = (matrix + matrix.T) / 2.0
    if np.abs(matrix - matrix.T).max() > size or np.linalg.eigvalsh(even).min() < -size:
        raise InvalidChain(f"covars_[{k}] is no covariance, expected a symmetric matrix without negative eigenvalues")
    return even


def _per_feature(model: Any, name: str, n: int) -> Floats:
    """[n, d]; one number per state is a single feature."""
    if as_array(getattr(model, name), name, InvalidChain, "[n, d]").ndim == 1:
        return _given(model, name, n)[:, None]
    return _given(model, name, n, None)


def _raw(model: Any, shapes: dict[str, tuple[tuple[int, ...], ...]]) -> tuple[Floats, str]:
    """The covariances as they are stored, and their kind: the one that the model says, or the one that fits."""
    name = KEPT_COVARS if getattr(model, KEPT_COVARS, None) is not None else "covars_"
    given = getattr(model, name)
    shape = as_array(given, name, InvalidChain, "covariances").shape
    said = getattr(model, "covariance_type", None)
    fits = [kind for kind, known in shapes.items() if shape in known and (not isinstance(said, str) or said == kind)]
    if not fits and shape in shapes["full"]:
        fits = ["full"]
    if len(fits) != 1:
        known = " or ".join(f"{one} ({kind})" for kind, some in shapes.items() for one in some)
        many = "which may mean several things; set model.covariance_type, or give one matrix per state"
        raise InvalidChain(f"covars_ has shape {shape}, {many if fits else f'expected {known}'}")
    return real_array(given, "covars_", InvalidChain, ndim=len(shape)), fits[0]


def _covariances(model: Any, n: int, d: int) -> Floats:
    """[n, d, d], from any way to store them."""
    shapes = {"full": ((n, d, d),), "tied": ((d, d),), "diag": ((n, d),), "spherical": ((n,), (n, 1), (n, d))}
    if getattr(model, "covariance_type", None) is None:
        shapes["spherical"] = ((n,),)
    raw, kind = _raw(model, shapes)
    if kind == "full":
        return raw
    if kind == "tied":
        return np.broadcast_to(raw, (n, d, d))
    return np.broadcast_to(raw.reshape(n, -1), (n, d))[:, :, None] * np.eye(d)


def _mixture_covariances(model: Any, shape: tuple[int, ...]) -> Floats:
    """[n, m, d, d], from any way to store them."""
    n, m, d = shape
    raw, kind = _raw(
        model, {"full": ((n, m, d, d),), "tied": ((n, d, d),), "diag": ((n, m, d),), "spherical": ((n, m),)}
    )
    if kind == "full":
        return raw
    if kind == "tied":
        return np.broadcast_to(raw[:, None], (n, m, d, d))
    return np.broadcast_to(raw.reshape(n, m, -1), (n, m, d))[..., None] * np.eye(d)


EMISSIONS: tuple[tuple[tuple[str, ...], Callable[[Any, int, str], list[Label]]], ...] = (
    (("weights_", "means_", "covars_"), _mixture),
    (("means_", "covars_"), _gaussian),
    (("lambdas_",), _poisson),
    (("emissionprob_",), _categorical),
)


def _matches(obj: object) -> bool:
    return is_from(obj, "hmmlearn") or (hasattr(obj, "transmat_") and hasattr(obj, "startprob_"))


READER = Reader("a fitted hidden Markov model", _matches, from_hmm, takes_text=False, has_rewards=False)
