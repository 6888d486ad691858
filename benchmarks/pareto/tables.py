"""The time of each peer to a true error of 1 %, compared with ours to a certified relative gap of 1e-6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.comparison import TITLES
from benchmarks.pareto.ladder import reached
from benchmarks.pareto.methods import APPROXIMATE, CERTIFIED, ENOUGH_ERROR, METHODS, THIN_CORE
from benchmarks.pareto.race import ENDED
from benchmarks.tables import Row, Table, digits

SMALLEST = 20  # states of the smallest instance on which ours must be faster
LEGEND = (
    "ours: bisimetric.solve, certified. PI, VI: policy and value iteration on POT's emd or on the C core below it.",
    "pyotc: average cost of chains that restart in one state; SVI, SPI: the paper's methods as plain NumPy arrays;",
    "ot-m-d: ot-markov-distances. The cheapest setting that is good enough, for approximate methods by their distances",
    "or by the exact value of their couplings, whichever is better; the value is free. HiGHS and pyotc have one",
    "setting: with looser tolerances HiGHS ends without an answer, and pyotc does the same work. Median over the seeds",
    "on which it is good enough, with their number where it is not on all. > ended after that many seconds of CPU",
    "before any setting was good enough; † not run, since an easier case was ended; never: no setting is good enough.",
    "SVI, SPI and ot-m-d are run on the first seed only.",
)


class Figure(NamedTuple):
    """What a method needs on an instance at a discount."""

    status: str  # "reached" if it was good enough on a seed; "time-out", "never" or how it failed
    seconds: dict[int, float]  # CPU, by seed, where it was good enough
    factors: dict[int, float]  # times ours, by seed, where both were good enough
    seeds: int  # planned seeds
    run: bool

    @property
    def cpu(self) -> float:
        """The median over the seeds on which it was good enough."""
        return median(self.seconds.values())

    @property
    def factor(self) -> float:
        """The median over the seeds on which both were good enough."""
        return median(self.factors.values())

    @property
    def some(self) -> str:
        """On how many seeds it was good enough, if not on all."""
        return "" if len(self.seconds) == self.seeds else f"{len(self.seconds)} of {self.seeds}"


Key = tuple[str, float, str]  # instance, discount, method


def figures(rows: Sequence[Row]) -> dict[Key, Figure]:
    """The results of all methods, in the order of the rows."""
    grouped: dict[Key, list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["instance"], row["discount"], row["method"]), []).append(row)
    ours = {key[:2]: certified(mine) for key, mine in grouped.items() if key[2] == "ours"}
    return {key: _figure(mine, ours.get(key[:2], {})) for key, mine in grouped.items()}


def certified(rows: Sequence[Row]) -> dict[int, float]:
    """CPU seconds of ours by seed: the median over its runs at the gap that counts."""
    mine = [row for row in rows if row["status"] == "solved" and row["setting"]["tol"] == CERTIFIED]
    seeds = dict.fromkeys(row["seed"] for row in mine)
    return {seed: median(row["cpu"] for row in mine if row["seed"] == seed) for seed in seeds}


def _figure(rows: Sequence[Row], ours: dict[int, float]) -> Figure:
    seeds = len({row["seed"] for row in rows})
    if rows[0]["method"] == "ours":
        seconds = ours
    else:
        good = [row for row in rows if reached(row)]
        seconds = {
            seed: min(row["cpu"] for row in good if row["seed"] == seed) for seed in {row["seed"] for row in good}
        }
    factors = {seed: cpu / ours[seed] for seed, cpu in sorted(seconds.items()) if seed in ours}
    if seconds:
        return Figure("reached", seconds, factors, seeds, True)
    return Figure(*_why([row for row in rows if row["seed"] == rows[0]["seed"]], seeds))


def _why(rows: Sequence[Row], seeds: int) -> tuple[str, dict[int, float], dict[int, float], int, bool]:
    """What became of a ladder without a setting that is good enough, and whether that was seen or concluded."""
    stopped = [row for row in rows if row["status"] in (*ENDED, "interrupted")]
    for row in sorted(stopped, key=lambda row: "not_run_because_of" in row):
        return str(row["status"]), {}, {}, seeds, "not_run_because_of" not in row
    return "failed" if all(row["status"] == "failed" for row in rows) else "never", {}, {}, seeds, True


def tables(rows: Sequence[Row], timeout: float) -> Iterator[Table]:
    """The fastest peers, each peer by itself, seconds by discount, and errors of the approximate ones."""
    found = figures(rows)
    states = {row["instance"]: row["states"] for row in rows if "states" in row}
    yield fastest(found)
    yield by_peer({key: figure for key, figure in found.items() if states.get(key[0], 0) >= SMALLEST})
    discounts = sorted({key[1] for key in found})
    for discount in discounts:
        title = f"CPU seconds to a true error of {ENOUGH_ERROR:.0%} (ours: certified {CERTIFIED:g}), γ = {discount}"
        yield _grid(title, found, discount, timeout)._replace(notes=LEGEND if discount == discounts[-1] else ())
    yield smallest_errors(rows)


def fastest(found: dict[Key, Figure]) -> Table:
    """On each instance at each discount, the peer that needs least and the best one on the thin C core.

    Those that are good enough on more seeds come first; the smallest factor is that of any peer on any seed.
    """
    body, without = [], []
    for instance, discount in dict.fromkeys(key[:2] for key in found):
        mine = found.get((instance, discount, "ours"))
        if mine is None or mine.some:
            without.append(f"No certified answer of ours on all seeds: {TITLES[instance]}, γ = {discount:g}.")
        if mine is None or not mine.seconds:
            continue
        peers = _finished(found, instance, discount)
        line = [TITLES[instance], f"{discount:g}", _cell(mine)]
        if not peers:
            body.append([*line, "none", "", "", "", ""])
            continue
        best = min(peers, key=lambda name: (-len(peers[name].factors), peers[name].factor))
        core = _best_by_seed([peers[name] for name in THIN_CORE if name in peers])
        smallest = min(_best_by_seed(list(peers.values())).values())
        thin = f"{digits(median(core.values()))}×" if core else ""
        factors = f"{digits(peers[best].factor)}×", f"{digits(smallest)}×", thin
        body.append([*line, METHODS[best].label, _cell(peers[best]), *factors])
    head = ["", "γ", f"ours, {CERTIFIED:g}", "fastest peer", f"its {ENOUGH_ERROR:.0%}", "factor", "smallest", "C core"]
    notes = ("Factor: the median over seeds; smallest: of any peer on any seed; C core: its best method, by seed.",)
    title = f"The fastest peer to {ENOUGH_ERROR:.0%} against ours certified to {CERTIFIED:g}"
    return Table(title, head, body, (*notes, *without))


def _best_by_seed(peers: Sequence[Figure]) -> dict[int, float]:
    seeds = sorted({seed for one in peers for seed in one.factors})
    return {seed: min(one.factors[seed] for one in peers if seed in one.factors) for seed in seeds}


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
    cases = sum(
        min(
            len(one.factors),
            max((found[*key[:2], name].seeds for name in members if (*key[:2], name) in found), default=0),
        )
        for key, one in found.items()
        if key[2] == "ours"
    )
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


def _cell(figure: Figure) -> str:
    return digits(figure.cpu) + (f" ({figure.some})" if figure.some else "")


def _seconds(figure: Figure, timeout: float) -> str:
    if figure.status == "reached":
        return _cell(figure)
    why = f"> {digits(timeout)}" if figure.status == "time-out" else figure.status
    return why if figure.run else f"{why} †"


def _grid(title: str, found: dict[Key, Figure], discount: float, timeout: float) -> Table:
    """A table with a row per instance and a column per method."""
    instances = dict.fromkeys(key[0] for key in found if key[1] == discount)
    names = [name for name in METHODS if any(key[2] == name for key in found)]
    body = []
    for instance in instances:
        mine = [found.get((instance, discount, name)) for name in names]
        body.append([TITLES[instance], *(_seconds(one, timeout) if one else "" for one in mine)])
    return Table(title, ["", *(METHODS[name].label for name in names)], body)


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
