"""The question about two chains over finitely many steps: the nested, or adapted, distance.

    V_h = terminal,        V_t(x, y) = c_t(x, y) + γ · min { <π, V_{t+1}> : π couples P_t[x] and Q_t[y] }

for t = h-1, …, 0. The chains may change from step to step. There is nothing that must converge, so γ = 1 is allowed.

References: Pflug & Pichler 2012; Backhoff, Bartl, Beiglböck & Eder 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.content import EqualByContent
from bisimetric._support.frozen import Immutable, changed, frozen
from bisimetric._support.options import as_index, shown
from bisimetric._support.text import discount_text
from bisimetric._support.viewed import InNotebooks
from bisimetric.cost.ground import Cost
from bisimetric.errors import BisimetricError, InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import check_chain, checked_discount, ground_cost, shown_cost
from bisimetric.problems.steps import Steps

LONGEST_HORIZON = 10**8  # of a horizon

Chains = Steps[MarkovChain]


@dataclass(frozen=True, eq=False, init=False)
class HorizonProblem(EqualByContent, InNotebooks, Immutable):
    """The question how far two chains are apart over a finite number of steps; immutable. `solve` answers it.

    V_h = terminal and V_t = c_t + γ · (cheapest transport of the successors at V_{t+1}), down to V_0.

    Parameters
    ----------
    source, target : MarkovChain, or a list of `horizon` chains or [n, n] arrays
        A list is a chain that changes with time: entry t says how it moves from time t to time t + 1. All entries have
        the same states. Names, rewards, labels and the start are those of the first entry; later chains may have
        rewards and labels of their own, and arrays have those of the first.
    horizon : int ≥ 1
        h, the number of steps. Costs are paid at the times 0, …, h - 1, the terminal cost at time h.
    discount : float in [0, 1], default 1
        γ, the weight of each step relative to the one before.
    cost : [n, m] array, function, list of `horizon` of those, or None
        The cost of every pair of states at every time, or one for each time, not negative. A function of the two chains
        returns such an array, and sees the chains of its time; None is the gap between rewards.
    terminal : [n, m] array, function or None
        The cost of every pair of states at time h; None is zero. A function sees the chains of the last step.

    Attributes
    ----------
    source, target : MarkovChain
        The chains of the first step.
    sources, targets : sequence of MarkovChain
        The chains of all steps.
    costs : sequence of [n, m] arrays
        One for each time 0, …, h - 1.
    cost : [n, m] array
        The cost at time 0.
    cost_error : float
        The largest relative error of a cost, as in `Problem`.
    cost_name, cost_unit : str
        What the cost is called and measured in, for results; empty for arrays.
    reward_weight : float or None
        The weight of the gap between rewards in all costs; None where that is not known.
    shape : (int, int)
        (n, m), the numbers of states.

    Raises
    ------
    InvalidProblem
        The horizon is no whole number ≥ 1, a list has another length, or chains, costs or discount do not fit.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], start=0)
    >>> bm.solve(bm.HorizonProblem(fair, bent, horizon=3)).distance  # 1/4 at time 1 and 3/16 at time 2
    0.4375
    """

    sources: Chains
    targets: Chains
    horizon: int
    discount: float
    costs: Steps[Floats]  # [n, m] each
    terminal: Floats  # [n, m]
    cost_error: float = field(repr=False)
    cost_name: str
    cost_unit: str
    reward_weight: float | None = field(repr=False)  # of |r - r'| in all costs; None where that is not known

    def __init__(
        self,
        source: MarkovChain | Sequence[Any],
        target: MarkovChain | Sequence[Any],
        *,
        horizon: int,
        discount: float = 1.0,
        cost: npt.ArrayLike | Cost | Sequence[Any] | None = None,
        terminal: npt.ArrayLike | Cost | None = None,
    ) -> None:
        steps = as_index(horizon)
        if steps is None or steps < 1:
            raise InvalidProblem(f"horizon is {shown(horizon)}, expected a whole number of steps ≥ 1")
        if steps > LONGEST_HORIZON:
            raise InvalidProblem(
                f"horizon is {shown(horizon)}, expected at most {LONGEST_HORIZON}; a Problem with a discount has no end"
            )
        sources, targets = _chains(source, "source", steps), _chains(target, "target", steps)
        if sources[0].start_error > 0.0 or targets[0].start_error > 0.0:
            raise InvalidProblem("a chain has start_error, expected a start that is known: chain.with_start(...)")
        gamma = checked_discount(discount, or_one=True)
        costs, error, words, weight = _costs(cost, sources, targets, steps)
        last, last_error = np.zeros(costs[0].shape), 0.0
        if terminal is not None:
            last, last_error, *_ = _named_errors("terminal", terminal, sources[-1], targets[-1])
        values: dict[str, Any] = {
            "sources": sources,
            "targets": targets,
            "horizon": steps,
            "discount": gamma,
            "costs": costs,
            "terminal": frozen(last),
            "cost_error": max(error, last_error),
            "cost_name": words[0],
            "cost_unit": words[1],
            "reward_weight": weight,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not math.isfinite(2.0 * float(self.largest_values.max())):
            raise InvalidProblem(
                f"the costs of {steps} steps add up to more than numbers can hold; divide them by a constant"
            )

    @property
    def source(self) -> MarkovChain:
        """The source in the first step."""
        return self.sources[0]

    @property
    def target(self) -> MarkovChain:
        """The target in the first step."""
        return self.targets[0]

    @property
    def cost(self) -> Floats:
        """[n, m], the cost at time 0."""
        return self.costs[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): states of the source and of the target."""
        return self.source.n_states, self.target.n_states

    @property
    def cost_text(self) -> str:
        """The name and the unit of the cost, for results; empty for an array, and for the default, `reward_gap`."""
        return shown_cost(self.cost_name, self.cost_unit)

    @cached_property
    def largest_values(self) -> Floats:
        """[h + 1], for every time 0, …, h what no distance exceeds, up to rounding: the largest costs from then on."""
        largest = np.array([float(cost.max()) for cost in self.costs.different])[self.costs.places[::-1]].tolist()
        discount = self.discount  # Python's floats overflow to inf
        values = accumulate(largest, lambda later, cost: cost + discount * later, initial=float(self.terminal.max()))
        return frozen(np.fromiter(values, np.float64, self.horizon + 1)[::-1])

    @cached_property
    def largest_cost(self) -> float:
        """Of all times, the last too."""
        return max(float(cost.max()) for cost in (*self.costs.different, self.terminal))

    def _arrays(self) -> tuple[npt.NDArray[Any] | None, ...]:
        places = (steps.places for steps in (self.sources, self.targets, self.costs))
        return *self.costs.different, self.terminal, *places

    def _words(self) -> tuple[object, ...]:
        return self.sources.different, self.targets.different, self.horizon, self.discount, self.cost_error

    def __repr__(self) -> str:
        n, m = self.shape
        cost = f", cost {self.cost_text}" if self.cost_text else ""
        return (
            f"HorizonProblem({n} x {m} states, horizon {self.horizon}, discount {discount_text(self.discount)}{cost})"
        )


