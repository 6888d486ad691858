"""Chains as documents."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import frozen
from bisimetric.errors import FileFormatError, InvalidChain
from bisimetric.io._document import Document, stream
from bisimetric.io._fields import Fields, kind_of
from bisimetric.models.chain import Label, MarkovChain
from bisimetric.models.rows import Floats

CHAIN_KEYS = ("transitions", "reward", "start", "names", "labels", "row_error", "merged")
MATRIX_KEYS = ("shape", "indptr", "indices", "data")
CHAIN_ARRAYS = (
    "transitions.indptr", "transitions.indices", "transitions.data", "reward", "start", "row_error", "merged",
)  # fmt: skip
LARGEST_ROW_ERROR = 2.0  # the 1-norm between two distributions is never more
SCALARS = (str, bool, int, float)


def chain_document(chain: MarkovChain) -> Document:
    """The chain's fields."""
    matrix = chain.transitions
    document: Document = {
        "transitions": {
            "shape": [chain.n_states, chain.n_states],
            "indptr": stream(matrix.indptr, "<i8"),
            "indices": stream(matrix.indices, "<i8"),
            "data": stream(matrix.data, "<f8"),
        }
    }
    for key, array in (("reward", chain.reward), ("start", chain.start)):
        if array is not None:
            document[key] = stream(array, "<f8")
    if chain.names is not None:
        document["names"] = list(chain.names)
    if chain.labels is not None:
        document["labels"] = [_written_label(label) for label in chain.labels]
    document["row_error"] = stream(chain.row_error, "<f8")
    if chain.merged.any():
        document["merged"] = stream(chain.merged, "|b1")
    return document


def chain_from(fields: Fields) -> MarkovChain:
    """The chain that the fields describe, by its own constructor."""
    transitions = _transitions(fields)
    n = transitions.shape[0]
    reward = fields.floats("reward", n) if fields.has("reward") else None
    names = fields.of_kind("names", list) if fields.has("names") else None
    labels = _labels(fields) if fields.has("labels") else None
    try:
        chain = MarkovChain(transitions, reward=reward, start=_start(fields, n), names=names, labels=labels)
    except InvalidChain as error:
        raise FileFormatError(f"{fields.place}: {error}" if fields.place else str(error)) from None
    if fields.has("row_error"):
        before = fields.floats("row_error", n, least=0.0)
        if before.max() > LARGEST_ROW_ERROR:
            raise FileFormatError(
                f"{fields.name('row_error')} is up to {before.max():g}, expected at most {LARGEST_ROW_ERROR:g}"
            )
        # The constructor finds no error in the exact rows of a saved chain; what it finds in others comes on top.
        object.__setattr__(chain, "row_error", frozen(chain.row_error + before))
    if fields.has("merged"):
        object.__setattr__(chain, "merged", frozen(fields.mask("merged", n)))
    return chain


def _transitions(fields: Fields) -> Floats | sparse.csr_array:
    if isinstance(fields.get("transitions"), list):
        return fields.floats("transitions", None, None)
    matrix = fields.inside("transitions", MATRIX_KEYS)
    shape = matrix.whole("shape", 2)
    n = int(shape[0])
    if n < 1 or n != shape[1]:
        raise FileFormatError(f"{matrix.name('shape')} is {shape.tolist()}, expected [n, n] with n ≥ 1")
    data = matrix.floats("data", None)
    indices = matrix.whole("indices", len(data))
    indptr = matrix.offsets("indptr", n, len(data))
    if len(data) and (indices.min() < 0 or indices.max() >= n):
        raise FileFormatError(
            f"{matrix.name('indices')} goes from {indices.min()} to {indices.max()}, expected states from 0 to {n - 1}"
        )
    return sparse.csr_array((data, indices, indptr), shape=(n, n))


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


def _written_label(label: Label) -> object:
    if isinstance(label, tuple):
        return [_written_label(part) for part in label]
    if isinstance(label, float) and math.isinf(label):
        return {"float": "inf" if label > 0 else "-inf"}
    return label
