"""
Convergence
===========

``bm.plot.curves`` draws curves against rounds or seconds. ``solution.history`` has the certified gap at every
look of the checker.
"""

import bisimetric as bm

problem = bm.Problem(bm.as_chain("four-rooms:p1"), bm.as_chain("four-rooms:p0"), discount=0.95)
curves = {}
for solver in (bm.ValueIteration(), bm.SinkhornValueIteration(), bm.SinkhornValueIteration.as_in_paper()):
    history = bm.solve(problem, solver).history
    looks = [step for step in history if step.gap is not None and step.gap > 0]
    name = solver.name if solver != bm.SinkhornValueIteration.as_in_paper() else "the same, as in the paper"
    curves[name] = ([step.step + 1 for step in looks], [step.gap for step in looks])
figure = bm.plot.curves(curves, xlabel="steps or rounds", ylabel="certified gap", log=(True, True))
