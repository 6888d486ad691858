"""The key of a question: equal for equal questions, different as soon as anything that matters differs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.many.question import PairQuestion, computed_by
from tests.strategies import chains

ROWS = [[0.5, 0.5], [0.25, 0.75]]
FIRST = bm.MarkovChain(ROWS, reward=[0, 1], start=0, names=["a", "b"])
SECOND = bm.MarkovChain([[1, 0], [0.5, 0.5]], reward=[0, 1], start=1)
USUAL = PairQuestion(0.9, None, False, bm.PolicyIteration(), None)


def key(source, target, question=USUAL):
    """What an answer is found by: the digest of the question, and the key of the pair."""
    return question.digest(), question.pair_problem(source, target).key


def test_names_and_the_way_a_chain_was_given_do_not_matter():
    """Equal content, equal key: without names, sparse, another cost object with the same array."""
    from scipy import sparse

    same = bm.MarkovChain(sparse.coo_array(ROWS), reward=[0, 1], start=[1, 0])
    usual = key(FIRST, SECOND)
    assert [len(part) for part in usual] == [32, 32]
    assert key(same, SECOND) == usual
    assert key(FIRST, SECOND, replace(USUAL, cost=bm.cost.reward_gap)) == usual
    assert key(FIRST, SECOND, replace(USUAL, cost=[[0, 1], [1, 0]])) == usual


@pytest.mark.parametrize(
    "question",
    [
        replace(USUAL, discount=np.nextafter(0.9, 1)),
        replace(USUAL, normalised=True),
        replace(USUAL, cost=[[0, 1], [1, 5e-324]]),
        replace(USUAL, tol=1e-9),  # a missed tolerance that was asked for is an error
        replace(USUAL, solver=bm.PolicyIteration(accuracy=0.02)),
        replace(USUAL, solver=bm.ValueIteration()),
        replace(USUAL, solver=bm.SinkhornValueIteration(step_size=bm.Decaying(1.0))),
        replace(USUAL, solver=bm.SinkhornValueIteration(step_size=bm.Decaying(2.0))),
        replace(USUAL, solver=bm.SinkhornPolicyIteration(step_size=bm.Decaying(2.0))),
    ],
    ids=str,
)
def test_every_setting_matters(question):
    """Each of these is another question than the usual one, and than the others."""
    assert key(FIRST, SECOND, question) != key(FIRST, SECOND)


def test_the_step_size_inside_a_solver_matters():
    """Options of options are part of the key."""
    keys = {
        key(FIRST, SECOND, replace(USUAL, solver=bm.SinkhornValueIteration(step_size=size)))
        for size in (1.0, "auto", bm.Decaying(1.0), bm.Decaying(2.0), bm.FromTheorem(1.0))
    }
    assert len(keys) == 5


def test_everything_about_the_chains_matters():
    """Rows by one rounding, the start, the rewards by their cost, how far the rows were rounded."""
    moved = bm.MarkovChain([[0.5 + 2**-52, 0.5 - 2**-52], ROWS[1]], reward=[0, 1], start=0)
    other_reward = bm.MarkovChain(ROWS, reward=[0, 2], start=0)
    rounded = FIRST.with_start(0)
    object.__setattr__(rounded, "row_error", FIRST.row_error + 1e-16)
    merged = FIRST.with_start(0)
    object.__setattr__(merged, "merged", np.array([True, False]))
    variants = [FIRST, FIRST.with_start(1), FIRST.with_start([0.5, 0.5]), moved, other_reward, rounded, merged]
    assert len({key(chain, SECOND) for chain in variants}) == len(variants)


@pytest.mark.parametrize("second", [SECOND, bm.MarkovChain(ROWS, reward=[0, 2], start=0)], ids=["other", "equal rows"])
def test_the_order_matters_where_the_cost_is_not_symmetric_only(second):
    """One problem and one key both ways if it is, the normalising factor taken once; else two of them."""
    for question in (USUAL, replace(USUAL, normalised=True)):
        problems = [question.pair_problem(*pair).problem for pair in ((FIRST, second), (second, FIRST))]
        assert problems[0].cost.tobytes() == problems[1].cost.tobytes()
        assert problems[0].normalised == problems[1].normalised == question.normalised
        assert problems[0].cost.max() == pytest.approx(second.reward[1] * (0.1 if question.normalised else 1))
        assert key(FIRST, second, question) == key(second, FIRST, question)
    directed = replace(USUAL, cost=lambda a, b: np.maximum(np.subtract.outer(a.reward, b.reward), 0.0))
    assert key(FIRST, second, directed) != key(second, FIRST, directed)


def test_zero_is_a_chain_and_itself_without_costs_between_equal_states():
    """Equal content will do; equal rows with other rewards, or a cost of staying, will not."""
    equal = bm.MarkovChain(ROWS, reward=[0, 1], start=0)
    assert USUAL.pair_problem(FIRST, equal).is_zero
    assert not USUAL.pair_problem(FIRST, bm.MarkovChain(ROWS, reward=[0, 2], start=0)).is_zero
    assert not USUAL.pair_problem(FIRST, FIRST.with_start(1)).is_zero
    assert not replace(USUAL, cost=[[0, 1], [1, 5e-324]]).pair_problem(FIRST, equal).is_zero


@pytest.fixture
def other_code():
    """Forget what code was seen, before and after."""
    computed_by.cache_clear()
    yield
    computed_by.cache_clear()


def test_the_version_matters(monkeypatch, other_code):
    """Another version of this package, or of a library below it, may compute other bits."""
    before = USUAL.digest()
    for name, value in (("__version__", "99.0.0"), ("metadata.version", lambda name: "99.0.0")):
        with monkeypatch.context() as patch:
            patch.setattr(f"bisimetric.many.question.{name}", value)
            computed_by.cache_clear()
            assert USUAL.digest() != before
    computed_by.cache_clear()
    assert USUAL.digest() == before


@pytest.mark.parametrize("changed", ["kernels/check.py", "solving/solve.py", "solvers/policy_iteration.py"])
def test_the_sources_matter(tmp_path, monkeypatch, other_code, changed):
    """A solver that changed under the same version; a plot does not compute."""
    root = tmp_path / "bisimetric"
    shutil.copytree(Path(bm.__file__).parent, root, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(bm, "__file__", str(root / "__init__.py"))
    before = USUAL.digest()
    for name, differs in (("views/mds.py", False), (changed, True)):
        with open(root / name, "a") as file:
            file.write("# changed")
        computed_by.cache_clear()
        assert (USUAL.digest() != before) == differs


def test_reading_the_sources_loads_no_compiler():
    """Nor does asking: a run that finds everything in its store stays light."""
    code = (
        "import sys, bisimetric as bm; from bisimetric.many.question import computed_by; "
        "computed_by(); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(*[chains(reward=True, start=True)] * 4)
def test_keys_are_equal_exactly_for_equal_content(a, b, c, d):
    """For any small chains, whichever comes first."""

    def content(source, target):
        rows = [(chain.transitions.toarray(), chain.start, chain.row_error) for chain in (source, target)]
        arrays = [array for chain in rows for array in chain]
        return tuple(array.tobytes() for array in [*arrays, bm.cost.reward_gap(source, target)])

    same = {content(a, b), content(b, a)} == {content(c, d), content(d, c)}
    assert (key(a, b) == key(c, d)) == same
    assert key(a, b) == key(b, a)


def test_options_that_cannot_be_written_are_refused():
    """A solver of somebody else's with an array in it: its text would leave numbers out."""

    @dataclass(frozen=True, slots=True)
    class Strange(bm.PolicyIteration):
        weights: object = None

    question = replace(USUAL, solver=Strange(weights=np.zeros(3)))
    with pytest.raises(InvalidOption, match="is a ndarray"):
        key(FIRST, SECOND, question)
    keys = {key(FIRST, SECOND, replace(USUAL, solver=Strange(weights=w))) for w in (1, np.float64(2.0), "x", None)}
    assert len(keys) == 4


def test_the_error_of_the_cost_matters():
    """An array of costs is exact, the same numbers computed from rewards are not: two questions."""
    first, second = (bm.MarkovChain(ROWS, reward=[0.1, reward], start=0) for reward in (0.7, 1e9))
    gap = bm.cost.reward_gap(first, second)
    assert key(first, second) != key(first, second, replace(USUAL, cost=gap))
    mirrored = replace(USUAL, normalised=True).pair_problem(second, first).problem
    assert mirrored.cost_error == bm.Problem(first, second, discount=0.9, normalised=True).cost_error > 0
