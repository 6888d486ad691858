"""Points in few dimensions whose Euclidean distances are close to given ones.

Metric multidimensional scaling (MDS) minimises the sum over pairs of (|p - q| - d)². The iteration (SMACOF, from
scikit-learn) descends to a local minimum that depends on where it starts. It is run from the classical solution, which
is exact if points with these distances exist, and, for up to 150 points, from random points; the best result is kept.
The points are rotated to their principal axes: the first coordinate spreads most, and the same distances always give
the same picture.

References: Kruskal 1964; de Leeuw 1977; Borg & Groenen 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.options import whole
from bisimetric.errors import MissingExtra
from bisimetric.models.rows import Floats
from bisimetric.views.tables import HasValue, as_table, symmetric

RANDOM_STARTS = 4
MANY_POINTS = 150  # more points are placed from the classical solution alone
ROUNDS = 500  # most rounds of one descent
DESCENT_WORK = 5e7  # most pairs of points in all rounds of one descent
MOST_DIMENSIONS = 10_000
SMALLEST_GAIN = 1e-8  # a descent ends when a round gains less, relative to the distances squared


@dataclass(frozen=True, slots=True, eq=False)
class Embedding(Immutable):
    """Points, and how well their distances match the given ones.

    Attributes
    ----------
    points : array [N, dimensions]
        The points, centred and along their principal axes.
    stress : float
        Kruskal's stress-1, sqrt(Σ (|p - q| - d)² / Σ |p - q|²): 0 is perfect, 0.1 fair, 0.2 poor.
    """

    points: Floats
    stress: float


def embed(distances: npt.ArrayLike | HasValue, *, dimensions: int = 3, seed: int = 0) -> Embedding:
    """Place N points so that their Euclidean distances are close to the given ones (metric MDS).

    Parameters
    ----------
    distances : Distances, Solution, MDPSolution or array [N, N]
        What `bisimetric.pairwise` returned, the solution of a model with itself, or any symmetric matrix of distances.
    dimensions : int
        The number of coordinates. Those beyond the first N - 1 are zero.
    seed : int
        The seed of the random starts; the same seed gives the same points.

    Returns
    -------
    Embedding
        The points [N, dimensions] and their stress.

    Raises
    ------
    InvalidOption
        If `distances` is not a symmetric matrix of finite numbers ≥ 0.
    MissingExtra
        If scikit-learn is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> embedding = bm.plot.embed([[0, 3, 4], [3, 0, 5], [4, 5, 0]], dimensions=2)
    >>> embedding.points.shape, round(embedding.stress, 6)
    ((3, 2), 0.0)
    """
    matrix = symmetric(as_table(distances)).values
    dimensions = whole(dimensions, "dimensions", at_least=1, at_most=MOST_DIMENSIONS)
    seed = whole(seed, "seed", at_least=0)
    points = np.zeros((len(matrix), dimensions))
    largest = matrix.max()
    if largest == 0.0:
        return Embedding(frozen(points), 0.0)
    scaled = matrix / largest  # because SMACOF has absolute constants
    used = min(dimensions, len(matrix) - 1)  # N points always lie in N - 1 dimensions
    starts = [classical(scaled, used), *(_random(scaled, used, seed) if len(matrix) <= MANY_POINTS else ())]
    ends = [_descend(scaled, start) for start in starts]
    stresses = [stress_of(scaled, end) for end in ends]
    best = int(np.argmin(stresses))
    points[:, :used] = _on_principal_axes(ends[best]) * largest
    return Embedding(frozen(points), stresses[best])


def classical(matrix: Floats, dimensions: int) -> Floats:
    """Torgerson's solution: the leading eigenvectors of the doubly centred squares."""
    from scipy.sparse.linalg import eigsh

    centre = np.eye(len(matrix)) - 1.0 / len(matrix)
    squares = -0.5 * centre @ matrix**2 @ centre
    if len(matrix) > MANY_POINTS > 2 * dimensions:  # the leading vectors alone are computed much sooner
        sizes, vectors = eigsh(squares, dimensions, v0=np.arange(1.0, len(matrix) + 1), which="LA")
    else:
        sizes, vectors = np.linalg.eigh(squares)
    points = np.zeros((len(matrix), dimensions))
    leading = np.argsort(-sizes, kind="stable")[:dimensions]
    points[:, : len(leading)] = vectors[:, leading] * np.sqrt(np.maximum(sizes[leading], 0.0))
    return points


def _random(matrix: Floats, dimensions: int, seed: int) -> list[Floats]:
    generator = np.random.default_rng(seed)
    return [generator.uniform(size=(len(matrix), dimensions)) for _ in range(RANDOM_STARTS)]


def _descend(matrix: Floats, start: Floats) -> Floats:
    try:
        from sklearn.manifold import smacof
    except ImportError:
        raise MissingExtra(
            "multidimensional scaling needs scikit-learn, which is missing: pip install 'bisimetric[plot]'"
        ) from None
    points, _ = smacof(
        matrix, metric=True, n_components=start.shape[1], init=start, n_init=1, n_jobs=1,
        max_iter=int(min(ROUNDS, max(1, DESCENT_WORK / len(matrix) ** 2))),
        eps=SMALLEST_GAIN, random_state=0, normalized_stress=False,
    )  # fmt: skip
    return np.asarray(points, dtype=np.float64)


def stress_of(matrix: Floats, points: Floats) -> float:
    reached = np.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    return float(np.sqrt(((reached - matrix) ** 2).sum() / (reached**2).sum()))


def _on_principal_axes(points: Floats) -> Floats:
    """The points centred and rotated to their principal axes; the farthest point on each axis has a positive sign."""
    centred = points - points.mean(axis=0)
    turned = centred @ np.linalg.svd(centred, full_matrices=True)[2].T
    farthest = turned[np.abs(turned).argmax(axis=0), np.arange(turned.shape[1])]
    return np.asarray(turned * np.where(farthest < 0, -1.0, 1.0))
