"""Bounds on the distances between all chains within radii of the given ones.

Let r_x be the 1-norm by which the true row of x may differ from P[x] (`row_error`), r_y likewise; the true rows may
put mass on any state. `kernels.robust` computes, for any value V, U ≥ T V ≥ L that hold for the operators T of *all*
such chains at once: U is c + γ<π', V> at worst for couplings π' made by moving mass of one coupling π of the given
rows, L comes from potentials that are feasible at all pairs of states. Both carry constants through, so as for one
chain

    L + γ/(1-γ) · min(L - V)  ≤  V*(P', Q')  ≤  U + γ/(1-γ) · max(U - V)        for all P', Q' within the radii.

*Proof* (above). With s = max(U - V)/(1-γ), W = V + s satisfies c + γ<π', W> ≤ U + γs ≤ W for some coupling π' of
P'[x] and Q'[y] at every pair, so the value of π' is at most W, and one more application gives U + γs. Below likewise
with potentials. Where the game stops, V = c, and only a shift of the safe sign is carried on.

A good V is near the fixed point of U or L. For that the linear forms that U and L are made of are solved in turns
with new couplings and potentials, like policies in policy iteration. No limit of that is needed: every round proves
bounds of its own, the best of all rounds are kept, and it ends after ROBUST_ROUNDS, or when a further round could
gain next to nothing. Every round pays a row's error only where couplings lead to that row, and only the difference of
values that mass could be moved between. The uniform term γ/(1-γ)·½(max r_x + max r_y)·span V pays the largest error
everywhere.

Source and target may be *one* unknown chain (`problem.source is problem.target`). Then equal states are at distance
zero where their cost is zero, whatever the rows; all else treats the two sides as if they were independent, which is
wider.

References: MacQueen 1966; Nilim & El Ghaoui 2005, Iyengar 2005 (robust decision processes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.blocks import for_each_block, thread_count
from bisimetric.certificates.check import LARGEST_MARGINAL_ERROR
from bisimetric.certificates.interval import (
    OPERATIONS_AROUND,
    SUBNORMAL_BELOW,
    Certificate,
    Errors,
    Range,
    immediate_bounds,
    raise_to_cost,
    widening,
)
from bisimetric.cost.ground import largest_cost_error
from bisimetric.couplings.witness import CELLS_AT_ONCE
from bisimetric.errors import InvalidWitness
from bisimetric.kernels.layout import Extremes, Rows
from bisimetric.linear.ladder import Ladder
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, offsets
from bisimetric.operators.bellman import SERIAL_BELOW, Bellman, largest_forever
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.problems.discounted import Problem

ROBUST_ROUNDS = 12  # of couplings or potentials, and the fixed point of what they give
SWITCHES = 5  # rounds in which couplings change; later ones change only where mass is moved, which converges
SMALL_SHIFT = 3e-3  # share of the largest width that the shift may add, for the rounds to end
SOLVED_TO = 1e-3  # residual of a linear system, as a share of the residual before
BYTES_PER_ENTRY = 24  # of a linear form: numbers, indices, and their parts before they are joined
TERMS_PER_CELL = 6  # roundings that a cell of a coupling or a potential adds to a sum


class _Applied(NamedTuple):
    """U or L at all pairs [n, m], and the linear form c + γ(matrix·V + constant) that it has around V."""

    bound: Floats
    matrix: sparse.csr_array  # [n·m, n·m]
    constant: Floats  # [n·m]
    errors: Errors


class Radii(NamedTuple):
    """The mass by which a row may differ: half the 1-norm."""

    source: Floats  # [n]
    target: Floats  # [m]


def radii_of(problem: Problem) -> Radii:
    """Half the row errors of both chains, at most 1."""
    return Radii(*(np.minimum(0.5 * chain.row_error, 1.0) for chain in (problem.source, problem.target)))


def within_radii(problem: Problem, nominal: Certificate, rounds: int = ROBUST_ROUNDS) -> Certificate:
    """Bounds that hold for all chains within the row errors, around certified distances of the given chains."""
    bellman = _operator(problem)
    lower, upper = np.zeros(problem.shape), np.full(problem.shape, _largest_value(bellman) / bellman.scale)
    guess = nominal.value * bellman.scale
    if bellman.stop.size:
        guess = np.where(bellman.stop, bellman.scaled_cost(), guess)
    _require_memory(bellman)
    radii = radii_of(problem)
    for found in _from_above(bellman, radii, guess, rounds):
        np.minimum(upper, found, out=upper)
    for found in _from_below(bellman, radii, guess, rounds):
        np.maximum(lower, found, out=lower)
    raise_to_cost(lower, problem.cost, problem.cost_error)
    if bellman.stop.size:
        known = immediate_bounds(problem.cost[bellman.stop], problem.cost_error)
        lower[bellman.stop], upper[bellman.stop] = known.lower, known.upper
    # The stored rows are within the radii too, so what is proved of them is never outside.
    np.minimum(lower, nominal.lower, out=lower)
    np.maximum(upper, nominal.upper, out=upper)
    return Certificate(nominal.value, lower, upper)


def _largest_value(bellman: Bellman) -> float:
    """What no distance exceeds: the largest cost at a stop, or the largest other cost forever; scaled."""
    if not bellman.stop.size:
        return bellman.largest_value()
    ending, going_on = (float(np.max(bellman.cost, where=at, initial=0.0)) for at in (bellman.stop, ~bellman.stop))
    forever = largest_forever(going_on, bellman.cost_error, bellman.scale, bellman.discount)
    return max(forever, (ending + largest_cost_error(ending, bellman.cost_error)) * bellman.scale)


def between_laws(
    certificate: Certificate, laws: tuple[Floats, Floats], errors: tuple[float, float]
) -> tuple[float, float]:
    """Bounds on the distance between all starts within 1-norms of two laws, from bounds between all states."""
    rows = [Rows(np.array([0, len(at)]), at.astype(np.int32), law[at]) for law in laws for at in [np.flatnonzero(law)]]
    pair = Bellman.between(rows[0], rows[1], np.zeros((1, 1)), 1.0, 1.0)
    radii = Radii(*(np.array([min(0.5 * error, 1.0)]) for error in errors))
    largest = float(certificate.upper.max()) or 1.0
    ends = []
    for bound, apply in ((certificate.lower, _apply_below), (certificate.upper, _apply_above)):
        value, trees = bound / largest, new_trees(pair)
        pair.improve(value, trees, cold=True)
        found = apply(pair, radii, value, TreeWitness(pair, value, trees))
        slip = (found.errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF * (1.0 + 2 * found.errors.potential)
        ends.append((float(found.bound[0, 0]), slip + found.errors.marginal))
    lower, upper = (ends[0][0] - ends[0][1]) * largest, (ends[1][0] + ends[1][1]) * largest
    if largest < SUBNORMAL_BELOW:
        lower, upper = float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf))
    return max(lower, 0.0), min(upper, float(certificate.upper.max()))


def _operator(problem: Problem) -> Bellman:
    """The problem's operator, which also stops at equal states where those are at distance zero for sure."""
    bellman = Bellman.of(problem)
    if problem.source is not problem.target:
        return bellman
    same = np.eye(*problem.shape, dtype=np.bool_) & (problem.cost == 0.0)
    return replace(bellman, stop=same | bellman.stop if bellman.stop.size else same)


