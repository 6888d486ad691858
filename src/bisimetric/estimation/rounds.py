"""All resamples, in this process or in several; what is finished when Ctrl-C comes is kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from bisimetric._support.frozen import frozen
from bisimetric.estimation.resampling import BOOTSTRAP, NULL, Resampling, Task
from bisimetric.many.backends import worker_count
from bisimetric.many.chunks import Chunk
from bisimetric.many.processes import Processes, ThisProcess
from bisimetric.many.runs import outcomes
from bisimetric.models.rows import Floats


class ResampleDone(NamedTuple):
    """Progress of `compare`, which calls `on_resample` with it after every resample.

    Attributes
    ----------
    done, total : int
        How many resamples are finished, of the null and of the bootstrap together.
    seconds : float
        Wall time that this resample took.
    """

    done: int
    total: int
    seconds: float


class Resampled(NamedTuple):
    """The distances of all resamples that were finished, by their numbers."""

    null: Floats
    bootstrap: Floats
    interrupted: bool


def run(
    resampling: Resampling, count: int, n_jobs: int, on_resample: Callable[[ResampleDone], None] | None
) -> Resampled:
    """Draw and solve `count` resamples of each kind, in turns."""
    tasks = [Task(kind, k) for k in range(count) for kind in (NULL, BOOTSTRAP)]
    found: dict[Task, float] = {}
    interrupted = False
    solving: Any = outcomes  # of any question that answers tasks
    chunks = [Chunk((number,), (task,)) for number, task in enumerate(tasks)]  # type: ignore[arg-type]
    workers = worker_count(n_jobs, len(tasks))
    try:
        with closing(solving(resampling, chunks, ThisProcess() if workers == 1 else Processes(workers))) as arriving:
            for outcome in arriving:
                if outcome.error is not None:
                    raise outcome.error
                found[tasks[outcome.number]] = outcome.numbers
                if on_resample is not None:
                    on_resample(ResampleDone(len(found), len(tasks), outcome.seconds))
    except KeyboardInterrupt:
        interrupted = True
    null, bootstrap = (
        frozen(np.array([found[Task(kind, k)] for k in range(count) if Task(kind, k) in found], np.float64))
        for kind in (NULL, BOOTSTRAP)
    )
    return Resampled(null, bootstrap, interrupted)
