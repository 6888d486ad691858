"""Seconds that compilation takes."""

from __future__ import annotations

import time

from bisimetric._support.compiling import Stopwatch


def test_blocks_inside_blocks_count_once():
    """The outermost block counts."""
    watch = Stopwatch()
    began = time.perf_counter()
    with watch, watch:
        time.sleep(0.01)
    assert 0.01 <= watch.total <= time.perf_counter() - began
