"""A connection to Ray: the one that the program has, a cluster's, or a Ray of this machine that ends with the work.

`ray.init` waits for minutes at an address where nobody answers, and may then end the whole process. So an address is
tried first: by a plain connection, then by a process of its own that connects as this one will and has a time limit.
Ray ends the servers of a local Ray together with the thread that started them, so no other thread is used here.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bisimetric._support.threads import require_time, seconds_left
from bisimetric.errors import BisimetricError, ClusterUnavailable, InvalidOption, MissingExtra

CLIENT = "ray://"  # how an address of a cluster begins that is used from outside
ADDRESS_VARIABLE = "RAY_ADDRESS"  # Ray's own: an address that holds where none is given
CONNECT_SECONDS = 5.0  # until a host accepts a connection
ANSWER_SECONDS = 15.0  # until a cluster answers; both and the start of a process stay well below half a minute
LEAST_SECONDS = 1e-3  # for a connection; none at all would not wait for it
ATTEMPT = "import ray, sys; ray.init(sys.argv[1], log_to_driver=False, logging_level=40); ray.shutdown()"


@contextmanager
def ray_connection(address: str | None = None, cpus: int | None = None) -> Iterator[Any]:
    """Yield the module `ray`, connected; a connection made here ends with the block, one that was there stays.

    Without an address that is the connection that the program has, else the cluster that the environment variable
    RAY_ADDRESS names, else a new Ray on this machine with that many `cpus`, by default all. A deadline is looked at
    before and after Ray starts, which takes several seconds.
    """
    ray = ray_module()
    if ray.is_initialized():
        if address is not None:
            raise InvalidOption(
                f"the program is connected to Ray already and cannot connect to {address} too; leave out the address "
                "to use that connection, or call ray.shutdown() first"
            )
        yield ray
        return
    where = address or os.environ.get(ADDRESS_VARIABLE) or None
    require_time()
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if where is None or where == "local":
            ray.init("local", num_cpus=cpus, include_dashboard=False, **quiet)
        else:
            _require_answer(where)
            ray.init(where, **quiet)
    except BisimetricError:
        raise
    except (OSError, RuntimeError, ValueError) as error:
        raise ClusterUnavailable(f"Ray cannot be started at {where or 'this machine'}: {error}") from error
    try:
        require_time()
        yield ray
    finally:
        ray.shutdown()


def ray_module() -> Any:
    """Ray; raises where it is missing."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("this needs Ray, which is missing: pip install 'bisimetric[ray]'") from None
    return ray


def _require_answer(address: str) -> None:
    """Raise unless a Ray cluster answers there, within half a minute, or `OutOfTime` at a deadline before that."""
    place = address.removeprefix(CLIENT)
    if place != "auto":
        host, colon, port = place.rpartition(":")
        if not (colon and host and port.isascii() and port.isdigit()):
            raise InvalidOption(
                f"the address of the Ray cluster is {address!r}, expected host:port, or ray://host:port from outside"
            )
        try:
            limit = max(min(CONNECT_SECONDS, seconds_left()), LEAST_SECONDS)
            socket.create_connection((host.strip("[]"), int(port)), limit).close()
        except (OSError, OverflowError) as error:
            require_time()
            raise _unavailable(address, str(error)) from None
    command = [sys.executable, "-c", ATTEMPT, address]
    try:
        limit = min(ANSWER_SECONDS, seconds_left())
        done = subprocess.run(command, capture_output=True, timeout=limit, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        require_time()
        raise _unavailable(address, f"no answer within {ANSWER_SECONDS:g} seconds") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise _unavailable(address, said[-1] if said else f"exit code {done.returncode}")


def _unavailable(address: str, why: str) -> ClusterUnavailable:
    return ClusterUnavailable(
        f"no Ray cluster answers at {address}: {why}; check the address, or leave it out to use this machine"
    )
