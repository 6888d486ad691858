"""Documents: arrays as streams, and fields that say what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.errors import FileFormatError
from bisimetric.io import document
from bisimetric.io.document import Fields, kind_of, stream, without_arrays

FIELDS = Fields(
    {
        "text": "a",
        "whole": 3,
        "none": None,
        "rows": [[1, 2.5], [0, 1]],
        "mask": [True, False],
        "at": [0, 2, 2, 5],
        "huge": 10**400,
        "object": {"key": 1},
        "array": np.arange(4.0),
    },
    "problem",
    ("text", "whole", "none", "rows", "mask", "at", "huge", "object", "array", "absent"),
)


def test_streams_come_in_blocks(monkeypatch):
    """The blocks add up to the array, in the type that was asked for."""
    monkeypatch.setattr(document, "ENTRIES_AT_ONCE", 4)
    made = stream(np.arange(12).reshape(6, 2), "<f8")
    blocks = list(made.blocks())
    assert [len(block) for block in blocks] == [2, 2, 2]
    assert np.concatenate(blocks).tolist() == np.arange(12.0).reshape(6, 2).tolist()
    assert made.nbytes == 96


def test_arrays_go_by_their_place():
    """Objects stay, arrays leave."""
    one, two = stream(np.zeros(1), "<f8"), stream(np.zeros(2), "<f8")
    rest, arrays = without_arrays({"a": 1, "b": one, "c": {"d": two, "e": "text"}})
    assert rest == {"a": 1, "c": {"e": "text"}}
    assert arrays == {"b": one, "c.d": two}


def test_fields_of_the_right_kind():
    """Lists become arrays; null is absent."""
    assert FIELDS.of_kind("text", str) == "a"
    assert FIELDS.number("whole") == 3.0
    assert not FIELDS.has("none")
    assert FIELDS.floats("rows", 2, None).tolist() == [[1.0, 2.5], [0.0, 1.0]]
    assert FIELDS.mask("mask", 2).tolist() == [True, False]
    assert FIELDS.offsets("at", 3, 5).tolist() == [0, 2, 2, 5]
    assert FIELDS.inside("object", ("key",)).get("key") == 1
    assert FIELDS.floats("array", 4).tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: FIELDS.get("absent"), "problem.absent is missing"),
        (lambda: FIELDS.number("text"), "problem.text is text, expected a number or a whole number"),
        (lambda: FIELDS.number("huge"), "problem.huge is too large"),
        (lambda: FIELDS.of_kind("whole", bool), "problem.whole is a whole number, expected true or false"),
        (lambda: FIELDS.floats("rows", 3, 2), r"problem.rows has shape \[2, 2\], expected \[3, 2\]"),
        (lambda: FIELDS.floats("rows", 2, 2, least=0.5), r"problem.rows\[1, 0\] is 0.0, expected at least 0.5"),
        (lambda: FIELDS.whole("rows", 2), "problem.rows"),
        (lambda: FIELDS.offsets("at", 3, 6), "expected to ascend from 0 to 6"),
        (lambda: FIELDS.inside("text", ("key",)), "problem.text is text, expected an object with key"),
        (lambda: FIELDS.inside("object", ("keys",)), "unknown key 'problem.object.key'; did you mean 'keys'"),
    ],
)
def test_what_is_wrong_is_said(ask, said):
    """With the place, what came and what was expected."""
    with pytest.raises(FileFormatError, match=said):
        ask()


def test_kinds_in_words():
    """For every kind of node."""
    assert [kind_of(node) for node in ({}, [], "", True, 1, 0.5, None, np.zeros(1))] == [
        "an object", "a list", "text", "true or false", "a whole number", "a number", "null", "an array",
    ]  # fmt: skip
