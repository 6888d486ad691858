"""Files of bisimilarity distances without a discount: what they claim is proved again."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from tests.io.io_samples import SUFFIXES, as_bytes, assert_same_solution, edited, refusal, solutions


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["bisimilarity", "bisimilarity at once"])
def test_come_back(tmp_path, name, suffix):
    """To the last bit, also after a second time."""
    path = tmp_path / f"d.{suffix}"
    bm.save(solutions()[name], path)
    again = bm.load(path)
    assert_same_solution(solutions()[name], again)
    assert again.problem == solutions()[name].problem
    bm.save(again, path)
    assert_same_solution(bm.load(path), again)


def forged(tmp_path, edit, name="bisimilarity"):
    """The refusal of a file after an edit of its document."""
    path = tmp_path / "forged.json"
    path.write_bytes(edited(as_bytes(solutions()[name], "json", tmp_path), edit))
    return refusal(path)


def test_claims_are_checked(tmp_path):
    """Bounds that the steps, couplings and known distances do not prove."""

    def too_few_steps(document):
        document["steps"] = (0.25 * np.array(document["steps"])).tolist()

    def no_steps(document):
        del document["steps"]

    def wrong_ends(document):
        document["priced"][-1][0] = 0.5

    def tighter(document):
        document["upper"] = document["lower"]
        document["value"] = document["lower"]

    def other_classes(document):
        document["problem"]["bisimilarity"] = 0.9

    def unequal_masses(document):
        document["witness"]["weight"][0] += 0.125

    for edit in (too_few_steps, no_steps, tighter, other_classes):
        assert "not supported by the stored coupling" in forged(tmp_path, edit) or edit is other_classes
    assert "priced is not 1" in forged(tmp_path, wrong_ends)
    assert "couplings are not valid" in forged(tmp_path, unequal_masses)


def test_fields_are_checked(tmp_path):
    """A tolerance, a scale, and an array of the right shape."""
    for tol in (1.5, -1):
        edit = lambda document, tol=tol: document["problem"].update(bisimilarity=tol)  # noqa: E731
        assert "from 0 to 1" in forged(tmp_path, edit)
    assert "scale is 2.0" in forged(tmp_path, lambda document: document.update(scale=2.0))
    assert "steps" in forged(tmp_path, lambda document: document.update(steps=[[1.0]]))
    assert "no labels" in forged(tmp_path, lambda document: document["problem"]["source"].pop("labels"))
