"""What a gradient costs and how right it is, beside ot-markov-distances' torch loss.

Errors are relative to finite differences of the certified distance, along random changes of the source's kernel that
keep its rows on the simplex, and of the cost: |derivative - difference| / Σ |terms|, the largest of some directions.
The peer descends an entropic loss; its regularisation is relative to the largest cost. Seconds are CPU seconds of one
loss with its derivatives, the fastest of some turns; solves and gradients side by side have one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import bisimetric as bm
from benchmarks import instances
from benchmarks.measure import quickest
from benchmarks.tables import Row, Table, digits
from bisimetric._support.blocks import one_thread

INSTANCES = ("grid-10", "grid-15", "rooms-10", "rooms-20", "dense-50", "dense-100")
QUICK_INSTANCES = ("rooms-4", "dense-10")
DISCOUNTS = (0.9, 0.95, 0.99)
PEER_INSTANCES, QUICK_PEER_INSTANCES = ("sparse-10", "sparse-20", "dense-10", "dense-20"), ("sparse-6",)
PEER_DISCOUNT = 0.9
REGULARISATIONS = (0.1, 0.01, 0.001)  # relative to the largest cost
DIRECTIONS, STEP = 5, 1e-5


def started(problem: bm.Problem) -> bm.Problem:
    """The problem with random starts in all states: even ones of rooms that mirror each other are at distance 0."""
    random = np.random.default_rng(0)
    source, target = (
        chain.with_start(random.dirichlet(np.ones(chain.n_states))) for chain in (problem.source, problem.target)
    )
    return bm.Problem(source, target, discount=problem.discount, cost=problem.cost)


def gradient_cost(name: str, discount: float, *, quotient: bool) -> Row:
    """CPU seconds of a solve, on classes of bisimilar states where there are some, and of its gradient."""
    problem = started(instances.problem(name, discount))
    with one_thread():
        solution = bm.solve(problem, quotient=quotient)
        solution.gradient()
        return {
            "part": "cost", "instance": name, "discount": discount, "quotient": quotient,
            "solve": quickest(lambda: bm.solve(problem, quotient=quotient))[1],
            "gradient": quickest(solution.gradient)[1],
        }  # fmt: skip


class Along(NamedTuple):
    """Random changes of the source's kernel and of the cost, each with the finite difference of the distance."""

    kernel: list[tuple[Any, float]]
    cost: list[tuple[Any, float]]


def directions(problem: bm.Problem) -> Along:
    """Changes that keep the rows of the kernel on the simplex, and costs positive."""
    random = np.random.default_rng(0)
    kernel = problem.source.transitions.toarray()
    found = Along([], [])

    def distance(change: Any, cost: Any) -> float:
        source = bm.MarkovChain(kernel + change, start=problem.source.start)
        moved = bm.Problem(source, problem.target, discount=problem.discount, cost=problem.cost + cost)
        return bm.solve(moved, tol=1e-13, throw=False).distance

    for _ in range(DIRECTIONS):
        change = random.normal(size=kernel.shape) * kernel
        change -= kernel * change.sum(axis=1, keepdims=True)
        cost = random.normal(size=problem.cost.shape) * problem.cost
        ahead, behind = (distance(sign * STEP * change, 0.0) for sign in (1, -1))
        found.kernel.append((change, (ahead - behind) / (2 * STEP)))
        ahead, behind = (distance(0.0, sign * STEP * cost) for sign in (1, -1))
        found.cost.append((cost, (ahead - behind) / (2 * STEP)))
    return found


def largest_error(derivative: Any, along: list[tuple[Any, float]]) -> float | None:
    """The largest error along these directions, relative to the sizes of the terms; None if there is no derivative."""
    if derivative is None:
        return None
    errors = []
    for change, difference in along:
        terms = derivative * change
        errors.append(abs(terms.sum() - difference) / np.abs(terms).sum())
    worst = float(max(errors))
    return worst if np.isfinite(worst) else None


def ours(problem: bm.Problem, along: Along) -> Row:
    """One distance with its derivatives."""
    gradient, seconds = quickest(lambda: bm.solve(problem).gradient())
    return {
        "method": "bisimetric",
        "cpu": seconds,
        "kernel_error": largest_error(gradient.source.toarray(), along.kernel),
        "cost_error": largest_error(gradient.cost, along.cost),
    }


