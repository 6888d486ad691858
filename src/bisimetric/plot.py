"""Pictures, drawn with matplotlib (`pip install 'bisimetric[plot]'`).

`solution.plot()` picks the one that fits; so do `plot()` of a table, of an aggregation and of an explanation. Each by
its name:

- `distances`: what `solution.plot()` shows: two grids on their maps, one model as `states`, others as `matrix`;
- `matrix`: all distances as colours, with names, ordered by similarity on request;
- `states`: the states of one model at their distances, and on their map;
- `mds`, `dendrogram`: any symmetric distances as points or as a tree, such as a table of `bisimetric.pairwise`;
- `coupling`: where one pair of states goes from there, with both marginals;
- `explanation`, `path`: which pairs of states make up a distance, and how two models most likely part;
- `model`: a grid on its map, with holes, rewards and the arrows of a policy;
- `heat_map`: any numbers over the cells of a grid;
- `aggregation`: which states `bisimetric.aggregate` merged;
- `convergence`: certified intervals, or gaps, against time;
- `curves`, `times`: any curves, and running times by size;
- `embed`: the points of `mds` as numbers; `save`: a figure to a file, the same bytes every time.

Every function returns a `matplotlib.figure.Figure`: a new one, or with `ax=` the figure of those axes. Nothing is shown
or registered with pyplot. State names are data: neither mathematics nor markup in them does anything.

>>> import bisimetric as bm
>>> solution = bm.distance("grid-3x3", "matching-four-rooms", discount=0.95)
>>> figure = bm.plot.heat_map(bm.as_chain("matching-four-rooms"), solution.value[0], marks={"(0,0)": "S"})
"""

from bisimetric.views.aggregation import aggregation
from bisimetric.views.convergence import convergence
from bisimetric.views.coupling import coupling
from bisimetric.views.curves import curves, times
from bisimetric.views.dendrogram import dendrogram
from bisimetric.views.distances import distances
from bisimetric.views.embedding import Embedding, embed
from bisimetric.views.explanation import explanation
from bisimetric.views.figures import save
from bisimetric.views.heat_map import heat_map
from bisimetric.views.matrix import matrix
from bisimetric.views.mds import mds
from bisimetric.views.model import model
from bisimetric.views.path import path
from bisimetric.views.states import states

__all__ = [
    "Embedding",
    "aggregation",
    "convergence",
    "coupling",
    "curves",
    "dendrogram",
    "distances",
    "embed",
    "explanation",
    "heat_map",
    "matrix",
    "mds",
    "model",
    "path",
    "save",
    "states",
    "times",
]


def __dir__() -> list[str]:
    return __all__
