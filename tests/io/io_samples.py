"""Models and solutions that files must hold exactly, and what the tests of files share."""

from __future__ import annotations

import json
import math
import zipfile
from functools import cache
from io import BytesIO
from operator import attrgetter

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import environments, errors
from tests.bisimulation.labelled import fading

SUFFIXES = ("npz", "json")
AWKWARD_NAMES = ('a,b;"c"\t', "<script>alert('1')</script>", "Zürich\n東京 \U0001f600", "\x00\x1b[31m\u2028 \udc80")


@cache
def chains():
    """Chains with every optional part, by name."""
    third = np.full((3, 3), 1 / 3)
    return {
        "bare": bm.MarkovChain([[1.0]]),
        "inexact rows": bm.MarkovChain(third, reward=[0.1, -0.0, 1e300]),
        "all parts": bm.MarkovChain(
            np.roll(np.eye(4), 1, axis=1),
            reward=[1.5, 5e-324, -1e-300, 0.1],
            start=[0.1, 0.2, 0.3, 0.4],
            names=AWKWARD_NAMES,
            labels=["", True, -7, (0.1, "x", False, 10**25)],
        ),
        "odd labels": bm.MarkovChain(third, labels=[math.inf, (-math.inf, -0.0), ()], start="2"),
        "halves of a pair": bm.MarkovChain(np.eye(2), names=["\ud83d\ude00", "\U0001f600"], start="\U0001f600"),
        "sparse": environments.random_sparse_chain(60, 5, seed=1),
        "rooms": bm.as_chain("four-rooms:p1"),
    }


@cache
def solutions():
    """Solutions of every kind of problem, by name."""
    third = chains()["inexact rows"].with_start([0.2, 0.3, 0.5])
    ring = chains()["all parts"]
    cost = np.arange(12.0).reshape(3, 4) / 7
    stop = cost > 1.2
    mixed = bm.Problem(third, ring, discount=0.9, cost=cost)
    return {
        "n ≠ m": bm.solve(mixed),
        "stop": bm.solve(bm.Problem(third, ring, discount=0.9, cost=cost, stop=stop)),
        "stop everywhere": bm.solve(bm.Problem(third, ring, discount=0.9, cost=cost, stop=cost >= 0)),
        "normalised": bm.solve(bm.Problem(third, ring, discount=0.3, cost=cost, normalised=True)),
        "no discount": bm.solve(bm.Problem(third, ring, discount=0, cost=cost, stop=stop, normalised=True)),
        "zero cost": bm.solve(bm.Problem(third, ring, discount=0.9, cost=0 * cost)),
        "tiny cost": bm.solve(bm.Problem(third, ring, discount=0.9, cost=1e-310 * cost)),
        "huge cost": bm.solve(bm.Problem(third, ring, discount=0.99, cost=1e300 * cost)),
        "one state": bm.solve(bm.Problem(chains()["bare"], third, discount=0.5, cost=[[1, 2, 0]])),
        "step limit": bm.solve(mixed, max_steps=1, tol=1e-14, throw=False),
        "interrupted": _interrupted(mixed),
        "proved zeros": bm.distance("four-rooms:p1", _backwards(bm.as_chain("four-rooms:p1")), discount=0.95),
        "rooms": bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95),
        "bisimilarity": bm.bisimilarity_distance(fading(4, 1), fading(5, 2)),
        "bisimilarity at once": bm.bisimilarity_distance(fading(3, 1), fading(3, 1)),
    }


@cache
def mdps():
    """Decision processes with every optional part, by name."""
    stay, go, third = np.eye(3), np.roll(np.eye(3), 1, axis=1), np.full((3, 3), 1 / 3)
    small, _ = bm.quotient(bm.MDP([third], [[0.0], [0.0], [0.0]]))
    return {
        "bare": bm.MDP([[[1.0]]], [[0.5]]),
        "inexact rows": bm.MDP([third, stay], [[0.1, -0.0], [1e300, 0.0], [5e-324, 2.0]]),
        "all parts": bm.MDP(
            [stay, go, third],
            [[0.0, 1.0, 0.5], [0.25, 0.0, 7.0], [2.0, -1.0, 0.1]],
            start=[0.1, 0.2, 0.7],
            names=AWKWARD_NAMES[:3],
            actions=["a\n", "<b>", "東"],
            available=[[True, True, True], [True, False, False], [False, True, True]],
            labels=[{"a", "b"}, -math.inf, "<c>"],
        ),
        "merged": small,
        "rooms": environments.four_rooms_mdp(side=8, slip=0.2),
    }


@cache
def mdp_solutions():
    """Solutions of every kind of game, by name."""
    full, other = mdps()["all parts"], mdps()["inexact rows"]
    stay, go = np.eye(2), [[0.3, 0.7], [1.0, 0.0]]
    pair = bm.MDP([stay, go], [[0.0, 1.0], [0.5, 0.25]], start=0), bm.MDP([go, stay], [[1.0, 0.5], [0.0, 0.0]], start=1)
    tame = bm.MDP(other.transitions, [[0.1, 0.0], [3.0, 0.0], [0.5, 2.0]], start="1")
    return {
        "same": bm.bisimulation_metric(*pair, discount=0.9),
        "matched": bm.bisimulation_metric(full, tame, discount=0.7, actions="matched"),
        "matched with itself": bm.bisimulation_metric(full, discount=0.9, actions="matched"),
        "free": bm.bisimulation_metric(pair[0], bm.MDP([stay, go], [[0.0, 1.0], [0.5, 0.25]]), discount=0.0),
        "zero": bm.bisimulation_metric(bm.MDP([stay], [[1.0], [1.0]]), discount=0.9),
        "tiny": bm.bisimulation_metric(*(bm.MDP(m.transitions, m.rewards * 1e-310) for m in pair), discount=0.9),
        "huge": bm.bisimulation_metric(*(bm.MDP(m.transitions, m.rewards * 1e300) for m in pair), discount=0.9),
        "merged": bm.bisimulation_metric(mdps()["merged"], discount=0.5),
        "step limit": bm.bisimulation_metric(full, tame, discount=0.99, actions="matched", tol=1e-15, throw=False),
        "rooms": bm.bisimulation_metric(mdps()["rooms"].with_start(0), mdps()["rooms"].with_start(1), discount=0.9),
    }


