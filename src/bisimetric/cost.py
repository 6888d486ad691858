"""Ground costs between states, by name: `reward_gap`, `label_mismatch`, `features(metric)`."""

from bisimetric._cost import Cost, features, label_mismatch, reward_gap

__all__ = ["Cost", "features", "label_mismatch", "reward_gap"]
