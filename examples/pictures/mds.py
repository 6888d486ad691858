"""
Many models in the plane
========================

``bm.plot.mds`` places models so that distances on paper are about those of the table, and states the stress: how
far off they are. Points of one colour belong to one group.
"""

import bisimetric as bm

names = [f"p{k}" for k in range(8)]
table = bm.pairwise([f"four-rooms:{name}" for name in names], discount=0.95)
figure = bm.plot.mds(table, names=names)
