"""How many processors and threads there are."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest

from bisimetric._support import cores
from bisimetric._support.blocks import one_thread, thread_count
from bisimetric._support.cores import core_count
from bisimetric._support.threads import call_in_thread
from bisimetric.errors import InvalidOption


@pytest.mark.parametrize("wish", ["0", "-1", "two", "1.5", " "])
def test_wrong_numbers_of_threads(monkeypatch, wish):
    """The variable must hold a positive whole number."""
    monkeypatch.setenv("BISIMETRIC_THREADS", wish)
    with pytest.raises(InvalidOption, match="BISIMETRIC_THREADS is"):
        thread_count()


def test_threads_by_default(monkeypatch):
    """Without a wish, as many as this process may use."""
    monkeypatch.delenv("BISIMETRIC_THREADS", raising=False)
    assert 1 <= thread_count() <= (os.cpu_count() or 1)
    monkeypatch.setenv("BISIMETRIC_THREADS", "7")
    assert thread_count() == 7


def test_one_thread_holds_inside_only(monkeypatch):
    """Also in a call that goes to another thread, and not in other threads; after an error it is as before."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    environment, elsewhere = dict(os.environ), []
    with suppress(ZeroDivisionError), one_thread():
        assert thread_count() == 1
        assert call_in_thread(thread_count) == 1
        other = threading.Thread(target=lambda: elsewhere.append(thread_count()))
        other.start()
        other.join()
        assert dict(os.environ) == environment
        _ = 1 / 0
    assert elsewhere == [2]
    assert thread_count() == 2


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/\n", {}, 8),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 8),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/batch/job\n", {"batch/cpu.max": "200000 100000\n", "batch/job/cpu.max": "400000 100000\n"}, 2),
        ("4:cpu,cpuacct:/\n", {"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        ("4:cpu,cpuacct:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ("0::/\n", {"cpu.max": "nonsense\n"}, 8),
    ],
    ids=["no-files", "no-limit", "v2", "around", "v1", "v1-no-limit", "nonsense"],
)
def test_cores_within_control_groups(monkeypatch, system, own, files, expected):
    """The tightest group counts, rounded up; without one, the processors that this process may run on."""
    system({"proc/self/cgroup": own} | {f"cgroup/{name}": text for name, text in files.items()})
    monkeypatch.setattr(cores, "processors", lambda: 8)
    assert core_count() == expected
