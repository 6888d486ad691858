"""Scripts in processes of their own: what could abort, hang or crash, with a time-out.

They share the kernels that the test run compiles; tests of the cache give them a folder of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMON = """
import hashlib, os, sys, threading, time
import numpy as np
import bisimetric as bm

def problem(n, seed=0):
    random = np.random.default_rng(seed)
    chains = [bm.environments.random_sparse_chain(n, 4, seed=seed + k) for k in range(2)]
    return bm.Problem(*chains, discount=0.8, cost=random.random((n, n)))

def answer(n, seed=0):
    solution = bm.solve(problem(n, seed), tol=1e-6)
    return hashlib.sha256(b"".join(x.tobytes() for x in (solution.lower, solution.value, solution.upper))).hexdigest()

def step():
    from bisimetric import kernels
    r = np.ones(3)
    kernels.evaluation.step_half(0, 3, r, r.copy(), 0.25)
    assert (r == 0.75).all()
"""
LARGE = 230  # states: 52,900 pairs, enough for every kernel to be called from several threads
LARGE_ENOUGH_FOR_COMPACT_TREES = 300  # states, with four successors each
NOWHERE = os.path.join(os.devnull, "x")  # nobody can make a folder there, not even root
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
needs_limits = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")


def run(code: str, *, timeout: float = 120, prefix: tuple[str, ...] = (), **environment: str | None) -> str:
    """What a script writes to stderr; it must end in time and without an error."""
    variables: dict[str, str | None] = {**os.environ, "BISIMETRIC_THREADS": "2", **environment}
    done = subprocess.run(
        [*prefix, sys.executable, "-B", "-c", COMMON + code],
        env={name: value for name, value in variables.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr
