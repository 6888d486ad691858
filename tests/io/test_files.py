"""Writing: a file is complete or not there; what was there before stays."""

from __future__ import annotations

import errno
import os
import stat
import zipfile

import pytest

import bisimetric as bm
from bisimetric import errors
from bisimetric.experiments.experiment import FORMAT, write_record
from tests.io.io_samples import SUFFIXES, assert_same_chain, chains, solutions


def _raiser(error):
    def fail(*args, **kwargs):
        raise error

    return fail


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), RuntimeError("x")]
)
@pytest.mark.parametrize("function", ["os.replace", "os.fsync"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("existing", [True, False])
def test_a_failure_at_the_end_changes_nothing(error, function, suffix, existing, tmp_path, monkeypatch):
    """The old file is intact, no temporary file is left."""
    path = tmp_path / f"a.{suffix}"
    if existing:
        bm.save(chains()["rooms"], path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    monkeypatch.setattr(function, _raiser(error))
    expected = errors.FileFormatError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected) as caught:
        bm.save(chains()["all parts"], path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    if isinstance(error, OSError):
        assert "No space left on device" in str(caught.value)


class _FullDisk:
    """A file that takes some bytes and then no more."""

    def __init__(self, file, room, error):
        self._file, self._room, self._error = file, room, error

    def write(self, data):
        self._room -= len(data)
        if self._room < 0:
            raise self._error
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self._file.close()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("room", [0, 100, 1000, 5000])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failure_in_the_middle_changes_nothing(error, room, suffix, tmp_path, monkeypatch):
    """The same when the disk fills up after a while."""
    path = tmp_path / f"a.{suffix}"
    bm.save(chains()["bare"], path)
    before = path.read_bytes()

    def full(*args):
        return _FullDisk(open(*args), room, error)

    monkeypatch.setattr("bisimetric.io.files.open", full, raising=False)
    expected = errors.FileFormatError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        bm.save(solutions()["rooms"], path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before


def _writers():
    figure = bm.plot.times({"a": ([1], [1.0])})
    yield "a.json", lambda path: bm.save(chains()["bare"], path)
    yield "a.png", lambda path: bm.plot.save(figure, path)
    yield "b.json", lambda path: write_record({"format": FORMAT}, path)


@pytest.mark.parametrize(
    ("error", "words"),
    [(OSError(errno.EROFS, "Read-only file system"), "Read-only file system"), (OSError("no disk"), "no disk")],
)
def test_whatever_is_written_fails_in_the_same_words(error, words, tmp_path, monkeypatch):
    """Chains, pictures and records: the message names the file and the cause, also if the system gives no number."""
    monkeypatch.setattr("bisimetric.io.files.open", _raiser(error), raising=False)
    for name, write in _writers():
        with pytest.raises(errors.FileFormatError) as caught:
            write(tmp_path / name)
        assert str(caught.value) == f"{tmp_path / name}: cannot be written: {words}; choose another place"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_new_file_has_the_usual_permissions(suffix, tmp_path):
    """Those that the umask leaves, not the private ones of temporary files; an old file keeps its own."""
    path = tmp_path / f"a.{suffix}"
    old = os.umask(0o027)
    try:
        bm.save(chains()["bare"], path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        bm.save(chains()["rooms"], path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert_same_chain(chains()["rooms"], bm.load(path))


def _refusal(path):
    with pytest.raises(errors.FileFormatError) as caught:
        bm.save(chains()["bare"], path)
    assert str(caught.value).isprintable()
    assert path.name in str(caught.value)
    return str(caught.value)


def test_places_that_cannot_be_written_are_said(tmp_path, monkeypatch):
    """A missing folder, a folder, a pipe, a file as a folder, a name too long, a protected file."""
    assert "create it first" in _refusal(tmp_path / "missing\nfolder" / "a.npz")
    (tmp_path / "folder.npz").mkdir()
    assert "not a file" in _refusal(tmp_path / "folder.npz")
    os.mkfifo(tmp_path / "pipe.npz")
    assert "not a file" in _refusal(tmp_path / "pipe.npz")
    (tmp_path / "plain.npz").write_bytes(b"")
    assert "create it first" in _refusal(tmp_path / "plain.npz" / "a.npz")
    assert "File name too long" in _refusal(tmp_path / f"{'x' * 300}.npz")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "write-protected" in _refusal(tmp_path / "plain.npz")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.npz", "pipe.npz", "plain.npz"]


@pytest.mark.parametrize("target", ["there.npz", "missing.npz"])
def test_links_are_not_followed_and_not_replaced(target, tmp_path):
    """Neither the link nor what it points to changes; reading through a link is fine."""
    bm.save(chains()["rooms"], tmp_path / "there.npz")
    (tmp_path / "link.npz").symlink_to(target)
    assert "save to that path" in _refusal(tmp_path / "link.npz")
    assert os.readlink(tmp_path / "link.npz") == target
    assert len(list(tmp_path.iterdir())) == 2
    assert_same_chain(chains()["rooms"], bm.load(tmp_path / "there.npz"))
    if target == "there.npz":
        assert_same_chain(chains()["rooms"], bm.load(tmp_path / "link.npz"))


def test_a_long_name_works(tmp_path):
    """The temporary file's name is not made of it."""
    path = tmp_path / f"{'x' * 250}.json"
    bm.save(chains()["bare"], path)
    assert_same_chain(chains()["bare"], bm.load(path))


def test_what_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    """Files beyond the size limit are refused when they are written, not years later."""
    for module in ("json_text", "archive"):
        monkeypatch.setattr(f"bisimetric.io.{module}.SIZE_LIMIT", 1500)
    for suffix in SUFFIXES:
        bm.save(chains()["bare"], tmp_path / f"a.{suffix}")
        with pytest.raises(errors.FileFormatError, match="needs"):
            bm.save(chains()["rooms"], tmp_path / f"a.{suffix}")
        assert_same_chain(chains()["bare"], bm.load(tmp_path / f"a.{suffix}"))


def test_what_grows_by_packing_is_refused_too(tmp_path, monkeypatch):
    """The limit holds for the file as it is on the disk."""
    monkeypatch.setattr("bisimetric.io.files.SIZE_LIMIT", 500)
    with pytest.raises(errors.FileFormatError, match="when written"):
        bm.save(chains()["bare"], tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []


def test_archives_stay_far_below_the_ratio_limit(tmp_path):
    """Level 1 compresses nothing so well that the reader would take it for a bomb."""
    from bisimetric.io.archive import RATIO_LIMIT

    chain = bm.MarkovChain([[1.0]])
    n = 2000
    solution = bm.solve(
        bm.Problem(chain, bm.MarkovChain.normalised([[1.0] + [0.0] * (n - 1)] * n), discount=0.0, cost=[[0.0] * n])
    )
    bm.save(solution, tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert max(info.file_size / info.compress_size for info in archive.infolist()) < 0.75 * RATIO_LIMIT
    assert bm.load(tmp_path / "a.npz").problem.shape == (1, n)
