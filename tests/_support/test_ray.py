"""Connections to Ray: one that was there stays, one that was made ends, a silent address is an error."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace

import pytest

from bisimetric._support.ray import ray_connection
from bisimetric._support.threads import OutOfTime, deadline
from bisimetric.errors import ClusterUnavailable, InvalidOption, MissingExtra
from tests.extras import package


@pytest.fixture
def unconnected(monkeypatch):
    """A stand-in for the module that is not connected, and fails the test if it is asked to connect."""
    stand_in = SimpleNamespace(is_initialized=lambda: False, init=lambda *given, **options: pytest.fail("connected"))
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def closed_port():
    """A port of this machine that nobody listens at."""
    with socket.socket() as used:
        used.bind(("127.0.0.1", 0))
        return used.getsockname()[1]


def test_the_extra_is_named(monkeypatch):
    """Where Ray is missing."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"bisimetric\[ray\]"), ray_connection():
        pass


@pytest.mark.parametrize("address", ["nowhere", "ray://nowhere", ":6379", "host:port", "ray://host:", "host:6379x"])
def test_what_is_no_address(unconnected, address):
    """Refused at once."""
    with pytest.raises(InvalidOption, match="expected host:port"), ray_connection(address):
        pass


@pytest.mark.parametrize("begin", ["", "ray://"])
def test_nobody_listens(unconnected, begin):
    """An error, not a wait."""
    address = f"{begin}127.0.0.1:{closed_port()}"
    with pytest.raises(ClusterUnavailable, match=address), ray_connection(address):
        pass


def test_nobody_listens_where_the_environment_says(unconnected, monkeypatch):
    """RAY_ADDRESS holds where no address is given."""
    address = f"127.0.0.1:{closed_port()}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(ConnectionError, match=address), ray_connection():
        pass


def test_an_existing_connection_is_used_and_stays(monkeypatch):
    """It is neither made again nor ended; an address beside it is refused."""
    there = SimpleNamespace(is_initialized=lambda: True)
    monkeypatch.setitem(sys.modules, "ray", there)
    with ray_connection() as used:
        assert used is there
    with pytest.raises(InvalidOption, match=r"ray\.shutdown"), ray_connection("ray://host:10001"):
        pass


def test_no_attempt_begins_after_a_deadline(unconnected):
    """Nor is Ray asked for one on this machine."""
    with pytest.raises(OutOfTime), deadline(-1.0), ray_connection():
        pass


@pytest.mark.slow
def test_a_deadline_holds_for_a_silent_address():
    """No attempt goes on after it."""
    package("ray")
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(OutOfTime), deadline(0.2), ray_connection(address):
            pass


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["", "ray://"])
def test_somebody_listens_and_does_not_answer(begin):
    """An error within half a minute."""
    package("ray")
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"{begin}127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ClusterUnavailable, match=address), ray_connection(address):
            pass


@pytest.mark.slow
def test_a_ray_of_this_machine():
    """It works, and is gone afterwards."""
    ray = package("ray")
    with ray_connection(cpus=1) as connected:
        assert connected is ray
        assert ray.get(ray.remote(lambda: 42).remote()) == 42
    assert not ray.is_initialized()
