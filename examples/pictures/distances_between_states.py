"""
A matrix of distances
=====================

Models without a map are drawn as a matrix, names of states at its sides where there is room for them.
"""

import bisimetric as bm

states = {"reward": [0, 1, 3], "names": ["well", "ill", "worse"]}
sick = bm.MarkovChain([[0.7, 0.3, 0.0], [0.3, 0.5, 0.2], [0.0, 0.4, 0.6]], **states)
cured = bm.MarkovChain([[0.9, 0.1, 0.0], [0.5, 0.4, 0.1], [0.0, 0.5, 0.5]], **states)
figure = bm.plot.distances(bm.distance(sick, cured, discount=0.9), names=("sick", "cured"))
