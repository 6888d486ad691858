"""Arguments that commands share, and requests made of them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass

import pytest

from bisimetric.cli.arguments import USUAL_DISCOUNT, Request, add_answer, add_solving, add_usual_discount


@dataclass(frozen=True, slots=True)
class Wanted(Request):
    """Two options of a command."""

    discount: float
    tol: float | None


def test_a_request_takes_its_fields_from_the_command_line():
    """Other options are not its own."""
    parser = ArgumentParser()
    add_usual_discount(parser)
    add_solving(parser)
    add_answer(parser)
    assert Wanted.of(parser.parse_args(["--tol", "0.5", "--out", "a.npz"])) == Wanted(USUAL_DISCOUNT, 0.5)
    assert parser.parse_args(["--save", "a.npz"]).out == "a.npz"
    assert parser.parse_args([]).out is None
    assert parser.parse_args(["--match"]).match == "distance"


def test_a_field_that_no_option_fills():
    """Is a mistake in the command, and raises."""
    with pytest.raises(AttributeError, match="tol"):
        Wanted.of(Namespace(discount=0.5))


@pytest.mark.parametrize("name", ["distance", "metric", "pairwise"])
def test_shared_arguments_are_explained(name, command):
    """In the help of every command that solves."""
    text = command(name, "--help").out
    for option in ("--solver", "--set", "--tol", "--discount", "--json", "--quiet"):
        assert option in text
