"""Built-in models: walks on grids and random chains, by function or by name, and a decision process.

Imports `models` and below.

>>> import bisimetric as bm
>>> chain = bm.environments.four_rooms("p1", door_cost=True)
>>> same = bm.environments.by_name("four-rooms:p1,door-cost")
"""

from bisimetric.environments.grids import grid as grid
from bisimetric.environments.grids import grid_3x3 as grid_3x3
from bisimetric.environments.grids import open_grid as open_grid
from bisimetric.environments.obstacles import four_rooms_obstacles as four_rooms_obstacles
from bisimetric.environments.random_chains import random_chain as random_chain
from bisimetric.environments.random_chains import random_cost as random_cost
from bisimetric.environments.random_chains import random_sparse_chain as random_sparse_chain
from bisimetric.environments.registry import Entry as Entry
from bisimetric.environments.registry import by_name as by_name
from bisimetric.environments.registry import catalogue as catalogue
from bisimetric.environments.registry import is_name as is_name
from bisimetric.environments.rooms import classic_four_rooms as classic_four_rooms
from bisimetric.environments.rooms import four_rooms as four_rooms
from bisimetric.environments.rooms import four_rooms_mdp as four_rooms_mdp
from bisimetric.environments.rooms import matching_four_rooms as matching_four_rooms
from bisimetric.environments.rooms import small_four_rooms as small_four_rooms

__all__ = [
    "Entry",
    "by_name",
    "catalogue",
    "classic_four_rooms",
    "four_rooms",
    "four_rooms_mdp",
    "four_rooms_obstacles",
    "grid",
    "grid_3x3",
    "is_name",
    "matching_four_rooms",
    "open_grid",
    "random_chain",
    "random_cost",
    "random_sparse_chain",
    "small_four_rooms",
]


def __dir__() -> list[str]:
    return __all__
