"""How well rows and starts are known."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain

ROWS = [[0.5, 0.5], [0.25, 0.75]]


def test_one_number_stands_for_all_rows():
    """A scalar, a list, a series by name."""
    pandas = pytest.importorskip("pandas")
    assert bm.MarkovChain(ROWS, row_error=0.25).row_error.tolist() == [0.25, 0.25]
    assert bm.MarkovChain(ROWS, row_error=[0, 2]).row_error.tolist() == [0.0, 2.0]
    by_name = bm.MarkovChain(ROWS, names=["a", "b"], row_error=pandas.Series({"b": 0.5, "a": 0.25}))
    assert by_name.row_error.tolist() == [0.25, 0.5]
    assert bm.MarkovChain.normalised([[3, 1], [1, 1]], row_error=0.5).row_error.tolist() == [0.5, 0.5]


def test_errors_larger_than_rounding_make_a_chain_uncertain():
    """Rounding does not; `as_given` forgets the errors, and equality does not."""
    rounded = bm.MarkovChain([[0.1, 0.9], [1 / 3, 2 / 3]])
    assert 0 < rounded.row_error.max() < 1e-15
    assert not rounded.uncertain
    assert rounded.as_given() is rounded
    chain = bm.MarkovChain([[0.1, 0.9], [1 / 3, 2 / 3]], start=0, row_error=[0.1, 0.0], start_error=0.5)
    assert chain.uncertain
    assert "row errors" in repr(chain)
    given = chain.as_given()
    assert not given.uncertain
    assert given.row_error[1] == rounded.row_error[1]
    assert given == rounded.with_start(0)
    assert chain != given
    assert chain.with_start(1).start_error == 0.0
    assert chain.with_start(1).row_error[0] >= 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row_error": -0.1}, r"row_error\[0\] is -0.1"),
        ({"row_error": [0, 2.5]}, r"row_error\[1\] is 2.5"),
        ({"row_error": [0.1]}, "one number or one per state: 2"),
        ({"row_error": np.nan}, "finite"),
        ({"row_error": "much"}, "dtype"),
        ({"row_error": [[0.1, 0.1]]}, "dimension"),
        ({"start_error": 0.1}, "no start"),
        ({"start_error": 3, "start": 0}, "from 0 to 2"),
        ({"start_error": [0.1, 0.2], "start": 0}, "one number"),
        ({"start_error": "some", "start": 0}, "expected a number"),
    ],
)
def test_what_is_no_error_of_a_row(options, message):
    """1-norms between distributions are from 0 to 2."""
    with pytest.raises(InvalidChain, match=message):
        bm.MarkovChain(ROWS, **options)
