"""Derivatives of the distance between two chains, from a coupling and potentials that are optimal.

Let ν be the occupancy of the optimal coupling from the starts (ν = (1-γ)ν₀ + γΠᵀν) and (f, g) optimal potentials of
every pair. By the envelope theorem the coupling and the potentials may be held fixed:

    ∂W/∂c(x, y)   = ν(x, y)/(1-γ)                        W is concave in c
    ∂W/∂P(x'|x)   = γ/(1-γ) · Σ_y ν(x, y) f_xy(x')       along changes that keep the sums of rows
    ∂W/∂Q(y'|y)   = γ/(1-γ) · Σ_x ν(x, y) g_xy(y')
    ∂W/∂γ         = 1/(1-γ) · Σ ν(x, y) <π_xy, V>        less W/(1-γ) where the cost has the factor 1-γ

and the potentials of the transport between the starts are the derivatives by those. One linear system gives ν, one pass
over the pairs the rest. Where several couplings are optimal the distance may have a kink, and ν is one of its
supergradients by the cost. By the kernels these numbers then belong to one optimal coupling and one choice of
potentials: W is the value of a saddle point, and where neither is unique no such pair need give a generalised gradient.

References: Danskin 1967 (envelope theorem); Calo et al. 2024 (the linear program).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.viewed import InNotebooks
from bisimetric.couplings.coupling import Coupling
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.couplings.transport_sums import transport_sums
from bisimetric.couplings.witness import Proof, Witness
from bisimetric.errors import InvalidProblem
from bisimetric.kernels.layout import ROUNDING_MASS
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, Ints, Mask, SparseField
from bisimetric.operators.bellman import Bellman, as_rows
from bisimetric.operators.trees import new_trees
from bisimetric.problems.discounted import Problem

NO_DIFFERENCE = 1e-9  # reduced cost, relative to the largest distance, up to which a cell is tight
LARGE_SYSTEM = 2**13  # pairs of states from which occupancies are less accurate: the last digits take long
ROUGH = 1e-6  # accepted 1-norm error of an occupancy there, relative to its mass; what is found is a tenth of it


class Derivatives(InNotebooks, Immutable):
    """What gradients of chains and of decision processes share."""

    cost: Floats
    error: float
    tied: Mask
    starts_tie: bool

    @property
    def is_unique(self) -> bool:
        """Whether the distance is differentiable here, as far as that is cheap to tell."""
        return not self.starts_tie and not self.tied.any()

    def __repr__(self) -> str:
        (_, states), (_, kind), (_, error) = self.facts()
        return f"{type(self).__name__}({states} states, {kind}, error {error})"

    def facts(self) -> list[tuple[str, str]]:
        """What is known, as names and texts."""
        count = int(self.tied.sum())
        places = [f"{count} pair{'s' * (count > 1)}"] * (count > 0) + ["the starts"] * self.starts_tie
        verb = "ties" if count == 1 and not self.starts_tie else "tie"
        kind = "unique" if self.is_unique else f"perhaps a kink: {' and '.join(places)} {verb}"
        return [("states", " x ".join(map(str, self.cost.shape))), ("optimum", kind), ("error", f"{self.error:.1e}")]


@dataclass(frozen=True, eq=False, repr=False)
class Gradient(Derivatives):
    """How the distance between two chains changes with everything that it depends on; `solution.gradient` returns it.

    All derivatives are by the inputs as they were given: with `normalised=True`, by the cost and the rewards without
    the factor 1 - γ. A change of the kernels is a direction: multiply `source` by a change of the source's
    probabilities, entry by entry, add up, and add the same for the target. If one chain stands on both sides, its
    derivative is the sum of `source` and `target`, and of both rewards and starts.

    Attributes
    ----------
    cost : array [n, m]
        By the cost of every pair: how often the coupled chains visit it, discounted. The distance is linear in the cost
        as long as the coupling stays optimal, so (gradient.cost * cost).sum() is the distance.
    source, target : scipy.sparse.csr_array [n, n] and [m, m]
        By the probabilities of the chains, on their supports. Rows of probabilities sum to one, so only changes along
        which they do have a meaning; each row here has mean zero over its support. Probabilities that are zero have no
        entry: the distance may jump in slope there.
    source_start, target_start : array [n] and [m], or None
        By the initial laws, mean zero over the support. At states outside the support it is the derivative for mass
        that moves there. None where the gradient was asked for from a joint law, and for a chain without a start in an
        average cost, which takes the best one; NaN where distances are not known.
    source_reward, target_reward : array [n] and [m], or None
        By the rewards. None where the cost is an array or an unknown function: use `cost` with its own derivative.
    discount : float
        By the discount; NaN for an average cost, which has none.
    error : float
        How much more the coupling behind this gradient costs than the best one, at most; certified, in units of the
        distance, as far as visits are known: from 8192 pairs of states on their errors sum up to 1e-6 at most. So for
        every other cost c' the distance is at most W + <gradient.cost, c' - c> + error. For approximate solvers the
        gradient is that of their own coupling and potentials, and `error` says how good they are.
    tied : array [n, m] of bool
        Pairs that are visited and have several best couplings or potentials, or equal rewards where rewards count.
    starts_tie : bool
        Whether the transport between the starts has several optima.
    is_unique : bool
        Whether no visited pair and no start ties: then the distance is differentiable and this is its derivative. If
        not, there may be a kink. Then `cost` is a supergradient, while derivatives by kernels and rewards belong to one
        of several optimal couplings and potentials, and may differ from the slope in any direction. The test is cheap:
        it looks at the potentials that were found, so it may see a tie where the distance is smooth, never the other
        way round up to 1e-9 of the largest distance.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> bent = bm.MarkovChain([[0.3, 0.7], [0, 1]], reward=[0, 1], start=0)
    >>> gradient = bm.distance(fair, bent, discount=0.9).gradient()
    >>> gradient.source.toarray().round(3) + 0.0  # mass moved to the second state brings the chains together
    array([[ 1.488, -1.488],
           [ 0.   ,  0.   ]])
    """

    cost: Floats
    source_start: Floats | None
    target_start: Floats | None
    source_reward: Floats | None
    target_reward: Floats | None
    discount: float
    error: float
    tied: Mask
    starts_tie: bool
    source: SparseField[sparse.csr_array] = SparseField()  # noqa: RUF009
    target: SparseField[sparse.csr_array] = SparseField()  # noqa: RUF009


class StartPotentials(NamedTuple):
    """The derivatives of a transport between two laws by those laws, and whether it has several optima."""

    source: Floats | None  # [n]; None for a law that is free
    target: Floats | None  # [m]
    tie: bool


class RewardSlopes(NamedTuple):
    """The derivatives by both rewards, and where rewards are equal, so that their gap has a kink."""

    source: Floats  # [n]
    target: Floats  # [m]
    tied: Mask  # [n, m]


def start_potentials(
    value: Floats, source: Floats, target: Floats, weight: Floats, potential: Floats
) -> StartPotentials:
    """The derivatives of the transport between two laws, from the potential on the target's support.

    `weight` holds the mass of the cells of the optimal plan.
    """
    xs, ys = np.flatnonzero(source), np.flatnonzero(target)
    cells = int((weight > ROUNDING_MASS * (len(xs) + len(ys))).sum())
    ends = value[:, ys]
    rest = ends - potential
    f = rest.min(axis=1)
    near = f[xs] + NO_DIFFERENCE * np.abs(ends[xs]).max()
    tight = int((rest[xs] <= near[:, None]).sum())
    g = (value[xs] - f[xs, None]).min(axis=0)
    g[ys] = potential
    tie = not cells == tight == len(xs) + len(ys) - 1
    return StartPotentials(frozen(f - f[xs].mean()), frozen(g - potential.mean()), tie)


def gradient_of(
    coupling: Coupling, proof: Proof, value: Floats, law: Floats, starts: StartPotentials | None, lower: float
) -> Gradient:
    """The gradient of the distance from the joint law of the starts, whose lower bound is `lower`.

    `value` holds the distances. The proof's value has the same potentials, but may differ by a constant.
    """
    problem = coupling.problem
    discount = problem.discount
    if discount == 1.0:
        raise InvalidProblem(
            "a distance without a discount jumps where states become bisimilar, so it has no gradient; "
            "bisimilarity_distance(..., discount=0.999) has one"
        )
    rest = 1.0 - discount
    witness: Witness = proof.witness
    if isinstance(witness, LiftedWitness):
        witness = witness.with_classes_read()
        coupling = replace(coupling, _witness=witness)
    moves = coupling.moves()
    visits = coupling.occupancy_of(moves, law, ROUGH if law.size >= LARGE_SYSTEM else None)
    largest = float(np.abs(proof.value).max())
    rows = as_rows(problem.source.transitions), as_rows(problem.target.transitions)
    sums = transport_sums(witness, proof.value, rows, visits, NO_DIFFERENCE * largest)
    tied = sums.tied if discount > 0.0 else np.zeros(problem.shape, np.bool_)
    after = expected_after(moves, visits, value) if discount > 0.0 else _next_distance(problem, law)
    total = float((visits * problem.cost).sum()) / rest
    by_cost = visits if problem.normalised else visits / rest
    factor = discount / rest / proof.scale
    reward = by_rewards(problem, by_cost)
    if reward is not None:
        tied |= reward.tied & (visits > 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        slope = after / rest - (total / rest if problem.normalised else 0.0)
        by_source = on_support(problem.source, sums.source * factor)
        by_target = on_support(problem.target, sums.target * factor)
    refuse_infinite(slope, by_source.data, by_target.data)
    return Gradient(
        frozen(by_cost),
        None if starts is None else starts.source,
        None if starts is None else starts.target,
        None if reward is None else reward.source,
        None if reward is None else reward.target,
        slope,
        max(total - lower, 0.0),
        frozen(tied),
        starts is not None and starts.tie,
        by_source,
        by_target,
    )


def expected_after(moves: sparse.csr_array, visits: Floats, value: Floats) -> float:
    """Σ ν <π, V>, the expected distance after a step."""
    here = visits.ravel()
    return float((here * (moves @ value.ravel())).sum(where=here > 0.0))


def on_support(chain: MarkovChain, data: Floats) -> sparse.csr_array:
    """Derivatives by the entries of a chain's rows."""
    rows = chain.transitions
    return centred_rows(data, rows.indices, rows.indptr, rows.shape)


