"""Files changed at random: an error of ours or a valid object, nothing else."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric import errors
from tests.io.io_samples import (
    SUFFIXES,
    archive,
    as_bytes,
    assert_same_chain,
    chains,
    mdp_solutions,
    mdps,
    members,
    solutions,
)

QUICK = settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONG = settings(QUICK, max_examples=2000)
SAMPLES = (
    "all parts", "n ≠ m", "stop", "zero cost", "bisimilarity", "bisimilarity at once", "mdp: all parts", "mdp: matched",
    "mdp: same", "mdp: free",
)  # fmt: skip


@cache
def _folder():
    folder = tempfile.TemporaryDirectory()
    return folder, Path(folder.name)


@cache
def _bytes(name, suffix):
    kind, _, name = name.rpartition(": ")
    groups = (mdps(), mdp_solutions()) if kind == "mdp" else (chains(), solutions())
    return as_bytes((groups[0] | groups[1])[name], suffix, _folder()[1])


def _try(data, suffix):
    """Load it; a valid object must be usable, and is returned."""
    path = _folder()[1] / f"fuzzed.{suffix}"
    path.write_bytes(data)
    try:
        loaded = bm.load(path)
    except (errors.FileFormatError, errors.NotEnoughMemory) as error:
        message = str(error)
        loaded = None
    if loaded is None:
        assert message.isprintable()
        assert "fuzzed" in message
        return None
    if isinstance(loaded, bm.MarkovChain):
        _use_chain(loaded)
    elif isinstance(loaded, bm.MDP):
        _use_mdp(loaded)
    elif isinstance(loaded, bm.MDPSolution):
        _use_mdp_solution(loaded)
    else:
        assert isinstance(loaded, bm.Solution)
        _use_chain(loaded.problem.source)
        _use_chain(loaded.problem.target)
        assert (loaded.lower <= loaded.value).all()
        assert (loaded.value <= loaded.upper).all()
        certificate = bm.certify(loaded.problem, loaded.value)
        assert (loaded.lower <= certificate.upper).all()
        assert (loaded.upper >= certificate.lower).all()
        assert np.allclose(
            loaded.coupling.matrix().sum(axis=1), 1.0 if loaded.problem.stop is None else ~loaded.problem.stop.ravel()
        )
        assert len(loaded.potentials[0, 0]) == 2
        assert repr(loaded)
        if loaded.problem.source.start is not None and loaded.problem.target.start is not None:
            low, high = loaded.interval
            assert low <= loaded.distance <= high
    return loaded


def _use_mdp(mdp):
    for matrix in mdp.transitions:
        assert (np.add.reduceat(matrix.data, matrix.indptr[:-1]) == 1).all()
    assert mdp.row_error.min() >= 0
    assert mdp.under("uniform").n_states == mdp.n_states
    assert repr(mdp)


def _use_mdp_solution(solution):
    game = solution.problem
    _use_mdp(game.source)
    _use_mdp(game.target)
    assert (solution.lower <= solution.value).all()
    assert (solution.value <= solution.upper).all()
    truth = bm.bisimulation_metric(game.source, game.target, discount=game.discount, actions=game.actions, throw=False)
    assert (solution.lower <= truth.upper).all()
    assert (solution.upper >= truth.lower).all()
    assert np.allclose(solution.coupling.matrix().sum(axis=1), 1.0)
    assert len(solution.potentials[0, 0]) == 2
    assert repr(solution)


def _use_chain(chain):
    assert (np.add.reduceat(chain.transitions.data, chain.transitions.indptr[:-1]) == 1).all()
    assert chain.row_error.min() >= 0
    assert repr(chain)


# ------------------------------------------------------------------ bytes


suffixed = st.sampled_from(SUFFIXES)


@st.composite
def changed_bytes(draw, suffix):
    """A valid file with flipped bits, cut, or spliced with itself or another; and its suffix."""
    data = _bytes(draw(st.sampled_from(SAMPLES)), suffix)
    kind = draw(st.sampled_from(("flip", "flip", "cut", "insert", "overwrite")))
    place = st.integers(0, len(data) - 1)
    if kind == "flip":
        changed = bytearray(data)
        for at in draw(st.lists(place, min_size=1, max_size=4)):
            changed[at] ^= 1 << draw(st.integers(0, 7))
        return bytes(changed), suffix
    if kind == "cut":
        return data[: draw(place)], suffix
    other = _bytes(draw(st.sampled_from(SAMPLES)), draw(st.sampled_from((suffix, suffix, *SUFFIXES))))
    at, begin, length = draw(place), draw(st.integers(0, len(other) - 1)), draw(st.integers(0, 300))
    patch = draw(st.one_of(st.just(other[begin : begin + length]), st.binary(max_size=20)))
    return data[:at] + patch + data[at + (len(patch) if kind == "overwrite" else 0) :], suffix


def _directory_flips():
    """Every bit of the archive's directory and end record, where zipfile's own reading happens."""
    data = _bytes("all parts", "npz")
    for at in range(data.index(b"PK\1\2"), len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            yield bytes(changed)


@QUICK
@given(suffixed.flatmap(changed_bytes))
def test_changed_bytes(file):
    """Bits flipped, cut, spliced."""
    _try(*file)


@pytest.mark.slow
@LONG
@given(suffixed.flatmap(changed_bytes))
def test_changed_bytes_for_long(file):
    """The same, many more."""
    _try(*file)


@pytest.mark.slow
def test_every_bit_of_an_archive_s_directory():
    """Refused, or without effect (dates, attributes): the checksums are there, and names are known."""
    for data in _directory_flips():
        loaded = _try(data, "npz")
        if loaded is not None:
            assert_same_chain(chains()["all parts"], loaded)


# ------------------------------------------------------------------ members


@st.composite
def changed_members(draw):
    """A valid archive, checksums and all, whose members have other bytes, other members' bytes, or are gone."""
    contents = dict(members(_bytes(draw(st.sampled_from(SAMPLES)), "npz")))
    for name in draw(st.lists(st.sampled_from(sorted(contents)), min_size=1, max_size=2, unique=True)):
        data = bytearray(contents[name])
        kind = draw(st.sampled_from(("flip", "flip", "word", "cut", "swap", "drop")))
        if kind == "drop":
            del contents[name]
            continue
        if kind == "swap":
            data = contents[draw(st.sampled_from(sorted(contents)))]
        elif kind == "cut":
            data = data[: draw(st.integers(0, len(data)))]
        elif kind == "word" and len(data) >= 136:
            at = 128 + 8 * draw(st.integers(0, (len(data) - 128) // 8 - 1))
            words = st.one_of(st.floats(width=64).map(np.float64), st.integers(-(2**63), 2**63 - 1).map(np.int64))
            data[at : at + 8] = draw(words).tobytes()
        else:
            for at in draw(st.lists(st.integers(0, len(data) - 1), min_size=1, max_size=3)):
                data[at] ^= 1 << draw(st.integers(0, 7))
        contents[name] = bytes(data)
    return archive(contents)


@QUICK
@given(changed_members())
def test_changed_members(data):
    """What a checksum does not catch, because it was made after the change."""
    _try(data, "npz")


@pytest.mark.slow
@LONG
@given(changed_members())
def test_changed_members_for_long(data):
    """The same, many more."""
    _try(data, "npz")


# ------------------------------------------------------------------ JSON


numbers = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from((2**31, 2**63, 10**400)),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(st.characters(), max_size=5))
objects = st.text(max_size=5)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(objects, inner, max_size=3)),
)


