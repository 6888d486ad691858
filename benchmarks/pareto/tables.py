"""Who needs how long for a true error of 1 %, and how often that is what ours takes for a certified 1e-6."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.comparison import TITLES
from benchmarks.pareto.ladder import reached
from benchmarks.pareto.methods import CERTIFIED, ENOUGH_ERROR, METHODS, THIN_CORE
from benchmarks.pareto.race import ENDED, SHOWN
from benchmarks.tables import Row, Table, digits

SMALLEST = 20  # states from which ours must be faster
APPROXIMATE = ("ot-markov-distances", "svi-numpy", "spi-numpy")
LEGEND = (
    "ours: bisimetric.solve, certified. PI, VI: policy and value iteration on POT's emd or on the C core below it.",
    "pyotc: average cost of chains that restart in one state; SVI, SPI: the paper's methods as plain NumPy arrays;",
    "ot-m-d: ot-markov-distances. Median over seeds of the cheapest setting that is good enough, for approximate",
    "methods by their distances or by the exact value of their couplings, whichever is better; the value is free.",
    "> ended after that many seconds of CPU before any setting was good enough; † not run, since an easier case was",
    "ended; never: no setting of the ladder is good enough.",
)


class Figure(NamedTuple):
    """What a method needs on an instance at a discount, over the seeds."""

    status: str  # "reached", "time-out", "never", or how it failed
    cpu: float  # seconds, the median; a lower bound after a time-out
    factors: dict[int, float]  # times ours, by seed, where it was good enough
    memory: float  # bytes
    run: bool

    @property
    def factor(self) -> float:
        """The median over the seeds on which it was good enough."""
        return median(self.factors.values())


Key = tuple[str, float, str]  # instance, discount, method


def figures(rows: Sequence[Row], timeout: float) -> dict[Key, Figure]:
    """All of them, in the order of the rows."""
    grouped: dict[Key, list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["instance"], row["discount"], row["method"]), []).append(row)
    ours = {key[:2]: certified(mine) for key, mine in grouped.items() if key[2] == "ours"}
    return {
        key: _of_ours(mine) if key[2] == "ours" else _of_peer(mine, ours[key[:2]], timeout)
        for key, mine in grouped.items()
    }


def certified(rows: Sequence[Row]) -> dict[int, float]:
    """CPU seconds of ours by seed: the median over its runs at the gap that counts."""
    mine = [row for row in rows if row["status"] == "solved" and row["setting"]["tol"] == CERTIFIED]
    seeds = dict.fromkeys(row["seed"] for row in mine)
    return {seed: median(row["cpu"] for row in mine if row["seed"] == seed) for seed in seeds}


def _of_ours(rows: Sequence[Row]) -> Figure:
    seconds = certified(rows)
    return Figure("reached", median(seconds.values()), dict.fromkeys(seconds, 1.0), _memory(rows), True)


def _of_peer(rows: Sequence[Row], ours: dict[int, float], timeout: float) -> Figure:
    if "not_run_because_of" in rows[0]:
        return Figure("time-out", timeout, {}, 0.0, False)
    seconds, factors, status = [], {}, "reached"
    for seed in dict.fromkeys(row["seed"] for row in rows):
        mine = [row for row in rows if row["seed"] == seed]
        good = [row["cpu"] for row in mine if reached(row)]
        seconds.append(min(good, default=timeout))
        if good:
            factors[seed] = seconds[-1] / ours[seed]
        else:
            status = _why(mine)
    return Figure(status, median(seconds), factors, _memory([row for row in rows if reached(row)]), True)


def _why(rows: Sequence[Row]) -> str:
    """What became of a ladder without a setting that is good enough."""
    last = str(rows[-1]["status"])
    if last in (*ENDED, "interrupted") or all(row["status"] == "failed" for row in rows):
        return last
    return "never"


def _memory(rows: Sequence[Row]) -> float:
    return float(max((row["bytes_peak"] - row["bytes_before"] for row in rows), default=0))


def tables(rows: Sequence[Row], timeout: float) -> Iterator[Table]:
    """The fastest peers, each peer by itself, seconds by discount, errors of the approximate ones, and memory."""
    found = figures(rows, timeout)
    states = {row["instance"]: row["states"] for row in rows if "states" in row}
    yield fastest(found)
    yield by_peer({key: figure for key, figure in found.items() if states[key[0]] >= SMALLEST})
    discounts = sorted({key[1] for key in found})
    for discount in discounts:
        title = f"CPU seconds to a true error of {ENOUGH_ERROR:.0%} (ours: certified {CERTIFIED:g}), γ = {discount}"
        yield _grid(title, found, discount, _seconds, LEGEND if discount == discounts[-1] else ())
    yield smallest_errors(rows)
    shown = SHOWN if SHOWN in discounts else discounts[-1]
    title = f"Peak memory in MB above the process before the run, γ = {shown}"
    yield _grid(title, found, shown, lambda one: f"{one.memory / 1e6:.0f}" if one.status == "reached" else "", ())


def fastest(found: dict[Key, Figure]) -> Table:
    """On each instance at each discount, the peer that needs least and the best one on the thin C core."""
    body = []
    for instance, discount, _ in (key for key in found if key[2] == "ours"):
        peers = _finished(found, instance, discount)
        line = [TITLES[instance], f"{discount:g}", digits(found[instance, discount, "ours"].cpu)]
        if not peers:
            body.append([*line, "none", "", "", "", ""])
            continue
        best = min(peers, key=lambda name: peers[name].factor)
        core = min((peers[name].factor for name in THIN_CORE if name in peers), default=None)
        one = peers[best]
        factors = f"{digits(one.factor)}×", f"{digits(min(one.factors.values()))}×"
        thin = f"{digits(core)}×" if core else ""
        body.append([*line, METHODS[best].label, digits(one.cpu), *factors, thin])
    head = [
        "",
        "γ",
        f"ours, {CERTIFIED:g}",
        "fastest peer",
        f"its {ENOUGH_ERROR:.0%}",
        "factor",
        "worst seed",
        "C core",
    ]
    return Table(f"The fastest peer to {ENOUGH_ERROR:.0%} against ours certified to {CERTIFIED:g}", head, body)


def _finished(found: dict[Key, Figure], instance: str, discount: float) -> dict[str, Figure]:
    return {
        key[2]: figure
        for key, figure in found.items()
        if key[:2] == (instance, discount) and key[2] != "ours" and figure.factors
    }


def by_peer(found: dict[Key, Figure]) -> Table:
    """How often each peer is good enough in time, and its smallest factor to ours."""
    names = [name for name in METHODS if name != "ours" and any(key[2] == name for key in found)]
    groups: dict[str, tuple[str, ...]] = {METHODS[name].label: (name,) for name in names}
    groups |= {"thin C core, best": THIN_CORE, "any peer, best": tuple(names)}
    body = [_peer_line(label, members, found) for label, members in groups.items()]
    head = ["", "cases", "finished", "ours faster", "smallest factor", "where", "median factor", "largest"]
    notes = (
        f"Cases: instances with n ≥ {SMALLEST}, discounts, seeds. Factor: CPU seconds of the peer to a true error of",
        f"{ENOUGH_ERROR:.0%}, by those of ours to a certified {CERTIFIED:g}; over the cases that it finishes.",
    )
    return Table(f"Peers by themselves, n ≥ {SMALLEST}", head, body, notes)


def _peer_line(label: str, members: Sequence[str], found: dict[Key, Figure]) -> list[str]:
    cases = sum(len(one.factors) for key, one in found.items() if key[2] == "ours")
    factors: dict[tuple[tuple[str, float], int], float] = {}
    for (instance, discount, method), one in found.items():
        if method in members:
            for seed, factor in one.factors.items():
                case = (instance, discount), seed
                factors[case] = min(factor, factors.get(case, factor))
    line = [label, str(cases), str(len(factors))]
    if not factors:
        return [*line, "", "", "", "", ""]
    (instance, discount), _ = worst = min(factors, key=lambda case: factors[case])
    faster = sum(factor > 1.0 for factor in factors.values())
    where = f"{TITLES[instance]}, γ = {discount:g}"
    spread = f"{digits(median(factors.values()))}×", f"{digits(max(factors.values()))}×"
    return [*line, str(faster), f"{factors[worst]:.2f}×", where, *spread]


def _seconds(figure: Figure) -> str:
    if figure.status == "time-out":
        return f"> {digits(figure.cpu)}{'' if figure.run else ' †'}"
    return digits(figure.cpu) if figure.status == "reached" else figure.status


def _grid(
    title: str, found: dict[Key, Figure], discount: float, cell: Callable[[Figure], str], notes: Sequence[str]
) -> Table:
    """Instances by methods."""
    instances = dict.fromkeys(key[0] for key in found if key[1] == discount)
    names = [name for name in METHODS if any(key[2] == name for key in found)]
    body = []
    for instance in instances:
        mine = [found.get((instance, discount, name)) for name in names]
        body.append([TITLES[instance], *(cell(one) if one else "" for one in mine)])
    return Table(title, ["", *(METHODS[name].label for name in names)], body, notes)


def smallest_errors(rows: Sequence[Row]) -> Table:
    """How far the approximate methods get before they are ended, by their distances and by their couplings."""
    columns = [(name, kind) for name in APPROXIMATE for kind in ("error", "policy_error")]
    columns = [column for column in columns if any(row["method"] == column[0] and column[1] in row for row in rows)]
    body = []
    for instance, discount in dict.fromkeys((row["instance"], row["discount"]) for row in rows):
        mine = [row for row in rows if (row["instance"], row["discount"]) == (instance, discount)]
        cells = []
        for name, kind in columns:
            errors = [row[kind] for row in mine if row["method"] == name and kind in row]
            cells.append(f"{min(errors):.1%}" if errors else "")
        if any(cells):
            body.append([TITLES[instance], f"{discount:g}", *cells])
    kinds = {"error": "distances", "policy_error": "couplings"}
    head = ["", "γ", *(f"{METHODS[name].label}, {kinds[kind]}" for name, kind in columns)]
    notes = ("The best setting on any seed; a ladder ends where it is good enough.",)
    return Table("Smallest true errors of the approximate methods", head, body, notes)
