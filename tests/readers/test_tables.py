"""Tables of numbers in files."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.errors import FileFormatError, NotEnoughMemory
from bisimetric.readers.tables import read_table


def table(tmp_path, text, name="t.csv"):
    """Write a file and read it."""
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(str(file))


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("1,2\n3,4\n", None, None),
        ("a,b\n1,2\n3,4\n", None, ("a", "b")),
        (",a,b\na,1,2\nb,3,4\n", ("a", "b"), ("a", "b")),
        ('"x, y",1,2\nz,3,4\n', ("x, y", "z"), None),
        (",0,1\n0,1,2\n1,3,4\n", ("0", "1"), ("0", "1")),
        ("state,0,1\n\r\n0,1,2\n1,3,4\n", ("0", "1"), ("0", "1")),
        ("\ufeff1,2\r\n3,4\r\n\r\n", None, None),
    ],
)
def test_names_are_told_from_numbers(tmp_path, text, rows, columns):
    """In the first row, the first column or both, as pandas writes them."""
    found = table(tmp_path, text)
    assert (found.rows, found.columns) == (rows, columns)
    assert found.values.tolist() == [[1, 2], [3, 4]]


def test_a_column_with_a_name(tmp_path):
    """A single column is numbers, whatever its name."""
    found = table(tmp_path, "reward\n1\n2\n")
    assert (found.values.tolist(), found.columns) == ([[1], [2]], ("reward",))


def test_npy(tmp_path):
    """Arrays of any real type."""
    np.save(tmp_path / "a.npy", np.array([[1, 2], [3, 4]]))
    assert read_table(str(tmp_path / "a.npy")).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "names and no numbers"),
        ("1,2\n3\n", "line 2 has 1 cells, expected 2"),
        ("1,2\n3,x\n", "line 2, column 2 is 'x', expected a number"),
        ("a,b\n1,2\n3,\n", "line 3, column 2 is '', expected a number"),
        ("a,b,c\n1,2\n3,4\n", "3 names for 2 columns"),
        (",a\nx,1,2\ny,3,4\n", "1 names for 2 columns"),
        (b"\xff\xfe1,2\n", "is not UTF-8"),
    ],
)
def test_wrong_csv(tmp_path, text, message):
    """The file, the line, the column."""
    with pytest.raises(FileFormatError, match=r"t\.csv: ") as error:
        table(tmp_path, text)
    assert message in str(error.value)


def test_wrong_npy(tmp_path):
    """Objects, complex numbers, cut files."""
    np.save(tmp_path / "o.npy", np.array([[object()]]), allow_pickle=True)
    np.save(tmp_path / "c.npy", np.array([[1j]]))
    np.save(tmp_path / "long.npy", np.ones((9, 9)))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "long.npy").read_bytes()[:-8])
    for name in ("o.npy", "c.npy", "cut.npy", "missing.npy"):
        with pytest.raises(FileFormatError, match=name):
            read_table(str(tmp_path / name))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileFormatError, match=r"is a folder, expected rows of numbers"):
        read_table(str(tmp_path / "folder.csv"))


@given(place=st.integers(0, 127), byte=st.sampled_from(b"0123456789,(){}[]'\"\\:<f8|OV\n\x00\xff"), cut=st.booleans())
def test_any_header_of_an_array(tmp_path_factory, place, byte, cut):
    """numpy's parser of headers fails in many ways; all are one error."""
    path = tmp_path_factory.mktemp("any") / "t.npy"
    np.save(path, np.eye(3))
    data = bytearray(path.read_bytes())
    data[place] = byte
    path.write_bytes(bytes(data[: place + 1] + data[128:] if cut else data))
    with suppress(FileFormatError):
        assert read_table(str(path)).values.dtype.kind in "biuf"


def test_memory_is_estimated(tmp_path, free_memory):
    """A file that does not fit is refused before it is read."""
    free_memory(100)
    with pytest.raises(NotEnoughMemory, match=r"t\.csv"):
        table(tmp_path, "1,2\n" * 100)


@given(st.one_of(st.binary(max_size=60), st.text(alphabet='01.,-e"\nan\r ', max_size=60).map(str.encode)))
def test_any_file_gives_numbers_or_our_error(tmp_path_factory, data):
    """Nothing but FileFormatError comes out."""
    folder = tmp_path_factory.mktemp("any")
    for name in ("t.csv", "t.npy"):
        with suppress(FileFormatError):
            assert table(folder, data, name).values.dtype.kind in "biuf"
