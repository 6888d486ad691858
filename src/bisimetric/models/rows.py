"""Rows of probabilities: validated once, then exact.

A row of floats rarely sums to exactly one. Every accepted row is divided by its sum and rounded to multiples of 2⁻⁵²;
the remainder is added to its largest entry. Such a row sums to one exactly, and any sum of its entries is exact in
float64, so the transport kernels need no tolerance on flows. Entries that round to zero are dropped. The 1-norm between
the given row and the stored row is kept (`row_error`, at most a few units in the last place), because certificates must
account for it.
"""

from __future__ import annotations

import copy
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import frozen as frozen
from bisimetric.errors import BisimetricError, InvalidChain

GRAIN = 2.0**-52  # unit of a stored probability
GRAINS_IN_ONE = 2**52
UNIT_ROUNDOFF = 2.0**-53  # largest relative error of one rounding to float64
RESCALING_ROUNDING = 4 * UNIT_ROUNDOFF  # relative error of a row by the sum and the division that rescale it
ROW_SUM_TOL = 1e-9  # largest |sum - 1| accepted in float64 input
ROW_SUM_TOL_SINGLE = 1e-6  # the same for float32 and float16 input
RESCALED_ROW = "MarkovChain.normalised(...) rescales rows"  # the remedy for rows of chains
RESCALED_ROW_OF_ACTION = "divide each row by its sum"  # the remedy for rows of decision processes

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Held = TypeVar("Held")


class ExactRows(NamedTuple):
    """Rows that sum to one exactly, and the 1-norm between each and the given row, rescaled to sum 1."""

    matrix: sparse.csr_array
    error: Floats  # [rows], 1-norm, an upper bound


def as_array(given: object, what: str, kind: type[BisimetricError], expected: str) -> npt.NDArray[Any]:
    """What numpy makes of `given`; where it fails, the error says what was `expected`."""
    try:
        return np.asarray(given)
    except ValueError:
        raise kind(f"{what} is ragged, expected {expected}; give rows of equal length") from None
    except (TypeError, RuntimeError) as error:  # a tensor that records gradients, or on another device
        raise kind(
            f"{what} is a {type(given).__name__} that numpy cannot read ({error}), expected {expected}; "
            "a tensor has .detach().cpu()"
        ) from None


def is_scalar(given: object, what: str, kind: type[BisimetricError]) -> bool:
    """Whether `given` is a single value and not a sequence, ragged or not."""
    if isinstance(given, (list, tuple)):
        return False
    return as_array(given, what, kind, "a number or an array").ndim == 0


def real_array(given: object, what: str, kind: type[BisimetricError], *, ndim: int) -> Floats:
    """A float64 copy of `given`, which must hold finite real numbers in `ndim` dimensions."""
    return finite(float_array(given, what, kind, ndim=ndim), what, kind)


def float_array(given: object, what: str, kind: type[BisimetricError], *, ndim: int) -> Floats:
    """A float64 copy of `given`, which must hold real numbers, finite or not, in `ndim` dimensions."""
    array = as_array(given, what, kind, f"{ndim} dimension(s)")
    if array.dtype.kind not in "biuf":
        raise kind(f"{what} has dtype {array.dtype}, expected real numbers; convert it with .astype(float)")
    if array.ndim != ndim:
        raise kind(f"{what} has shape {array.shape}, expected {ndim} dimension(s)")
    return array.astype(np.float64, order="C", copy=True)


def finite(array: Floats, what: str, kind: type[BisimetricError]) -> Floats:
    """The same array, which must hold finite numbers."""
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        where = ", ".join(map(str, place))
        raise kind(f"{what}[{where}] is {array[place]}, expected a finite number; replace it before")
    return array


