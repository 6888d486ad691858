"""Anything that stands for a model becomes one: a file for every kind of input, and a table of them in `convert`.

Imports `io`, `environments` and below.
"""
