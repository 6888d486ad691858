"""
A tree of states or models
==========================

Branches join at the largest distance between their members. Cut at a height, the tree gives groups that are no
wider.
"""

import bisimetric as bm

names = [f"p{k}" for k in range(8)]
table = bm.pairwise([f"four-rooms:{name}" for name in names], discount=0.95)
figure = bm.plot.dendrogram(table, names=names)
