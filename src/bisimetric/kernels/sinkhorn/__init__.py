"""Sinkhorn projections in the log domain, on sparse and on dense supports, and rounding to couplings."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_MODULES = ("dense", "elementary", "projection", "rounding")


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f"bisimetric.kernels.sinkhorn.{name}")
    raise AttributeError(name)
