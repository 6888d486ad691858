"""Labels and starts of models, and those that model checkers do not know."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption

TWO = [[0.5, 0.5], [0, 1]]


@pytest.mark.parametrize("suffix", [".tra", ".drn"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": [0.25, 0.75]}, "equally likely"),
        ({"labels": ["init", "b"]}, "marks the start"),
        ({"labels": [(1, 2), (2, 1)]}, "same set"),
        ({"labels": ['say "hi"', "b"]}, "cannot be written"),
    ],
)
def test_chains_that_do_not_fit(tmp_path, suffix, options, message):
    """The error has a remedy, and no file is there."""
    with pytest.raises(InvalidOption, match=message):
        bm.save(bm.MarkovChain(TWO, **options), tmp_path / f"model{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_labels_of_other_kinds(tmp_path):
    """Texts and numbers become sets of one proposition."""
    bm.save(bm.MarkovChain(TWO, labels=["", "b"]), tmp_path / "texts.tra")
    assert bm.as_chain(tmp_path / "texts.tra").labels == ((), ("b",))
    bm.save(bm.MarkovChain(TWO, labels=[1, 2.5]), tmp_path / "numbers.tra")
    assert bm.as_chain(tmp_path / "numbers.tra").labels == (("1",), ("2.5",))
