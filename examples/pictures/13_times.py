"""
Running times
=============

Seconds against sizes: a line through the medians, a band from the fastest to the slowest run.
"""

import time

import numpy as np

import bisimetric as bm

sizes, runs = [10, 15, 20, 30], 3
series = {}
for solver in (bm.PolicyIteration(), bm.ValueIteration()):
    bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95, solver=solver)  # compiles, once
    seconds = np.empty((len(sizes), runs))
    for i, n in enumerate(sizes):
        for seed in range(runs):
            chains = [bm.environments.random_chain(n, seed=2 * seed + k) for k in range(2)]
            began = time.process_time()
            bm.distance(*chains, discount=0.95, solver=solver)
            seconds[i, seed] = time.process_time() - began
    series[solver.name] = (sizes, seconds)
figure = bm.plot.times(series, xlabel="states")
