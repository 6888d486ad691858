"""Rows that sum to one exactly, close to the rows given."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidProblem
from bisimetric.models.rows import GRAIN, as_csr, exact_rows, real_array, scaled_rows, whole_grains
from tests import strategies


def exact(row):
    """exact_rows on a single row."""
    matrix, tol = as_csr(np.array([row]), "row")
    return exact_rows(matrix, "row", tol)


@st.composite
def any_rows(draw):
    """Rows of up to six entries that sum to one within the tolerance, not more exactly than that."""
    row = draw(strategies.rows(draw(st.integers(1, 6))))
    return row * (1 + draw(st.floats(-9e-10, 9e-10)))


@given(any_rows())
def test_stored_rows_are_exact(row):
    """Multiples of 2⁻⁵² that sum to exactly one, all positive."""
    stored = exact(row).matrix.data
    assert sum(map(Fraction, stored)) == 1
    assert (stored > 0).all()
    assert all((Fraction(p) / Fraction(GRAIN)).denominator == 1 for p in stored)


@given(any_rows())
def test_the_row_error_is_an_upper_bound(row):
    """error ≥ the 1-norm between the stored row and the given one divided by its sum, and only a few grains."""
    rows = exact(row)
    given = [Fraction(p) for p in row]
    stored = [Fraction(p) for p in rows.matrix.toarray()[0]]
    total = sum(given)
    moved = sum(abs(p / total - q) for p, q in zip(given, stored, strict=True))
    assert moved <= Fraction(float(rows.error[0]))
    assert rows.error[0] <= (len(row) + 4) * GRAIN


@given(any_rows())
def test_exact_rows_stay_as_they_are(row):
    """Making an exact row exact changes nothing and costs nothing."""
    once = exact(row).matrix.toarray()[0]
    again = exact(once)
    assert np.array_equal(again.matrix.toarray()[0], once)
    assert again.error[0] == 0.0


def test_what_rounds_to_zero_is_dropped():
    """A probability far below 2⁻⁵² is no transition."""
    rows = exact([1.0, 1e-17, 1e-200, 0.0])
    assert list(rows.matrix.indices) == [0]
    assert rows.error[0] > 0.0
    assert list(exact([1.0, 1e-12]).matrix.indices) == [0, 1]


def test_long_rows():
    """The rest of rounding 10,000 entries goes to one of them and the sum is still exact."""
    row = np.random.default_rng(0).random(10_000)
    stored = exact(row / row.sum()).matrix.data
    assert sum(map(Fraction, stored)) == 1


def test_sums_far_from_one_are_refused_by_name():
    """The message names the row, its sum, the tolerance and the remedy."""
    matrix, tol = as_csr([[0.5, 0.5], [0.5, 0.48]], "transitions")
    with pytest.raises(InvalidChain, match=r"sums to 0\.98, .*normalised"):
        exact_rows(matrix, "transitions", tol)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-6), (np.float64, 1e-9), (int, 1e-9)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_single_precision_has_its_own_tolerance(dtype, tol, form):
    """float32 rows can't sum to one within 1e-9."""
    assert as_csr(form(np.eye(2, dtype=dtype)), "transitions")[1] == tol


def test_float32_rows_are_accepted():
    """A third in float32 is off by more than the float64 tolerance."""
    third = np.full((1, 3), 1 / 3, np.float32)
    third[0, 0] += np.float32(3e-7)
    assert abs(float(third.astype(float).sum()) - 1) > 1e-9
    matrix, tol = as_csr(third, "row")
    assert exact_rows(matrix, "row", tol).matrix.data.sum() == 1.0
    matrix, tol = as_csr(third.astype(float), "row")
    with pytest.raises(InvalidChain, match=r"sums to 1\.0000003"):
        exact_rows(matrix, "row", tol)


