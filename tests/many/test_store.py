"""The store of finished pairs: what was kept comes back, and nothing else does, whatever happened to the files."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric import Status
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.many import store as store_module
from bisimetric.many.store import RECORD_BYTES, Numbers, PairStore, has_ended

KEYS = [bytes([k]) * 32 for k in range(5)]
NUMBERS = [Numbers(k + 0.5, float(k), k + 1.0, status) for k, status in zip(range(5), Status, strict=False)]


def kept(folder, count=5):
    """The only journal of a new store with some records."""
    store = PairStore(folder)
    for key, numbers in zip(KEYS[:count], NUMBERS[:count], strict=True):
        store.keep(key, numbers)
    store.close()
    (journal,) = folder.glob("*.pairs")
    return journal


def found(folder):
    """What a new run finds."""
    return PairStore(folder).found(KEYS)


def test_what_is_kept_is_found(tmp_path):
    """In the folder, which is made with its parents, and by runs that want it."""
    folder = tmp_path / "new" / "store"
    journal = kept(folder)
    assert RECORD_BYTES == 64
    assert journal.stat().st_size == 6 * RECORD_BYTES  # with the end
    assert found(folder) == dict(zip(KEYS, NUMBERS, strict=True))
    assert PairStore(folder).found(KEYS[2:3]) == {KEYS[2]: NUMBERS[2]}


def test_nothing_kept_writes_nothing(tmp_path):
    """A run that finds everything leaves no file."""
    store = PairStore(tmp_path)
    assert store.found(KEYS) == {}
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_records_are_there_before_the_store_is_closed(tmp_path):
    """A killed run has kept them: another one finds them while the first is still at work."""
    store = PairStore(tmp_path)
    for count, key in enumerate(KEYS, 1):
        store.keep(key, NUMBERS[0])
        assert len(found(tmp_path)) == count
    store.close()


def test_records_are_forced_to_the_disk(tmp_path, monkeypatch):
    """When a second has passed since the last time, and at the end."""
    calls, now = [], [100.0]
    monkeypatch.setattr(store_module.os, "fsync", calls.append)
    monkeypatch.setattr(store_module.time, "monotonic", lambda: now[0])
    store = PairStore(tmp_path)
    store.keep(KEYS[0], NUMBERS[0])
    after_first = len(calls)
    assert after_first == 3  # the journal, its folder, the folder's parent
    store.keep(KEYS[1], NUMBERS[1])
    assert len(calls) == after_first
    now[0] += 1.0
    store.keep(KEYS[2], NUMBERS[2])
    assert len(calls) == after_first + 1
    store.close()
    assert len(calls) == after_first + 2


def test_every_run_has_its_own_journal(tmp_path):
    """Two at once add to the same store without touching one another's file."""
    first, second = PairStore(tmp_path), PairStore(tmp_path)
    for k, store in enumerate((first, second, first, second)):
        store.keep(KEYS[k], NUMBERS[k])
    first.close()
    second.close()
    assert len(list(tmp_path.glob("*.pairs"))) == 2
    assert found(tmp_path) == dict(zip(KEYS[:4], NUMBERS[:4], strict=True))


