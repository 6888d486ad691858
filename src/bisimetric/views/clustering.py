"""Trees of clusters: which things are merged at which distance, and an order that puts similar ones side by side.

Clusters are merged by complete linkage, as in `bisimetric.aggregate`: the height of a merger is the largest distance
inside of the new cluster.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bisimetric.models.rows import Floats

MOST_SORTED = 600  # leaves up to this many are sorted so that neighbours are as close as possible; that takes n² log n


def cluster_tree(matrix: Floats) -> Floats:
    """[N - 1, 4], the mergers of N ≥ 2 things at these symmetric distances, as scipy writes them down."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    scale = matrix.max() or 1.0
    condensed = squareform(matrix / scale, checks=False)
    tree: Floats = linkage(condensed, method="complete", optimal_ordering=len(matrix) <= MOST_SORTED)
    tree[:, 2] *= scale
    return tree


def similar_first(matrix: Floats) -> npt.NDArray[np.int64]:
    """An order of N things at these symmetric distances in which similar ones are neighbours."""
    from scipy.cluster.hierarchy import leaves_list

    return np.asarray(leaves_list(cluster_tree(matrix)) if len(matrix) > 1 else [0], np.int64)


def rows_by_similarity(matrix: Floats) -> npt.NDArray[np.int64]:
    """An order of the rows of a matrix in which similar rows are neighbours; NaN counts as the largest entry."""
    filled = np.where(np.isnan(matrix), np.nanmax(matrix, initial=0.0), matrix)
    scaled = filled / (np.abs(filled).max() or 1.0)
    squares = (scaled**2).sum(axis=1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2.0 * scaled @ scaled.T, 0.0))
    np.fill_diagonal(apart, 0.0)
    return similar_first(0.5 * (apart + apart.T))
