"""
How two models part
===================

``solution.explain().path`` is the most likely way on which the two coupled models come to differ. Its picture has every
step, with the probability of the joint move, and the way on the maps of the models; the ring is where they part.
"""

import bisimetric as bm

slippery, firm = bm.as_mdp("gym:FrozenLake-v1"), bm.as_mdp("gym:FrozenLake-v1,is_slippery=false")
solution = bm.bisimulation_metric(slippery, firm, discount=0.95)
figure = bm.plot.path(solution.explain().path)