def test_a_journal_cut_anywhere(tmp_path):
    """All whole records are found, the torn one is not."""
    journal = kept(tmp_path, 3)
    data = journal.read_bytes()
    for size in range(len(data) + 1):
        journal.write_bytes(data[:size])
        whole = min(size // RECORD_BYTES, 3)  # the fourth is the end
        assert found(tmp_path) == dict(zip(KEYS[:whole], NUMBERS[:whole], strict=True))


def test_no_flipped_bit_is_believed(tmp_path):
    """A damaged record is passed over, whichever bit it is; the others are found."""
    journal = kept(tmp_path, 3)
    data = journal.read_bytes()
    for bit in range(8 * RECORD_BYTES):
        damaged = bytearray(data)
        damaged[RECORD_BYTES + bit // 8] ^= 1 << bit % 8
        journal.write_bytes(damaged)
        assert found(tmp_path) == {KEYS[0]: NUMBERS[0], KEYS[2]: NUMBERS[2]}


def test_a_run_says_that_it_has_ended(tmp_path):
    """By the last record of its journal, whether it was finished or not; nobody takes that for a pair."""
    store = PairStore(tmp_path)
    store.keep(KEYS[1], NUMBERS[0])
    (journal,) = tmp_path.glob("*.pairs")
    assert not has_ended(journal)
    store.close()
    assert has_ended(journal)
    assert PairStore(tmp_path).found([bytes(32)]) == {}
    journal.write_bytes(journal.read_bytes()[:-1])
    assert not has_ended(journal)


@given(st.binary(max_size=400))
def test_any_bytes_are_no_record(tmp_path_factory, data):
    """A file of anything is read without an error, and nothing comes of it."""
    folder = tmp_path_factory.mktemp("store")
    (folder / "x.pairs").write_bytes(data)
    assert found(folder) == {}


@pytest.mark.parametrize(
    "numbers", [(float("nan"), 0.0, 1.0), (0.5, 0.6, 1.0), (2.0, 0.0, 1.0), (0.0, -1.0, 1.0), (1.0, 1.0, float("inf"))]
)
def test_impossible_numbers_are_passed_over(tmp_path, numbers):
    """Even with a right checksum."""
    store = PairStore(tmp_path)
    store.keep(KEYS[0], Numbers(*numbers, Status.SOLVED))
    store.keep(KEYS[1], NUMBERS[1])
    store.close()
    assert found(tmp_path) == {KEYS[1]: NUMBERS[1]}


def test_what_is_no_store_is_said(tmp_path):
    """A file, a folder below a file, a folder of other things, no path at all."""
    plain = tmp_path / "plain"
    plain.write_text("x")
    for place in (plain, plain / "below"):
        with pytest.raises(FileFormatError, match="is not a folder"):
            PairStore(place)
    with pytest.raises(FileFormatError, match="choose an empty folder"):
        PairStore(tmp_path)
    for wrong in (7, b"x", "a\0b"):
        with pytest.raises(InvalidOption, match="store is"):
            PairStore(wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]


def test_other_files_beside_journals_do_no_harm(tmp_path):
    """Somebody may keep notes there; hidden files do not count at all."""
    (tmp_path / ".hidden").write_text("x")
    kept(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert len(found(tmp_path)) == 5


def test_an_unknown_status_is_passed_over(tmp_path, monkeypatch):
    """Of a version with more of them, whatever its key."""
    kept(tmp_path)
    monkeypatch.setattr(store_module, "STATUSES", store_module.STATUSES[:3])
    assert found(tmp_path) == dict(zip(KEYS[:3], NUMBERS[:3], strict=True))


def test_what_is_no_journal_is_passed_over(tmp_path):
    """A folder, a pipe, links to nowhere, to themselves and to a device, a giant file, one of anything."""
    kept(tmp_path)
    (tmp_path / "a.pairs").mkdir()
    os.mkfifo(tmp_path / "b.pairs")
    (tmp_path / "c.pairs").symlink_to("nowhere")
    (tmp_path / "d.pairs").symlink_to("d.pairs")
    (tmp_path / "e.pairs").symlink_to("/dev/zero")
    with open(tmp_path / "f.pairs", "wb") as giant:
        giant.truncate(store_module.SIZE_LIMIT + 1)
    (tmp_path / "g.pairs").write_bytes(bytes(range(256)) * 99)
    (tmp_path / "\udcff\n.pairs").write_bytes(b"x")
    assert found(tmp_path) == dict(zip(KEYS, NUMBERS, strict=True))


def test_a_journal_that_cannot_be_read_is_passed_over(tmp_path, monkeypatch):
    """Somebody else's, or on a bad disk, or gone since the folder was listed; permissions do not bind root."""
    journal = kept(tmp_path)
    for name, error in (("0.pairs", PermissionError()), ("1.pairs", OSError(5, "I/O")), ("2.pairs", None)):
        shutil.copy(journal, tmp_path / name)
        records = store_module.records_of

        def broken(path, first=0, name=name, error=error, records=records):
            for record in records(path):
                if path.name == name:
                    raise error or FileNotFoundError()
                yield record

        monkeypatch.setattr(store_module, "records_of", broken)
    assert found(tmp_path) == dict(zip(KEYS, NUMBERS, strict=True))


@pytest.mark.parametrize("change", ["removed", "emptied", "moved", "replaced"])
def test_a_folder_that_goes_away_is_made_again(tmp_path, monkeypatch, change):
    """With all that the run found in it or wrote, at the latest when the run ends."""
    folder = tmp_path / "store"
    kept(folder, 2)
    store = PairStore(folder)
    store.found(KEYS)
    store.keep(KEYS[2], NUMBERS[2])
    if change == "emptied":
        for path in folder.iterdir():
            path.unlink()
    elif change == "moved":
        folder.rename(tmp_path / "elsewhere")
    else:
        shutil.rmtree(folder)
    if change == "replaced":
        folder.mkdir()
    store.keep(KEYS[3], NUMBERS[3])
    monkeypatch.chdir("/")
    store.close()
    assert found(folder) == dict(zip(KEYS[:4], NUMBERS[:4], strict=True))


def test_a_folder_that_goes_away_is_noticed_during_the_run(tmp_path, monkeypatch):
    """With the next record that is forced to the disk; then a killed run has kept it."""
    monkeypatch.setattr(store_module, "SYNC_SECONDS", 0.0)
    store = PairStore(tmp_path / "store")
    store.keep(KEYS[0], NUMBERS[0])
    shutil.rmtree(tmp_path / "store")
    store.keep(KEYS[1], NUMBERS[1])
    assert found(tmp_path / "store") == dict(zip(KEYS[:2], NUMBERS[:2], strict=True))
    store.close()


def test_a_folder_that_cannot_be_made_again_is_said(tmp_path):
    """Something else is in its place; the journal is closed all the same."""
    folder = tmp_path / "store"
    store = PairStore(folder)
    store.keep(KEYS[0], NUMBERS[0])
    shutil.rmtree(folder)
    folder.write_text("x")
    with pytest.raises(FileFormatError, match="was removed during the run"):
        store.close()
    store.close()


def test_the_working_directory_may_change(tmp_path, monkeypatch):
    """A store by a relative path stays where it was when the run began."""
    monkeypatch.chdir(tmp_path)
    store = PairStore("store")
    monkeypatch.chdir("/")
    store.keep(KEYS[0], NUMBERS[0])
    store.close()
    assert found(tmp_path / "store") == {KEYS[0]: NUMBERS[0]}


def test_a_full_disk_is_said(tmp_path, monkeypatch):
    """Half a record was written, and the run ends with an error; what was written before is found."""
    journal = kept(tmp_path, 2)
    write = os.write
    monkeypatch.setattr(store_module.os, "write", lambda file, data: write(file, data[:30]))
    store = PairStore(tmp_path)
    with pytest.raises(FileFormatError, match="the disk is full"):
        store.keep(KEYS[2], NUMBERS[2])
    store.close()
    assert journal.exists()
    assert found(tmp_path) == dict(zip(KEYS[:2], NUMBERS[:2], strict=True))
