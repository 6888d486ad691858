"""Files that `bisimetric.save` wrote, and JSON of the same form written by hand.

`counts.json,normalise` divides every row of the transitions by its sum.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bisimetric.errors import InvalidChain
from bisimetric.io.files import SUFFIXES
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import scaled_rows
from bisimetric.readers.reader import Reader
from bisimetric.readers.specs import is_file_of, split_spec


def _read(text: str) -> MarkovChain | MDP:
    from bisimetric.io.save_load import decode, document_in, errors_about, load

    spec = split_spec(text)
    path = spec.head if spec.head.lower().endswith(SUFFIXES) else text  # a name with a comma, of no file
    if path != text:
        spec.check_options(("normalise",))
    if path != text and spec.values().get("normalise"):
        with errors_about(path):
            model = decode(with_rescaled_rows(document_in(path)))
    else:
        model = load(path)
    if not isinstance(model, (MarkovChain, MDP)):
        raise InvalidChain(f"{path} holds a solution, expected a model; solution.problem has its two models")
    return model


def with_rescaled_rows(document: object) -> object:
    """The document with every row of its transitions divided by its sum; what is no list of rows stays as it is."""
    given = document.get("transitions") if isinstance(document, dict) else None
    if isinstance(document, dict) and isinstance(given, dict):
        return document | {"transitions": _with_rescaled_entries(given)}
    try:
        rows = np.array(given, np.float64)
    except (TypeError, ValueError):  # decoding says what is wrong
        return document
    if not isinstance(document, dict) or not isinstance(given, list) or rows.ndim not in (2, 3) or not rows.size:
        return document
    if not np.isfinite(rows).all() or rows.min() < 0.0:
        return document
    largest = rows.max(axis=-1, keepdims=True)
    empty = np.argwhere(largest[..., 0] == 0.0)
    if len(empty):
        place = f"transitions[{']['.join(map(str, empty[0].tolist()))}]"
        raise InvalidChain(f"{place} is all zero, expected a row with a positive sum; add a self-loop")
    rows = rows / largest  # prevents overflow of the sums
    return document | {"transitions": (rows / rows.sum(axis=-1, keepdims=True)).tolist()}


def _with_rescaled_entries(given: dict[str, object]) -> dict[str, object]:
    """The same for transitions as `save` writes them: `data` has the entries of all rows, `indptr` where they begin."""
    try:
        data, begins = np.array(given["data"], np.float64), np.array(given["indptr"])
    except (KeyError, TypeError, ValueError, OverflowError):  # decoding says what is wrong
        return given
    if data.ndim != 1 or begins.ndim != 1 or begins.dtype.kind != "i" or not np.isfinite(data).all():
        return given
    lengths = np.diff(begins)
    if not data.size or data.min() < 0.0 or begins[0] != 0 or begins[-1] != len(data) or lengths.min() < 0:
        return given
    scaled = scaled_rows(sparse.csr_array((data, np.arange(len(data)), begins), shape=(len(lengths), len(data))))
    empty = np.flatnonzero(scaled.sum(axis=1) == 0.0)
    if len(empty):
        raise InvalidChain(f"row {empty[0]} of transitions is all zero, expected a positive sum; add a self-loop")
    return given | {"data": scaled.data.tolist()}


READER = Reader(f"a model file ({', '.join(SUFFIXES)})", lambda obj: is_file_of(obj, SUFFIXES), _read)
