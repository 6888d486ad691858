"""A small chain as plain arrays, and its distance to a large one with all derivatives: one warm solve each.

    W(Q, r̂, ν̂)  =  the bisimulation metric between the large chain and the small one, from their starts

Every evaluation starts from the transport trees of the one before, as its rows usually have the same successors, and
runs policy iteration until the solver's own gap is small. Nothing is certified here; what `reduce` returns is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bisimetric.certificates.starts import StartTransport, plan_between
from bisimetric.couplings.coupling import Coupling
from bisimetric.couplings.gradient import gradient_of, start_potentials
from bisimetric.couplings.witness import Proof
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.bellman import Bellman, is_immediate
from bisimetric.operators.trees import TreeWitness
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.policy_iteration import PolicyIterate, PolicyIteration
from bisimetric.solving.solve import solve

SEARCH_TOL = 1e-7  # relative gap of the solves on the way, in the solver's own words
MOST_SEARCH_STEPS = 100  # of policy iteration in one evaluation


class SmallChain(NamedTuple):
    """Rows of the kernel, then the start; and the rewards."""

    laws: Floats  # [k + 1, k]
    reward: Floats  # [k]

    @classmethod
    def of(cls, chain: MarkovChain) -> SmallChain:
        """The arrays of a chain with rewards and a start."""
        assert chain.reward is not None
        assert chain.start is not None
        return cls(np.vstack([chain.transitions.toarray(), chain.start]), np.array(chain.reward))

    def chain(self) -> MarkovChain:
        """The chain itself."""
        return MarkovChain(self.laws[:-1], reward=self.reward, start=self.laws[-1])

    def spread(self, share: float) -> SmallChain:
        """A chain near this one whose laws have no zeros: so much of each law is shared evenly."""
        return self._replace(laws=(1.0 - share) * self.laws + share / len(self.reward))

    def without(self, specks: Mask) -> SmallChain:
        """The same with these probabilities made zero; no law may lose all."""
        laws = np.where(specks, 0.0, self.laws)
        return self._replace(laws=laws / laws.sum(axis=1, keepdims=True))


class Slopes(NamedTuple):
    """The distance of a small chain, its derivatives, and how often each pair of states is met."""

    distance: float
    laws: Floats  # [k + 1, k], zero where a probability is zero
    reward: Floats  # [k]
    visits: Floats  # [n, k]


class Objective:
    """The distance between a chain and small ones, and the smallest one so far."""

    def __init__(self, chain: MarkovChain, discount: float) -> None:
        assert chain.start is not None
        assert chain.reward is not None
        self._chain, self._start, self._discount = chain, chain.start, discount
        self._before: TreeWitness | None = None
        self.unit = float(np.ptp(chain.reward)) or 1.0  # in which rewards are measured
        self.best: float = np.inf
        self.closest: SmallChain | None = None

    def distance(self, small: SmallChain) -> float:
        """The distance of a small chain alone, which is quicker."""
        problem = self._problem(small)
        if is_immediate(problem):
            return self._met(solve(problem).distance, small)
        bellman, iterate = self._solved(problem)
        return self._met(self._plan(problem, _values(bellman, iterate)).value, small)

    def slopes(self, small: SmallChain) -> Slopes:
        """The distance of a small chain with its derivatives."""
        problem = self._problem(small)
        if is_immediate(problem):
            solution = solve(problem)
            gradient, visits, distance = solution.gradient(), solution.coupling.occupancy(), solution.distance
        else:
            bellman, iterate = self._solved(problem)
            value, target = _values(bellman, iterate), problem.target.start
            assert target is not None
            plan = self._plan(problem, value)
            law, distance = plan.law(problem.shape), plan.value
            coupling = Coupling(problem, iterate.witness, lambda: law)
            proof = Proof(iterate.witness, iterate.value, bellman.scale)
            starts = start_potentials(value, self._start, target, plan.weight, plan.potential)
            gradient = gradient_of(coupling, proof, value, law, starts, 0.0)
            visits = gradient.cost
        assert gradient.target_reward is not None
        assert gradient.target_start is not None
        laws = np.vstack([gradient.target.toarray(), gradient.target_start])
        return Slopes(self._met(distance, small), laws, gradient.target_reward, visits)

    def _problem(self, small: SmallChain) -> Problem:
        return Problem(self._chain, small.chain(), discount=self._discount, normalised=True)

    def _plan(self, problem: Problem, value: Floats) -> StartTransport:
        assert problem.target.start is not None
        return plan_between(value, self._start, problem.target.start)

    def _solved(self, problem: Problem) -> tuple[Bellman, PolicyIterate]:
        """The last iterate of policy iteration, from the trees of the last call or else from its distances."""
        solver, bellman, before = PolicyIteration(), Bellman.of(problem), self._before
        iterate = None if before is None else solver.resume(bellman, before, SEARCH_TOL)
        if iterate is None:
            guess = None if before is None else before.value * (bellman.scale / before.bellman.scale)
            iterate = solver.init(bellman, guess, SEARCH_TOL)
        for _ in range(MOST_SEARCH_STEPS):
            if iterate.gap <= SEARCH_TOL * iterate.largest:
                break
            iterate = solver.step(bellman, iterate)
        self._before = iterate.witness
        return bellman, iterate

    def _met(self, distance: float, small: SmallChain) -> float:
        if distance < self.best:
            self.best, self.closest = distance, small
        return distance


def _values(bellman: Bellman, iterate: PolicyIterate) -> Floats:
    """The distances in the middle of the solver's bounds."""
    middle = 0.5 * sum(bellman.bounds(iterate.sweep))
    return np.maximum(bellman.plus(iterate.value, iterate.sweep.residual + middle), 0.0) / bellman.scale
