"""Labels and names."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError
from tests.readers.explicit.files import PRISM, write

TWO = "2 2\n0 0 1\n1 1 1\n"


def test_a_variable_called_name_holds_whole_names(tmp_path):
    """As `save` writes names that are no values of variables."""
    chain = bm.from_explicit(write(tmp_path, {"tra": TWO, "sta": "(name)\n0:((0,1))\n1:(second, or so)\n"}))
    assert chain.names == ("(0,1)", "second, or so")


@pytest.mark.parametrize(
    ("sta", "message"),
    [("(x)\n0:(0)\n", "no values for state 1"), ("(x)\n0:(0)\n1:(0)\n", "states 0 and 1 have the same values")],
)
def test_every_state_has_a_name_of_its_own(tmp_path, sta, message):
    """Else the file is refused."""
    with pytest.raises(FileFormatError, match=message):
        bm.from_explicit(write(tmp_path, {"tra": TWO, "sta": sta}))


@pytest.mark.parametrize(
    ("lab", "message"),
    [
        ("#DECLARATION\na b\n0 a\n", "#END"),
        ("#DECLARATION\nalpha\n#END\n0 alpa\n", "did you mean 'alpha'"),
        ("#DECLARATION\na\n#END\nx a\n", "line 4: state is 'x'"),
        ('0="a" b\n', "line 1"),
        ('0="a"\n0 0\n', "line 2"),
        ("\n\n", "no labels"),
    ],
)
def test_labels_that_are_none(tmp_path, lab, message):
    """The message says what was expected."""
    with pytest.raises(FileFormatError, match=message):
        bm.from_explicit(write(tmp_path, PRISM | {"lab": lab}))
