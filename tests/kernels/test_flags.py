"""In which mode kernels run: BISIMETRIC_EXPECT says it.

"" stands for compiled, "jit-off" for NUMBA_DISABLE_JIT=1, "bounds-check" for NUMBA_BOUNDSCHECK=1. A set of tests that
is meant to run without the JIT, and does not, would pass all the same; this file fails then.
"""

from __future__ import annotations

import os
import types

import numba
import numpy as np
import pytest
from numba.types import Boolean, NoneType, Number

import bisimetric as bm
from bisimetric import kernels

pytestmark = pytest.mark.kernels

EXPECTED = os.environ.get("BISIMETRIC_EXPECT", "")


def all_kernels():
    """Every function that the kernel modules define."""
    names = ("transport", "evaluation", "check", "refinement", "lifting", "listing", "sinkhorn", "rounding")
    for module in (getattr(kernels, name) for name in names):
        for name, thing in vars(module).items():
            if callable(thing) and getattr(thing, "__module__", None) == module.__name__:
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


@pytest.mark.skipif(EXPECTED == "jit-off", reason="nothing is compiled")
def test_kernels_return_plain_values():
    """Anything else would be made by Python code inside the compiled one, where Ctrl-C crashes the process."""
    chains = bm.MarkovChain([[0.5, 0.5], [0.2, 0.8]]), bm.MarkovChain([[0.1, 0.9], [0.7, 0.3]])
    problem = bm.Problem(*chains, cost=np.eye(2), discount=0.9)
    for solver in (bm.PolicyIteration(), bm.SinkhornValueIteration(rounds=2)):
        bm.solve(problem, solver)
    compiled = [overload.signature for _, function in all_kernels() for overload in function.overloads.values()]
    assert len(compiled) > 5
    for returned in {signature.return_type for signature in compiled}:
        plain = returned.types if type(returned) in {numba.types.Tuple, numba.types.UniTuple} else [returned]
        assert all(isinstance(kind, (Number, Boolean, NoneType)) for kind in plain), returned


@pytest.mark.skipif(EXPECTED != "bounds-check", reason="reads out of range")
def test_bounds_are_checked():
    """A kernel that is told to go beyond the end of its arrays raises instead of reading there."""
    with pytest.raises(IndexError):
        kernels.evaluation.step_half(0, 4, np.zeros(4), np.zeros(2), 1.0)


def test_unknown_kernels():
    """A misspelt module is an AttributeError."""
    with pytest.raises(AttributeError):
        _ = kernels.transprot
