"""Explicit models as PRISM and Storm write them, read without either.

`model` reads a model; `tables` are files of numbers, of which `transitions` and `rewards` are made; `words` has labels
and names.
"""
