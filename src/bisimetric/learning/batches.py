"""Distances and their derivatives for batches of plain arrays, as frameworks for automatic differentiation hold them.

Every input may have a first axis, the batch; those without one are shared. The first item of a batch is solved from
nothing and the others start from its distances, each in a thread of its own, so results do not depend on the number of
threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.blocks import for_each_block, one_thread
from bisimetric._support.options import flag
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import ROW_SUM_TOL, Floats, Ints
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.solvers.base import checked_tol
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

SIMPLEX_TOL_SINGLE = 1e-5  # largest |sum - 1| of probabilities in single precision: sums of some hundred roundings


class StoredKernel(NamedTuple):
    """The stored probabilities of a sparse [n, n] kernel, in any order."""

    values: npt.NDArray[Any]  # [entries] or [batch, entries]
    rows: Ints
    columns: Ints
    n_states: int


Kernel = npt.NDArray[Any] | StoredKernel


class Inputs(NamedTuple):
    """What a distance depends on; starts that are None are uniform."""

    source: Kernel  # [n, n]
    target: Kernel  # [m, m]
    cost: npt.NDArray[Any]  # [n, m]
    discount: npt.NDArray[Any]  # []
    source_start: npt.NDArray[Any] | None = None  # [n]
    target_start: npt.NDArray[Any] | None = None  # [m]


class Settings(NamedTuple):
    """How distances are solved."""

    normalised: bool = False
    tol: float | None = None
    discount: float | None = None  # stands for that of the inputs, which may be in single precision


class Evaluated(NamedTuple):
    """Distances [] or [batch], and their derivatives in the shapes of the inputs, each with the batch axis."""

    distance: Floats
    source: Floats
    target: Floats
    cost: Floats
    discount: Floats
    source_start: Floats
    target_start: Floats


def checked_settings(settings: Settings) -> Settings:
    """The settings as they are; raises where they are wrong, whatever the inputs are."""
    flag(settings.normalised, "normalised")
    if settings.tol is not None:
        checked_tol(settings.tol, PolicyIteration())
    if settings.discount is not None:
        checked_discount(settings.discount)
    return settings


def distances(inputs: Inputs, settings: Settings) -> Floats:
    """The distance of every item of a batch, [] or [batch]."""
    size = batch_size(inputs)
    found = np.array([solution.distance for solution in _solve_all(inputs, settings, size)])
    return found if size is not None else found[0]


def evaluate(inputs: Inputs, settings: Settings) -> Evaluated:
    """The distances of a batch and all their derivatives."""
    size = batch_size(inputs)
    items = [_derivatives(inputs, solution) for solution in _solve_all(inputs, settings, size)]
    columns = (np.stack(column) for column in zip(*items, strict=True))
    return Evaluated(*(column if size is not None else column[0] for column in columns))


def batch_size(inputs: Inputs) -> int | None:
    """The length of the first axis of all inputs that have one; None if none has."""
    sizes = {}
    for name, array, ndim in _shapes(inputs):
        if array.ndim not in (ndim, ndim + 1):
            raise InvalidProblem(
                f"{name} has {array.ndim} dimensions, expected {ndim}, or {ndim + 1} with a batch as the first"
            )
        if array.ndim == ndim + 1:
            sizes[name] = array.shape[0]
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise InvalidProblem(f"batches of different lengths: {told}; expected one length, or no batch axis")
    size = next(iter(sizes.values()), None)
    if size == 0:
        raise InvalidProblem("the batch is empty, expected one item at least")
    return size


def refuse_shapes(inputs: Inputs) -> None:
    """Raise where dense inputs do not fit to each other, whatever their values are."""
    batch_size(inputs)
    P, Q, cost, _, *starts = inputs
    assert not isinstance(P, StoredKernel)
    assert not isinstance(Q, StoredKernel)
    for name, kernel in (("P", P), ("Q", Q)):
        if kernel.shape[-2] != kernel.shape[-1] or not kernel.shape[-1]:
            raise InvalidChain(f"{name} has shape {kernel.shape}, expected square matrices: one row per state")
    n, m = P.shape[-1], Q.shape[-1]
    if cost.shape[-2:] != (n, m):
        raise InvalidProblem(f"cost has shape {cost.shape}, expected ({n}, {m}): one entry per pair of states")
    for name, start, size in (("source_start", starts[0], n), ("target_start", starts[1], m)):
        if start is not None and start.shape[-1] != size:
            raise InvalidProblem(f"{name} has shape {start.shape}, expected ({size},): one entry per state")


def _shapes(inputs: Inputs) -> list[tuple[str, npt.NDArray[Any], int]]:
    """The arrays of all inputs, their names, and how many dimensions each has without a batch."""
    found = []
    for name, given, ndim in zip(
        ("P", "Q", "cost", "discount", "source_start", "target_start"), inputs, (2, 2, 2, 0, 1, 1), strict=True
    ):
        if isinstance(given, StoredKernel):
            found.append((name, given.values, 1))
        elif given is not None:
            found.append((name, given, ndim))
    return found


def _solve_all(inputs: Inputs, settings: Settings, size: int | None) -> list[Solution]:
    """The solutions of a batch; all but the first start from the distances of the first."""
    problems = [_problem(inputs, settings, item if size is not None else None) for item in range(size or 1)]
    first = solve(problems[0], tol=settings.tol)
    solutions = [first] * len(problems)

    def work(begin: int, end: int) -> None:
        for item in range(begin, end):
            with one_thread():
                solutions[item + 1] = solve(problems[item + 1], tol=settings.tol, initial=first.value)

    if len(problems) > 1:
        for_each_block(work, len(problems) - 1)
    return solutions


def _problem(inputs: Inputs, settings: Settings, item: int | None) -> Problem:
    where = "" if item is None else f" of item {item}"
    parts = [_item(given, ndim, item) for given, ndim in zip(inputs, (2, 2, 2, 0, 1, 1), strict=True)]
    chains = []
    for name, kernel, start in (("P", parts[0], parts[4]), ("Q", parts[1], parts[5])):
        rows = _checked_rows(kernel, f"{name}{where}")
        n = rows.shape[0]
        law = np.full(n, 1.0 / n) if start is None else start
        side = "source_start" if name == "P" else "target_start"
        if law.shape != (n,):
            raise InvalidProblem(f"{side}{where} has shape {law.shape}, expected ({n},): one entry per state of {name}")
        chains.append(MarkovChain(rows, start=_checked_law(law, f"{side}{where}")))
    discount = float(parts[3]) if settings.discount is None else settings.discount
    try:
        return Problem(*chains, discount=discount, cost=parts[2].astype(float), normalised=settings.normalised)
    except InvalidProblem as error:
        raise InvalidProblem(f"{error}{where and f' ({where.strip()})'}") from None


def _item(given: Any, ndim: int, item: int | None) -> Any:
    """One item of a batch; inputs without a batch axis are shared."""
    if isinstance(given, StoredKernel):
        return given._replace(values=given.values[item]) if item is not None and given.values.ndim == 2 else given
    return given[item] if item is not None and given is not None and given.ndim == ndim + 1 else given


def _checked_rows(kernel: Kernel, what: str) -> sparse.csr_array:
    """A kernel whose rows sum to one, as accurately as its precision allows."""
    if isinstance(kernel, StoredKernel):
        n = kernel.n_states
        tol = _tolerance(kernel.values)
        values = kernel.values.astype(np.float64)
        _refuse_values(values, what, np.stack([kernel.rows, kernel.columns], axis=1))
        matrix = sparse.csr_array((values, (kernel.rows, kernel.columns)), shape=(n, n))
        sums = np.asarray(matrix.sum(axis=1)).ravel()
        _refuse_sums(sums, what, tol)
        return sparse.csr_array(matrix.multiply(1.0 / sums[:, None]))
    if kernel.shape[0] != kernel.shape[1] or not kernel.size:
        raise InvalidChain(f"{what} has shape {kernel.shape}, expected a square matrix: one row per state")
    return sparse.csr_array(_checked_law(kernel, what))


def _checked_law(rows: npt.NDArray[Any], what: str) -> Floats:
    """Rows of probabilities, [k, n], or one, [n], that sum to one; rescaled in double precision."""
    exact: Floats = rows.astype(np.float64)
    _refuse_values(exact, what)
    sums = exact.sum(axis=-1, keepdims=True)
    _refuse_sums(sums.ravel(), what, _tolerance(rows))
    exact /= sums
    return exact


def _tolerance(given: npt.NDArray[Any]) -> float:
    return SIMPLEX_TOL_SINGLE if given.dtype == np.float32 else ROW_SUM_TOL


def _refuse_values(values: Floats, what: str, places: Ints | None = None) -> None:
    """Raise where an entry is no probability; `places` says where those of a sparse kernel stand."""
    for wrong, word in ((~np.isfinite(values), "expected finite numbers"), (values < 0.0, "expected probabilities")):
        if wrong.any():
            at = tuple(np.argwhere(wrong)[0])
            place = tuple(int(k) for k in (at if places is None else places[at[0]]))
            raise InvalidChain(f"{what} is {values[at]:g} at {place if len(place) > 1 else place[0]}, {word}")


def _refuse_sums(sums: Floats, what: str, tol: float) -> None:
    row = int(np.abs(sums - 1.0).argmax())
    if not abs(sums[row] - 1.0) <= tol:
        which = f"row {row} of {what}" if len(sums) > 1 else what
        raise InvalidChain(
            f"{which} sums to {sums[row]:.9g}, {abs(sums[row] - 1.0):.1e} off the simplex, expected 1 within {tol:g}; "
            "softmax over the last axis, or a division by its sum, makes rows of probabilities"
        )


def _derivatives(inputs: Inputs, solution: Solution) -> tuple[Any, ...]:
    """The distance of one item and its derivatives in the shapes of the inputs."""
    gradient = solution.gradient()
    by_kernel = []
    for kernel, part in ((inputs.source, gradient.source), (inputs.target, gradient.target)):
        if isinstance(kernel, StoredKernel):
            by_kernel.append(np.asarray(part[kernel.rows, kernel.columns]).ravel())
        else:
            by_kernel.append(part.toarray())
    starts = gradient.source_start, gradient.target_start
    return (solution.distance, *by_kernel, gradient.cost, gradient.discount, *starts)


def refuse_dtype(dtype: object, name: str, convert: str) -> None:
    """Raise for arrays that are neither float32 nor float64."""
    kind = str(dtype).removeprefix("torch.")
    if kind.startswith("complex"):
        raise InvalidOption(f"{name} has dtype {dtype}, expected real numbers: float32 or float64")
    if kind not in ("float32", "float64"):
        raise InvalidOption(f"{name} has dtype {dtype}, expected float32 or float64; {convert} converts it")
