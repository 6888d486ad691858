"""Exponentials in two parts, logarithms and small reductions, against extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric import kernels

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("length", [1, 2, 7, 64, 65])
def test_lengths(length):
    """Whatever the width of vector instructions; entries beyond the count are left alone."""
    random = np.random.default_rng(length)
    whole, rest = np.rint(random.uniform(-300, 300, length)), random.uniform(-0.5, 0.5, length)
    out, scratch = np.full(length + 1, -7.0), np.empty(length + 1)
    kernels.sinkhorn.elementary.exp_parts(length, whole, rest, out, scratch)
    np.testing.assert_allclose(out[:length], np.exp(whole + rest), rtol=1e-13)
    assert out[length] == -7.0
    kernels.sinkhorn.elementary.log_all(length, out.copy(), out, scratch)
    np.testing.assert_allclose(out[:length], whole + rest, rtol=1e-13, atol=1e-13)
    assert out[length] == -7.0


def test_the_logarithm_of_one_is_zero():
    """Exactly, since scalings of one are common."""
    out = np.empty(1)
    kernels.sinkhorn.elementary.log_all(1, np.ones(1), out, np.empty(1))
    assert out[0] == 0.0
