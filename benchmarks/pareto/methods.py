"""The methods, and for each a ladder of settings from rough to fine.

Exact methods: the relative gap at which they stop. Entropic ones: the step size, from large and fast to small and
accurate, with looks at the couplings after more and more rounds; or regularisation and thresholds. A peer may stop at
the best moment: what counts is the cheapest setting whose true error is small enough, though without the true
distances nobody could know that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import bisimetric as bm
from benchmarks import peers
from benchmarks.approximate import Look, Setting, numpy_rounds, ot_markov_distances
from benchmarks.outcomes import Outcome
from benchmarks.restarts import pyotc

Run = Callable[[bm.Problem, Setting], Iterator[Look]]
CERTIFIED = 1e-6  # the relative gap of ours
ENOUGH_ERROR = 1e-2  # the true relative error that a peer has to reach

GAPS: Sequence[Setting] = [{"tol": tol} for tol in (1.0, 0.3, 0.1, 0.03, 0.01, 1e-4, 1e-6)]
# The error of the textbook's rule is about half of its gap.
TEXTBOOK_GAPS: Sequence[Setting] = [{"tol": tol} for tol in (0.3, 0.02, 1e-4, 1e-6)]
STEPS: Sequence[Setting] = [{"step": step} for step in (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)]  # 1 is the authors'
REGS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
DEFAULT_RTOL, TIGHT_RTOL = 5e-3, 1e-5
REGULARISATIONS: Sequence[Setting] = [
    {"reg": reg, "rtol": rtol, "sinkhorn": sinkhorn}
    for rtol, sinkhorn in ((DEFAULT_RTOL, 100), (TIGHT_RTOL, 1000))
    for reg in REGS
]
SMALLER_IS_SLOWER = ("tol", "step", "reg", "rtol")


class Method(NamedTuple):
    """A method: its names in tables and pictures, how to run it, and its settings from rough to fine."""

    label: str
    title: str
    run: Run
    ladder: Sequence[Setting]


def slower(setting: Setting, than: Setting) -> bool:
    """Whether this setting equals the other, or needs at least as much work to be good enough."""
    return all(setting[name] <= than[name] for name in SMALLER_IS_SLOWER if name in than)


def _once(run: Callable[[bm.Problem, Setting], Outcome]) -> Run:
    """A run with one look, at its end."""

    def looks(problem: bm.Problem, setting: Setting) -> Iterator[Look]:
        yield Look(setting, run(problem, setting))

    return looks


def _exact(name: str) -> Run:
    return _once(lambda problem, setting: Outcome(peers.solve(name, problem, setting["tol"])))


METHODS = {  # a method comes after those that do the same with less work
    "ours": Method("ours", "bisimetric", _exact("ours"), [{"tol": tol} for tol in (0.1, 0.01, 1e-4, CERTIFIED)]),
    "pi-core-lu": Method("PI core LU", "policy iteration, POT core, LU", _exact("pi-core-lu"), GAPS),
    "pi-core-bicgstab": Method(
        "PI core Krylov", "policy iteration, POT core, BiCGSTAB", _exact("pi-core-bicgstab"), GAPS
    ),
    "pi-emd-lu": Method("PI emd", "policy iteration, POT emd, LU", _exact("pi-emd-lu"), GAPS),
    "vi-core-macqueen": Method("VI core", "value iteration, POT core", _exact("vi-core-macqueen"), GAPS),
    "vi-emd2-macqueen": Method("VI emd2", "value iteration, POT emd2", _exact("vi-emd2-macqueen"), GAPS),
    "vi-emd2": Method("VI textbook", "value iteration, POT emd2, textbook stop", _exact("vi-emd2"), TEXTBOOK_GAPS),
    "highs-ipm": Method("HiGHS", "HiGHS, interior point", _exact("highs-ipm"), [{"tol": 0.0}]),
    "pyotc": Method("pyotc", "pyotc, exact, restarted chains", _once(pyotc), [{"scale": 1.0}]),
    "svi-numpy": Method("SVI NumPy", "the paper's SVI, NumPy", numpy_rounds("svi"), STEPS),
    "spi-numpy": Method("SPI NumPy", "the paper's SPI, NumPy", numpy_rounds("spi"), STEPS),
    "ot-markov-distances": Method("ot-m-d", "ot-markov-distances", _once(ot_markov_distances), REGULARISATIONS),
}
THIN_CORE = ("pi-core-lu", "pi-core-bicgstab", "vi-core-macqueen")  # they call the C code without Python overhead
APPROXIMATE = ("ot-markov-distances", "svi-numpy", "spi-numpy")
