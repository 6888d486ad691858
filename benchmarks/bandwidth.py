"""How close policy evaluation comes to the memory bandwidth, and the cost of a sweep that changes nothing.

    product      out = v - γΠv for the couplings Π of all pairs, with two inner products
    iteration    of BiCGSTAB: two products and three fused vector steps
    evaluation   a whole linear system to a millionth of its residual's span, with all overhead
    triad        a = b + s·c, the pass of STREAM (McCalpin 1995), over as many bytes as a product touches

Bytes are those of the arrays touched, each counted once a pass, as STREAM counts them: no allocation on write, and
of the stored trees only the cells that carry flow. `times_bound` is the time taken over the time in which the triad
moves as many bytes. The best of several passes counts, as in STREAM, and all are in one process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numba
import numpy as np
import numpy.typing as npt

import bisimetric as bm
from benchmarks.tables import Row
from bisimetric import kernels
from bisimetric._support.blocks import for_even_split, thread_count
from bisimetric.kernels.layout import Trees
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.trees import is_compact, new_trees

Floats = npt.NDArray[np.float64]

SECONDS = 1.0  # of repeats per measurement, approximately
LEAST, MOST = 3, 200  # repeats
SETTLING = 3  # sweeps before one is timed
LOOSE, TIGHT = 1e-2, 1e-6  # accuracies of an evaluation, as fractions of the residual's span
DOUBLE = 8
# Doubles a pair that BiCGSTAB touches outside products: p = r + β(p - ωv); r -= αv; x += αp + ωr, r -= ωt, <shadow, r>.
ITERATION_VECTORS = 4 + 3 + 7
# And before its first iteration: b - r, its largest entry, a copy, two zeroed vectors, a square; then x is added to V.
SETUP_VECTORS = 3 + 3 + 2 + 2 + 1 + 3


def measured(question: bm.Problem, solution: bm.Solution) -> Row:
    """Nanoseconds and bytes a pair of each pass on a problem, at its solution."""
    n, m = question.shape
    bellman = Bellman.of(question)
    value = solution.value * bellman.scale
    trees = new_trees(bellman, may_round=True)  # as the exact solver has them
    bellman.improve(value, trees, cold=True)
    used = float(trees.used.mean(dtype=np.float64))
    flows = trees.used.itemsize + used * (trees.target.itemsize + trees.weight.itemsize)
    touched = {
        "product": flows + 3 * DOUBLE,
        "second_product": flows + 2 * DOUBLE,  # both of its vectors are the same
    }
    touched["iteration"] = touched["product"] + touched["second_product"] + ITERATION_VECTORS * DOUBLE
    product = _product(bellman, trees, value.ravel(), np.empty(n * m))
    triad, triad_bytes = _triad(int(touched["product"] * n * m))
    seconds = _best({"triad": triad, "product": product})
    rate = triad_bytes / seconds["triad"]
    (quick, few), (thorough, many) = (_evaluation(bellman, trees, accuracy) for accuracy in (LOOSE, TIGHT))
    spent = {
        "product": seconds["product"],
        "iteration": (thorough - quick) / (many - few) if many > few else math.nan,
        "evaluation": thorough,
    }
    touched["evaluation"] = many * touched["iteration"] + touched["product"] + SETUP_VECTORS * DOUBLE
    sweep, pivots = _warm_sweep(bellman, value, trees)
    return {
        "pairs": n * m,
        "supports": int(np.diff(bellman.source.indptr).max()),
        "cells_a_pair": used,
        "triad_GB_s": rate / 1e9,
        "iterations": many,
        **{f"{name}_ns_a_pair": 1e9 * taken / (n * m) for name, taken in spent.items()},
        **{f"{name}_bytes_a_pair": touched[name] for name in spent},
        **{f"{name}_times_bound": taken / (touched[name] * n * m / rate) for name, taken in spent.items()},
        "warm_sweep_ns_a_pair": 1e9 * sweep / (n * m),
        "warm_sweep_pivots": pivots,
    }


def _product(bellman: Bellman, trees: Trees, vector: Floats, out: Floats) -> Callable[[], None]:
    n, m = bellman.shape
    other, sums = np.ones(n * m), np.empty((n, 2))
    apply = kernels.evaluation.apply_compact if is_compact(trees) else kernels.evaluation.apply_trees

    def work(first: int, last: int) -> None:
        apply(
            first,
            last,
            vector,
            out,
            other,
            bellman.discount,
            bellman.source,
            bellman.target,
            bellman.pairs.listed,
            trees,
            sums,
        )

    return lambda: for_even_split(work, n, cost=n * m)


def _triad(size: int) -> tuple[Callable[[], None], int]:
    """A pass over three arrays of `size` bytes in all, and its bytes."""
    entries = size // (3 * DOUBLE)
    a, b, c = np.zeros(entries), np.ones(entries), np.ones(entries)
    return lambda: for_even_split(lambda i, j: _COMPILED_TRIAD(i, j, a, b, c, 0.5), entries, cost=entries), (
        3 * DOUBLE * entries
    )


def _triad_kernel(first: int, last: int, a: Floats, b: Floats, c: Floats, factor: float) -> None:
    for k in range(first, last):
        a[k] = b[k] + factor * c[k]


_COMPILED_TRIAD = numba.njit(nogil=True)(_triad_kernel)


def _evaluation(bellman: Bellman, trees: Trees, accuracy: float) -> tuple[float, int]:
    """Seconds and iterations to evaluate the couplings from V = c, whose residual is γΠc."""
    start = bellman.scaled_cost().ravel()
    residual = np.empty(start.size)
    _product(bellman, trees, start, residual)()
    np.subtract(start, residual, out=residual)
    target = accuracy * float(np.ptp(residual))
    products, evaluation = 0, Evaluation(bellman)

    def work() -> None:
        nonlocal products
        solved = evaluation.solve(trees, residual, target)
        products = solved.products
        value = solved.x
        value += start

    return _best({"evaluation": work})["evaluation"], (products - 1) // 2


def _warm_sweep(bellman: Bellman, value: Floats, trees: Trees) -> tuple[float, int]:
    """Seconds of a sweep over optimal trees, and how many pivots it still made."""
    pivots = 0

    def work() -> None:
        nonlocal pivots
        pivots = bellman.improve(value, trees, cold=False).pivots

    for _ in range(SETTLING):  # rounding in the trees still allows a few more pivots
        work()
    return _best({"sweep": work})["sweep"], pivots


def _best(passes: dict[str, Callable[[], None]]) -> dict[str, float]:
    """The shortest of several runs of each, in turn: CPU seconds with one thread, else wall seconds."""
    clock = time.process_time if thread_count() == 1 else time.perf_counter
    runs: dict[str, list[float]] = {name: [] for name in passes}
    for work in passes.values():
        work()
    began = time.perf_counter()
    count = 0
    while count < LEAST or (count < MOST and time.perf_counter() - began < SECONDS * len(passes)):
        for name, work in passes.items():
            before = clock()
            work()
            runs[name].append(clock() - before)
        count += 1
    return {name: min(times) for name, times in runs.items()}
