"""
Values on a map
===============

``bm.plot.heat_map`` colours the cells of a grid by any value of its states: here the distance from one start to
every cell.
"""

import bisimetric as bm

small, rooms = bm.as_chain("grid-3x3"), bm.as_chain("matching-four-rooms")
solution = bm.distance(small, rooms, discount=0.95)
figure = bm.plot.heat_map(rooms, solution.value[0], marks={"(0,0)": "S"})
