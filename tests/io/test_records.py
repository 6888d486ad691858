"""The record of a solve: what a file says about it comes back, and claims are compared with proofs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.interval import Certificate
from bisimetric.errors import FileFormatError
from bisimetric.io.document import Fields
from bisimetric.io.records import RECORD_ARRAYS, RECORD_KEYS, record_document, record_from, wider_bounds

SOLUTION = bm.solve(
    bm.Problem(bm.environments.grid_3x3(), bm.environments.grid_3x3(), discount=0.5), bm.SinkhornBellman(rounds=4)
)


def as_read(**changes):
    """The fields of the record of SOLUTION as a JSON file has them, changed."""
    written = record_document(SOLUTION, SOLUTION.solver, None)
    arrays = {key: np.concatenate(list(written[key].blocks())) for key in RECORD_ARRAYS}
    read = written | arrays
    return Fields(read | changes, "", RECORD_KEYS)


def test_a_record_comes_back():
    """Solver, status, history with its measurements, tolerance and bounds."""
    found = record_from(as_read(), SOLUTION.value.shape)
    assert (found.solver, found.status, found.tol) == (SOLUTION.solver, SOLUTION.status, SOLUTION.tol)
    assert [step[:3] for step in found.history] == [step[:3] for step in SOLUTION.history]
    assert np.array_equal(found.claimed.upper, SOLUTION.upper)


def test_an_unknown_gap_is_null():
    """JSON has no infinity."""
    found = record_from(as_read(history=[[1, None, 0.5]]), SOLUTION.value.shape)
    assert found.history == (bm.Step(1, math.inf, 0.5),)


def test_lines_of_older_files():
    """Three numbers, or eight with diagnostics: what they do not have is unknown."""
    plain, measured = [1, 2.0, 0.5], [2, 1.0, 0.75, 0.1, 0.2, None, None, None]
    found = record_from(as_read(history=[plain, measured]), SOLUTION.value.shape)
    assert found.history == (bm.Step(1, 2.0, 0.5), bm.Step(2, 1.0, 0.75, 0.1, 0.2))


def test_looks_survive_files():
    """The distance between the starts and its interval come back, with and without diagnostics."""
    steps = (
        bm.Step(1, 2.0, 0.5, distance=1.5, interval=(1.0, 2.0)),
        bm.Step(2, 1.0, 0.75, 0.1, 0.2, distance=1.25, interval=(1.125, 1.5)),
    )
    lines = record_document(replace(SOLUTION, history=steps), "a solver", None)["history"]
    assert lines[0] == [1, 2.0, 0.5, None, None, None, None, None, 1.5, 1.0, 2.0]
    assert record_from(as_read(history=lines), SOLUTION.value.shape).history == steps


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"status": "FINE"}, "status is 'FINE', expected one of SOLVED"),
        ({"tol": -1.0}, "tol is -1.0, expected a positive number"),
        ({"history": [[1, 2]]}, r"history\[0\] is not"),
        ({"history": [[1, 10**400, 0.5]]}, r"history\[0\] is not"),
        ({"value": SOLUTION.upper + 1.0}, "value is not between"),
    ],
)
def test_what_is_wrong_is_said(changes, said):
    """In one line."""
    with pytest.raises(FileFormatError, match=said):
        record_from(as_read(**changes), SOLUTION.value.shape)


def test_the_wider_bounds_count():
    """Claims wider than the proof are kept, claims tighter by rounding give way, others are refused."""
    proved = Certificate(np.full((1, 1), 1.0), np.full((1, 1), 0.9), np.full((1, 1), 1.1))
    wide = Certificate(proved.value, proved.lower - 0.1, proved.upper + 0.1)
    assert wider_bounds(wide, proved, 1e-12, 2.0).upper[0, 0] == 1.1 + 0.1
    close = Certificate(proved.value, proved.lower + 1e-14, proved.upper - 1e-14)
    assert wider_bounds(close, proved, 1e-12, 2.0).upper[0, 0] == 1.1
    tight = Certificate(proved.value, proved.lower + 1e-3, proved.upper)
    with pytest.raises(FileFormatError, match="not supported"):
        wider_bounds(tight, proved, 1e-12, 2.0)
