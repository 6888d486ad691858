"""
Distances on two maps
=====================

``solution.plot()`` draws what fits the models. For grids with starts these are both maps, and how far every cell of
the target is from the source's start. ``bm.plot.distances(solution)`` is the same.
"""

import bisimetric as bm

solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
figure = bm.plot.distances(solution)
