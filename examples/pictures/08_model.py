"""
A policy on its map
===================

Holes, goals, rewards and the start of a decision process, and the arrows of a policy; here of the best one.
"""

import bisimetric as bm

lake = bm.as_mdp("gym:FrozenLake-v1,map_name=8x8")
figure = bm.plot.model(lake, policy="optimal", discount=0.99)
