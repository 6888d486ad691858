"""A watcher in the context is told about the work, and only inside."""

from __future__ import annotations

import math

import bisimetric as bm
from bisimetric._support import blocks
from bisimetric._support.watching import WATCHER, watched


class Notes:
    """Writes down all that it is told."""

    def __init__(self):
        self.solves, self.steps, self.bounds, self.shares = 0, [], [], []

    def began(self):
        self.solves += 1

    def stepped(self, step, gap, estimate):
        self.steps.append((step, gap, estimate))

    def certified(self, interval, gap):
        self.bounds.append((interval, gap))

    def worked(self, share):
        self.shares.append(share)


def test_only_inside():
    """Afterwards nobody watches; None is nobody too."""
    notes = Notes()
    with watched(notes):
        assert WATCHER.get() is notes
        with watched(None):
            assert WATCHER.get() is None
    assert WATCHER.get() is None


def test_blocks_of_work():
    """Their share grows to one."""
    notes = Notes()
    with watched(notes), blocks.one_thread():
        blocks.for_each_block(lambda first, last: None, 100, largest=10)
    assert notes.shares == sorted(notes.shares)
    assert notes.shares[-1] == 1.0


def test_solves_inside_of_others():
    """An aggregation solves several problems, and all of them are told."""
    notes = Notes()
    with watched(notes):
        bm.aggregate("four-rooms:p1", n_states=5, discount=0.9)
    assert notes.solves >= 2
    assert all(math.isfinite(gap) for _, gap in notes.bounds)
