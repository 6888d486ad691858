"""Explicit models as PRISM and Storm write them, read without either.

`model` reads a model. `tables` are files of numbers (`plain` is the fast way), `words` are labels and names.
`transitions` and `rewards` are made of tables.
"""
