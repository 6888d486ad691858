"""One journal instead of many: no record is lost, whoever else is at work."""

from __future__ import annotations

import os
import time

import pytest

import bisimetric as bm
from bisimetric.errors import FileFormatError
from bisimetric.many.compaction import IN_USE_SECONDS, compact_store
from bisimetric.many.store import RECORD_BYTES, Numbers, PairStore
from tests.many.pair_samples import LARGER, random_chains, tables

KEYS = [bytes([k]) * 32 for k in range(6)]
NUMBERS = Numbers(1.5, 1.0, 2.0, bm.Status.SOLVED)


def age(folder, seconds=10 * IN_USE_SECONDS):
    """Let all journals be that old."""
    then = time.time() - seconds
    for path in folder.glob("*.pairs"):
        os.utime(path, (then, then))


def write(folder, *keys, claims=()):
    """A run that keeps these keys and ends."""
    store = PairStore(folder)
    for key in claims:
        store.claim(key)
    for key in keys:
        store.keep(key, NUMBERS)
    store.close()


def test_many_become_one(tmp_path):
    """Each pair once; damaged records, copies and claims are dropped, and a torn end."""
    write(tmp_path, *KEYS[:3], claims=KEYS[:1])
    write(tmp_path, *KEYS[2:5])
    (journal, *_) = tmp_path.glob("*.pairs")
    journal.write_bytes(journal.read_bytes() + b"\0" * RECORD_BYTES + b"torn")
    age(tmp_path)
    assert compact_store(tmp_path) == (5, 2, 0, 3)
    (only,) = tmp_path.iterdir()
    assert only.stat().st_size == 6 * RECORD_BYTES  # with the end
    assert PairStore(tmp_path).found(KEYS) == dict.fromkeys(KEYS[:5], NUMBERS)
    age(tmp_path)
    assert compact_store(tmp_path) == (0, 0, 1, 0)
    assert [path.name for path in tmp_path.iterdir()] == [only.name]


def test_runs_that_have_ended_need_not_age(tmp_path):
    """Their journals say so; and a store that has just been compacted can be compacted again with what is new."""
    write(tmp_path, *KEYS[:2])
    write(tmp_path, *KEYS[1:3], claims=KEYS[1:2])
    assert compact_store(tmp_path) == (3, 2, 0, 2)
    write(tmp_path, KEYS[3])
    assert compact_store(tmp_path) == (4, 2, 0, 0)
    assert set(PairStore(tmp_path).found(KEYS)) == set(KEYS[:4])


def test_journals_in_use_and_other_files_stay(tmp_path):
    """By the clock of the folder."""
    write(tmp_path, KEYS[0])
    write(tmp_path, KEYS[1])
    running = PairStore(tmp_path)
    running.keep(KEYS[2], NUMBERS)
    (tmp_path / "mine.pairs").write_bytes(b"something else" * 100)
    os.utime(tmp_path / "mine.pairs", (0, 0))
    assert compact_store(str(tmp_path)) == (2, 2, 2, 0)
    assert (tmp_path / "mine.pairs").read_bytes() == b"something else" * 100
    assert set(PairStore(tmp_path).found(KEYS)) == set(KEYS[:3])
    running.close()


def test_a_run_whose_journal_was_taken_for_an_old_one(tmp_path):
    """It makes it again, and nothing is missing at its end."""
    running = PairStore(tmp_path)
    running.keep(KEYS[0], NUMBERS)
    write(tmp_path, KEYS[1])
    age(tmp_path)
    assert compact_store(tmp_path).merged == 2
    running.keep(KEYS[2], NUMBERS)
    running.close()
    assert set(PairStore(tmp_path).found(KEYS)) == set(KEYS[:3])


def test_pairs_of_a_compacted_store_are_found(tmp_path):
    """By the call that wrote them."""
    made = random_chains(sizes=LARGER)
    expected = bm.pairwise(made, discount=0.9, store=tmp_path)
    assert bm.compact_store(tmp_path) == (6, 1, 0, 6)
    again = bm.pairwise(made, discount=0.9, store=tmp_path, on_pair=lambda pair: pytest.fail("solved again"))
    assert tables(again).tolist() == tables(expected).tolist()


def test_what_is_no_store(tmp_path):
    """Neither made nor touched."""
    with pytest.raises(FileFormatError, match="nowhere"):
        compact_store(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(FileFormatError, match=r"thesis\.tex"):
        compact_store(tmp_path)
    with pytest.raises(FileFormatError, match="is not a folder"):
        compact_store(tmp_path / "thesis.tex")
