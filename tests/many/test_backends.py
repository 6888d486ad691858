"""Which backend a call of `pairwise` gets, by its options and by what surrounds it."""

from __future__ import annotations

import sys

import joblib
import pytest

import bisimetric as bm
from bisimetric._support.cores import core_count
from bisimetric.errors import InvalidOption, MissingExtra
from bisimetric.many.backends import checked_n_jobs, chosen_backend, jobs_on, worker_count
from bisimetric.many.joblib_backend import Joblib
from bisimetric.many.processes import Processes, ThisProcess
from bisimetric.many.ray_backend import Ray
from tests.many.pair_samples import LARGER, random_chains


def test_our_own_processes_by_default():
    """As many as were asked for, if there is work for them."""
    assert chosen_backend(None, None, 10) == chosen_backend(None, 1, 10) == ThisProcess()
    assert chosen_backend(None, 3, 10) == Processes(3)
    assert chosen_backend(None, 3, 2) == Processes(2)
    assert chosen_backend(None, 3, 1) == ThisProcess()
    assert worker_count(-1, 1000) == jobs_on(core_count(), -1) == core_count()
    assert [jobs_on(8, jobs) for jobs in (3, -1, -2, -8, -100)] == [3, 8, 7, 1, 1]  # as joblib counts
    assert checked_n_jobs(None) is None


def test_names_of_joblib():
    """Also what surrounds the call; options of the call come first."""
    assert chosen_backend("loky", 2, 10) == Joblib("loky", 2)
    assert chosen_backend("threading", 2, 10) == Joblib("threading", 2, sends=False)
    assert chosen_backend("loky", None, 10) == ThisProcess()
    with joblib.parallel_config("threading", n_jobs=2):
        assert chosen_backend(None, None, 10) == Joblib(None, 2, sends=False)
        assert chosen_backend(None, 3, 10) == Joblib(None, 3, sends=False)
        assert chosen_backend("loky", 2, 10) == Joblib("loky", 2)
    with joblib.parallel_config(n_jobs=2):
        assert chosen_backend(None, None, 10) == Joblib(None, 2)
    assert chosen_backend(None, None, 10) == ThisProcess()


def test_ray_and_addresses(monkeypatch):
    """By the name or the address; all processors where no number is given."""
    monkeypatch.setitem(sys.modules, "ray", object())
    assert chosen_backend("ray", None, 10) == chosen_backend("ray", -1, 10) == Ray(None, 0)
    assert chosen_backend("ray", 3, 10) == Ray(None, 3)
    assert chosen_backend("ray", -2, 10) == Ray(None, 0, spared=1)
    for address in ("ray://head:10001", "head:6379", "[::1]:6379"):
        assert chosen_backend(address, 3, 10) == Ray(address, 3)


@pytest.mark.parametrize("wrong", ["lokky", "multiprocessing", 3, ""])
def test_what_is_no_backend(wrong):
    """Refused by name, before anything is computed."""
    with pytest.raises(InvalidOption, match="backend is"):
        bm.pairwise(random_chains(sizes=LARGER), discount=0.9, n_jobs=2, backend=wrong)


def test_a_name_that_is_nearly_ray():
    """The error names what there is besides joblib."""
    with pytest.raises(InvalidOption, match="'ray' and addresses"):
        bm.pairwise(random_chains(), discount=0.9, backend="Ray")


@pytest.mark.parametrize(("backend", "module", "extra"), [("loky", "joblib", "ml"), ("ray", "ray", "ray")])
def test_a_missing_package_names_its_extra(monkeypatch, backend, module, extra):
    """Before anything is computed."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"bisimetric\[{extra}\]"):
        bm.pairwise(random_chains(), discount=0.9, n_jobs=2, backend=backend)
