"""Distances of the pairs that the starts lead to, and of no others."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import bisimetric as bm
from bisimetric.operators.reachable import reachable_part
from tests import strategies


def naive(problem):
    """The pairs that can be reached, by sets."""
    P, Q = problem.source.transitions.toarray() > 0, problem.target.transitions.toarray() > 0
    waiting = {
        (int(x), int(y)) for x in np.flatnonzero(problem.source.start) for y in np.flatnonzero(problem.target.start)
    }
    found = set()
    while waiting:
        x, y = waiting.pop()
        found.add((x, y))
        if problem.stop is None or not problem.stop[x, y]:
            after = {(int(i), int(j)) for i in np.flatnonzero(P[x]) for j in np.flatnonzero(Q[y])}
            waiting |= after - found
    return found


@given(strategies.tame_problems(max_states=5))
def test_the_starts_distance_is_that_of_all_pairs(problem):
    """From the first states; what is not reached is a free stop."""
    n, m = problem.shape
    chains = problem.source.with_start(0), problem.target.with_start(m - 1)
    problem = bm.Problem(*chains, discount=problem.discount, cost=problem.cost, stop=problem.stop)
    part = reachable_part(problem)
    seen = naive(problem)
    for x, y in np.ndindex(n, m):
        inside = (x, y) in seen
        assert part.stop[x, y] == (not inside or (problem.stop is not None and bool(problem.stop[x, y])))
        assert part.cost[x, y] == (problem.cost[x, y] if inside else 0.0)
    whole, some = bm.solve(problem), bm.solve(part)
    for x, y in seen:
        assert some.lower[x, y] <= whole.upper[x, y]
        assert whole.lower[x, y] <= some.upper[x, y]
    assert some.interval[0] <= whole.interval[1]
    assert whole.interval[0] <= some.interval[1]


def islands(count, side):
    """Several copies of a walk that do not lead to one another; it starts in the first."""
    one = bm.environments.four_rooms(side=side)
    matrix = sparse.block_diag([one.transitions] * count, format="csr")
    return bm.MarkovChain(matrix, reward=np.tile(one.reward, count), start=0)


@pytest.mark.parametrize("normalised", [False, True])
def test_few_pairs(normalised):
    """On islands, one in nine pairs is looked at; the answer, its normalisation and files are as usual."""
    chain, other = islands(3, 4), islands(3, 4).with_start(20)
    options = {"discount": 0.9, "normalised": normalised}
    whole, some = bm.distance(chain, other, **options), bm.distance(chain, other, pairs="reachable", **options)
    assert some.distance == pytest.approx(whole.distance, rel=1e-9)
    assert (~some.problem.stop).sum() <= some.value.size / 8
    assert np.array_equal(np.isnan(some.value), some.problem.stop)
    assert some.problem.normalised is normalised


@pytest.fixture
def part():
    """Three states each that stay where they are: one pair of nine is reached."""
    source, target = (bm.MarkovChain(np.eye(3), reward=np.arange(3) + k, start=0) for k in (0, 0.1))
    return bm.distance(source, target, discount=0.9, pairs="reachable")


def test_nothing_is_claimed_of_other_pairs(part):
    """NaN in value and bounds, left out of all summaries; asking for such a pair is refused."""
    for array in (part.value, part.lower, part.upper):
        assert np.isnan(array).sum() == 8
    assert part.match().tolist() == [0, -1, -1]
    assert part.gap == part.upper[0, 0] - part.lower[0, 0]
    assert part.relative_gap == part.gap / part.upper[0, 0] <= 1e-9
    assert "pairs 1 of 9 solved" in repr(part)
    assert part.distance == pytest.approx(1.0)
    assert [row[:2] for row in part.explain().rows()] == [("0", "0")]
    law = np.full((3, 3), 1 / 9)
    for call in (
        lambda: part.explain(start=(0, 1)),
        lambda: part.coupling[1, 1],
        lambda: part.potentials[2, 0],
        lambda: part.coupling.occupancy(law),
    ):
        with pytest.raises(bm.errors.InvalidOption, match="pairs='all' does"):
            call()


def test_other_pairs_stay_out_of_what_follows(part):
    """Certificates, guesses, exact certificates."""
    again = bm.solve(part.problem, initial=part)
    assert np.isnan(again.value).sum() == 8
    assert again.interval == part.interval
    whole = bm.solve(bm.Problem(part.problem.source, part.problem.target, discount=0.9), initial=part, throw=False)
    assert not np.isnan(whole.value).any()
    for guess in (part.value, np.zeros((3, 3))):
        certificate = bm.certify(part.problem, guess)
        assert np.isnan(certificate.lower).sum() == np.isnan(certificate.upper).sum() == 8
        assert certificate.lower[0, 0] <= 1.0000001
    exact = bm.certify_exactly(part)
    assert [x == x for x in exact.lower.ravel()] == [True] + [False] * 8
    assert float(exact.gap) <= 1e-9


def test_starts_that_are_laws(part):
    """The transport between them looks at solved pairs only."""
    source, target = (chain.with_start([0.5, 0.5, 0]) for chain in (part.problem.source, part.problem.target))
    whole, some = (bm.distance(source, target, discount=0.9, pairs=pairs) for pairs in ("all", "reachable"))
    assert some.distance == pytest.approx(whole.distance, rel=1e-9)
    assert some.match().tolist() == [0, 1, -1]


def test_pictures_leave_other_pairs_blank(part):
    """In the matrix, and on the cells of grids, where walls are something else."""
    image, blank = part.plot().axes[0].images
    assert np.ma.masked_invalid(image.get_array()).mask.sum() == 8
    assert (~blank.get_array().mask).sum() == 8
    names = ["(0,0)", "(0,1)", "(1,1)"]
    grids = [bm.MarkovChain(np.eye(3), reward=[0, 1, 2], names=names, start=k) for k in (0, 1)]
    drawn = bm.distance(*grids, discount=0.9, pairs="reachable").plot().axes[2].images
    assert len(drawn) == 2
    assert (~drawn[1].get_array().mask).sum() == 2


def test_a_file_may_not_leave_out_what_matters(part, tmp_path):
    """A pair that the starts lead to has to be solved."""
    part.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    document["problem"]["unsolved"][0][0] = True
    (tmp_path / "a.json").write_text(json.dumps(document))
    with pytest.raises(bm.errors.FileFormatError, match="unsolved marks a pair"):
        bm.load(tmp_path / "a.json")


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_a_solution_of_few_pairs_is_saved_and_loaded(tmp_path, suffix):
    """Its stops go with it."""
    some = bm.distance(islands(2, 3), islands(2, 3), discount=0.9, pairs="reachable")
    some.save(tmp_path / f"a.{suffix}")
    loaded = bm.load(tmp_path / f"a.{suffix}")
    assert np.array_equal(loaded.value, some.value, equal_nan=True)
    assert loaded.tol == some.tol == 1e-9
    assert loaded.distance == some.distance
    assert np.array_equal(loaded.problem.stop, some.problem.stop)


def test_bad_input():
    """Other words, and chains without a start."""
    chain = islands(2, 3)
    with pytest.raises(bm.errors.InvalidOption, match="pairs is 'few'"):
        bm.distance(chain, chain, discount=0.9, pairs="few")
    bare = bm.MarkovChain([[1.0]], reward=[1.0])
    with pytest.raises(bm.errors.InvalidProblem, match=r"target .*with_start"):
        bm.distance(chain, bare, discount=0.9, pairs="reachable")
