"""Reading: every kind of broken or hostile file is refused in one line, before anything is allocated."""

from __future__ import annotations

import os

import pytest

import bisimetric as bm
from bisimetric import errors
from bisimetric.io import files
from tests.io.io_samples import (
    SUFFIXES,
    chains,
    refusal,
)


def _refused(tmp_path, data, suffix="npz"):
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(data)
    return refusal(path)


# ------------------------------------------------------------------ not a file


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_not_a_file_is_refused_without_waiting(suffix, tmp_path):
    """Missing files, folders, pipes, devices, dangling and circular links."""
    path = tmp_path / f"a.{suffix}"
    assert "no such file" in refusal(path)
    path.mkdir()
    assert "is a folder" in refusal(path)
    path.rmdir()
    os.mkfifo(path)
    assert "is a pipe or device" in refusal(path)
    for target, said in (("/dev/zero", "is a pipe or device"), ("nowhere", "no such file"), (path, "cannot be read")):
        path.unlink()
        path.symlink_to(target)
        assert said in refusal(path)
    path.unlink()
    path.write_bytes(b"")
    assert "is empty" in refusal(path)
    assert "Not a directory" in refusal(path / f"b.{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_beyond_the_limit_is_not_read(suffix, tmp_path):
    """Five sparse gigabytes that take no room on the disk."""
    path = tmp_path / f"a.{suffix}"
    path.touch()
    os.truncate(path, 5 * 2**30)
    assert "expected at most 4294967296" in refusal(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_memory_is_an_error_of_its_own(suffix, tmp_path, free_memory):
    """The file may be fine; nothing is allocated."""
    bm.save(chains()["rooms"], tmp_path / f"a.{suffix}")
    free_memory(1000)
    with pytest.raises(errors.NotEnoughMemory, match=rf"a\.{suffix}"):
        bm.load(tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("where", ["bisimetric.io.json_text.json.loads", "bisimetric.io.models.MarkovChain"])
def test_running_out_of_memory_is_that_error_too(where, tmp_path, monkeypatch):
    """Should an estimate fall short."""

    def fail(*args, **kwargs):
        raise MemoryError

    bm.save(chains()["rooms"], tmp_path / "a.npz")
    monkeypatch.setattr(where, fail)
    with pytest.raises(errors.NotEnoughMemory, match=r"a\.npz"):
        bm.load(tmp_path / "a.npz")


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_that_changes_while_it_is_read_is_refused(change, tmp_path, monkeypatch):
    """Its size was checked before; no more than that is read."""
    path = tmp_path / "a.json"
    bm.save(chains()["bare"], path)
    opened = files.open_regular

    def other_size(path):
        file, size = opened(path)
        return file, size + change

    monkeypatch.setattr("bisimetric.io.save_load.open_regular", other_size)
    assert "changed while it was read" in refusal(path)


# ------------------------------------------------------------------ JSON


BAD_TEXT = {
    "binary": (b"\x80\x81\x82", "byte 0 is not UTF-8"),
    "utf-16": ('{"transitions": [[1]]}'.encode("utf-16"), "is not UTF-8"),
    "a zip": (b"PK\3\4\n\0\0\0\0\0", "is not JSON"),
    "spaces": (b"   ", "is not JSON: Expecting value at line 1, column 4"),
    "cut off": (b'{"transitions": [[0.5,', "is not JSON"),
    "two values": (b"{} {}", "is not JSON: Extra data"),
    "a list": (b"[1, 2]", "holds a list, expected an object"),
    "a text": (b'"x"', "holds text"),
    "null": (b"null", "holds null"),
    "an empty object": (b"{}", "has no transitions"),
    "NaN": (b'{"transitions": [[NaN]]}', "holds NaN"),
    "Infinity": (b'{"transitions": [[1]], "reward": [-Infinity]}', "holds -Infinity"),
    "overflow": (b'{"transitions": [[1]], "reward": [1e999]}', "reward[0] is inf, expected a finite number"),
    "same key": (b'{"transitions": [[1]], "reward": [1], "reward": [2]}', "the key 'reward' occurs twice"),
    "same key inside": (b'{"transitions": {"shape": [1, 1], "shape": [2, 2]}}', "the key 'shape' occurs twice"),
    "deep lists": (b"[" * 100_000, "nested too deeply"),
    "deep objects": (b'{"a":' * 100_000, "nested too deeply"),
    "deep transitions": (b'{"transitions": ' + b"[" * 500 + b"]" * 500 + b"}", "transitions[0][0] is a list"),
    "deep labels": (
        b'{"transitions": [[1]], "labels": [' + b"[" * 500 + b"]" * 500 + b"]}", "labels[0] holds a list",
    ),
    "long number": (b'{"transitions": [[' + b"1" * 10_000 + b"]]}", "number that is too long"),
    "long message": (b'{"transitions": [[1]], "format": "' + b"x" * 10_000 + b'"}', "…"),
    "a line break": (b'{"transitions": [[1]], "names": ["a\\nb"], "start": "c"}', "known names begin a\\nb"),
    "control characters": (b'{"transitions": [[1]], "\\u001b[31m": 1}', "unknown key"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TEXT)
def test_bad_json_is_refused(case, tmp_path):
    """Text that is not JSON, or not this JSON."""
    data, said = BAD_TEXT[case]
    message = _refused(tmp_path, data, "json")
    assert said in message
    assert len(message) < 1000 + len(str(tmp_path))


def test_texts_among_numbers_do_not_multiply(tmp_path):
    """numpy would store a long text as often as there are entries: 2 MB of JSON would take 400 GB."""
    data = b'{"transitions": [[1]], "reward": ["' + b"x" * 10**6 + b'"' + b", 0" * 10**5 + b"]}"
    assert "reward[0] is text" in _refused(tmp_path, data, "json")


def test_memory_for_json_is_estimated_from_what_it_holds(tmp_path, free_memory):
    """A million empty lists take thirty times the memory of their text."""
    free_memory(50 * 10**6)
    (tmp_path / "a.json").write_bytes(b"[" + b"[]," * 10**6 + b"0]")
    with pytest.raises(errors.NotEnoughMemory, match=r"save it as \.npz"):
        bm.load(tmp_path / "a.json")
    (tmp_path / "a.json").write_bytes(b'"' + b"x" * 3 * 10**6 + b'"')
    assert "holds text" in refusal(tmp_path / "a.json")
