"""
Merged states on the map
========================

Which states ``bm.aggregate`` merged: one colour for each state of the small model.
"""

import bisimetric as bm

small = bm.aggregate("four-rooms:p1", n_states=8, discount=0.95)
figure = bm.plot.aggregation(small)