def _chains(given: object, role: str, steps: int) -> Chains:
    """One chain for every step."""
    if isinstance(given, MarkovChain):
        return Steps.always(given, steps)
    if not isinstance(given, (list, tuple)) and getattr(given, "ndim", 0) != 3:
        check_chain(given, role)
    parts: list[Any] = list(given)  # type: ignore[call-overload]
    if any(_is_row(part) for part in parts):
        raise InvalidProblem(
            f"{role} is a {type(given).__name__} of rows of numbers, expected a MarkovChain, or a list of one chain or "
            "matrix for each step; as_chain(...) makes a chain of one matrix"
        )
    if len(parts) != steps:
        raise InvalidProblem(
            f"{role} is a list of {len(parts)} chains and horizon is {steps}, expected one chain for each step; "
            "a single chain moves alike in all steps"
        )
    made: list[MarkovChain] = []
    known: dict[int, MarkovChain] = {}
    for t, part in enumerate(parts):
        if id(part) not in known:
            known[id(part)] = _chain(part, f"{role}[{t}]", made[0] if made else None)
        made.append(known[id(part)])
    return Steps.of(made)


def _is_row(part: object) -> bool:
    """Whether this is a list or an array of numbers, as a single matrix has."""
    if isinstance(part, (list, tuple)):
        return len(part) > 0 and isinstance(part[0], Real)
    return getattr(part, "ndim", None) == 1


