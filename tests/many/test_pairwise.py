"""All pairs of many chains: each number is that of one solve, whoever computes it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import (
    FileFormatError,
    InvalidChain,
    InvalidOption,
    InvalidProblem,
    MissingStart,
    NotEnoughMemory,
)
from tests.many.pair_samples import LARGER, random_chains, squared_gap, tables
from tests.strategies import chains, tame_discounts


def check_single_solves(distances, sources, targets, **options):
    """Every entry is, bit for bit, a single solve of its two chains, one way or the other."""
    pairs = "all" if "solver" in options else "reachable"
    for i, a in enumerate(sources):
        for j, b in enumerate(targets):
            ways = [bm.distance(*way, discount=0.9, pairs=pairs, **options) for way in ((a, b), (b, a))]
            expected = [[0.0, 0.0, 0.0]] if a is b else [[way.distance, *way.interval] for way in ways]
            assert tables(distances)[:, i, j].tolist() in expected


# ------------------------------------------------------------------ the numbers


def test_chains_against_others_are_single_solves():
    """For chains of different sizes and for any table that is not square."""
    made = random_chains(sizes=LARGER)
    distances = bm.pairwise(made[:3], made[2:], discount=0.9)
    assert distances.value.shape == (3, 2)
    check_single_solves(distances, made[:3], made[2:])


def test_all_pairs_are_the_upper_triangle_mirrored():
    """Each pair of two is one solve, and a chain is at no distance from itself."""
    made = random_chains(sizes=LARGER)
    seen = []
    distances = bm.pairwise(made, discount=0.9, on_pair=seen.append)
    check_single_solves(distances, made, made)
    np.testing.assert_array_equal(tables(distances), tables(distances).transpose(0, 2, 1))
    assert sorted((pair.i, pair.j) for pair in seen) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    "options",
    [{}, {"solver": bm.SinkhornValueIteration(rounds=5)}, {"cost": squared_gap}],
    ids=["exact", "approximate", "function"],
)
def test_no_bit_depends_on_the_order(options):
    """Of a list, or of the two lists: the table is permuted or transposed; of small chains where all are there."""
    small = random_chains()
    both = [tables(bm.pairwise(order, discount=0.9, **options)) for order in (small, small[::-1])]
    np.testing.assert_array_equal(both[0], both[1][:, ::-1, ::-1])
    made = random_chains(sizes=LARGER)
    whole = tables(bm.pairwise(made, discount=0.9, **options))
    np.testing.assert_array_equal(tables(bm.pairwise(made[::-1], discount=0.9, **options)), whole[:, ::-1, ::-1])
    across = tables(bm.pairwise(made[2:], made[:3], discount=0.9, **options))
    np.testing.assert_array_equal(across, whole[:, 2:, :3])


def test_equal_chains_are_solved_once():
    """A, its equals and B are one pair, and equals are at no distance; other rewards make another chain."""
    a, equal, same, b = *(random_chains()[0] for _ in range(3)), random_chains()[1]
    seen = []
    distances = bm.pairwise([a, equal, same, b], discount=0.9, on_pair=seen.append)
    assert [(pair.i, pair.j, pair.done, pair.total) for pair in seen] == [(0, 3, 1, 1)]
    alone = bm.pairwise([a], [b], discount=0.9)
    expected = np.zeros((3, 4, 4))
    expected[:, :3, 3:] = tables(alone)
    expected[:, 3:, :3] = tables(alone)
    np.testing.assert_array_equal(tables(distances), expected)
    alike = [bm.MarkovChain(a.transitions, reward=a.reward + more, start=a.start) for more in (0, 1)]
    assert bm.pairwise(alike, discount=0.9).value[0, 1] == pytest.approx(10.0)


@given(st.lists(chains(reward=True, start=True, tiny=False), min_size=1, max_size=3), tame_discounts)
def test_any_small_chains(made, discount):
    """Intervals hold the distances of full solves, which look at other pairs of states too."""
    distances = bm.pairwise(made, discount=discount)
    assert (distances.lower >= 0).all()
    assert (distances.lower <= distances.value).all()
    assert (distances.value <= distances.upper).all()
    for i, a in enumerate(made):
        for j, b in enumerate(made):
            low, high = bm.distance(a, b, discount=discount).interval
            assert low <= distances.upper[i, j]
            assert distances.lower[i, j] <= high


def test_options_reach_the_solver():
    """Approximate solvers get the whole problem, so their estimates are those of a single solve."""
    made = random_chains()
    options = {"solver": bm.SinkhornValueIteration(rounds=5), "normalised": True}
    distances = bm.pairwise(made[:2], made[2:], discount=0.9, **options)
    check_single_solves(distances, made[:2], made[2:], **options)
    assert distances.gap > 1e-3


def test_names_of_environments_will_do():
    """Whatever as_chain takes; the known distance between two of them."""
    distances = bm.pairwise(["four-rooms:p1"], ["four-rooms:p0"], discount=0.95)
    assert distances.value[0, 0] == pytest.approx(0.4355817651, abs=1e-9)


# ------------------------------------------------------------------ costs


def pairs_computed(made, cost):
    """Which pairs a run over all chains computes."""
    seen = []
    distances = bm.pairwise(made, discount=0.9, cost=cost, on_pair=seen.append)
    full = bm.pairwise(made, made, discount=0.9, cost=cost)
    np.testing.assert_allclose(distances.value, full.value, atol=1e-7)
    return {(pair.i, pair.j) for pair in seen}


ABOVE = {(0, 1), (0, 2), (1, 2)}
BELOW = {(j, i) for i, j in ABOVE}
DIAGONAL = {(k, k) for k in range(3)}


def test_costs_known_to_be_symmetric():
    """Labels and features: half of the table."""
    made = [bm.MarkovChain([[0.5, 0.5], [0.1 * k, 1 - 0.1 * k]], labels=[0, 2 + k], start=0) for k in range(3)]
    for cost in (bm.cost.label_mismatch, bm.cost.features("euclidean")):
        assert pairs_computed(made, cost) == ABOVE


def test_symmetry_of_a_function_is_seen():
    """One that is symmetric, one that is not, and one that is above zero on the diagonal."""
    made = random_chains(sizes=(3, 4, 3))
    assert pairs_computed(made, squared_gap) == ABOVE
    directed = pairs_computed(made, lambda a, b: np.maximum(np.subtract.outer(a.reward, b.reward), 0.0))
    assert directed == ABOVE | BELOW
    assert pairs_computed(made, lambda a, b: 1 + np.add.outer(a.reward, b.reward)) == ABOVE | DIAGONAL


def test_an_array_serves_for_chains_of_one_size():
    """Symmetric or not; with other sizes the error says which chain does not fit."""
    made = random_chains(sizes=(3, 3, 3))
    symmetric = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert pairs_computed(made, symmetric) == ABOVE
    assert pairs_computed(made, np.triu(symmetric)) == ABOVE | BELOW
    for wrong in ([[1.0], [1.0, 2.0]], "reward_gap", np.ones((2, 3)), -symmetric):
        with pytest.raises(InvalidProblem, match="cost"):
            bm.pairwise(made, discount=0.9, cost=wrong)
    with pytest.raises(InvalidProblem, match=r"chains\[1\] has 6 states"):
        bm.pairwise(random_chains(), discount=0.9, cost=symmetric)
    with pytest.raises(InvalidProblem, match=r"others\[1\] has 5 states"):
        bm.pairwise(made, random_chains()[2:], discount=0.9, cost=np.ones((3, 4)))


# ------------------------------------------------------------------ the store


def test_a_store_answers_what_it_knows(tmp_path):
    """The same call, one with more chains, one with others and one in another order take from it what they share."""
    made = random_chains(sizes=LARGER)
    seen = []
    options = {"discount": 0.9, "store": tmp_path / "store", "on_pair": seen.append}
    bm.pairwise(made[:3], **options)
    assert len(seen) == 3
    again = bm.pairwise(made[:3], **options)
    assert len(seen) == 3
    more = bm.pairwise(made, **options)
    assert [(pair.done, pair.total) for pair in seen[3:]] == [(4, 6), (5, 6), (6, 6)]
    across = bm.pairwise(made[:2], made[2:], **options)
    assert len(seen) == 6
    mirrored = bm.pairwise(made[::-1], **options)
    bm.pairwise(made[2:], made[:2], **options)
    assert len(seen) == 6
    fresh = tables(bm.pairwise(made, discount=0.9))
    np.testing.assert_array_equal(tables(again), fresh[:, :3, :3])
    np.testing.assert_array_equal(tables(more), fresh)
    np.testing.assert_array_equal(tables(mirrored), fresh[:, ::-1, ::-1])
    np.testing.assert_array_equal(tables(across), fresh[:, :2, 2:])


@pytest.mark.parametrize(
    "change", [{"discount": 0.91}, {"normalised": True}, {"tol": 1e-8}, {"solver": bm.ValueIteration()}], ids=str
)
def test_another_question_is_computed(tmp_path, change):
    """Whatever setting changes, nothing is taken from the store, and it stays right for the first one."""
    made = random_chains()
    usual = {"discount": 0.9, "store": tmp_path}
    first = bm.pairwise(made, **usual)
    seen = []
    changed = bm.pairwise(made, **(usual | change), on_pair=seen.append)
    assert len(seen) == 6
    np.testing.assert_array_equal(tables(changed), tables(bm.pairwise(made, **({"discount": 0.9} | change))))
    np.testing.assert_array_equal(tables(bm.pairwise(made, **usual)), tables(first))


def test_a_store_that_is_none_is_refused_first(tmp_path):
    """Before anything is computed."""
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(FileFormatError, match=r"thesis\.tex"):
        bm.pairwise(random_chains(), discount=0.9, store=tmp_path, on_pair=lambda pair: pytest.fail("computed"))


def test_a_store_that_cannot_be_written_is_refused_first(tmp_path, monkeypatch):
    """If anything would have to be written; permissions do not bind root."""
    made = random_chains()
    whole = bm.pairwise(made[:2], discount=0.9, store=tmp_path)
    monkeypatch.setattr("bisimetric.many.store.os.access", lambda folder, mode: False)
    np.testing.assert_array_equal(tables(bm.pairwise(made[:2], discount=0.9, store=tmp_path)), tables(whole))
    with pytest.raises(FileFormatError, match="choose another folder"):
        bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=lambda pair: pytest.fail("computed"))


def test_a_store_that_is_removed_during_a_run(tmp_path):
    """The run goes on to its end, and the store is there again, with pairs of earlier runs that this one needed."""
    made, store = random_chains(), tmp_path / "store"
    bm.pairwise(made[:2], discount=0.9, store=store)

    def remove(pair):
        if pair.done == 3:
            shutil.rmtree(store)

    found = bm.pairwise(made, discount=0.9, store=store, on_pair=remove)
    again = bm.pairwise(made, discount=0.9, store=store, on_pair=lambda pair: pytest.fail("computed again"))
    np.testing.assert_array_equal(tables(again), tables(found))


# ------------------------------------------------------------------ what comes back, and what is refused


def test_one_chain():
    """A table of one zero."""
    distances = bm.pairwise(random_chains()[:1], discount=0.9, n_jobs=2)
    assert tables(distances).tolist() == [[[0.0]]] * 3


def test_chains_are_checked_before_anything_is_computed():
    """The error says which one, and the remedy."""
    made = random_chains()
    bare = bm.MarkovChain(made[0].transitions, reward=made[0].reward)
    with pytest.raises(MissingStart, match=r"chains\[1\] has no start"):
        bm.pairwise([made[0], bare], discount=0.9)
    with pytest.raises(MissingStart, match=r"others\[0\]"):
        bm.pairwise(made, [bare], discount=0.9)
    with pytest.raises(InvalidProblem, match=r"chains\[1\] has no reward"):
        bm.pairwise([made[0], bm.MarkovChain([[1.0]], start=0)], discount=0.9)
    with pytest.raises(InvalidProblem, match=r"chains\[0\] has no labels"):
        bm.pairwise(made, discount=0.9, cost=bm.cost.label_mismatch)
    with pytest.raises(InvalidChain, match=r"chains\[0\]: "):
        bm.pairwise([7], discount=0.9)
    with pytest.raises(InvalidOption, match=r"chains\.values\(\)"):
        bm.pairwise({"one": made[0], "two": made[1]}, discount=0.9)
    for wrong in ([], "four-rooms:p1", made[0], 7):
        with pytest.raises(InvalidOption, match="chains is"):
            bm.pairwise(wrong, discount=0.9)


def test_options_are_checked_before_anything_is_computed():
    """Discount, number of processes, tolerance, solver, a flag and a function."""
    made = random_chains()
    with pytest.raises(InvalidProblem, match="discount"):
        bm.pairwise(made, discount=1.0)
    for n_jobs in (0, np.int64(0), True, 1.5, "2"):
        with pytest.raises(InvalidOption, match="n_jobs is"):
            bm.pairwise(made, discount=0.9, n_jobs=n_jobs)
    with pytest.raises(InvalidOption, match="tol is"):
        bm.pairwise(made, discount=0.9, tol=-1)
    with pytest.raises(InvalidOption, match="solver is"):
        bm.pairwise(made, discount=0.9, solver="exact")
    for normalised in ("no", 1, None, np.array([1, 2])):
        with pytest.raises(InvalidOption, match="normalised is"):
            bm.pairwise(made, discount=0.9, normalised=normalised)
    with pytest.raises(InvalidOption, match="on_pair is 3"):
        bm.pairwise(made, discount=0.9, on_pair=3)


def test_options_of_numpy_will_do():
    """Its numbers and flags are as good as those of Python."""
    made = random_chains()
    usual = bm.pairwise(made, discount=0.9, normalised=True)
    found = bm.pairwise(made, discount=np.float64(0.9), normalised=np.True_, n_jobs=np.int64(1))
    np.testing.assert_array_equal(tables(found), tables(usual))


def test_a_solver_with_an_option_of_any_kind(tmp_path):
    """Solves, as long as no store has to find its answers again."""

    @dataclass(frozen=True, slots=True)
    class Strange(bm.PolicyIteration):
        weights: object = None

    made, solver = random_chains(sizes=LARGER), Strange(weights=np.zeros(3))
    found = bm.pairwise(made, discount=0.9, solver=solver)
    np.testing.assert_array_equal(tables(found), tables(bm.pairwise(made, discount=0.9)))
    with pytest.raises(InvalidOption, match="leave out store="):
        bm.pairwise(made, discount=0.9, solver=solver, store=tmp_path, cost=lambda a, b: pytest.fail("looked at"))


def test_memory_is_estimated_first(free_memory):
    """The table, and what several workers take at once."""
    bm.pairwise(random_chains(sizes=LARGER), discount=0.9)  # kernels are loaded
    free_memory(200 * 2**20)
    with pytest.raises(NotEnoughMemory, match="use fewer n_jobs"):
        bm.pairwise(random_chains(sizes=LARGER), discount=0.9, n_jobs=2)
    free_memory(100)
    with pytest.raises(NotEnoughMemory, match="table of 4 x 4 chains"):
        bm.pairwise(random_chains(), discount=0.9)