def _backwards(chain):
    """The same chain with its states in the opposite order."""
    return bm.MarkovChain(
        chain.transitions[::-1][:, ::-1], reward=chain.reward[::-1], start=chain.start[::-1], names=chain.names[::-1]
    )


def _interrupted(problem):
    def stop(step):
        raise KeyboardInterrupt

    return bm.solve(problem, on_step=stop, throw=False)


def assert_same_chain(one, other):
    """Every part agrees to the last bit, in type and in kind."""
    for part in ("indptr", "indices", "data"):
        assert_same_array(getattr(one.transitions, part), getattr(other.transitions, part))
    assert one.transitions.shape == other.transitions.shape
    for part in ("reward", "start", "row_error"):
        a, b = getattr(one, part), getattr(other, part)
        assert (a is None) == (b is None), part
        if a is not None:
            assert_same_array(a, b)
            assert not b.flags.writeable
    assert one.names == other.names
    assert repr(one.labels) == repr(other.labels)  # which tells 1, 1.0 and True apart


def assert_same_solution(one, other):
    """Everything stored agrees to the last bit, and so does what is computed from it."""
    assert_same_chain(one.problem.source, other.problem.source)
    assert_same_chain(one.problem.target, other.problem.target)
    assert_same_array(one.problem.cost, other.problem.cost)
    assert (one.problem.stop is None) == (other.problem.stop is None)
    if one.problem.stop is not None:
        assert_same_array(one.problem.stop, other.problem.stop)
    for part in ("discount", "normalised", "cost_error"):
        assert getattr(one.problem, part) == getattr(other.problem, part)
    assert other.problem.normalised is one.problem.normalised
    for part in ("value", "lower", "upper", "_proof.value"):
        assert_same_array(attrgetter(part)(one), attrgetter(part)(other))
    for part in ("solver", "status", "history", "_proof.scale", "gap", "relative_gap"):
        assert attrgetter(part)(one) == attrgetter(part)(other), part
    assert repr(one) == repr(other)
    assert (one.coupling.matrix() != other.coupling.matrix()).nnz == 0
    n, m = one.problem.shape
    for pair in ((0, 0), (n - 1, m - 1), (n // 2, m // 3)):
        for a, b in zip(one.potentials[pair], other.potentials[pair], strict=True):
            assert_same_array(a, b)
    if one.problem.source.start is not None and one.problem.target.start is not None:
        assert one.distance == other.distance
        assert one.interval == other.interval
        assert repr(one.explain()) == repr(other.explain())


def assert_same_mdp(one, other):
    """Every part agrees to the last bit, in type and in kind."""
    assert one == other
    for a, b in zip(one.transitions, other.transitions, strict=True):
        for part in ("indptr", "indices", "data"):
            assert_same_array(getattr(a, part), getattr(b, part))
    for part in ("rewards", "available", "row_error", "merged"):
        assert_same_array(attrgetter(part)(one), attrgetter(part)(other))
        assert not getattr(other, part).flags.writeable


def assert_same_mdp_solution(one, other):
    """Everything stored agrees to the last bit, and so does what is computed from it."""
    assert_same_mdp(one.problem.source, other.problem.source)
    assert_same_mdp(one.problem.target, other.problem.target)
    assert one.problem == other.problem
    for part in ("value", "lower", "upper", "decisive"):
        assert_same_array(attrgetter(part)(one), attrgetter(part)(other))
    for part in ("solver", "status", "history", "tol", "gap", "relative_gap"):
        assert attrgetter(part)(one) == attrgetter(part)(other), part
    assert repr(one) == repr(other)
    assert (one.coupling.matrix() != other.coupling.matrix()).nnz == 0
    n, m = one.problem.shape
    for pair in ((0, 0), (n - 1, m - 1)):
        for a, b in zip(one.potentials[pair], other.potentials[pair], strict=True):
            assert_same_array(a, b)
    if one.problem.source.start is not None and one.problem.target.start is not None:
        assert one.interval == other.interval
        assert repr(one.explain()) == repr(other.explain())


def assert_same_array(one, other):
    """Same type, shape and bits."""
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


def refusal(path):
    """The one line with which `load` refuses a file."""
    with pytest.raises(errors.FileFormatError) as caught:
        bm.load(path)
    message = str(caught.value)
    assert message.isprintable()
    assert path.name in message
    assert caught.value.__cause__ is None
    return message


def as_bytes(obj, suffix, folder):
    """What `save` writes."""
    path = folder / f"sample.{suffix}"
    bm.save(obj, path)
    return path.read_bytes()


def members(data):
    """The members of an archive, by name."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(contents, **options):
    """An archive with these (name, bytes) members; names may repeat."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", options.pop("compression", zipfile.ZIP_DEFLATED), **options) as written:
        for name, data in contents.items() if isinstance(contents, dict) else contents:
            written.writestr(name, data)
    return file.getvalue()


def npy(array, **options):
    """An array as numpy writes it."""
    file = BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def edited(data, edit):
    """JSON text whose document went through `edit`."""
    document = json.loads(data)
    edit(document)
    return json.dumps(document).encode()
