"""Which states behave alike: metrics, classes, quotients, and approximate quotients with a guarantee.

Imports `readers` and below.
"""

from bisimetric.bisimulation.aggregation import Aggregation, MDPAggregation, aggregate
from bisimetric.bisimulation.classes import bisimilar_classes
from bisimetric.bisimulation.quotient import quotient

__all__ = ["Aggregation", "MDPAggregation", "aggregate", "bisimilar_classes", "quotient"]
