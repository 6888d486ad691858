"""True distances without rounding, fast enough for a few hundred thousand small problems.

All arithmetic is on integers. Rows are in grains of 2⁻⁵², floats are ratios whose denominator is a power of two, and a
result is a `Ratio` of two integers, never reduced: comparing it with a float needs one multiplication.

    distances       policy iteration; transports by a simplex method, policies by fraction-free elimination
    games           Hoffman-Karp iteration with the same two parts
    optimal_values  policy iteration of a decision process
    linear_values   V = c + γΠV for given rows: rewards of a chain, the value of the independent coupling

Where every pair has at most one successor besides itself (deterministic chains, paths against one state), the linear
system is a closed form along the path and around its cycle, for any number of pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import gcd
from typing import NamedTuple

GRAINS = 2**52  # stored probabilities are multiples of 1 / GRAINS
Row = list[tuple[int, int]]  # (state, grains), positive
Moves = list[tuple[int, int]]  # (flat pair, grains)


class Ratio(NamedTuple):
    """above / below, not reduced; below > 0."""

    above: int
    below: int

    def at_least(self, x: float) -> bool:
        """Whether this is x or more; infinities are allowed."""
        if x in (float("inf"), float("-inf")):
            return x < 0
        p, q = float(x).as_integer_ratio()
        return self.above * q >= p * self.below

    def at_most(self, x: float) -> bool:
        """Whether this is x or less."""
        return Ratio(-self.above, self.below).at_least(-x)

    def plus(self, other: Ratio, sign: int = 1) -> Ratio:
        """This plus `sign` times another."""
        return Ratio(self.above * other.below + sign * other.above * self.below, self.below * other.below)

    def size(self) -> Ratio:
        """The absolute value."""
        return Ratio(abs(self.above), self.below)

    def __float__(self) -> float:
        shift = max(0, self.above.bit_length() - self.below.bit_length() - 960)
        return (self.above >> shift) / self.below * 2.0**shift if shift else self.above / self.below


class Costs(NamedTuple):
    """Whole numbers over one denominator."""

    above: list[int]
    below: int


def whole(numbers: Iterable[float]) -> Costs:
    """Floats over one power of two."""
    ratios = [float(x).as_integer_ratio() for x in numbers]
    below = max((q for _, q in ratios), default=1)
    return Costs([p * (below // q) for p, q in ratios], below)


def reward_gaps(mine: Sequence[float], theirs: Sequence[float]) -> Costs:
    """|r - r'| for all pairs, row by row."""
    all_of_them = whole([*mine, *theirs])
    left, right = all_of_them.above[: len(mine)], all_of_them.above[len(mine) :]
    return Costs([abs(a - b) for a in left for b in right], all_of_them.below)


def normalised(costs: Costs, gamma: float) -> Costs:
    """Times 1 - γ."""
    g, unit = gamma.as_integer_ratio()
    return Costs([a * (unit - g) for a in costs.above], costs.below * unit)


def rows_of(matrix) -> list[Row]:
    """The rows of a csr array of exact probabilities, in grains."""
    bounds, states, grains = matrix.indptr.tolist(), matrix.indices.tolist(), (matrix.data * GRAINS).tolist()
    rows = [[(states[k], int(grains[k])) for k in range(a, b)] for a, b in pairwise(bounds)]
    assert all(sum(mass for _, mass in row) == GRAINS for row in rows)
    return rows


# ------------------------------------------------------------------ one linear system


def linear_values(moves: list[Moves], costs: Costs, gamma: float) -> list[Ratio]:
    """V = c + γΠV; a pair without moves stops."""
    g, unit = gamma.as_integer_ratio()
    unit *= GRAINS
    if all(sum(to != k for to, _ in row) <= 1 for k, row in enumerate(moves)):
        found = _along_paths(moves, costs.above, g, unit)
    else:
        found = _eliminate(moves, costs.above, g, unit)
    return [Ratio(above, below * costs.below) for above, below in found]


