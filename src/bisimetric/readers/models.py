"""Inputs that already are models."""

from __future__ import annotations

from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.readers.reader import Reader

READER = Reader("a MarkovChain or an MDP", lambda obj: isinstance(obj, (MarkovChain, MDP)), lambda obj: obj)
