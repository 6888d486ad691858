"""Anything that stands for a model becomes one. Imports `io`, `environments` and below.

`convert` has the table: a new kind of input is one file here and one line there.
"""
