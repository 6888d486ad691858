"""Pictures, drawn with matplotlib (`pip install 'bisimetric[plot]'`).

Every function returns a `matplotlib.figure.Figure`: a new one, or with `axes=` the figure of those axes. `save` writes
it to a file, the same bytes every time. Multidimensional scaling (`mds`, `embed`) needs scikit-learn
(`pip install 'bisimetric[ml]'`).

>>> import bisimetric as bm
>>> solution = bm.distance("grid-3x3", "matching-four-rooms", discount=0.95)
>>> figure = bm.plot.heat_map(bm.as_chain("matching-four-rooms"), solution.value[0], marks={"(0,0)": "S"})
"""

from bisimetric.views.curves import convergence, times
from bisimetric.views.distances import distances
from bisimetric.views.embedding import Embedding, embed
from bisimetric.views.figures import save
from bisimetric.views.heat_map import heat_map
from bisimetric.views.mds import mds

__all__ = ["Embedding", "convergence", "distances", "embed", "heat_map", "mds", "save", "times"]


def __dir__() -> list[str]:
    return __all__
