"""The search for the settings of a method: the same for all methods.

For each setting of a ladder the number of rounds is sought on one grid of numbers, a factor of about STEP apart: the
first after which the couplings, rounded, have the wanted error. A setting is given up when it has taken longer than the
best one so far, or longer than a limit, or when its error stalls. Time is CPU time of the rounds, without the
evaluations by which the search sees the error. Methods that have to know their number of rounds beforehand run anew for
each number.

The settings that were best on a smaller problem of the same kind come first, from a quarter of the rounds that they
took there, because then the others are given up early. On further seeds the best are tried first, and the others only
if those miss an error.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bisimetric.experiments.methods import Setting
from bisimetric.experiments.rounds import iterates, relative_error, value_of
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem

STEP = 1.3  # about the ratio of two numbers of rounds
MOST_ROUNDS_TRIED = 20_000
SIGHT = 1e-5  # residual of V^π when the search looks at the error, relative to the largest cost
STALL, STALLED = 8, 0.98  # a run is given up if that many times the rounds do not bring the error below that share
EARLIER = 4  # on another problem the search begins at the rounds divided by this


class Found(NamedTuple):
    """A setting that reaches an error: the rounds and CPU seconds that it takes, and the error then."""

    setting: str
    rounds: int
    seconds: float
    error: float


Best = dict[float, list[Found]]  # for each target, best first


def grid_of_rounds() -> list[int]:
    """1, 2, 3, 4, 5, 7, 9, … up to MOST_ROUNDS_TRIED."""
    numbers, k = [1], 1.0
    while numbers[-1] < MOST_ROUNDS_TRIED:
        k = max(k * STEP, numbers[-1] + 1)
        numbers.append(int(k))
    return numbers[:-1]


def search(
    problem: Problem,
    exact: Floats,
    ladder: Mapping[str, Setting],
    targets: Sequence[float],
    limit: float,
    earlier: Best | None = None,
    *,
    few: bool = False,
) -> Best:
    """For each target the settings that reach it, fastest first.

    `earlier` is what was found on another problem; with `few` only those settings are tried if they reach all targets.
    """
    first = _first_rounds(earlier, ladder)
    known = {one.setting for settings in (earlier or {}).values() for one in settings}
    found: Best = {target: [] for target in targets}
    for name, rounds in first.items():
        if few and name not in known and all(found.values()):
            break
        bounds = {target: found[target][0].seconds if found[target] else limit for target in targets}
        for target, hit in _climb(problem, exact, ladder[name], bounds, rounds).items():
            found[target].append(Found(name, *hit))
            found[target].sort(key=lambda one: one.seconds)
    return found


def _first_rounds(earlier: Best | None, ladder: Mapping[str, Setting]) -> dict[str, int]:
    """The settings in the order in which to try them, and with how many rounds to begin."""
    first: dict[str, int] = {}
    for target in sorted(earlier or {}):  # the hardest first
        for one in (earlier or {})[target]:
            first[one.setting] = min(first.get(one.setting, one.rounds), max(1, one.rounds // EARLIER))
    return first | {name: 1 for name in ladder if name not in first}


def _climb(
    problem: Problem, exact: Floats, setting: Setting, bounds: Mapping[float, float], first: int
) -> dict[float, tuple[int, float, float]]:
    """For each target that is reached within its bound on the seconds: rounds, seconds and error."""
    looks = [k for k in grid_of_rounds() if k >= first]
    run = _one_by_one if setting.needs_rounds else _in_one_run
    found: dict[float, tuple[int, float, float]] = {}
    for k, seconds, error in run(problem, exact, setting, looks, max(bounds.values())):
        for target, bound in bounds.items():
            if target not in found and error <= target and seconds <= bound:
                found[target] = (k, seconds, error)
        open_bounds = [bound for target, bound in bounds.items() if target not in found]
        if not open_bounds or seconds > max(open_bounds):
            break
    return found


def _in_one_run(
    problem: Problem, exact: Floats, setting: Setting, looks: Sequence[int], most: float
) -> Iterator[tuple[int, float, float]]:
    """Rounds, seconds and error at the looks of one run."""
    wanted, spent, value = set(looks), 0.0, exact
    errors: dict[int, float] = {}
    began = time.process_time()
    for k, iterate in iterates(problem, setting.with_rounds(looks[-1])):
        if k not in wanted and not iterate.finished:
            if k % 64 == 0 and spent + time.process_time() - began > most:
                return
            continue
        spent += time.process_time() - began
        value = _value(problem, iterate, value)
        errors[k] = relative_error(value, exact)
        yield k, spent, errors[k]
        if any(STALLED * error < errors[k] for before, error in errors.items() if STALL * before <= k):
            return
        began = time.process_time()


def _one_by_one(
    problem: Problem, exact: Floats, setting: Setting, looks: Sequence[int], most: float
) -> Iterator[tuple[int, float, float]]:
    """The same with a run for every number of rounds."""
    value = exact
    for k in looks:
        if k < FEWEST_IN_PHASES:
            continue
        began = time.process_time()
        *_, (_, iterate) = iterates(problem, setting.with_rounds(k))
        spent = time.process_time() - began
        value = _value(problem, iterate, value)
        yield k, spent, relative_error(value, exact)


FEWEST_IN_PHASES = 6  # of a run in two phases


def _value(problem: Problem, iterate: Any, guess: Floats) -> Floats:
    return value_of(iterate.factored, guess, SIGHT * float(problem.cost.max()))
