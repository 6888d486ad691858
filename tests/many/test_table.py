"""A table of distances: which pairs are solved for it, what it shows, and that nobody can change it."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

import bisimetric as bm
from tests.many.pair_samples import Hasty, random_chains, tables


def test_distances_are_read_only_and_serve_as_an_array():
    """The array is the value; a copy may be changed."""
    distances = bm.pairwise(random_chains(), discount=0.9)
    assert np.asarray(distances) is distances.value
    assert np.asarray(distances, dtype=np.float32).dtype == np.float32
    np.array(distances)[0, 0] = 7.0
    with pytest.raises(ValueError, match="float32 needs a copy"):
        np.asarray(distances, dtype=np.float32, copy=False)
    for table in (distances.value, distances.lower, distances.upper):
        assert table.dtype == np.float64
    assert distances.gap == (distances.upper - distances.lower).max()
    assert repr(distances).startswith("Distances(4 x 4 chains, up to ")


@pytest.mark.parametrize(
    "way", [lambda made: made, copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))]
)
def test_nothing_in_distances_can_be_changed(way):
    """Nor in a copy, however it was made."""
    distances = bm.pairwise(random_chains(), discount=0.9)
    made = way(distances)
    np.testing.assert_array_equal(tables(made), tables(distances))
    np.testing.assert_array_equal(made.status, distances.status)
    for name in ("value", "lower", "upper", "status"):
        table = getattr(made, name)
        for array in (table, table[1:], table.T, table if table.base is None else table.base):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 7.0
        with pytest.raises(AttributeError):
            setattr(made, name, table)


def test_arrays_of_others_stay_as_they_are():
    """Distances that are made by hand have copies of them."""
    tables = [np.zeros((1, 1)) for _ in range(3)]
    bm.Distances(*tables, np.full((1, 1), bm.Status.SOLVED))
    assert all(table.flags.writeable for table in tables)


# ------------------------------------------------------------------ how the solves ended


def test_the_status_of_every_pair(tmp_path):
    """That of a single solve; of both ways, of equal chains, of chains and others, and from a store."""
    made = [*random_chains(), random_chains()[1], *[bm.MarkovChain([[1.0]], reward=[k], start=0) for k in range(2)]]
    found = bm.pairwise(made, discount=0.9, solver=Hasty(), store=tmp_path)
    for (i, a), (j, b) in itertools.product(enumerate(made), repeat=2):
        ways = [bm.distance(*way, discount=0.9, solver=Hasty(), pairs="reachable").status for way in ((a, b), (b, a))]
        assert found.status[i, j] in ([bm.Status.SOLVED] if found.upper[i, j] == 0.0 else ways)
        assert found.status[i, j] is found.status[j, i]
    assert set(found.status.flat) == {bm.Status.SOLVED, bm.Status.STEP_LIMIT}
    options = {"discount": 0.9, "solver": Hasty(), "store": tmp_path, "on_pair": lambda pair: pytest.fail("solved")}
    np.testing.assert_array_equal(bm.pairwise(made, **options).status, found.status)
    np.testing.assert_array_equal(bm.pairwise(made[:2], made[1:], **options).status, found.status[:2, 1:])


def test_the_worst_status_is_shown():
    """With how many missed the default tolerance; an approximate solver that runs its rounds has none."""
    made = random_chains()
    assert repr(bm.pairwise(made, discount=0.9)).endswith(", status SOLVED)")
    hasty = repr(bm.pairwise(made, discount=0.9, solver=Hasty()))
    assert hasty.endswith(", status STEP_LIMIT: 12 of 16 miss the default tolerance)")
    rough = bm.pairwise(made, discount=0.9, solver=bm.SinkhornValueIteration(rounds=5))
    assert repr(rough).endswith(", status COMPLETED)")
    worst = np.array([[bm.Status.STALLED, bm.Status.STEP_LIMIT, bm.Status.COMPLETED, bm.Status.SOLVED]])
    assert "status STALLED: 2 of 4 miss" in repr(bm.Distances(*np.zeros((3, 1, 4)), worst))


def test_a_table_knows_its_question():
    """As people would ask it: chains by the texts that were given."""
    chain = bm.as_chain("grid-3x3")
    asked = bm.pairwise(["grid-3x3", chain], [chain], discount=0.9, cost=np.ones((9, 9)), tol=1e-3).question
    assert (asked.rows, asked.columns) == (("grid-3x3", "chain 2"), ("other 1",))
    assert (asked.discount, asked.cost, asked.solver, asked.tol) == (0.9, "", "policy-iteration", 1e-3)
    assert not asked.one_list
    assert bm.pairwise([chain], discount=0.9).question.one_list
