"""Anything that stands for a model becomes one. Imports `io`, `environments` and below."""
