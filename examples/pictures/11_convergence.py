"""
How solves went
===============

The certified gap, or the interval around the distance, against time. ``look_every`` asks the checker more often, so
that there is more to see.
"""

import bisimetric as bm

problem = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
bm.solve(problem)  # kernels are loaded now
solutions = {
    "policy iteration": bm.solve(problem, look_every=1),
    "value iteration": bm.solve(problem, "value-iteration", look_every=10),
    "Sinkhorn value iteration": bm.solve(problem, "sinkhorn-value-iteration", look_every=25),
}
figure = bm.plot.convergence(solutions)