def offsets(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Where consecutive parts of these sizes begin, and where the last one ends."""
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def _dtype(given: Any, what: str) -> np.dtype[Any]:
    """The dtype that numpy finds for the numbers in any container."""
    if np.ma.isMaskedArray(given):
        raise InvalidChain(f"{what} is a masked array, expected numbers everywhere; use .filled(0)")
    return as_array(given, what, InvalidChain, "2 dimension(s)").dtype


def as_csr(given: Any, what: str) -> tuple[sparse.csr_array, float]:
    """A canonical float64 CSR copy (sorted, duplicates summed) and the row-sum tolerance for its dtype.

    Entries are not checked here: `exact_rows` does that.
    """
    dtype = given.dtype if sparse.issparse(given) else _dtype(given, what)
    tol = ROW_SUM_TOL_SINGLE if dtype.kind == "f" and dtype.itemsize <= 4 else ROW_SUM_TOL
    if sparse.issparse(given):
        if dtype.kind not in "biuf":
            raise InvalidChain(f"{what} has dtype {dtype}, expected real numbers; convert it with .astype(float)")
        if given.ndim != 2:
            raise InvalidChain(f"{what} has shape {given.shape}, expected 2 dimensions")
        try:
            _check_indices(given)
            matrix = sparse.csr_array(given, dtype=np.float64, copy=True)
        except ValueError as error:
            raise InvalidChain(f"{what} is not a well-formed sparse matrix: {error}") from None
        matrix.sum_duplicates()
        return matrix, tol
    return sparse.csr_array(float_array(given, what, InvalidChain, ndim=2)), tol


def refuse_not_finite(matrix: sparse.csr_array, what: str) -> None:
    """Raise where an entry is infinite or NaN."""
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if len(bad):
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        column, entry = int(matrix.indices[bad[0]]), matrix.data[bad[0]]
        raise InvalidChain(f"{what}[{row}, {column}] is {entry}, expected a probability; replace it before")


def scaled_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """Every row divided by its sum; entries are finite and not negative, and rows of zeros stay as they are."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    largest = np.zeros(matrix.shape[0])
    np.maximum.at(largest, row, matrix.data)
    share = matrix.data / np.where(largest == 0.0, 1.0, largest)[row]  # prevents overflow of the sums
    total = np.bincount(row, weights=share, minlength=matrix.shape[0])
    scaled = matrix.copy()
    scaled.data = share / np.where(total == 0.0, 1.0, total)[row]
    return scaled


def _check_indices(matrix: Any) -> None:
    """Raise ValueError where an index of a sparse matrix is out of range: converting such a matrix can crash."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    elif matrix.format == "coo":
        for index, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
            if len(index) and not (index.min() >= 0 and index.max() < size):
                raise ValueError(f"an index is outside 0..{size - 1}")


def exact_rows(matrix: sparse.csr_array, what: str, tol: float) -> ExactRows:
    """Check that the rows are probabilities and make them exact; `matrix` is canonical and is not modified."""
    refuse_not_finite(matrix, what)
    n_rows = matrix.shape[0]
    data, indptr = matrix.data, matrix.indptr.astype(np.int64)
    row = np.repeat(np.arange(n_rows), np.diff(indptr))
    negative = np.flatnonzero(data < 0)
    if len(negative):
        k = negative[0]
        raise InvalidChain(
            f"{what}[{int(row[k])}, {int(matrix.indices[k])}] is {data[k]}, expected a probability in [0, 1]; "
            "clip negative entries before"
        )
    total = np.bincount(row, weights=data, minlength=n_rows)
    wrong = np.flatnonzero(~(np.abs(total - 1.0) <= tol))
    if len(wrong):
        x = int(wrong[0])
        where, remedy = f"row {x} of {what}", RESCALED_ROW if what == "transitions" else RESCALED_ROW_OF_ACTION
        if what == "start":
            where, remedy = what, "divide it by its sum"
        raise InvalidChain(f"{where} sums to {total[x]:.12g}, expected 1 within {tol:g}; {remedy}")
    return _round_to_grain(matrix, row)


def _round_to_grain(matrix: sparse.csr_array, row: npt.NDArray[np.int64]) -> ExactRows:
    n_rows, n_columns = matrix.shape
    share = matrix.data / _accurate_sums(matrix, row)[row]
    probability, grains = whole_grains(share, matrix.indptr)
    moved = np.bincount(row, weights=np.abs(share - probability), minlength=n_rows)
    changed = np.logical_or.reduceat(matrix.data != probability, matrix.indptr[:-1])
    error = np.where(changed, moved + RESCALING_ROUNDING, 0.0)
    indices, indptr = matrix.indices, matrix.indptr
    keep = grains > 0
    if not keep.all():
        probability, indices, indptr = (
            probability[keep],
            indices[keep],
            offsets(np.bincount(row[keep], minlength=n_rows)),
        )
    index_type = np.int32 if max(n_columns, int(indptr[-1])) < 2**31 else np.int64
    exact = sparse.csr_array(
        (probability, indices.astype(index_type), indptr.astype(index_type)), shape=(n_rows, n_columns)
    )
    for part in (exact.data, exact.indices, exact.indptr):
        frozen(part)
    return ExactRows(exact, frozen(error))


def whole_grains(share: Floats, indptr: npt.NDArray[Any]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Shares rounded to multiples of the grain, which sum to one exactly in every row, and those multiples.

    Rows sum to one about, and none is empty. The largest entry of a row takes up the difference.
    """
    grains = np.rint(share / GRAIN).astype(np.int64)
    grains[_first_largest(grains, indptr)] += GRAINS_IN_ONE - _row_sums(grains, indptr)
    return np.asarray(grains * GRAIN, np.float64), grains


def _accurate_sums(matrix: sparse.csr_array, row: npt.NDArray[np.int64]) -> Floats:
    """Row sums, accurate to the last place: whole grains are added exactly, as integers, and the rest is tiny."""
    whole = np.rint(matrix.data / GRAIN)
    left = np.bincount(row, weights=matrix.data - whole * GRAIN, minlength=matrix.shape[0])
    excess = _row_sums(whole.astype(np.int64), matrix.indptr) - GRAINS_IN_ONE
    return np.asarray(1.0 + (excess * GRAIN + left), np.float64)


def _row_sums(values: npt.NDArray[np.int64], indptr: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Sums of whole numbers, exact; no row is empty."""
    sums: npt.NDArray[np.int64] = np.add.reduceat(values, indptr[:-1])
    return sums


def _first_largest(values: npt.NDArray[np.int64], indptr: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Position of the first largest entry of every row; no row is empty."""
    largest = np.repeat(np.maximum.reduceat(values, indptr[:-1]), np.diff(indptr))
    is_largest = values == largest
    found_before = np.cumsum(is_largest) - is_largest  # at earlier positions
    first: npt.NDArray[np.int64] = np.flatnonzero(is_largest)[found_before[indptr[:-1]]]
    return first


class SparseField(Generic[Held]):
    """A field of an `Immutable` that holds a sparse array, or a tuple of them, and returns a shallow copy every time.

    Assigning to an entry that is not stored gives a sparse array new parts, even if the old ones are read-only. Only
    the copy gets them: the field stays as it was.
    """

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Held:
        if instance is None:
            raise AttributeError(self._name)  # so that a dataclass sees no default value
        held = instance.__dict__[self._name]
        return tuple(map(copy.copy, held)) if isinstance(held, tuple) else copy.copy(held)  # type: ignore[return-value]

    def __set__(self, instance: Any, value: Held) -> None:
        instance.__dict__[self._name] = value


def held_rows(chain: Any) -> sparse.csr_array:
    """The transitions of a chain themselves, for reading only: the field's copy takes longer than small work."""
    rows: sparse.csr_array = chain.__dict__["transitions"]
    return rows
