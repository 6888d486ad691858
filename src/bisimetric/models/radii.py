"""How far the true rows of a chain may be from the stored ones, in 1-norm."""

from __future__ import annotations

import numpy as np

from bisimetric.errors import InvalidChain
from bisimetric.models.rows import Floats, is_scalar, real_array

LARGEST_ROW_ERROR = 2.0  # the largest 1-norm between two distributions
ROUNDED_ROW_ERROR = 2.0**-36  # 1-norm; rounding rows and merging states with equal rows leaves less


def checked_row_error(error: object, n_states: int) -> Floats:
    """[n], 1-norms from one number for all states or one for each."""
    if type(error) is float and error == 0.0:  # by default: the checks take as long as those of small rows
        return np.zeros(n_states)
    if is_scalar(error, "row_error", InvalidChain):
        error = np.broadcast_to(np.asarray(error), (n_states,))
    array = real_array(error, "row_error", InvalidChain, ndim=1)
    if len(array) != n_states:
        raise InvalidChain(f"row_error has {len(array)} entries, expected one number or one per state: {n_states}")
    wrong = np.flatnonzero((array < 0.0) | (array > LARGEST_ROW_ERROR))
    if len(wrong):
        x = int(wrong[0])
        raise InvalidChain(f"row_error[{x}] is {array[x]:g}, expected a 1-norm between distributions, from 0 to 2")
    return array


def checked_start_error(error: object, start: object) -> float:
    """One 1-norm, 0 where there is no start."""
    if type(error) is float and error == 0.0:
        return 0.0
    if not is_scalar(error, "start_error", InvalidChain):
        raise InvalidChain("start_error is an array, expected one number from 0 to 2; row_error is for rows")
    number = float(checked_row_error(error, 1)[0]) if np.asarray(error).dtype.kind in "biuf" else -1.0
    if not number >= 0.0:
        raise InvalidChain(f"start_error is {error!r}, expected a number from 0 to 2")
    if number > 0.0 and start is None:
        raise InvalidChain(f"start_error is {number:g}, but the chain has no start; give start= too")
    return number
