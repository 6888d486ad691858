"""Archives: every kind of broken or hostile one is refused in one line, before anything is allocated."""

from __future__ import annotations

import os
import pickle
import struct
import warnings
import zipfile

import numpy as np
import pytest

import bisimetric as bm
from tests.io.io_samples import (
    archive,
    as_bytes,
    chains,
    mdp_solutions,
    mdps,
    members,
    npy,
    refusal,
    solutions,
)


def _refused(tmp_path, data, suffix="npz"):
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(data)
    return refusal(path)


CENTRAL, LOCAL = b"PK\1\2", b"PK\3\4"


@pytest.fixture
def good(tmp_path):
    """The members of a valid archive."""
    return members(as_bytes(chains()["all parts"], "npz", tmp_path))


def _patched(data, name, field, layout, value):
    """An archive whose directory says something else about a member."""
    at = data.rindex(name.encode(), 0, data.rindex(b"PK\5\6")) - 46
    assert data[at : at + 4] == CENTRAL
    changed = bytearray(data)
    struct.pack_into(layout, changed, at + field, value)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["chain", "solution", "mdp", "mdp solution"])
def test_every_truncation_is_refused(kind, tmp_path):
    """At every eleventh byte, and the last ones."""
    samples = {"chain": chains()["all parts"], "solution": solutions()["n ≠ m"], "mdp": mdps()["all parts"]}
    data = as_bytes(samples.get(kind, mdp_solutions()["matched"]), "npz", tmp_path)
    for length in [*range(1, len(data), 11), *range(len(data) - 30, len(data))]:
        assert "does not end as a zip archive does" in _refused(tmp_path, data[:length])


def test_every_flipped_bit_in_the_data_is_noticed(tmp_path):
    """Flips in a compressed member break the stream, the checksum or the directory's word on it."""
    data = as_bytes(chains()["sparse"], "npz", tmp_path)
    with zipfile.ZipFile(tmp_path / "sample.npz") as file:
        info = file.getinfo("transitions.data.npy")
    begin = info.header_offset + 30 + len(info.filename) + 20
    for at in range(begin, begin + info.compress_size, 7):
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 8
        assert "bad.npz" in _refused(tmp_path, bytes(flipped))


@pytest.mark.parametrize("data", [b"x", b"x" * 200, b"{}", b"PK\5\6" + bytes(18), b"PK\5\6" + b"\xff" * 16 + b"\0\0"])
def test_what_is_not_an_archive_is_refused(data, tmp_path):
    """Other bytes, an empty archive, an end record that points nowhere."""
    assert "bad.npz" in _refused(tmp_path, data)


