"""How many processors this process can keep busy."""

from __future__ import annotations

import math
from pathlib import Path

from bisimetric._support.blocks import processors
from bisimetric._support.cgroups import control_groups


def core_count() -> int:
    """Processors that this process may use: those that it may run on, limited by the share of its control groups."""
    shares = [_share(*group) for group in control_groups("cpu")]
    return min([processors(), *(math.ceil(share) for share in shares if share is not None)])


def _share(group: Path, version: int) -> float | None:
    """The processors that a group may use at a time; None without a limit."""
    try:
        if version == 2:
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        share = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such group, or "max"
        return None
    return share if share > 0 else None