def _along_paths(moves: list[Moves], cost: list[int], g: int, unit: int) -> list[tuple[int, int]]:
    """(unit - g·stay)·v = unit·c + g·go·v(next), from the end of every path, or around its cycle, backwards."""
    step = []
    for k, row in enumerate(moves):
        stay = sum(mass for to, mass in row if to == k)
        go, to = next(((mass, to) for to, mass in row if to != k), (0, -1))
        common = gcd(unit, g * go, unit - g * stay)
        step.append((unit // common, g * go // common, (unit - g * stay) // common, to))
    known: list[tuple[int, int] | None] = [None] * len(moves)
    for first in range(len(moves)):
        path, at = [], first
        place: dict[int, int] = {}
        while at >= 0 and known[at] is None and at not in place:
            place[at] = len(path)
            path.append(at)
            at = step[at][3]
        if at >= 0 and known[at] is None:  # a new cycle: v = (a + b·v) / d around it
            a, b, d = 0, 1, 1
            for k in reversed(path[place[at] :]):
                a, b, d = step[k][0] * cost[k] * d + step[k][1] * a, step[k][1] * b, step[k][2] * d
            known[at] = a, d - b
        above, below = (0, 1) if at < 0 else known[at]  # type: ignore[misc]
        for k in reversed(path):
            one, go, keep, _ = step[k]
            above, below = one * cost[k] * below + go * above, keep * below
            if known[k] is None:
                known[k] = above, below
            else:
                above, below = known[k]  # type: ignore[misc]
    return known  # type: ignore[return-value]


def _eliminate(moves: list[Moves], cost: list[int], g: int, unit: int) -> list[tuple[int, int]]:
    """Gaussian elimination without fractions (Bareiss 1968); pivots of a diagonally dominant matrix are not zero."""
    size = len(moves)
    rows = []
    for k, given in enumerate(moves):
        row = [0] * size + [unit * cost[k]]
        row[k] = unit
        for to, mass in given:
            row[to] -= g * mass
        common = gcd(*row)
        rows.append([entry // common for entry in row] if common > 1 else row)
    before = 1
    for k in range(size):
        top = rows[k]
        pivot = top[k]
        for i in range(k + 1, size):
            row = rows[i]
            factor = row[k]
            if factor:
                rows[i] = [0] * (k + 1) + [(row[j] * pivot - factor * top[j]) // before for j in range(k + 1, size + 1)]
            elif pivot != before:
                rows[i] = [entry * pivot // before for entry in row]
        before = pivot
    found = [0] * size
    for k in reversed(range(size)):
        row = rows[k]
        rest = before * row[size] - sum(row[j] * found[j] for j in range(k + 1, size) if row[j])
        found[k] = rest // row[k]
    return [(above, before) for above in found]


def product_moves(P: list[Row], Q: list[Row], stop: Sequence[bool]) -> list[Moves]:
    """The independent coupling where that is exact in grains: one of two rows is a single state."""
    m = len(Q)
    return [
        [] if stop[x * m + y] else [(i * m + j, a * b // GRAINS) for i, a in P[x] for j, b in Q[y]]
        for x in range(len(P))
        for y in range(m)
    ]


def independent_values(P: list[Row], Q: list[Row], costs: Costs, gamma: float) -> list[Ratio]:
    """V = c + γ P V Qᵀ."""
    m = len(Q)
    if is_forced(P, Q):
        return linear_values(product_moves(P, Q, [False] * (len(P) * m)), costs, gamma)
    g, unit = gamma.as_integer_ratio()
    moves = [[(i * m + j, a * b) for i, a in P[x] for j, b in Q[y]] for x in range(len(P)) for y in range(m)]
    found = _eliminate(moves, costs.above, g, unit * GRAINS * GRAINS)
    return [Ratio(above, below * costs.below) for above, below in found]


def is_forced(P: list[Row], Q: list[Row]) -> bool:
    """Whether every pair of rows has only one coupling."""
    return all(len(row) == 1 for row in P) or all(len(row) == 1 for row in Q)


# ------------------------------------------------------------------ transports


class Transport:
    """One transport problem in grains, with a basis that is kept between costs: a simplex method with Bland's rule."""

    def __init__(self, p: Row, q: Row) -> None:
        self.p, self.q = p, q
        self.flow: dict[tuple[int, int], int] = {}  # of basic cells, which form a tree
        i = j = 0
        left, right = p[0][1], q[0][1]
        while True:  # the north-west corner
            moved = min(left, right)
            self.flow[i, j] = moved
            left, right = left - moved, right - moved
            if i == len(p) - 1 and j == len(q) - 1:
                break
            if left == 0 and i < len(p) - 1:
                i, left = i + 1, p[i + 1][1]
            else:
                j, right = j + 1, q[j + 1][1]

    def improve(self, value: Sequence[int], m: int) -> int:
        """Pivot until no cell is cheaper than its row and column; the number of pivots."""
        price = [[value[i * m + j] for j, _ in self.q] for i, _ in self.p]
        pivots = 0
        while True:
            entering = self._cheaper(price)
            if entering is None:
                return pivots
            self._pivot(entering)
            pivots += 1

    def moves(self, m: int) -> Moves:
        """Flat pairs and grains."""
        return [(self.p[i][0] * m + self.q[j][0], mass) for (i, j), mass in self.flow.items() if mass]

    def cost(self, value: Sequence[int], m: int) -> int:
        """Σ grains · value."""
        return sum(mass * value[to] for to, mass in self.moves(m))

    def _cheaper(self, price: list[list[int]]) -> tuple[int, int] | None:
        a, b = len(self.p), len(self.q)
        if a == 1 or b == 1:
            return None
        u: list[int | None] = [None] * a
        v: list[int | None] = [None] * b
        u[0] = 0
        cells = list(self.flow)
        while cells:
            later = []
            for i, j in cells:
                row, column = u[i], v[j]
                if row is not None:
                    v[j] = price[i][j] - row
                elif column is not None:
                    u[i] = price[i][j] - column
                else:
                    later.append((i, j))
            cells = later
        for i in range(a):
            for j in range(b):
                if price[i][j] < u[i] + v[j]:  # type: ignore[operator]
                    return i, j
        return None

    def _pivot(self, entering: tuple[int, int]) -> None:
        path = self._path(*entering)
        losing = path[::2]
        moved = min(self.flow[cell] for cell in losing)
        leaving = min(cell for cell in losing if self.flow[cell] == moved)
        for k, cell in enumerate(path):
            self.flow[cell] += moved if k % 2 else -moved
        del self.flow[leaving]
        self.flow[entering] = moved

    def _path(self, i: int, j: int) -> list[tuple[int, int]]:
        """The tree's cells from row i to column j."""
        open_ends: list[tuple[bool, int, list[tuple[int, int]]]] = [(True, i, [])]
        while True:
            is_row, at, path = open_ends.pop()
            if not is_row and at == j:
                return path
            for cell in self.flow:
                if cell[not is_row] == at and (not path or path[-1] != cell):
                    open_ends.append((not is_row, cell[is_row], [*path, cell]))


# ------------------------------------------------------------------ distances between chains


def distances(
    P: list[Row], Q: list[Row], costs: Costs, gamma: float, *, stop: Sequence[bool] | None = None, hint=None
) -> list[Ratio]:
    """V* for all pairs, flat. The iteration starts at `hint`, a list of floats, and ends at V* from any start."""
    n, m = len(P), len(Q)
    stopped = [False] * (n * m) if stop is None else list(stop)
    if is_forced(P, Q):
        return linear_values(product_moves(P, Q, stopped), costs, gamma)
    transports = [None if stopped[x * m + y] else Transport(P[x], Q[y]) for x in range(n) for y in range(m)]
    start = costs.above if hint is None else whole(hint).above
    for transport in transports:
        if transport is not None:
            transport.improve(start, m)
    while True:
        moves = [[] if transport is None else transport.moves(m) for transport in transports]
        found = linear_values(moves, costs, gamma)
        value = _numerators(found)
        if not sum(transport.improve(value, m) for transport in transports if transport is not None):
            return found


def _numerators(found: list[Ratio]) -> list[int]:
    """Integers in the same proportion."""
    if all(ratio.below == found[0].below for ratio in found):
        return [ratio.above for ratio in found]
    below = 1
    for ratio in found:
        if below % ratio.below:
            below *= ratio.below // gcd(below, ratio.below)
    return [ratio.above * (below // ratio.below) for ratio in found]


def transported(p: Row, q: Row, found: list[Ratio], m: int) -> Ratio:
    """min <π, V> over the couplings of two laws in grains."""
    if len(p) == len(q) == 1:
        return found[p[0][0] * m + q[0][0]]
    transport, value = Transport(p, q), _numerators(found)
    transport.improve(value, m)
    k = next(k for k, ratio in enumerate(found) if value[k]) if any(value) else 0
    below = GRAINS * (value[k] * found[k].below // found[k].above if value[k] else 1)
    return Ratio(transport.cost(value, m), below)
