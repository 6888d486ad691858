"""
Distances between two maps
==========================

``solution.plot()`` draws models whose states are cells on their maps, and how far every cell of the target is from
the source's start.
"""

import bisimetric as bm

solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
figure = solution.plot()
