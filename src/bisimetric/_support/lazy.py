"""Names of a package, and functions behind methods, that are loaded on first use.

So importing the package takes no time, and only modules in use are loaded. A package does

    __getattr__, __dir__ = lazy_names(__name__, {"Name": "module.in.package"}, modules=("module", ...))
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; importing typing takes longer than everything else here
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


LOADING = threading.RLock()  # numpy's own imports fail if two threads start them at different modules


def lazy_names(
    package: str, homes: Mapping[str, str], modules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: names by the module that each lives in, and modules themselves."""

    def getattr_(name: str) -> Any:
        if name not in modules and name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with LOADING:
            if name in modules:
                return import_module(f"{package}.{name}")
            found = getattr(import_module(f"{package}.{homes[name]}"), name)
            setattr(sys.modules[package], name, found)
            return found

    def dir_() -> list[str]:
        return sorted({*homes, *modules, *getattr(sys.modules[package], "__all__", ())})

    return getattr_, dir_


def method_above(name: str) -> Any:
    """The function behind a method that works in a room above its class, from the package's table `METHODS_ABOVE`.

    A class does not know the rooms above it. It calls `method_above("MDP.optimal_policy")(self, discount)`, and the
    front of the package, its `__init__`, which is the one module that knows every room, says where that is done.
    """
    package = __name__.partition(".")[0]
    module, _, function = sys.modules[package].METHODS_ABOVE[name].rpartition(".")
    with LOADING:
        return getattr(import_module(f"{package}.{module}"), function)
