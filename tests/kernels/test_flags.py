"""In which mode kernels run: BISIMETRIC_EXPECT says it.

"" stands for compiled, "jit-off" for NUMBA_DISABLE_JIT=1, "bounds-check" for NUMBA_BOUNDSCHECK=1. A set of tests that
is meant to run without the JIT, and does not, would pass all the same; this file fails then.
"""

from __future__ import annotations

import os
import types
from operator import attrgetter

import numpy as np
import pytest

from bisimetric import kernels

pytestmark = pytest.mark.kernels

EXPECTED = os.environ.get("BISIMETRIC_EXPECT", "")


def all_kernels():
    """Every function that the kernel modules define."""
    names = (
        "transport.sweep", "transport.repair", "transport.full", "evaluation", "check", "robust", "gradient",
        "refinement", "lifting", "listing", "splitting", "sinkhorn.projection", "sinkhorn.rounding",
    )  # fmt: skip
    for module in (attrgetter(name)(kernels) for name in names):
        for name, thing in vars(module).items():
            made_here = getattr(thing, "__module__", None) == module.__name__
            if callable(thing) and made_here and not name.endswith("_over"):  # those make kernels
                yield f"{module.__name__}.{name}", thing


def test_the_mode_is_known():
    """Nothing else is expected."""
    assert EXPECTED in {"", "jit-off", "bounds-check"}


def test_kernels_are_what_they_should_be():
    """Plain Python functions with the JIT off, compiled dispatchers otherwise."""
    found = dict(all_kernels())
    assert len(found) >= 10
    for name, function in found.items():
        if EXPECTED == "jit-off":
            assert isinstance(function, types.FunctionType), name
        else:
            assert hasattr(function, "py_func"), name


@pytest.mark.skipif(EXPECTED != "bounds-check", reason="reads out of range")
def test_bounds_are_checked():
    """A kernel that is told to go beyond the end of its arrays raises instead of reading there."""
    with pytest.raises(IndexError):
        kernels.evaluation.step_half(0, 4, np.zeros(4), np.zeros(2), 1.0)


def test_unknown_kernels():
    """A misspelt module is an AttributeError."""
    with pytest.raises(AttributeError):
        _ = kernels.transprot
