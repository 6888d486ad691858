"""Bisimilarity distances without a discount in files: their bounds are proved again."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError

ONE = bm.MarkovChain([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]], labels=["a", "b", "c"], start=0)
OTHER = bm.MarkovChain([[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]], labels=["a", "b", "c"], start=0)


@pytest.fixture
def saved(tmp_path):
    """A file, and the solution in it."""
    solution = bm.bisimilarity_distance(ONE, OTHER, discount=1.0)
    solution.save(tmp_path / "a.json")
    return tmp_path / "a.json", solution


def test_a_solution_comes_back(saved):
    """With the same bounds, which contain the chance to see another label: 1/2."""
    path, solution = saved
    loaded = bm.load(path)
    assert np.array_equal(loaded.upper, solution.upper)
    assert np.array_equal(loaded.lower, solution.lower)
    assert loaded.lower[0, 0] <= 0.5 <= loaded.upper[0, 0]


@pytest.mark.parametrize(("key", "number"), [("upper", 0.4), ("lower", 0.6)])
def test_bounds_that_nothing_supports_are_refused(saved, key, number):
    """Tighter than what the couplings and the numbers of steps prove."""
    path, _ = saved
    document = json.loads(path.read_text())
    for name in ("value", key):
        document[name][0][0] = number
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=r"not supported|between lower and upper"):
        bm.load(path)
