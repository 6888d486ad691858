"""Chains and decision processes as documents."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import changed
from bisimetric.errors import FileFormatError, InvalidChain
from bisimetric.io.document import Document, Fields, kind_of, stream
from bisimetric.models.chain import Label, MarkovChain
from bisimetric.models.mdp import MDP, ModelT
from bisimetric.models.radii import LARGEST_ROW_ERROR
from bisimetric.models.rows import Floats

CHAIN_KEYS = ("transitions", "reward", "start", "names", "labels", "row_error", "start_error", "merged")
MDP_KEYS = ("transitions", "rewards", "available", "start", "names", "actions", "labels", "row_error", "merged")
MATRIX_KEYS = ("shape", "indptr", "indices", "data")
MATRIX_ARRAYS = ("transitions.indptr", "transitions.indices", "transitions.data")
CHAIN_ARRAYS = (*MATRIX_ARRAYS, "reward", "start", "row_error", "merged")
MDP_ARRAYS = (*MATRIX_ARRAYS, "rewards", "available", "start", "row_error", "merged")
SCALARS = (str, bool, int, float)


def chain_document(chain: MarkovChain) -> Document:
    """The chain's fields."""
    document: Document = {"transitions": matrix_document(chain.transitions, [chain.n_states, chain.n_states])}
    if chain.reward is not None:
        document["reward"] = stream(chain.reward, "<f8")
    if chain.start_error > 0.0:
        document["start_error"] = chain.start_error
    return document | _common_document(chain)


def mdp_document(mdp: MDP) -> Document:
    """The fields of a decision process; its matrices are stacked, one action after the other."""
    stacked = sparse.vstack(mdp.transitions, format="csr")
    document: Document = {
        "transitions": matrix_document(stacked, [mdp.n_actions, mdp.n_states, mdp.n_states]),
        "rewards": stream(mdp.rewards, "<f8"),
    }
    if not mdp.available.all():
        document["available"] = stream(mdp.available, "|b1")
    if mdp.actions is not None:
        document["actions"] = list(mdp.actions)
    return document | _common_document(mdp)


def matrix_document(matrix: sparse.csr_array, shape: list[int]) -> Document:
    """The arrays of a sparse matrix, or of several of this shape one below the other."""
    return {
        "shape": shape,
        "indptr": stream(matrix.indptr, "<i8"),
        "indices": stream(matrix.indices, "<i8"),
        "data": stream(matrix.data, "<f8"),
    }


def _common_document(model: MarkovChain | MDP) -> Document:
    document: Document = {}
    if model.start is not None:
        document["start"] = stream(model.start, "<f8")
    if model.names is not None:
        document["names"] = list(model.names)
    if model.labels is not None:
        document["labels"] = [_label_document(label) for label in model.labels]
    document["row_error"] = stream(model.row_error, "<f8")
    if model.merged.any():
        document["merged"] = stream(model.merged, "|b1")
    return document


def chain_from(fields: Fields) -> MarkovChain:
    """The chain that the fields describe, by its own constructor."""
    transitions = _matrix(fields, "transitions")
    n = transitions.shape[0]
    reward = fields.floats("reward", n) if fields.has("reward") else None
    names = fields.of_kind("names", list) if fields.has("names") else None
    labels = _labels(fields) if fields.has("labels") else None
    try:
        chain = MarkovChain(
            transitions,
            reward=reward,
            start=_start(fields, n),
            names=names,
            labels=labels,
            start_error=fields.number("start_error") if fields.has("start_error") else 0.0,
        )
    except InvalidChain as error:
        raise _error_at(fields, error) from None
    return _with_marks(chain, fields, (n,))


def mdp_from(fields: Fields) -> MDP:
    """The decision process that the fields describe, by its own constructor."""
    matrices = _matrices(fields)
    shape = n, _ = matrices[0].shape[0], len(matrices)
    rewards = fields.floats("rewards", *shape)
    try:
        mdp = MDP(
            matrices,
            rewards,
            start=_start(fields, n),
            names=fields.of_kind("names", list) if fields.has("names") else None,
            actions=fields.of_kind("actions", list) if fields.has("actions") else None,
            available=fields.mask("available", *shape) if fields.has("available") else None,
            labels=_labels(fields) if fields.has("labels") else None,
        )
    except InvalidChain as error:
        raise _error_at(fields, error) from None
    return _with_marks(mdp, fields, shape)