def test_duplicate_and_unsorted_entries_are_summed_and_sorted():
    """Sparse input in any order, with the same cell several times, and the input left as it was."""
    given = sparse.csr_array(([0.25, 0.5, 0.25], [1, 0, 1], [0, 3]), shape=(1, 2))
    matrix, _ = as_csr(given, "row")
    assert matrix.indices.tolist() == [0, 1]
    assert matrix.data.tolist() == [0.5, 0.5]
    assert given.indices.tolist() == [1, 0, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_entries_that_are_no_numbers(bad):
    """The message gives row and column, for dense and for sparse input."""
    matrix = np.array([[1.0, 0.0], [0.5, bad]])
    for form in (np.asarray, sparse.csr_array, sparse.coo_array):
        with pytest.raises(InvalidChain, match=rf"\[1, 1\] is {bad}"):
            exact_rows(*as_csr(form(matrix), "transitions")[:1], "transitions", 1e-9)
        with pytest.raises(InvalidChain, match=rf"\[1, 1\] is {bad}"):
            bm.MarkovChain.normalised(form(matrix))


def test_negative_entries():
    """The message gives row, column and entry."""
    matrix, tol = as_csr([[1.0, 0.0], [1.5, -0.5]], "transitions")
    with pytest.raises(InvalidChain, match=r"transitions\[1, 1\] is -0\.5"):
        exact_rows(matrix, "transitions", tol)


@pytest.mark.parametrize(
    "bad",
    [np.eye(2) * 1j, np.array([["1", "0"], ["0", "1"]]), np.eye(2).astype(object), sparse.csr_array(np.eye(2) * 1j)],
    ids=["complex", "text", "object", "sparse complex"],
)
def test_arrays_that_are_not_real(bad):
    """Complex, text and object arrays are refused with a remedy, never cast."""
    with pytest.raises(InvalidChain, match=r"\.astype\(float\)"):
        as_csr(bad, "transitions")


def test_ragged_lists():
    """Rows of different lengths."""
    with pytest.raises(InvalidChain, match="ragged"):
        as_csr([[1.0], [0.5, 0.5]], "transitions")


@pytest.mark.parametrize("column", [2, 7, -1])
def test_sparse_entries_outside_the_matrix(column):
    """scipy does not look; the kernels must never see such an index."""
    bad = sparse.csr_array(([1.0, 1.0], [0, 1], [0, 1, 2]), shape=(2, 2))
    bad.indices[1] = column
    with pytest.raises(InvalidChain):
        as_csr(bad, "transitions")


def test_coordinates_outside_the_matrix():
    """The same for coordinate form, whose conversion would crash."""
    bad = sparse.coo_array(np.eye(2))
    bad.col[1] = 5
    with pytest.raises(InvalidChain, match="well-formed sparse matrix"):
        as_csr(bad, "transitions")


def test_masked_arrays():
    """A mask is not silently ignored."""
    masked = np.ma.masked_array(np.eye(2), mask=[[False, True], [False, False]])
    with pytest.raises(InvalidChain, match=r"masked array.*\.filled"):
        as_csr(masked, "transitions")


def test_real_array_copies():
    """The caller keeps its array; errors are of the kind asked for and name the array."""
    mine = np.ones((2, 2))
    assert not np.shares_memory(real_array(mine, "cost", InvalidProblem, ndim=2), mine)
    assert real_array(np.ones(2, bool), "cost", InvalidProblem, ndim=1).dtype == np.float64
    with pytest.raises(InvalidProblem, match=r"cost has shape \(2, 2\)"):
        real_array(mine, "cost", InvalidProblem, ndim=1)
    with pytest.raises(InvalidProblem, match=r"reward\[1\] is nan"):
        real_array([0.0, np.nan], "reward", InvalidProblem, ndim=1)


def test_rows_are_scaled_to_sum_one():
    """Sums neither overflow nor vanish; rows of zeros stay."""
    weights = sparse.csr_array([[1e308, 1e308, 0.0], [5e-324, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert scaled_rows(weights).toarray().tolist() == [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    assert weights.data[0] == 1e308


def test_whole_grains_sum_to_one():
    """The largest entry of a row takes up what rounding leaves."""
    random = np.random.default_rng(0)
    share = np.concatenate([random.dirichlet(np.ones(size)) for size in (1, 3, 7)])
    probability, grains = whole_grains(share, np.array([0, 1, 4, 11]))
    assert np.array_equal(probability, grains * GRAIN)
    assert np.add.reduceat(probability, [0, 1, 4]).tolist() == [1.0, 1.0, 1.0]
    np.testing.assert_allclose(probability, share, atol=10 * GRAIN)
