"""Transport trees: the simplex method on one tree, and sweeps over all pairs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_MODULES = ("simplex", "sweep")


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f"bisimetric.kernels.transport.{name}")
    raise AttributeError(name)