def _chain(part: object, what: str, first: MarkovChain | None) -> MarkovChain:
    """A chain, or a matrix on the states of the first."""
    chain = part
    if isinstance(chain, MDP):
        check_chain(chain, what)
    if not isinstance(chain, MarkovChain):
        try:
            chain = MarkovChain(part)
        except BisimetricError as error:
            raise InvalidProblem(f"{what}: {error}") from None
    if first is not None and chain.n_states != first.n_states:
        raise InvalidProblem(
            f"{what} has {chain.n_states} states, expected {first.n_states} as in the first step; "
            "take all states of all steps as the states of every step"
        )
    if first is not None and chain is not part:
        return changed(chain, reward=first.reward, names=first.names, labels=first.labels)
    if first is not None and chain.names not in (None, first.names):
        raise InvalidProblem(f"{what} has other names of states than the first step, expected the same in their order")
    return chain


def _costs(
    cost: Any, sources: Chains, targets: Chains, steps: int
) -> tuple[Steps[Floats], float, tuple[str, str], float | None]:
    """The cost of every time, the largest relative error, the name and unit of the first, how rewards count in all."""
    per_step = _is_per_step(cost)
    if per_step and len(cost) != steps:
        raise InvalidProblem(
            f"cost is a list of {len(cost)} costs and horizon is {steps}, expected one for each step; "
            "a single [n, m] array holds for all steps"
        )
    if per_step or len(sources.different) > 1 or len(targets.different) > 1:
        found = Steps.of(_costs_of_steps(cost, sources, targets, per_step=per_step))
    else:
        found = Steps.always(_named_errors(None, cost, sources[0], targets[0]), steps)
    weights = {one.reward_weight for one in found.different}
    return (
        found.each(lambda one: frozen(one.array)),
        max(one.error for one in found.different),
        (found[0].name, found[0].unit),
        weights.pop() if len(weights) == 1 else None,
    )


def _costs_of_steps(cost: Any, sources: Chains, targets: Chains, *, per_step: bool) -> Iterator[Any]:
    """A checked cost for every time; the same object where cost and chains are the same."""
    known: dict[tuple[int, ...], Any] = {}
    for t, (source, target) in enumerate(zip(sources, targets, strict=True)):
        given = cost[t] if per_step else cost
        depends = given is None or callable(given)  # on the chains
        key = (id(given), id(source), id(target)) if depends else (id(given),)
        if key not in known or (per_step and isinstance(cost, np.ndarray)):
            what = f"cost[{t}]" if per_step else f"at time {t}" if depends else None
            known[key] = _named_errors(what, given, source, target)
        yield known[key]


def _is_per_step(cost: Any) -> bool:
    """Whether this is one cost for each step: a list of arrays or functions, or an array [h, n, m]."""
    if isinstance(cost, (list, tuple)):
        return any(part is None or callable(part) or np.ndim(part) == 2 for part in cost)
    return getattr(cost, "ndim", 2) == 3


def _named_errors(what: str | None, cost: Any, source: MarkovChain, target: MarkovChain) -> Any:
    """A checked cost; errors say which one it is."""
    if what is None:
        return ground_cost(cost, source, target)
    try:
        return ground_cost(cost, source, target)
    except InvalidProblem as error:
        raise InvalidProblem(f"{what}: {error}") from None