def _places(node, path=()):
    """All places in a document, by path."""
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


@cache
def _all_places(name):
    places = {}
    for path in _places(json.loads(_bytes(name, "json"))):
        kind = tuple("#" if isinstance(key, int) else key for key in path)
        places.setdefault(kind, []).append(path)
    return places


@st.composite
def changed_documents(draw):
    """A valid document with a node replaced, removed, doubled or renamed; every kind of place is equally likely."""
    name = draw(st.sampled_from(SAMPLES))
    document = json.loads(_bytes(name, "json"))
    for _ in range(draw(st.integers(1, 2))):
        path = draw(
            st.sampled_from(draw(st.sampled_from([group for kind, group in sorted(_all_places(name).items()) if kind])))
        )
        with suppress(LookupError, TypeError, AttributeError, OverflowError):  # where the first change was
            _change(draw, document, path)
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _change(draw, document, path):
    *parents, key = path
    parent = document
    for step in parents:
        parent = parent[step]
    kind = draw(st.sampled_from(("any", "number", "number", "remove", "double", "rename")))
    if kind == "remove":
        del parent[key]
    elif kind == "double" and isinstance(parent, list):
        parent.insert(key, parent[key])
    elif kind == "rename" and isinstance(parent, dict):
        parent[draw(st.text(max_size=4)) + key] = parent.pop(key)
    elif kind == "number":
        old = parent[key]
        near = (
            st.sampled_from((old, -old, old + 1, old - 1, old * 0.5, old * (1 + 1e-9)))
            if type(old) in (int, float)
            else numbers
        )
        parent[key] = draw(st.one_of(near, numbers))
    else:
        parent[key] = draw(values)


@QUICK
@given(changed_documents())
@example(b'{"transitions": [[1.0]], "start": ' + b"9" * 4000 + b"}")
def test_changed_documents(data):
    """JSON that parses, with something wrong in it."""
    _try(data, "json")


@pytest.mark.slow
@LONG
@given(changed_documents())
def test_changed_documents_for_long(data):
    """The same, many more."""
    _try(data, "json")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_themselves_are_valid(name, suffix):
    """So that what is refused above is refused for its change."""
    assert _try(_bytes(name, suffix), suffix) is not None
