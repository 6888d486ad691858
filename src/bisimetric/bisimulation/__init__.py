"""Which states behave alike: classes, quotients, and approximate ones with a guarantee."""

from bisimetric.bisimulation.aggregation import Aggregation, MDPAggregation, aggregate
from bisimetric.bisimulation.classes import bisimilar_classes
from bisimetric.bisimulation.quotient import quotient

__all__ = ["Aggregation", "MDPAggregation", "aggregate", "bisimilar_classes", "quotient"]
