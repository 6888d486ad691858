"""The compiled arithmetic: arrays in, arrays out, no Python objects, no exceptions.

This is the only folder that imports numba, and it does so on the first use of a kernel, not on import. A
kernel works on a range of state pairs (or of source states) and is called in short blocks, from several
threads at once: it never holds the interpreter lock and writes to its own range only, so results do not
depend on the number of threads.
"""

from bisimetric._support.lazy import lazy_names

__getattr__, __dir__ = lazy_names(
    __name__,
    {},
    (
        "transport",
        "evaluation",
        "splitting",
        "krylov",
        "modes",
        "components",
        "listing",
        "side_by_side",
        "check",
        "robust",
        "gradient",
        "refinement",
        "lifting",
        "sinkhorn",
    ),
)