def test_an_archive_of_plain_arrays_is_refused_with_a_hint(tmp_path):
    """What numpy.savez writes has no meta.json."""
    np.savez(tmp_path / "bad.npz", transitions=np.eye(2))
    assert "which no model and no solution has" in refusal(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", reward=np.ones(2))
    assert "MarkovChain(...) takes arrays" in refusal(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    "name", ["../reward.npy", "/reward.npy", "a/reward.npy", "reward.npy^.txt", "REWARD.npy", "reward", "x.npy", " "]
)
def test_other_member_names_are_refused(name, good, tmp_path):
    """Nothing is ever extracted, but names that lead elsewhere have no business here."""
    data = archive([*good.items(), (name, good["reward.npy"])])
    assert "has a member" in _refused(tmp_path, data.replace(b"reward.npy^", b"reward.npy\0"))


def test_a_member_twice_is_refused(good, tmp_path):
    """Two readers could disagree on which one counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own word on it
        data = archive([*good.items(), ("reward.npy", good["reward.npy"])])
    assert "two members 'reward.npy'" in _refused(tmp_path, data)


def test_an_array_given_twice_is_refused(good, tmp_path):
    """Once in meta.json and once as a member."""
    meta = good["meta.json"].replace(b'"version": 1', b'"version": 1, "reward": [0, 0, 0, 0]')
    assert "both in meta.json and" in _refused(tmp_path, archive(good | {"meta.json": meta}))


def test_an_array_without_a_place_is_refused(good, tmp_path):
    """meta.json has something else where the array belongs."""
    meta = good["meta.json"].replace(b'"shape": [4, 4]', b'"shape": [4, 4]').replace(b'"transitions": {', b'"x": {')
    text = meta.replace(b'"version": 1', b'"version": 1, "transitions": 3')
    assert "meta.json has no object at transitions" in _refused(tmp_path, archive(good | {"meta.json": text}))


@pytest.mark.parametrize(("meta", "said"), [(b"[]", "is not an object"), (b"{", "is not JSON"), (b"", "is not JSON")])
def test_bad_meta_is_refused(meta, said, good, tmp_path):
    """meta.json is JSON from outside like any other."""
    assert said in _refused(tmp_path, archive(good | {"meta.json": meta}))


def test_the_solution_s_arrays_do_not_fit_a_chain(good, tmp_path):
    """Known names, but not of this format."""
    assert "unknown key 'value'" in _refused(tmp_path, archive(good | {"value.npy": good["reward.npy"]}))


def test_a_missing_array_is_said(good, tmp_path):
    """By its place in the document."""
    del good["transitions.indices.npy"]
    assert "transitions.indices is missing" in _refused(tmp_path, archive(good))


class _Bomb:
    """Goes off when unpickled."""

    def __reduce__(self):
        return os.abort, ()


def test_pickles_are_never_opened(good, tmp_path):
    """Object arrays, pickles under an honest header, and bare pickles."""
    bomb = npy(np.array([_Bomb()], object), allow_pickle=True)
    assert "never read" in _refused(tmp_path, archive(good | {"reward.npy": bomb}))
    disguised = npy(np.zeros(4))[:128] + pickle.dumps(_Bomb()).ljust(32)
    assert "bad.npz: " in _refused(tmp_path, archive(good | {"reward.npy": disguised, "start.npy": bomb}))
    assert "never read" in _refused(tmp_path, archive(good | {"reward.npy": pickle.dumps(_Bomb())}))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(4, np.float32), np.zeros(4, ">f8"), np.zeros(4, np.complex128), np.zeros(4, "U3"), np.zeros(4, "S3"),
        np.zeros(4, np.uint64), np.zeros(4, "M8[s]"), np.zeros((1, 4, 1)), np.float64(1.0), np.zeros(4, [("a", "<f8")]),
        np.asfortranarray(np.zeros((2, 2))),
    ],
    ids=lambda array: f"{array.dtype.str}{array.ndim}",
)  # fmt: skip
def test_other_kinds_of_arrays_are_refused(array, good, tmp_path):
    """Only the four types that are written, in one or two dimensions and in C order."""
    assert "reward.npy has an unknown header" in _refused(tmp_path, archive(good | {"reward.npy": npy(array)}))


@pytest.mark.parametrize(
    "shape", ["(1000000000000,)", "(3,)", "(5,)", "(2, 3)", "(9999999999999999, 9999999999999999)"]
)
def test_a_header_must_agree_with_the_size(shape, good, tmp_path):
    """Terabytes are refused before they are allocated, and so is a number too few."""
    data = good["reward.npy"]
    padded = data.replace(b"(4,), }", shape.encode() + b", }", 1)
    lying = padded[:100].rstrip(b" \n").ljust(127) + b"\n" + data[128:]
    assert "reward.npy claims shape" in _refused(tmp_path, archive(good | {"reward.npy": lying}))


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4L,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-4,), }",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (4,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (4,), }",
        "{'descr': '<f8', 'shape': (4,), 'fortran_order': False, }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "(" * 40,
        "",
    ],
)
def test_headers_are_not_evaluated(header, good, tmp_path):
    """One spelling is known; nothing else is even parsed."""
    data = b"\x93NUMPY\x01\x00\x76\x00" + header.encode().ljust(117) + b"\n" + bytes(32)
    assert "has an unknown header" in _refused(tmp_path, archive(good | {"reward.npy": data}))


@pytest.mark.parametrize("length", [0, 1, 9, 10, 127])
def test_members_shorter_than_a_header_are_refused(length, good, tmp_path):
    """Cut off inside the header."""
    data = good["reward.npy"][:length]
    assert "has an unknown header" in _refused(tmp_path, archive(good | {"reward.npy": data}))


def test_newer_npy_versions_are_refused(good, tmp_path):
    """Their headers can be gigabytes long."""
    data = b"\x93NUMPY\x02\x00" + struct.pack("<L", 2**32 - 1) + good["reward.npy"][10:]
    assert "has an unknown header" in _refused(tmp_path, archive(good | {"reward.npy": data}))


def test_booleans_are_zero_or_one(tmp_path):
    """numpy misbehaves on other bytes."""
    good = members(as_bytes(solutions()["stop"], "npz", tmp_path))
    data = good["problem.stop.npy"][:-1] + b"\2"
    assert "holds a byte 2" in _refused(tmp_path, archive(good | {"problem.stop.npy": data}))


def test_bombs_are_refused_by_what_they_claim(good, tmp_path):
    """A thousandfold ratio, and sums beyond the limit."""
    zeros = npy(np.zeros(2**21))
    packed = archive(good | {"reward.npy": zeros}, compresslevel=9)
    assert "claims to unpack from" in _refused(tmp_path, packed)
    stored = archive(good, compression=zipfile.ZIP_STORED)
    assert bm.load(_written(tmp_path, stored)).n_states == 4
    huge = _patched(archive(good), "reward.npy", 24, "<L", 2**32 - 2)
    assert "claims to unpack from" in _refused(tmp_path, huge)
    cut = _patched(archive(good), "reward.npy", 20, "<L", 2**30)
    assert "it is cut off" in _refused(tmp_path, cut)


def test_the_sum_of_all_members_is_limited(good, tmp_path, monkeypatch):
    """Each may be small enough."""
    monkeypatch.setattr("bisimetric.io.archive.SIZE_LIMIT", sum(map(len, good.values())) - 1)
    assert "claims to unpack to" in _refused(tmp_path, archive(good))


@pytest.mark.parametrize("change", [-8, 8, 800])
def test_a_wrong_declared_size_is_refused(change, good, tmp_path):
    """The directory lies about the unpacked size, and the header with it."""
    data = good["reward.npy"]
    count = 4 + change // 8
    honest = archive(
        good
        | {
            "reward.npy": data[:128].replace(b"(4,)", b"(%d,)" % count, 1)[:127].rstrip().ljust(127)
            + b"\n"
            + data[128:]
        }
    )
    lying = _patched(honest, "reward.npy", 24, "<L", len(data) + change)
    assert "reward.npy" in _refused(tmp_path, lying)


@pytest.mark.parametrize(("flag", "said"), [(1, "is encrypted"), (0x20, "is damaged"), (0x41, "is encrypted")])
def test_encrypted_members_are_refused(flag, said, good, tmp_path):
    """There is no password to give."""
    assert said in _refused(tmp_path, _patched(archive(good), "reward.npy", 8, "<H", flag))


@pytest.mark.parametrize("method", [12, 14, 97])
def test_other_compressions_are_refused(method, good, tmp_path):
    """Known and unknown ones alike."""
    assert "expected deflate" in _refused(tmp_path, _patched(archive(good), "reward.npy", 10, "<H", method))


def test_a_huge_directory_is_refused_before_it_is_listed(good, tmp_path, monkeypatch):
    """By the plain end record, and by the 64-bit one that overrides it."""
    many = archive([*good.items(), *((f"{k}.npy", b"") for k in range(2000))])
    data = archive(good)
    end = data.rindex(b"PK\5\6")
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2**33, 2**33, 2**40, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # not to be called
    assert "bytes of members" in _refused(tmp_path, many)
    assert "1099511627776 bytes of members" in _refused(tmp_path, data[:end] + record + locator + data[end:])


def test_large_archives_use_the_64_bit_end_record(tmp_path, monkeypatch):
    """Beyond two gigabytes zipfile writes both; such files are read."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    data = as_bytes(chains()["all parts"], "npz", tmp_path)
    assert b"PK\6\7" in data
    assert bm.load(_written(tmp_path, data)).n_states == 4


def _written(tmp_path, data):
    path = tmp_path / "written.npz"
    path.write_bytes(data)
    return path