def _require_memory(bellman: Bellman) -> None:
    entries = bellman.pairs.size * sum(bellman.longest)
    memory.require(BYTES_PER_ENTRY * entries, "bounds for all chains within row errors", "compare parts of the chains")


def _from_above(bellman: Bellman, radii: Radii, value: Floats, rounds: int) -> Iterator[Floats]:
    """Upper bounds [n, m], one a round."""
    trees, ladder, first = new_trees(bellman), Ladder(), value
    for number in range(rounds):
        if number < SWITCHES:
            bellman.improve(value, trees, cold=number == 0)
        applied = _apply_above(bellman, radii, value, TreeWitness(bellman, value, trees))
        residual = applied.bound - value
        highest = float(residual.max())
        if bellman.stop.size:
            highest = max(highest, 0.0)
        shift = bellman.discount / (1.0 - bellman.discount) * highest
        found = applied.bound + shift
        residuals = float(residual.min()), float(residual.max())
        _, up = widening(Range.of(value), residuals, bellman.largest_cost, bellman.discount, applied.errors)
        yield _unscaled(bellman, found + up, np.inf)
        if shift <= SMALL_SHIFT * float((found - first).max()):
            return
        value = _fixed_point(bellman, ladder, applied, value, residual)


def _from_below(bellman: Bellman, radii: Radii, value: Floats, rounds: int) -> Iterator[Floats]:
    """Lower bounds [n, m], one a round."""
    trees, ladder, first = new_trees(bellman), Ladder(), value
    for number in range(rounds):
        bellman.improve(value, trees, cold=number == 0)
        applied = _apply_below(bellman, radii, value, TreeWitness(bellman, value, trees))
        residual = applied.bound - value
        lowest = float(residual.min())
        if bellman.stop.size:
            lowest = min(lowest, 0.0)
        shift = bellman.discount / (1.0 - bellman.discount) * lowest
        found = applied.bound + shift
        residuals = float(residual.min()), float(residual.max())
        down, _ = widening(Range.of(value), residuals, bellman.largest_cost, bellman.discount, applied.errors)
        yield _unscaled(bellman, found - down, -np.inf)
        if -shift <= SMALL_SHIFT * float((first - found).max()):
            return
        value = _fixed_point(bellman, ladder, applied, value, residual)


def _unscaled(bellman: Bellman, bound: Floats, outwards: float) -> Floats:
    """The bound in the units of the cost, cut to the range of all distances."""
    bound = np.clip(bound, 0.0, bellman.largest_value()) / bellman.scale
    if bellman.largest_cost / bellman.scale < SUBNORMAL_BELOW:
        np.nextafter(bound, outwards, out=bound)
    return bound


