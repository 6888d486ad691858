"""Lines of numbers: the plain form goes through a compiled parser, and both ways give the same numbers."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.errors import FileFormatError
from bisimetric.readers.explicit import tables
from bisimetric.readers.explicit.tables import read_source, read_text_table


def file_of(folder, head, body):
    """A file with this content."""
    path = folder / "file"
    path.write_bytes(head + body)
    return read_source(path, "numbers")


def line_by_line(source, skipped, widths):
    """The table without the compiled parser."""
    return tables._line_by_line(source, skipped, widths)


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-5, 10**6).map(str),
    st.sampled_from(("1.", ".5", "+3", "1E-3", "0.1e+2", "00012", "5e-324", "0.30000000000000004")),
)


@given(
    st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6), st.sampled_from((" ", "  ", "\t", " \t"))
)
def test_both_ways_give_the_same_numbers(rows, gap):
    """To the last bit, for every way to write a number."""
    text = "".join(gap.join(row) + "\n" for row in rows).encode()
    with tempfile.TemporaryDirectory() as folder:
        source = file_of(Path(folder), b"head\n", text)
        for found in (read_text_table(source, 1, (3,)), line_by_line(source, 1, (3,))):
            assert found.columns.T.tolist() == [[float(number) for number in row] for row in rows]


@given(st.text("0123456789.eE+-x \n", min_size=1, max_size=30))
def test_the_fast_way_accepts_nothing_else(text):
    """What it reads, the other way reads too, and finds the same."""
    with tempfile.TemporaryDirectory() as folder:
        source = file_of(Path(folder), b"head\n", text.encode())
        try:
            found = read_text_table(source, 1, (2,))
        except FileFormatError:
            with pytest.raises(FileFormatError):
                line_by_line(source, 1, (2,))
        else:
            assert np.array_equal(found.columns, line_by_line(source, 1, (2,)).columns)


def test_words_at_the_end(tmp_path):
    """All lines have one, some, or none."""
    plain = read_text_table(file_of(tmp_path, b"", b"0 1 a\n2 3 b\n4 5 b\n"), 0, (2, 3))
    assert plain.columns.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert [plain.words.names[k] for k in plain.words.code] == ["a", "b", "b"]
    mixed = read_text_table(file_of(tmp_path, b"", b"0 1 a\n2 3\n4 5 b\n"), 0, (2, 3))
    assert mixed.columns.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert [mixed.words.names[k] for k in mixed.words.code] == ["a", None, "b"]
    assert read_text_table(file_of(tmp_path, b"", b"0 1\n2 3\n"), 0, (2, 3)).words is None


def test_lines_are_counted_with_comments_and_empty_ones(tmp_path):
    """As an editor counts them."""
    table = read_text_table(file_of(tmp_path, b"# remark\n\nhead\n", b"\n0 1\n# more\r\n\t2  3 \r\n"), 1, (2,))
    assert table.columns.tolist() == [[0, 2], [1, 3]]
    assert [table.line_of(entry) for entry in range(2)] == [5, 7]


def test_many_pieces(tmp_path, monkeypatch):
    """Large files are read piece by piece."""
    monkeypatch.setattr(tables, "PIECE", 10)
    text = "".join(f"{k} {k / 7!r}\n" for k in range(50)).encode()
    table = read_text_table(file_of(tmp_path, b"", text), 0, (2,))
    assert table.columns.tolist() == [list(range(50)), [k / 7 for k in range(50)]]
