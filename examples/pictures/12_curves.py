"""
Curves
======

Any numbers against any others, in the colours and markers of the other pictures: here how a distance grows with γ.
"""

import bisimetric as bm

discounts = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95]
series = {}
for target in ("four-rooms:p0", "four-rooms:p5"):
    found = [bm.distance("four-rooms:p1", target, discount=discount, normalised=True) for discount in discounts]
    series[f"p1 and {target[-2:]}"] = (discounts, [solution.distance for solution in found])
figure = bm.plot.curves(series, xlabel="discount γ", ylabel="normalised distance")
