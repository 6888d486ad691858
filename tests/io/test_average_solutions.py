"""Average costs in files: round trips and forged files."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError


def solutions():
    """Of one closed class, of several that others lead to, and of no cost at all."""
    random = np.random.default_rng(0)
    source = bm.MarkovChain(random.dirichlet(np.ones(3), 3), reward=[0, 1, 2], start=0)
    parts = bm.MarkovChain(
        [[0, 0.5, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], reward=[0, 1, 0.3, 0.1], start=0
    )
    return {
        "one class": bm.average_distance(source, source.with_start(1), cost=random.random((3, 3))),
        "several": bm.average_distance(parts, source),
        "free": bm.average_distance(parts, source, cost=np.zeros((4, 3))),
        "cut": bm.average_distance(parts, source, max_steps=1, throw=False),
    }


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", solutions())
def test_an_answer_comes_back_as_it_was(name, suffix, tmp_path):
    """Its bounds, classes, coupling, gradient and record."""
    solution = solutions()[name]
    solution.save(tmp_path / f"a.{suffix}")
    loaded = bm.load(tmp_path / f"a.{suffix}")
    assert isinstance(loaded, bm.AverageSolution)
    assert loaded.problem == solution.problem
    assert loaded.best_pair == solution.best_pair
    assert loaded.history == solution.history
    np.testing.assert_array_equal(loaded.value, solution.value)
    assert (loaded.lower <= solution.lower).all()
    assert (loaded.upper >= solution.upper).all()
    assert loaded.relative_gap <= solution.relative_gap + 1e-12
    if name in ("one class", "several"):
        np.testing.assert_allclose(loaded.gradient().cost, solution.gradient().cost, atol=1e-9)
        np.testing.assert_allclose(loaded.coupling.occupancy(), solution.coupling.occupancy(), atol=1e-9)


@pytest.mark.parametrize("name", ["one class", "several", "free"])
@pytest.mark.parametrize("factor", [1 + 1e-5, 1 - 1e-5])
def test_bounds_that_nothing_supports_are_refused(name, factor):
    """Raised or cut by a hundred-thousandth."""
    document = solutions()[name].to_dict()
    for key in ("lower", "value", "upper"):
        document[key] = [[number * factor if number else 1e-3 for number in row] for row in document[key]]
    with pytest.raises(FileFormatError, match="supported"):
        bm.AverageSolution.from_dict(document)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.__setitem__("priced", [[1e300] * 3] * 4), "supported"),
        (lambda d: d.__setitem__("way", [[0.0] * 3] * 4), "supported"),
        (lambda d: d.pop("priced"), "supported"),
        (lambda d: d.__setitem__("priced", [[0.0]]), "priced has shape"),
        (lambda d: d["problem"].__setitem__("cost", [[-1.0] * 3] * 4), "problem"),
        (lambda d: d["problem"].__setitem__("discount", 0.9), "unknown key"),
    ],
)
def test_files_that_are_wrong_are_refused(change, said):
    """What does not prove the bounds, and what does not fit."""
    document = solutions()["several"].to_dict()
    change(document)
    with pytest.raises(FileFormatError, match=said):
        bm.AverageSolution.from_dict(document)
