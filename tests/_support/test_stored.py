"""Models and solutions have the same three methods."""

from __future__ import annotations

import bisimetric as bm
from bisimetric._support.stored import Stored


def test_everything_that_files_hold_is_stored(tmp_path):
    """Saving, and dicts there and back, on each kind of object."""
    chain = bm.MarkovChain([[1.0]], reward=[1.0], start=0)
    mdp = bm.as_mdp(chain)
    things = (chain, mdp, bm.distance(chain, chain, discount=0.5), bm.bisimulation_metric(mdp, discount=0.5))
    for thing in things:
        assert isinstance(thing, Stored)
        thing.save(tmp_path / "thing.json")
        assert repr(bm.load(tmp_path / "thing.json")) == repr(thing) == repr(type(thing).from_dict(thing.to_dict()))
