"""Costs that the command line names."""

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.cli.completion.candidates import complete
from bisimetric.cli.costs import NAMED_COSTS, read_cost
from bisimetric.cli.parser import parser
from bisimetric.errors import FileFormatError

ONE = bm.MarkovChain([[1.0]], reward=[2], labels=[("a", "b")])
OTHER = bm.MarkovChain([[1.0]], reward=[5], labels=[("a", "c")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reward", 3.0),
        ("labels", 1.0),
        ("label-difference", 2.0),
        ("label-jaccard", 2 / 3),
        ("reward+labels", 4.0),
        ("reward + 0.5*labels", 3.5),
        ("2*reward+1e-1*label-difference", 6.2),
    ],
)
def test_names_and_sums(text, expected):
    """As the library computes them."""
    assert read_cost(text, (1, 1))(ONE, OTHER) == pytest.approx(np.array([[expected]]))


@pytest.mark.parametrize(
    "text", ["rewards", "reward+", "reward-labels", "-1*reward", "inf*reward", "x*reward", "", "0*reward"]
)
def test_what_is_no_cost(text):
    """The error lists the names."""
    with pytest.raises(FileFormatError, match="expected 'reward', 'labels'"):
        read_cost(text, (1, 1))


def test_on_the_command_line(command, chain_file):
    """The text shows the cost as it was given; every name is completed."""
    file = chain_file(labels=["a", "b"], start=0)
    ran = command("distance", file, file, "--start", 0, 1, "--discount", 0.5, "--cost", "reward+0.5*labels")
    assert "cost: reward+0.5*labels" in ran.out
    assert ran.out.split()[ran.out.split().index("distance") + 1].startswith("2.0")
    offered = complete(parser(), ["bisimetric", "distance", "a", "b", "--cost", ""], "zsh").words
    assert set(offered) == set(NAMED_COSTS)
