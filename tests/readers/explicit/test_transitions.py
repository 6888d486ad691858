"""Transitions in any order, and actions by their names."""

from __future__ import annotations

import random

import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError, InvalidOption
from tests.readers.explicit.files import PRISM, PROCESS, write


@pytest.mark.parametrize("parts", [PRISM, PROCESS], ids=["chain", "process"])
def test_lines_in_any_order(tmp_path, parts):
    """Give the same model, but for the order in which actions first occur."""
    expected = bm.from_explicit(write(tmp_path, parts))
    head, *lines = parts["tra"].splitlines()
    random.Random(1).shuffle(lines)
    found = bm.from_explicit(write(tmp_path, {"tra": "\n".join([head, *lines])}))
    assert found == expected


def test_choices_without_names_are_numbered(tmp_path):
    """By the numbers in the file; names that are numbers are taken as such."""
    text = "2 3 3\n0 0 1 1\n0 1 0 1\n1 0 1 1\n"
    mdp = bm.from_explicit(write(tmp_path, {"tra": text}))
    assert mdp.actions is None
    assert mdp.available.tolist() == [[True, True], [True, False]]
    called = bm.from_explicit(write(tmp_path, {"tra": "2 3 3\n0 0 1 1 0\n0 1 0 1 1\n1 0 1 1 1\n"}))
    assert called.actions is None
    assert called.available.tolist() == [[True, True], [False, True]]


def test_a_choice_has_one_name(tmp_path):
    """Lines of one choice agree."""
    path = write(tmp_path, {"tra": "2 1 2\n0 0 0 0.5 a\n0 0 1 0.5 b\n"})
    with pytest.raises(FileFormatError, match="line 3: the choice is called 'b' here and 'a' before"):
        bm.from_explicit(path, deadlocks="self-loops")


def test_wrong_number_of_choices(tmp_path):
    """Is found in the header."""
    with pytest.raises(FileFormatError, match="line 1: the header says 4 choices, the file has 3"):
        bm.from_explicit(write(tmp_path, {"tra": PROCESS["tra"].replace("2 3 4", "2 4 4")}))


def test_rows_are_rescaled_on_request(tmp_path):
    """Of few digits, or of rates, whose embedded chain it is."""
    path = write(tmp_path, {"tra": "2 3\n0 0 0.333333\n0 1 0.666666\n1 1 1\n"})
    with pytest.raises(FileFormatError, match=r"line 2: .* normalise=True"):
        bm.from_explicit(path)
    found = bm.from_explicit(path, normalise=True)
    assert found.transitions.toarray()[0] == pytest.approx([1 / 3, 2 / 3])
    assert bm.as_chain(f"{path},normalise") == found
    rates = write(tmp_path, {"tra": "2 3\n0 0 1\n0 1 3\n1 1 7\n"}, "rates")
    with pytest.raises(FileFormatError, match=r"line 3: .* normalise=True"):
        bm.from_explicit(rates)
    assert bm.from_explicit(rates, normalise=True).transitions.toarray().tolist() == [[0.25, 0.75], [0, 1]]
    nothing = write(tmp_path, {"tra": "1 1\n0 0 0\n"}, "nothing")
    with pytest.raises(FileFormatError, match=r"line 2: .* positive sum"):
        bm.from_explicit(nothing, normalise=True)
    with pytest.raises(InvalidOption, match="normalise"):
        bm.from_explicit(path, normalise="yes")


@pytest.mark.parametrize("word", ["", " 7", " 99999"])
def test_high_numbers_of_choices_make_few_actions(tmp_path, word):
    """They are names, or close up."""
    tra = "mdp\n" + "".join(f"{k} 0 {k} 1\n" for k in range(200)) + "3 150 0 1\n"
    if word:
        tra = tra.replace(" 1\n", f" 1{word}\n").replace(f"3 150 0 1{word}", "3 150 0 1 x")
    mdp = bm.from_explicit(write(tmp_path, {"tra": tra}))
    assert mdp.n_actions == 2
    assert mdp.available[:, 1].nonzero()[0].tolist() == [3]
