"""Certified optimal-transport distances and bisimulation metrics between Markov chains.

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }

>>> import bisimetric as bm
>>> bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).status
<Status.SOLVED: 'the certified relative gap is within the tolerance'>
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bisimetric._api import *  # noqa: F403


MODULES = (
    "bisimulation", "cli", "cost", "environments", "errors", "experiments", "io", "kernels", "plot", "solvers", "views",
)  # fmt: skip


# Everything loads when a name is first asked for. So `import bisimetric` takes no time and cannot fail, and the command
# can say in its own words what is missing.
def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"bisimetric.{name}")
    if not name.startswith("_") or name in ("__all__", "__version__"):
        api = vars(import_module("bisimetric._api"))
        if name in api:
            return api[name]
    raise AttributeError(f"module 'bisimetric' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*MODULES, *import_module("bisimetric._api").__all__})
