"""A clock that stands still while kernels are compiled."""

from __future__ import annotations

import time

from bisimetric._support.compiling import COMPILING, Clock, Stopwatch


def test_blocks_inside_blocks_count_once():
    """The outermost block counts."""
    watch = Stopwatch()
    began = time.perf_counter()
    with watch, watch:
        time.sleep(0.01)
    assert 0.01 <= watch.total <= time.perf_counter() - began


def test_the_clock_leaves_out_compilation():
    """And never runs backwards, whoever compiles."""
    clock = Clock()
    began = time.perf_counter()
    before = clock.seconds()
    with COMPILING:
        time.sleep(0.02)
    after = clock.seconds()
    assert before <= after <= time.perf_counter() - began - 0.02
    COMPILING.total += 10.0
    try:
        assert clock.seconds() == after
    finally:
        COMPILING.total -= 10.0
