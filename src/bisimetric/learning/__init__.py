"""Distances to be minimised: batches of arrays with their derivatives, and the best small chain.

`batches` turns arrays of probabilities, costs and starts into distances and derivatives, for `bisimetric.torch` and
`bisimetric.jax`; `reduction` descends the distance itself. They import everything below, and no learning framework.
"""
