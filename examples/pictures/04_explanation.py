"""
Where a distance comes from
===========================

``solution.explain()`` prints the pairs of states that add most to the distance; this draws them.
"""

import bisimetric as bm

solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
figure = bm.plot.explanation(solution.explain(8))
