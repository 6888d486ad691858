"""Transport trees: the simplex method on one tree, first trees, and sweeps over all pairs."""

from bisimetric._support.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__name__, {}, ("simplex", "starts", "sweep", "repair", "full"))
