"""Answers over finite horizons in files: exact round trips, changing chains, and forged files."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError


def problem(**options):
    """Two chains, of which the first moves otherwise in the second step."""
    random = np.random.default_rng(0)
    source = bm.MarkovChain(random.dirichlet(np.ones(3), 3), reward=[0, 1, 2], start=0, names=list("abc"))
    target = bm.MarkovChain(random.dirichlet(np.ones(2), 2), reward=[0.5, 1], start=[0.5, 0.5], labels=["x", "y"])
    changing = [source, random.dirichlet(np.ones(3), 3), source, source]
    return bm.HorizonProblem(changing, target, horizon=4, terminal=random.random((3, 2)), **options)


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("keep", [True, False])
def test_an_answer_comes_back_as_it_was(suffix, keep, tmp_path):
    """Its question, its bounds, its record and, where they are kept, its values at all times."""
    random = np.random.default_rng(1)
    asked = problem(discount=0.9, cost=[random.random((3, 2)) for _ in range(4)])
    solution = bm.solve(asked, bm.solvers.BackwardInduction(keep_steps=keep))
    solution.save(tmp_path / f"a.{suffix}")
    loaded = bm.load(tmp_path / f"a.{suffix}")
    assert isinstance(loaded, bm.HorizonSolution)
    assert loaded.problem == asked
    assert repr(loaded) == repr(solution)
    assert loaded.history == solution.history
    np.testing.assert_array_equal(loaded.value, solution.value)
    np.testing.assert_array_equal(loaded.lower, solution.lower)
    np.testing.assert_array_equal(loaded.coupling[0, 0].toarray(), solution.coupling[0, 0].toarray())
    if keep:
        assert repr(loaded.explain()) == repr(solution.explain())
        np.testing.assert_array_equal(loaded.at(2).value, solution.at(2).value)
    else:
        with pytest.raises(bm.errors.InvalidOption, match="keep_steps"):
            loaded.at(2)


def test_dicts_work_too():
    """With the derivatives by rewards of a question about them."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    solution = bm.solve(bm.HorizonProblem(chain, chain.with_start(1), horizon=3))
    again = bm.HorizonSolution.from_dict(solution.to_dict())
    assert again.distance == solution.distance
    np.testing.assert_array_equal(again.gradient().source_reward, solution.gradient().source_reward)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["upper"][0].__setitem__(0, d["value"][0][0] * (1 - 1e-6)), "between|not supported"),
        (lambda d: [d[key][0].__setitem__(0, d[key][0][0] * 1.001) for key in ("lower", "value", "upper")], "support"),
        (lambda d: d["problem"].__setitem__("horizon", 0), "horizon"),
        (lambda d: d["problem"].__setitem__("horizon", 3), "entries, expected one for each of 3 steps"),
        (lambda d: d["problem"]["source_later"].__setitem__("steps", [0, 5, 0, 0]), "steps"),
        (lambda d: d["problem"]["source_later"]["transitions"].__setitem__("shape", [1, 2, 2]), "shape"),
        (lambda d: d["problem"].__setitem__("costs", [[1.0, 2.0]]), "rows"),
        (lambda d: d["problem"].__setitem__("horizons", 3), "did you mean 'horizon'"),
        (lambda d: d.__setitem__("keep_steps", "yes"), "keep_steps"),
    ],
)
def test_files_that_are_wrong_are_refused(change, said):
    """Bounds that the values do not support, and whatever does not fit together."""
    document = bm.solve(problem()).to_dict()
    change(document)
    with pytest.raises(FileFormatError, match=said):
        bm.HorizonSolution.from_dict(document)


def test_an_answer_that_was_cut_comes_back(tmp_path):
    """With the bounds that it had."""
    solution = bm.solve(problem(), max_steps=2, throw=False)
    solution.save(tmp_path / "a.npz")
    loaded = bm.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(loaded.upper, solution.upper)
    assert loaded.status is solution.status