def _error_at(fields: Fields, error: InvalidChain) -> FileFormatError:
    return FileFormatError(f"{fields.place}: {error}" if fields.place else str(error))


def _with_marks(model: ModelT, fields: Fields, shape: tuple[int, ...]) -> ModelT:
    """The model with the row errors and the merged states of the file."""
    if fields.has("row_error"):
        if isinstance(fields.get("row_error"), (int, float)) and not isinstance(fields.get("row_error"), bool):
            before = np.full(shape, fields.number("row_error"))  # written by hand
        else:
            before = fields.floats("row_error", *shape, least=0.0)
        if not before.max() <= LARGEST_ROW_ERROR or before.min() < 0.0:
            raise FileFormatError(
                f"{fields.name('row_error')} is up to {before.max():g}, expected at most {LARGEST_ROW_ERROR:g}"
            )
        # Rows of a saved model are exact, so the constructor finds no error in them; errors that it finds are added.
        model = changed(model, row_error=model.row_error + before)
    if fields.has("merged"):
        model = changed(model, merged=fields.mask("merged", model.n_states))
    return model


def _matrix(fields: Fields, key: str) -> Floats | sparse.csr_array:
    """A square matrix: a list of rows, or an object with its sparse parts."""
    if isinstance(fields.get(key), list):
        return fields.floats(key, None, None)
    return _split_stack(fields.inside(key, MATRIX_KEYS), "[n, n]")[0]


def _matrices(fields: Fields) -> list[Floats] | list[sparse.csr_array]:
    """One square matrix per action: a list of matrices, or an object with the sparse parts of all."""
    given = fields.get("transitions")
    if not isinstance(given, list):
        return _split_stack(fields.inside("transitions", MATRIX_KEYS), "[A, n, n]")
    if not given:
        raise FileFormatError(f"{fields.name('transitions')} is empty, expected one matrix per action")
    keys = tuple(map(str, range(len(given))))
    by_action = Fields(dict(zip(keys, given, strict=True)), fields.name("transitions"), keys)
    return [_matrix(by_action, key) for key in keys]


def _split_stack(matrix: Fields, expected: str) -> list[sparse.csr_array]:
    """The matrices that are stored one below the other; `expected` is the form of their shape."""
    axes = expected.count(",") + 1
    shape = matrix.whole("shape", axes).tolist()
    count, n = math.prod(shape[:-2]), shape[-1]
    if min(shape) < 1 or n != shape[-2]:
        raise FileFormatError(f"{matrix.name('shape')} is {shape}, expected {expected} with n ≥ 1")
    data = matrix.floats("data", None)
    indices = matrix.whole("indices", len(data))
    indptr = matrix.offsets("indptr", count * n, len(data))
    if len(data) and (indices.min() < 0 or indices.max() >= n):
        raise FileFormatError(
            f"{matrix.name('indices')} goes from {indices.min()} to {indices.max()}, expected states from 0 to {n - 1}"
        )
    bounds = [(indptr[a * n], indptr[(a + 1) * n]) for a in range(count)]
    return [
        sparse.csr_array((data[i:j], indices[i:j], indptr[a * n : (a + 1) * n + 1] - i), shape=(n, n))
        for a, (i, j) in enumerate(bounds)
    ]


def _start(fields: Fields, n: int) -> Floats | int | str | None:
    if not fields.has("start"):
        return None
    if isinstance(fields.get("start"), (list, np.ndarray)):
        return fields.floats("start", n)
    state: int | str = fields.of_kind("start", int, str, list)
    return state


def _labels(fields: Fields) -> list[object]:
    return [
        [_read_scalar(part, fields, k) for part in label] if isinstance(label, list) else _read_scalar(label, fields, k)
        for k, label in enumerate(fields.of_kind("labels", list))
    ]


def _read_scalar(node: object, fields: Fields, k: int) -> object:
    if isinstance(node, dict) and list(node) == ["float"] and node["float"] in ("inf", "-inf"):
        return float(node["float"])
    if not isinstance(node, SCALARS):
        raise FileFormatError(
            f"{fields.name('labels')}[{k}] holds {kind_of(node)}, expected text, a number or a flat list of those"
        )
    return node


def _label_document(label: Label) -> object:
    if isinstance(label, tuple):
        return [_label_document(part) for part in label]
    if isinstance(label, float) and math.isinf(label):
        return {"float": "inf" if label > 0 else "-inf"}
    return label