def theirs(problem: bm.Problem, reg: float, along: Along, *, by_kernel: bool) -> Row:
    """One loss of ot-markov-distances with its derivatives, by the cost alone if it cannot do both."""
    import torch
    from ot_markov_distances.discounted_wl import discounted_wl_infty

    torch.set_num_threads(1)
    scale, rest = float(problem.cost.max()), 1.0 - problem.discount
    chains = problem.source, problem.target
    source, target = (torch.from_numpy(chain.transitions.toarray())[None] for chain in chains)
    starts = [torch.from_numpy(np.array(chain.start))[None] for chain in chains]

    def work() -> Any:
        torch.manual_seed(0)  # its Sinkhorn starts from random potentials
        kernel = source.clone().requires_grad_(by_kernel)
        cost = torch.from_numpy(problem.cost / scale)[None].requires_grad_()
        loss = discounted_wl_infty(
            kernel, target, cost, *starts, delta=rest, sinkhorn_reg=reg, max_iter=500,
            convergence_threshold_rtol=1e-4, sinkhorn_iter=500,
        )  # fmt: skip
        loss.sum().backward()
        slope = None if kernel.grad is None else kernel.grad[0].numpy() * scale / rest
        return slope, None if cost.grad is None else cost.grad[0].numpy() / rest

    row: Row = {"method": f"ot-markov-distances, reg {reg:g}{'' if by_kernel else ', by the cost alone'}"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (slope, by_cost), seconds = quickest(work)
    except Exception as error:  # a peer that fails is a result
        return row | {"failed": f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"}
    return row | {
        "cpu": seconds,
        "kernel_error": largest_error(slope, along.kernel),
        "cost_error": largest_error(by_cost, along.cost),
    }


def compared(problem: bm.Problem, reg: float, along: Along) -> list[Row]:
    """The peer's derivatives by kernel and cost; where that fails, by the cost alone as well."""
    both = theirs(problem, reg, along, by_kernel=True)
    return [both, theirs(problem, reg, along, by_kernel=False)] if "failed" in both else [both]


def measure(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """Costs of gradients, and the peer."""
    rows: list[Row] = []
    for name in QUICK_INSTANCES if quick else INSTANCES:
        for discount in DISCOUNTS[:1] if quick else DISCOUNTS:
            for quotient in (False,) if name.startswith("dense") else (False, True):  # dense chains have no classes
                rows.append(gradient_cost(name, discount, quotient=quotient))
                say(f"{name} {discount}: {rows[-1]['gradient'] / rows[-1]['solve']:.2f} of the solve")
    for name in QUICK_PEER_INSTANCES if quick else PEER_INSTANCES:
        problem = started(instances.problem(name, PEER_DISCOUNT))
        along = directions(problem)
        peer = [row for reg in REGULARISATIONS for row in compared(problem, reg, along)]
        for row in (ours(problem, along), *peer):
            rows.append({"part": "peer", "instance": name} | row)
            say(f"{name}: {row}")
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Costs, and the peer."""
    parts = {name: [row for row in rows if row["part"] == name] for name in ("cost", "peer")}
    body = [
        [f"{row['instance']}{', on classes' * row['quotient']}", f"{row['discount']:g}", digits(row["solve"]),
         digits(row["gradient"]), f"{row['gradient'] / row['solve']:.2f}"]
        for row in parts["cost"]
    ]  # fmt: skip
    yield Table("A gradient beside its solve", ["", "discount", "solve, CPU s", "gradient, CPU s", "ratio"], body)
    body = [
        [f"{row['instance']}: {row['method']}", row.get("failed") or digits(row["cpu"]),
         *("-" if row.get(key) is None else f"{row[key]:.1e}" for key in ("cost_error", "kernel_error"))]
        for row in parts["peer"]
    ]  # fmt: skip
    notes = [f"Discount {PEER_DISCOUNT}. Errors are relative to finite differences of the certified distance."]
    yield Table("Distances with their derivatives", ["", "CPU s", "error by the cost", "by the kernel"], body, notes)
