"""The control groups around this process."""

from __future__ import annotations

import pytest

from bisimetric._support import cgroups


@pytest.mark.parametrize(
    ("lines", "controller", "expected"),
    [
        (None, "memory", [(".", 2)]),
        ("0::/\n", "memory", [(".", 2), (".", 2)]),
        ("0::/batch/job\n", "cpu", [("batch/job", 2), ("batch", 2), (".", 2), (".", 2)]),
        ("4:cpu,cpuacct:/job\n", "cpu", [("cpu/job", 1), ("cpu", 1), (".", 2)]),
        ("4:cpu,cpuacct:/job\n", "memory", [(".", 2)]),
        ("3:memory:/a:b\n", "memory", [("memory/a:b", 1), ("memory", 1), (".", 2)]),
    ],
    ids=["no-proc", "top", "nested", "v1", "other-controller", "colon"],
)
def test_groups_from_the_inside_out(system, lines, controller, expected):
    """Of both versions; the top group is always looked at, because a container may show its own as the top one."""
    root = system({} if lines is None else {"proc/self/cgroup": lines}) / "cgroup"
    found = [(str(group.relative_to(root)), version) for group, version in cgroups.control_groups(controller)]
    assert found == expected
