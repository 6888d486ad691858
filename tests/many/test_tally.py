"""What is told about the files of a store, and that nothing is told about an ordinary one."""

from __future__ import annotations

import pytest

import bisimetric as bm
from bisimetric.many.store import CODE_BYTES, RECORD_BYTES, Numbers, PairStore
from bisimetric.many.tally import FILES_NAMED
from tests.many.pair_samples import LARGER, random_chains, tables

HERE = b"a" * CODE_BYTES
KEYS = [HERE + bytes([k]) * (32 - CODE_BYTES) for k in range(3)]
NUMBERS = Numbers(1.5, 1.0, 2.0, bm.Status.SOLVED)


def write(folder, keys=KEYS):
    """The journal of a run that keeps these keys."""
    before = set(folder.iterdir())
    store = PairStore(folder)
    store.claim(keys[0])
    for key in keys:
        store.keep(key, NUMBERS)
    store.close()
    (journal,) = set(folder.iterdir()) - before
    return journal


def told(folder):
    """What a run that has read the store tells."""
    store = PairStore(folder)
    store.found(KEYS)
    return store.notes(HERE)


def test_an_ordinary_store_is_quiet(tmp_path):
    """Several runs, one of which is at work, and one that has written nothing yet."""
    assert told(tmp_path) == []
    write(tmp_path)
    running = PairStore(tmp_path)
    running.keep(KEYS[0], NUMBERS)
    (tmp_path / "new.pairs").touch()
    assert told(tmp_path) == []
    running.close()
    assert told(tmp_path) == []


def test_damaged_files_are_named(tmp_path):
    """With how many records are lost, also where the last one is cut off."""
    journal = write(tmp_path)
    data = bytearray(journal.read_bytes())
    data[2 * RECORD_BYTES] ^= 1
    journal.write_bytes(data[:-1])
    (line,) = told(tmp_path)
    assert f"{journal.name} (2 of 5 records)" in line
    assert str(tmp_path) in line


def test_what_is_no_journal_is_named(tmp_path):
    """Anything with that ending, its name made harmless; many are counted."""
    write(tmp_path)
    (tmp_path / "\n.pairs").write_bytes(b"x")
    (tmp_path / "folder.pairs").mkdir()
    (line,) = told(tmp_path)
    assert r"\n.pairs, folder.pairs" in line
    assert "\n" not in line
    for k in range(FILES_NAMED):
        (tmp_path / f"text{k}.pairs").write_text("no pairs" * RECORD_BYTES)
    (line,) = told(tmp_path)
    assert "and 2 more" in line


def test_files_of_another_version_are_named(tmp_path):
    """With how many of their pairs are."""
    journal = write(tmp_path, [b"b" * CODE_BYTES + KEYS[0][CODE_BYTES:], *KEYS[:2]])
    (line,) = told(tmp_path)
    assert f"{journal.name} (1 of 3 pairs)" in line


def test_a_call_tells_it_once(tmp_path, capfd):
    """On stderr, and then computes what is lost again."""
    chains = random_chains(sizes=LARGER)
    expected = bm.pairwise(chains, discount=0.9, store=tmp_path)
    capfd.readouterr()
    bm.pairwise(chains, discount=0.5, store=tmp_path)
    assert capfd.readouterr().err == ""
    journal = min(tmp_path.iterdir())
    journal.write_bytes(journal.read_bytes()[1:])
    solved = []
    again = bm.pairwise(chains, discount=0.9, store=tmp_path, on_pair=solved.append)
    assert tables(again) == pytest.approx(tables(expected))
    error = capfd.readouterr().err
    assert error.startswith("bisimetric: store ")
    assert error.count(journal.name) == error.count("\n") == 1
