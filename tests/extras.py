"""Packages that are too large for everybody's tests.

Their tests are skipped where the package is missing, unless the environment variable BISIMETRIC_EXTRAS names it: then
they fail, so that a run that is meant to include them cannot pass without them.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import pytest


def package(name: str) -> Any:
    """The package; skips the whole module of tests if it is missing and nobody expects it."""
    if name in os.environ.get("BISIMETRIC_EXTRAS", "").replace(",", " ").split():
        return import_module(name)
    return pytest.importorskip(name)
