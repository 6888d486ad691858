"""Readers turn inputs into models: one file for every kind of input, and a table of them in `convert`.

Imports `io`, `environments` and below.
"""