def centred_rows(data: Floats, indices: Ints, indptr: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    """Derivatives by the entries of rows, less the mean of each row."""
    size = np.diff(indptr)
    sums = np.bincount(np.repeat(np.arange(len(size)), size), data, len(size))
    centred = frozen(data - np.repeat(sums / np.maximum(size, 1), size))
    return sparse.csr_array((centred, indices, indptr), shape=shape)


def refuse_infinite(slope: float, *parts: Floats) -> None:
    """Raise where derivatives leave the range of numbers."""
    if not np.isfinite(slope) or not all(np.isfinite(part).all() for part in parts):
        raise InvalidProblem("the derivatives overflow; divide the cost by a constant")


def by_rewards(problem: Problem, by_cost: Floats) -> RewardSlopes | None:
    """The derivatives by both rewards; None where the cost does not say how it depends on them."""
    return reward_slopes((problem.source, problem.target), problem.reward_weight, by_cost)


def reward_slopes(
    chains: tuple[MarkovChain, MarkovChain], weight: float | None, by_cost: Floats
) -> RewardSlopes | None:
    """The same for a cost in which the gap between rewards has this weight; None: nobody knows."""
    if weight is None:
        return None
    n, m = by_cost.shape
    mine, theirs = (chain.reward for chain in chains)
    if weight == 0.0 or mine is None or theirs is None:
        return RewardSlopes(frozen(np.zeros(n)), frozen(np.zeros(m)), np.zeros((n, m), np.bool_))
    sign = np.sign(np.subtract.outer(mine, theirs))
    slope = sign * by_cost * weight
    return RewardSlopes(frozen(slope.sum(axis=1)), frozen(-slope.sum(axis=0)), sign == 0.0)


def _next_distance(problem: Problem, law: Floats) -> float:
    """The expected cost of the next step, Σ ν₀ OT_c: the derivative by the discount at 0."""
    if not problem.cost.any():
        return 0.0
    bellman = replace(Bellman.of(problem), discount=1.0)
    moves = bellman.improve(bellman.scaled_cost(), new_trees(bellman), cold=True).residual.reshape(problem.shape)
    return float((law * moves).sum()) / bellman.scale
