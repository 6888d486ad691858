"""Every error that the package raises on purpose."""

from bisimetric._errors import (
    BisimetricError,
    FileFormatError,
    InvalidChain,
    InvalidOption,
    InvalidProblem,
    InvalidWitness,
    MissingExtra,
    MissingStart,
    NotEnoughMemory,
    PairFailed,
    PairwiseInterrupted,
    SolveInterrupted,
    SolverFailed,
    ToleranceNotReached,
)

__all__ = [
    "BisimetricError",
    "FileFormatError",
    "InvalidChain",
    "InvalidOption",
    "InvalidProblem",
    "InvalidWitness",
    "MissingExtra",
    "MissingStart",
    "NotEnoughMemory",
    "PairFailed",
    "PairwiseInterrupted",
    "SolveInterrupted",
    "SolverFailed",
    "ToleranceNotReached",
]
