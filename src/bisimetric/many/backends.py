"""Who solves the pairs: this process, worker processes of our own, a backend of joblib, or Ray.

None                   our own worker processes, which survive a killed one, or what a surrounding
                       `joblib.parallel_config` says
"loky", "threading"    joblib's, and any other that is registered there
"ray"                  the connection to Ray that the program has, else RAY_ADDRESS, else a Ray of this machine
"ray://host:port"      a cluster, from outside; "host:port" from one of its machines
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from numbers import Integral
from typing import Protocol

from bisimetric._support.cores import core_count
from bisimetric._support.ray import ray_module
from bisimetric.errors import InvalidOption
from bisimetric.many.chunks import Chunk
from bisimetric.many.joblib_backend import Joblib, surrounding
from bisimetric.many.processes import ChunkAnswer, Processes, ThisProcess
from bisimetric.many.question import PairQuestion
from bisimetric.many.ray_backend import Ray, is_ray

IN_THIS_PROCESS = "threading"  # a backend to which nothing has to be sent


class Backend(Protocol):
    """Whoever answers chunks."""

    @property
    def workers(self) -> int:
        """How many chunks are solved at a time."""

    @property
    def sends(self) -> bool:
        """Whether models travel to other processes."""

    def answers(self, question: PairQuestion, chunks: Iterable[Chunk]) -> Generator[ChunkAnswer, None, None]:
        """Yield an answer for every chunk, or several for the pairs of one."""


def checked_n_jobs(n_jobs: object) -> int | None:
    """A number of processes, -1 for one on every core, -2 for all cores but one, or None for the backend's default."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InvalidOption(
            f"n_jobs is {n_jobs!r}, expected a number of processes ≥ 1, -1 for one on every core, or -2 for all but one"
        )
    return int(n_jobs)


def jobs_on(cores: int, n_jobs: int) -> int:
    """The number of processes on so many cores; as joblib counts, negative numbers leave cores out."""
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def worker_count(n_jobs: int | None, chunks: int) -> int:
    """The number of processes to use; 1 stands for this one."""
    if n_jobs is None or n_jobs == 1 or chunks < 2:
        return 1
    return min(jobs_on(core_count(), n_jobs), chunks)


def chosen_backend(backend: object, n_jobs: int | None, pairs: int) -> Backend:
    """The backend for a table of so many pairs; raises where its package is missing or does not know the name."""
    if backend is not None and not isinstance(backend, str):
        raise InvalidOption(f"backend is {backend!r}, expected the name of one, such as 'loky', or None")
    if isinstance(backend, str) and is_ray(backend):
        ray_module()
        workers, spared = (n_jobs or 0, 0) if (n_jobs or 0) >= 0 else (0, -1 - int(n_jobs or 0))
        return Ray(None if backend == "ray" else backend, workers, spared)
    name, jobs = (None, 1) if backend is not None else surrounding()
    workers = worker_count(jobs if n_jobs is None and name is not None else n_jobs, pairs)
    if backend is None and name is None:
        return ThisProcess() if workers == 1 else Processes(workers)
    joblib = Joblib(backend, workers, sends=IN_THIS_PROCESS not in (backend, name))
    joblib.check()
    return ThisProcess() if workers == 1 else joblib
