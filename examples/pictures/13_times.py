"""
Running times
=============

Seconds against sizes: a line through the medians, a band from the fastest to the slowest run.
"""

import time

import numpy as np

import bisimetric as bm

sizes, runs = [10, 15, 20, 30], 3
chains = [[bm.environments.random_chain(n, seed=k) for k in range(runs + 1)] for n in sizes]
series = {}
for solver in (bm.PolicyIteration(), bm.ValueIteration()):
    seconds = np.empty((len(sizes), runs))
    for i, made in enumerate(chains):
        bm.distance(made[0], made[1], discount=0.95, solver=solver)  # compiles, once for every kind of problem
        for k in range(runs):
            began = time.perf_counter()
            bm.distance(made[k], made[k + 1], discount=0.95, solver=solver)
            seconds[i, k] = time.perf_counter() - began
    series[solver.name] = (sizes, seconds)
figure = bm.plot.times(series, xlabel="states", ylabel="seconds")
