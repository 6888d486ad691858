"""
Many models in the plane
========================

``bm.plot.mds`` places models so that distances on paper are about those of the table, and states the stress: how
far off they are. Colours are groups, if ``groups=`` is given.
"""

import bisimetric as bm

names = [f"p{k}" for k in range(8)]
table = bm.pairwise([f"four-rooms:{name}" for name in names], discount=0.95)
figure = bm.plot.mds(table, names=names)
