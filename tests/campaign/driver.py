"""Examine many problems: one at a time, each from its own seed, in one process or several."""

from __future__ import annotations

import signal
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

import bisimetric as bm
from bisimetric.solving import chains
from tests.campaign.cases import make_case
from tests.campaign.checks import CHECKS
from tests.campaign.findings import Finding

NOT_PROMISED = 1e-12  # if 1 - γ is smaller, a function may refuse to answer
SECONDS = 30  # limit on the CPU seconds of one check; no problem here needs a tenth of it
WAITING = 600  # limit on the wall seconds of one check, for deadlocks
AT_ONCE = 100  # problems that a worker takes at a time


class TookTooLong(Exception):
    """A check ran into the limit."""


class Trouble(NamedTuple):
    """A finding, and how to see it again."""

    number: str  # seed-number
    kind: str
    check: str
    finding: Finding
    problem: str

    def __str__(self) -> str:
        what = "gave up" if self.finding.gave_up else "VIOLATION"
        again = f"--only {self.number} --kind {self.kind!r}"
        return f"{what} {again} | {self.problem} | {self.finding.text}"


@dataclass
class Report:
    """What was run and what was found; reports add up."""

    problems: Counter[str] = field(default_factory=Counter)  # by kind
    checks: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # checks that ended with an error about the question
    statuses: Counter[str] = field(default_factory=Counter)  # of the default solver
    troubles: list[Trouble] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Add the counts of another report."""
        for name in ("problems", "checks", "refused", "statuses"):
            getattr(self, name).update(getattr(other, name))
        self.troubles += other.troubles

    @property
    def violations(self) -> list[Trouble]:
        """Wrong answers."""
        return [trouble for trouble in self.troubles if not trouble.finding.gave_up]

    @property
    def gave_up(self) -> list[Trouble]:
        """Missing answers, and answers outside their tolerance, that rounding does not explain."""
        return [trouble for trouble in self.troubles if trouble.finding.gave_up]


def examine(seed: int, number: int, kind: str | None = None, checks: Sequence[str] | None = None) -> Report:
    """Run all checks on one problem that their shares (or the caller) select, each with its own random numbers.

    In every second problem, however small, `solve` looks for bisimilar states before it solves.
    """
    fewest = 1 if number % 2 else chains.FEWEST_PAIRS
    with patch.object(chains, "FEWEST_PAIRS", fewest):
        return _examine(seed, number, kind, checks)


def _examine(seed: int, number: int, kind: str | None, checks: Sequence[str] | None) -> Report:
    report = Report()
    case = make_case(seed, number, kind)
    report.problems[case.kind] += 1
    for name, check in CHECKS.items():
        case.random = np.random.default_rng([seed, number, zlib.crc32(name.encode())])
        drawn = case.random.random() < check.share
        if not (drawn if checks is None else name in checks):
            continue
        report.checks[name] += 1
        try:
            with _limited():
                found = list(check.run(case))
        except bm.errors.InvalidProblem as error:  # for example, values that overflow
            report.refused[f"{name}: {str(error).split(':')[0][:40]}"] += 1
            continue
        except (bm.errors.SolverFailed, TookTooLong) as error:
            if isinstance(error, bm.errors.SolverFailed) and 1.0 - case.discount < NOT_PROMISED:
                report.refused[f"{name}: {type(error).__name__}"] += 1
                continue
            found = [Finding(f"{name}: {type(error).__name__} {str(error)[:150]}", gave_up=True)]
        except Exception as error:
            found = [Finding(f"{name}: raised {type(error).__name__}: {str(error)[:150]}")]
        report.troubles += [Trouble(case.name, case.kind, name, finding, repr(case)) for finding in found]
    if "solution" in vars(case):
        report.statuses[case.solution.status.name] += 1
    return report


def run(seed: int, numbers: Sequence[int], kind: str | None = None, checks: Sequence[str] | None = None) -> Report:
    """Several problems in this process; warnings are errors."""
    report = Report()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            report.add(examine(seed, number, kind, checks))
    return report


def run_parallel(
    seed: int, count: int, jobs: int, kind: str | None = None, checks: Sequence[str] | None = None
) -> Iterator[Report]:
    """Run problems 0 to count - 1 in `jobs` processes; yields reports in any order."""
    parts = [(seed, range(k, min(k + AT_ONCE, count)), kind, checks) for k in range(0, count, AT_ONCE)]
    with get_context("spawn").Pool(jobs, maxtasksperchild=100) as pool:
        yield from pool.imap_unordered(_run, parts)


def _run(part: tuple[int, range, str | None, Sequence[str] | None]) -> Report:
    return run(*part)


@contextmanager
def _limited() -> Iterator[None]:
    """Raise TookTooLong after SECONDS of work, or WAITING seconds of wall time."""

    def stop(*_: object) -> None:
        raise TookTooLong(f"no answer after {SECONDS} s of work or {WAITING} s")

    timers = (signal.ITIMER_PROF, signal.SIGPROF, SECONDS), (signal.ITIMER_REAL, signal.SIGALRM, WAITING)
    before = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, seconds in timers:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
