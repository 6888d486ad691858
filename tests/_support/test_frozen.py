"""What leaves the package cannot be written to, however it travelled; what came in is left alone."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric._support.frozen import MadeLater, changed

STAY, GO = np.eye(2), np.eye(2)[::-1]


def chain(**options):
    """Two states and a bit of everything."""
    return bm.MarkovChain([[0.5, 0.5], [0.0, 1.0]], reward=[0, 1], start=0, names=["a", "b"], labels=[1, 2], **options)


def objects():
    """One of every kind of public object that holds arrays, by name."""
    mdp = bm.MDP([STAY, GO], [[0, 1], [1, 0]], start=0)
    problem = bm.Problem(chain(), chain().with_start("b"), discount=0.9, stop=[[False, False], [False, True]])
    solution = bm.solve(problem)
    game = bm.bisimulation_metric(mdp, discount=0.9)
    assert game.decisive.shape == (2, 2, 2)
    return {
        "chain": chain(),
        "mdp": mdp,
        "problem": problem,
        "solution": solution,
        "sinkhorn": bm.solve(problem, bm.SinkhornBellman()),
        "linear program": bm.solve(problem, bm.LinearProgram()),
        "interrupted": bm.solve(problem, max_steps=1, throw=False),
        "immediate": bm.solve(bm.Problem(chain(), chain(), discount=0.0)),
        "reachable": bm.distance(chain(), chain(), discount=0.9, pairs="reachable"),
        "lumped": bm.distance(*[bm.environments.four_rooms(side=8, goal="all")] * 2, discount=0.5),
        "game": game,
        "potentials": solution.potentials,
        "coupling": solution.coupling,
        "certificate": bm.certify(problem, np.zeros((2, 2))),
        "certificate at once": bm.certify(bm.Problem(chain(), chain(), discount=0.0), np.zeros((2, 2))),
        "exact": bm.certify_exactly(solution),
        "policy": mdp.optimal_policy(0.9),
        "quotient": bm.quotient(chain())[0],
        "aggregation": bm.aggregate(chain(), n_states=1, discount=0.9),
        "mdp aggregation": bm.aggregate(mdp, n_states=1, discount=0.9),
        "embedding": bm.plot.embed([[0.0, 1.0], [1.0, 0.0]]),
    }


@pytest.fixture(scope="module")
def samples():
    """They are never changed."""
    return objects()


NAMES = (
    "chain", "mdp", "problem", "solution", "sinkhorn", "linear program", "interrupted", "immediate", "reachable",
    "lumped", "game", "potentials", "coupling", "certificate", "certificate at once", "exact", "policy", "quotient",
    "aggregation", "mdp aggregation", "embedding",
)  # fmt: skip
OPEN = ("_witness", "_bellman", "_proof")  # how bounds were found: kernels still work on these


def arrays(thing, place=""):
    """Every array that public attributes lead to."""
    if isinstance(thing, np.ndarray):
        yield place, thing
    elif sparse.issparse(thing):
        for part in ("data", "indices", "indptr"):
            yield f"{place}.{part}", getattr(thing, part)
    elif isinstance(thing, tuple):
        for k, part in enumerate(thing):
            yield from arrays(part, f"{place}[{k}]")
    elif dataclasses.is_dataclass(thing):
        names = {field.name for field in dataclasses.fields(thing)} | {"value", "lower", "upper", "decisive"}
        for name in sorted(names - set(OPEN)):
            if hasattr(thing, name):
                yield from arrays(getattr(thing, name), f"{place}.{name}")


@pytest.mark.parametrize("way", ["as it is", "copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("name", NAMES)
def test_no_array_can_be_written_to(samples, name, way):
    """As it comes, copied and pickled."""
    ways = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda thing: pickle.loads(pickle.dumps(thing))}
    thing = ways.get(way, lambda thing: thing)(samples[name])
    assert type(thing) is type(samples[name])
    found = dict(arrays(thing))
    assert found
    assert [place for place, array in found.items() if array.flags.writeable] == []
    before = dict(arrays(samples[name]))
    assert set(found) == set(before)
    for place, array in found.items():
        if array.dtype != object:
            assert np.array_equal(array, before[place], equal_nan=array.dtype.kind == "f")


def test_all_samples_are_tried(samples):
    """The parameters above cover the list."""
    assert set(NAMES) == set(samples)


def test_an_interval_cannot_be_made_to_lie(samples):
    """Neither through the solution nor through a copy that travelled."""
    solution = samples["solution"]
    for one in (solution, pickle.loads(pickle.dumps(solution)), copy.deepcopy(solution)):
        with pytest.raises(ValueError, match="read-only"):
            one.upper[:] = 0
        assert one.interval == solution.interval
        assert one.explain().distance == solution.explain().distance


def test_sparse_arrays_cannot_change_a_model():
    """Their parts can be replaced, but in a shell that is thrown away."""
    one = chain()
    with pytest.raises(ValueError, match="read-only"):
        one.transitions[0, 0] = 0.0
    one.transitions.data = np.zeros(3)
    mdp = bm.MDP([STAY, GO], [[0, 1], [1, 0]])
    mdp.transitions[0].data = np.zeros(2)
    assert one.transitions.toarray().tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert mdp.transitions[0].toarray().tolist() == STAY.tolist()


def test_what_was_given_is_neither_frozen_nor_kept():
    """Writing to it afterwards changes nothing."""
    dense, cost, stop = np.full((2, 2), 0.5), np.ones((2, 2)), np.zeros((2, 2), np.bool_)
    reward, start, guess, law = np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.zeros((2, 2)), np.full((2, 2), 0.25)
    rows, rewards, available = sparse.csr_array(dense), np.ones((2, 2)), np.ones((2, 2), np.bool_)
    one = bm.MarkovChain(rows, reward=reward, start=start)
    mdp = bm.MDP([dense, rows], rewards, available=available, start=start)
    problem = bm.Problem(one, bm.MarkovChain(dense), discount=0.9, cost=cost, stop=stop)
    solution = bm.solve(problem, initial=guess)
    certificate = bm.certify(problem, guess)
    solution.coupling.occupancy(law)
    kept = [array.copy() for thing in (one, mdp, problem, solution, certificate) for _, array in arrays(thing)]
    for array in (dense, cost, stop, reward, start, guess, law, rows.data, rows.indices, rewards, available):
        array[...] = 7
    now = [array for thing in (one, mdp, problem, solution, certificate) for _, array in arrays(thing)]
    assert all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True))


def test_changed_makes_another_object_and_leaves_the_first():
    """Fields that are not named stay; what was cached for the old ones does not travel."""
    one = chain()
    assert hash(one) == hash(chain())
    other = changed(one, reward=np.array([5.0, 6.0]), names=None)
    assert one == chain()
    assert one.names == ("a", "b")
    assert other != one
    assert other.names is None
    assert other.labels == one.labels
    assert (other.transitions != one.transitions).nnz == 0
    with pytest.raises(ValueError, match="read-only"):
        other.reward[0] = 1.0


def test_changed_knows_only_fields():
    """A misspelt field is a mistake in this package."""
    with pytest.raises(AssertionError, match="rewards"):
        changed(chain(), rewards=np.zeros(2))


@dataclasses.dataclass(frozen=True)
class Twins(MadeLater):
    """Two numbers that are made later."""

    first: int
    second: int


def test_fields_are_made_on_their_first_use_and_once():
    """One by one or together, as their maker likes; what was read stays."""
    asked = []

    def make(k, name):
        asked.append((k, name))
        return {"first": len(asked), "second": -len(asked)} if name == "second" else {name: 10 * k}

    one = Twins.later(make, 7)
    assert not asked
    assert [one.first, one.second, one.first, one.second] == [70, -2, 70, -2]
    assert asked == [(7, "first"), (7, "second")]
    other = Twins.later(make, 8)
    assert (other.second, other.first) == (-3, 3)
    with pytest.raises(AttributeError, match="no attribute 'third'"):
        _ = other.third
