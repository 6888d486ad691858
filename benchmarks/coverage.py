"""How often the statements of `compare` about simulated logs are right, and how wide they are.

    size        how often the permutation test finds a change at level 0.05 where there is none
    power       how often it finds one, by the size of the change and the number of sequences
    guarantee   how often the interval for the processes holds the true distance; at least 95 of 100 times are promised
    bootstrap   the same for the bootstrap intervals, which promise nothing near zero

A process is a random chain with four successors a state, known rewards from 0 to 1 as cost, and starts in three states.
Sequences have random lengths, twelve steps in the mean, that do not depend on their states. A *different* process mixes
a third of all rows with other ones. `widths` compares the guarantee with what the largest radius everywhere would give,
γ/(1-γ)·½(max r_x + max r_y)·span V on either side, from the same radii.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

import bisimetric as bm
from benchmarks.tables import Row, Table
from bisimetric.estimation.intervals import bootstrap_intervals, permutation_p_value
from bisimetric.estimation.pooled import pooled
from bisimetric.estimation.resampling import BOOTSTRAP, NULL, Resampling
from bisimetric.models.confidence import within_confidence
from bisimetric.models.estimated import EstimatedChain, SequenceCounts

DISCOUNT, LEVEL, CONFIDENCE = 0.8, 0.05, 0.95
SUCCESSORS, STARTS, MEAN_LENGTH, LONGEST = 4, 3, 12, 60
MIXED_ROWS, MIXED_SHARE = 1 / 3, 0.5  # of a different process
RESAMPLES, BOOTSTRAPS = 19, 59  # a test at level 1/20 is exact with 19
MOST_REPEATED = 5_000  # states times sequences of settings with more tests and bootstraps
WORKERS, CHUNK = 2, 25  # processes; repetitions that one does at a time
SETTLED_TO = 1e-8  # relative gap of the solves that resamples start from


class Setting(NamedTuple):
    """One kind of log, and what is done with it."""

    states: int
    sequences: int
    share: float  # of another process in the rows that differ; 0 for the same process twice
    repetitions: int
    guaranteed: int = 0  # repetitions with a guarantee, the first ones
    bootstrapped: int = 0  # repetitions with bootstrap intervals
    tested: bool = True  # with a permutation test


def settings(*, quick: bool) -> list[Setting]:
    """Size and coverage for 10 and 50 states; then power, for 10 states."""
    many, few = (20, 10) if quick else (500, 60)
    found = []
    for states, sequences in ((10, 50), (10, 500), (10, 5000), (50, 50), (50, 5000)):
        is_small = states * sequences <= MOST_REPEATED
        found += [
            Setting(states, sequences, 0.0, many * (2 if is_small else 1), many, many if is_small else many // 5),
            Setting(states, sequences, MIXED_SHARE, many, many, many if is_small else many // 5, tested=states == 10),
        ]
    changes, sizes = (0.1, 0.2, 0.4), (50, 200, 1000, 5000)
    return found + [Setting(10, sequences, share, few) for share in changes for sequences in sizes]


class Process(NamedTuple):
    """A Markov chain that logs are simulated from."""

    rows: npt.NDArray[np.float64]
    start: npt.NDArray[np.float64]
    reward: npt.NDArray[np.float64]

    def chain(self) -> bm.MarkovChain:
        """As a chain."""
        return bm.MarkovChain(self.rows, start=self.start, reward=self.reward)


def process(states: int, share: float = 0.0) -> Process:
    """A random process; with a share, a third of its rows is mixed with other rows."""
    random = np.random.default_rng(states)
    rows, others = (_random_rows(states, random) for _ in range(2))
    reward = np.linspace(0.0, 1.0, states)
    start = np.zeros(states)
    start[random.choice(states, STARTS, replace=False)] = [0.5, 0.3, 0.2]
    mixed = random.random(states) < MIXED_ROWS
    mixed[np.argmax(start)] = True
    rows[mixed] = (1.0 - share) * rows[mixed] + share * others[mixed]
    return Process(rows, start, reward)


def _random_rows(states: int, random: np.random.Generator) -> npt.NDArray[np.float64]:
    rows = np.zeros((states, states))
    for row in rows:
        row[random.choice(states, SUCCESSORS, replace=False)] = random.dirichlet(np.ones(SUCCESSORS))
    return rows


def simulated(truth: Process, sequences: int, random: np.random.Generator) -> EstimatedChain:
    """The chain that a log of so many sequences gives."""
    states = len(truth.rows)
    lengths = np.minimum(1 + random.geometric(1.0 / (MEAN_LENGTH - 1), sequences), LONGEST)
    at = random.choice(states, size=sequences, p=truth.start)
    first, cumulated = at.copy(), truth.rows.cumsum(axis=1)
    cumulated[:, -1] = 1.0
    who, moves = [], []
    for step in range(1, int(lengths.max())):
        after = (random.random(sequences)[:, None] > cumulated[at]).sum(axis=1)
        going = np.flatnonzero(lengths > step)
        who.append(going)
        moves.append((at * states + after)[going])
        at = after
    known, column = np.unique(np.concatenate(moves), return_inverse=True)
    counts = sparse.csr_array(
        (np.ones(len(column), np.int64), (np.concatenate(who), column)), shape=(sequences, len(known))
    )
    counts.sum_duplicates()
    log = SequenceCounts(states, known // states, known % states, first, counts, None, None)
    return EstimatedChain(log, [f"s{k}" for k in range(states)])


def measure(quick: bool, progress: Callable[[str], None]) -> list[Row]:
    """One row for each setting; then the widths."""
    wanted = settings(quick=quick)
    rows = []
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as workers:
        parts = [[workers.submit(repetitions, setting, k) for k in chunks(setting)] for setting in wanted]
        for setting, found in zip(wanted, parts, strict=True):
            rows.append(summary(setting, [one for part in found for one in part.result()]))
            progress(", ".join(f"{name} {value}" for name, value in rows[-1].items()))
    return rows + [width(name) for name in EXAMPLES]


def chunks(setting: Setting) -> list[range]:
    """The numbers of all repetitions, in parts for different processes."""
    return [range(k, min(k + CHUNK, setting.repetitions)) for k in range(0, setting.repetitions, CHUNK)]


def repetitions(setting: Setting, numbers: range) -> list[dict[str, float]]:
    """What each of these repetitions finds; repetition k has the seed (states, sequences, k)."""
    before, after = process(setting.states), process(setting.states, setting.share)
    truth = _truth(setting)
    found = []
    for number in numbers:
        began = time.process_time()
        found.append(_once(setting, before, after, truth, number) | {"cpu_s": time.process_time() - began})
    return found


def _truth(setting: Setting) -> float:
    before, after = process(setting.states), process(setting.states, setting.share)
    return bm.distance(before.chain(), after.chain(), discount=DISCOUNT).distance


def summary(setting: Setting, found: list[dict[str, float]]) -> Row:
    """Means over repetitions, each over those that have the number; and the CPU seconds of all."""
    mean = {name: rounded(np.mean([one[name] for one in found if name in one])) for name in found[0]}
    return {
        "kind": "logs",
        **setting._asdict(),
        "truth": rounded(_truth(setting)),
        **mean,
        "cpu_s": round(sum(one["cpu_s"] for one in found), 1),
    }


def _once(setting: Setting, before: Process, after: Process, truth: float, number: int) -> dict[str, float]:
    random = np.random.default_rng((setting.states, setting.sequences, number))
    a, b = simulated(before, setting.sequences, random), simulated(after, setting.sequences, random)
    cost = np.abs(np.subtract.outer(before.reward, after.reward))
    solution = bm.distance(a, b, discount=DISCOUNT, cost=cost, tol=SETTLED_TO)
    resampling = Resampling(pooled(a, b), DISCOUNT, cost, False, number, posed=solution.problem)
    found = {"distance": solution.distance}
    if setting.tested:
        near = _from_neighbour(resampling, NULL)
        null = np.array([near.distance(NULL, k) for k in range(RESAMPLES)])
        observed = near.distance_of(resampling.logs.split(), near.neighbours[NULL])
        found |= {"null": float(np.median(null)), "rejected": float(permutation_p_value(observed, null) <= LEVEL)}
    if number < setting.guaranteed:
        known = bm.guarantee(solution, confidence=CONFIDENCE, extrapolate=False)
        found |= {"guarantee": float(known.low <= truth <= known.high), "guarantee_width": known.high - known.low}
    if number < setting.bootstrapped:
        near = _from_neighbour(resampling, BOOTSTRAP)
        drawn = np.array([near.distance(BOOTSTRAP, k) for k in range(BOOTSTRAPS)])
        intervals = bootstrap_intervals(solution.distance, drawn, CONFIDENCE)
        for name, (low, high) in (("bootstrap", intervals.corrected), ("percentile", intervals.percentile)):
            found[name] = float(low <= truth <= high)
        found["bootstrap_width"] = intervals.corrected[1] - intervals.corrected[0]
    return found


def _from_neighbour(resampling: Resampling, kind: int) -> Resampling:
    """Resamples of a kind that start from a solved one, as in `compare`."""
    weights = resampling.weights(NULL, 0) if kind == NULL else resampling.logs.split()
    return resampling.started_from(kind, bm.solve(resampling.problem(weights), tol=SETTLED_TO, quotient=False))


# ------------------------------------------------------------------ widths


def _shop() -> Example:
    """An online shop before and after a release: ten pages, of which some are rarely seen."""
    pages = np.array([
        [0.20, 0.45, 0.20, 0.00, 0.00, 0.10, 0.02, 0.02, 0.01, 0.00],
        [0.10, 0.30, 0.40, 0.09, 0.00, 0.10, 0.00, 0.01, 0.00, 0.00],
        [0.10, 0.30, 0.20, 0.29, 0.00, 0.10, 0.00, 0.01, 0.00, 0.00],
        [0.00, 0.10, 0.10, 0.20, 0.48, 0.10, 0.01, 0.00, 0.01, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.10, 0.90, 0.00, 0.00, 0.00, 0.00],
        [0.00, 0.00, 0.00, 0.00, 0.00, 1.00, 0.00, 0.00, 0.00, 0.00],
        [0.50, 0.00, 0.00, 0.00, 0.00, 0.20, 0.25, 0.00, 0.00, 0.05],
        [0.30, 0.30, 0.00, 0.00, 0.00, 0.20, 0.00, 0.20, 0.00, 0.00],
        [0.20, 0.00, 0.00, 0.30, 0.00, 0.20, 0.10, 0.00, 0.20, 0.00],
        [0.50, 0.00, 0.00, 0.00, 0.00, 0.50, 0.00, 0.00, 0.00, 0.00],
    ])  # fmt: skip
    later = pages.copy()
    later[1, 2:4] = [0.10, 0.39]
    later[3, 2:5] = [0.30, 0.38, 0.10]
    reward = np.zeros(10)
    reward[4] = 1.0
    return Example(Process(pages, np.eye(10)[0], reward), Process(later, np.eye(10)[0], reward), 20_000, 0.8)


def _sparse() -> Example:
    """The random process of 50 states and a different one."""
    return Example(process(50), process(50, MIXED_SHARE), 50_000, 0.8)


def _rooms() -> Example:
    """4-rooms, p1 and p0 with slips, from their own starts; far rooms are rarely seen."""
    made = []
    for name in ("four-rooms:p1", "four-rooms:p0"):
        chain = bm.as_chain(name)
        assert chain.start is not None
        assert chain.reward is not None
        rows = 0.9 * chain.transitions.toarray() + 0.1 * np.eye(chain.n_states)
        made.append(Process(rows, chain.start, chain.reward))
    return Example(made[0], made[1], 50_000, 0.8)


class Example(NamedTuple):
    """Two processes, the sequences of each log, and a discount."""

    before: Process
    after: Process
    sequences: int
    discount: float


EXAMPLES: dict[str, Callable[[], Example]] = {
    "shop, 10 pages": _shop,
    "random, 50 states": _sparse,
    "4-rooms, 40 states": _rooms,
}


def width(name: str) -> Row:
    """The guarantee of an example, and the interval that the largest radius everywhere gives."""
    before, after, sequences, discount = EXAMPLES[name]()
    random = np.random.default_rng(0)
    logs = [simulated(log, sequences, random) for log in (before, after)]
    cost = np.abs(np.subtract.outer(before.reward, after.reward))
    solution = bm.distance(*logs, discount=discount, cost=cost)
    problem = solution.problem
    failure = (1.0 - CONFIDENCE) / (sum(problem.shape) + 2)
    chains = [within_confidence(log, failure) for log in logs]
    known = bm.guarantee(solution, confidence=CONFIDENCE)
    span, top = float(np.ptp(solution.value)), float(problem.cost.max()) / (1.0 - discount)
    rows = 0.5 * sum(float(chain.row_error.max()) for chain in chains)
    starts = 0.5 * sum(chain.start_error for chain in chains)
    slack = (discount / (1.0 - discount) * rows + starts) * span
    low, high = max(solution.distance - slack, 0.0), min(solution.distance + slack, top)
    return {
        "kind": "width",
        "example": name,
        "states": problem.shape[0],
        "sequences": sequences,
        "discount": discount,
        "distance": rounded(solution.distance),
        "largest_radius": rounded(max(chain.row_error.max() for chain in chains)),
        "guarantee": [rounded(known.low), rounded(known.high)],
        "uniform": [rounded(low), rounded(high)],
        "share": rounded((known.high - known.low) / (high - low)),
        "growth": None if known.growth is None else rounded(known.growth),
    }


# ------------------------------------------------------------------ tables


def tables(rows: Sequence[Row]) -> list[Table]:
    """Coverage by setting, power, and widths."""
    covered = [row for row in rows if row.get("guaranteed")]
    power = [row for row in rows if row["kind"] == "logs" and not row["guaranteed"]]
    wide = [row for row in rows if row["kind"] == "width"]
    head = [
        "processes", "repetitions", "true distance", "estimated", "null", "change found", "guarantee", "width",
        "bootstrap", "width", "percentile",
    ]  # fmt: skip
    body = [
        [
            f"{'same' if row['share'] == 0 else 'different'}, {row['states']} states, {row['sequences']} sequences",
            str(row["repetitions"]),
            *(f"{row[name]:.3f}" if name in row else "" for name in ("truth", "distance", "null")),
            *(f"{100 * row[name]:.1f} %" if name in row else "" for name in ("rejected", "guarantee")),
            f"{row['guarantee_width']:.2f}",
            f"{100 * row['bootstrap']:.0f} %",
            f"{row['bootstrap_width']:.2f}",
            f"{100 * row['percentile']:.0f} %",
        ]
        for row in covered
    ]
    many = max((row["guaranteed"] for row in covered), default=0)
    few, most = (pick((row["bootstrapped"] for row in covered), default=0) for pick in (min, max))
    notes = [
        "change found: permutation test at level 5 %; the same process twice should give 5 %.",
        "guarantee, bootstrap, percentile: how often the interval with confidence 95 % holds the true distance.",
        f"Guarantees are from the first {many} repetitions; bootstraps, with {BOOTSTRAPS} resamples, from the first "
        f"{few} to {most}.",
    ]
    counts = sorted({row["sequences"] for row in power})
    lines = []
    for share in sorted({row["share"] for row in power}):
        mine = {row["sequences"]: row for row in power if row["share"] == share}
        lines.append([f"{100 * share:.0f} % mixed", *(f"{100 * mine[count]['rejected']:.0f} %" for count in counts)])
    widths = [
        [
            f"{row['example']}, {row['sequences']} sequences",
            f"{row['distance']:.3f}",
            "{:.3f} to {:.3f}".format(*row["guarantee"]),
            "{:.3f} to {:.3f}".format(*row["uniform"]),
            f"{row['share']:.2f}",
            "" if row["growth"] is None else f"{row['growth']:.3g}",
        ]
        for row in wide
    ]
    names = ["example", "estimated", "guarantee", "largest radius everywhere", "width, ratio", "data needed, times"]
    return [
        Table(f"How often statements are right, γ = {DISCOUNT}", head, body, notes),
        Table("How often a change is found, 10 states", ["change", *map(str, counts)], lines),
        Table("Width of the guarantee", names, widths),
    ]


def rounded(value: Any) -> float:
    """A number with three digits, which is more than the repetitions tell."""
    return float(f"{value:.3g}")
