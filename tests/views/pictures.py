"""What the tests read off figures."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np


def pixels(figure) -> np.ndarray:
    """The figure as it is drawn: [h, w, 4]."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=60)
    file.seek(0)
    return matplotlib.image.imread(file)


def texts(figure) -> list[str]:
    """Every text in the figure that is not empty."""
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def legend(axes) -> list[str]:
    """The entries of a legend."""
    return [text.get_text() for text in axes.get_legend().get_texts()]


def distances_of(points):
    """Euclidean distances between points."""
    return np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)


def cloud(count, dimensions, seed=0):
    """Points that spread less and less along their coordinates."""
    return np.random.default_rng(seed).standard_normal((count, dimensions)) * 0.6 ** np.arange(dimensions)
