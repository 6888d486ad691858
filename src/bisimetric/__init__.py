"""Certified optimal-transport distances and bisimulation metrics between Markov chains."""

from bisimetric import _errors as errors
from bisimetric._chain import MarkovChain
from bisimetric._problem import Problem
