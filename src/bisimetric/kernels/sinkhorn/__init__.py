"""Sinkhorn projections in the log domain, on sparse and on dense supports, and rounding to couplings."""

from bisimetric._support.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {}, ("dense", "elementary", "projection", "rounding"))
