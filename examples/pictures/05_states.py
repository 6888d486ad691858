"""
The states of one model
=======================

A metric between the states of one model is drawn as points at about these distances, and on the map in the same
colours: cells of like colour behave alike.
"""

import bisimetric as bm

solution = bm.bisimulation_metric("gym:FrozenLake-v1", discount=0.95)
figure = bm.plot.states(solution)
