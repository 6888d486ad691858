"""
A matrix of distances
=====================

Models without a map are drawn as a matrix, and so is any table of distances. ``order="clustering"`` puts rows and
columns that are alike next to each other. Where there is no room for all names there are fewer, not smaller ones.
"""

import networkx as nx

import bisimetric as bm

walk = bm.from_networkx(nx.karate_club_graph(), label="club", start="stationary")
solution = bm.distance(walk, walk, discount=0.9, cost=bm.cost.label_mismatch, normalised=True)
figure = bm.plot.matrix(solution, order="clustering", title="Karate club: surroundings of its members")