def _fixed_point(bellman: Bellman, ladder: Ladder, applied: _Applied, value: Floats, residual: Floats) -> Floats:
    """V = c + γ(matrix·V + constant), cut to the range of all distances."""
    known = bellman.scaled_cost().ravel() + bellman.discount * applied.constant
    target = SOLVED_TO * float(np.abs(residual).max())
    solved = ladder.solve_stored(applied.matrix, known, value.ravel().copy(), bellman.discount, target)
    return np.clip(solved.x, 0.0, bellman.largest_value()).reshape(bellman.shape)


def _apply_above(bellman: Bellman, radii: Radii, value: Floats, witness: TreeWitness) -> _Applied:
    bound = np.empty(bellman.pairs.size)
    most = _extremes(value, np.argmax)

    def work(first: int, last: int) -> _Block:
        cells = witness.cells(first, last)
        pairs, entries = last - first, int(cells.indptr[-1])
        to, mass, count = np.empty(entries, np.int64), np.empty(entries), np.empty(pairs, np.int64)
        constant = np.empty(pairs)
        marginal, terms, invalid = kernels.robust.above(
            *bellman.pairs.states(first, last), value, most, bellman.cost, bellman.scale, bellman.discount,
            bellman.stop, *radii, bellman.source, bellman.target, cells, bound[first:last], to, mass, count, constant,
        )  # fmt: skip
        if invalid or not marginal <= LARGEST_MARGINAL_ERROR:
            raise InvalidWitness(f"couplings are off by {marginal:.3g} in a marginal, or have {invalid} invalid cells")
        return _Block(first, to, mass, count, constant, Errors(terms, 0.0, marginal=marginal))

    return _joined(bellman, bound, work, witness.cells_per_pair, value.size)


def _apply_below(bellman: Bellman, radii: Radii, value: Floats, witness: TreeWitness) -> _Applied:
    bound = np.empty(bellman.pairs.size)
    least = _extremes(value, np.argmin)
    width = bellman.longest[0] + 1

    def work(first: int, last: int) -> _Block:
        pairs = last - first
        to, mass, count = np.empty(width * pairs, np.int64), np.empty(width * pairs), np.empty(pairs, np.int64)
        constant = np.empty(pairs)
        largest, terms, invalid = kernels.robust.below(
            *bellman.pairs.states(first, last), value, least, bellman.cost, bellman.scale, bellman.discount,
            bellman.stop, *radii, bellman.source, bellman.target, witness.cells(first, last), bound[first:last],
            to, mass, count, constant,
        )  # fmt: skip
        if invalid:
            raise InvalidWitness(f"{invalid} potentials are not finite")
        used = _used(width * np.arange(pairs), count)
        return _Block(first, to[used], mass[used], count, constant, Errors(terms, 0.0, potential=largest))

    return _joined(bellman, bound, work, witness.cells_per_pair, value.size)


class _Block(NamedTuple):
    """The linear forms of some pairs."""

    first: int
    to: npt.NDArray[np.int64]
    mass: Floats
    sizes: npt.NDArray[np.int64]  # [pairs]
    constant: Floats  # [pairs]
    errors: Errors


def _used(begin: npt.NDArray[np.int64], count: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places begin[k], …, begin[k] + count[k] - 1, for all k."""
    after = offsets(count)
    places: npt.NDArray[np.int64] = np.arange(after[-1]) + np.repeat(begin - after[:-1], count)
    return places


def _joined(
    bellman: Bellman, bound: Floats, work: Callable[[int, int], _Block], cells_per_pair: int, size: int
) -> _Applied:
    """The parts of all blocks; the linear form is about values of this size."""
    at_once = max(1, CELLS_AT_ONCE // thread_count() // cells_per_pair)
    blocks = for_each_block(work, bellman.pairs.size, largest=at_once, serial_below=SERIAL_BELOW)
    blocks.sort(key=lambda block: block.first)
    indptr = offsets(np.concatenate([block.sizes for block in blocks]))
    to, mass = (np.concatenate([getattr(block, part) for block in blocks]) for part in ("to", "mass"))
    worst = Errors(*map(max, zip(*(block.errors for block in blocks), strict=True)))
    cost = largest_cost_error(bellman.largest_cost / bellman.scale, bellman.cost_error) * bellman.scale
    return _Applied(
        bound.reshape(bellman.shape),
        sparse.csr_array((mass, to, indptr), shape=(bellman.pairs.size, size)),
        np.concatenate([block.constant for block in blocks]),
        worst._replace(terms=TERMS_PER_CELL * worst.terms, cost=cost),
    )


def _extremes(value: Floats, where: Callable[..., npt.NDArray[np.int64]]) -> Extremes:
    """The largest (np.argmax) or smallest (np.argmin) values."""
    row_at, column_at, overall_at = where(value, axis=1), where(value, axis=0), int(where(value))
    n, m = value.shape
    return Extremes(
        value[np.arange(n), row_at], row_at, value[column_at, np.arange(m)], column_at,
        float(value.flat[overall_at]), overall_at,
    )  # fmt: skip
