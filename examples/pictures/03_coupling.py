"""
The coupling of one pair
========================

Where two models go next when they move together as well as possible: one cell for every pair of next states, with
its probability. Each side has its own law, at the margins.
"""

import bisimetric as bm

solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
figure = bm.plot.coupling(solution, "(2,1)", "(1,1)")
