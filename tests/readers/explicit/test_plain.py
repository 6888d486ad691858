"""The fast way to read lines of numbers."""

from __future__ import annotations

import pytest

from bisimetric.readers.explicit.plain import read_plain

OTHERS = ["1 0.5x", "1 0.5.5", "1 1e", "1 1e-", "1 1-2", "1 .", "1", "1 2 3", "1  ", "a b", "1 e5"]


@pytest.mark.parametrize("line", OTHERS)
def test_other_forms_are_left_alone(line):
    """Even where the parser would stop after the first number and go on in the next line."""
    assert read_plain([f"3 4\n{line}\n".encode()], 10, (2,)) is None


def test_many_pieces():
    """Columns grow where the first piece has longer lines than the others."""
    pieces = [b"1000000000000 0.1250000000000000\n", *[f"{k} {k / 7!r}\n{k} 1\n".encode() for k in range(50)]]
    columns, words = read_plain(pieces, sum(map(len, pieces)), (2,))
    assert words is None
    assert columns[0].tolist() == [1e12, *[k for k in range(50) for _ in range(2)]]
    assert columns[1].tolist() == [0.125, *[x for k in range(50) for x in (k / 7, 1)]]


def test_words_over_many_pieces():
    """Runs of equal words, words that begin alike, and other characters than ASCII."""
    words = ["go", "go", "gone", "é", "é", "x1", "x", "x", "go"]
    pieces = [f"{k} {word}\n".encode() for k, word in enumerate(words)]
    for given in (pieces, [b"".join(pieces)], [b"".join(pieces[:4]), b"".join(pieces[4:])]):
        columns, found = read_plain(given, 100, (1, 2))
        assert columns.tolist() == [list(range(9))]
        assert [found.names[k] for k in found.code] == words
    assert read_plain([*pieces, b"9\n"], 100, (1, 2)) is None
    assert read_plain([*pieces, b"9 \xff\n"], 100, (1, 2)) is None


def test_nothing():
    """No lines are not in any form."""
    assert read_plain([], 0, (2,)) is None
    assert read_plain([b"\n\n"], 2, (2,)) is None
