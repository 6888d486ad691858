"""Bisimulation: which states behave alike, how far others are from that, and smaller models."""
