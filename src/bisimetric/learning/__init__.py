"""Distances to be minimised: batches of arrays with their derivatives, and the best small chain.

`batches` turns arrays of probabilities, costs and starts into distances and derivatives, for `bisimetric.torch` and
`bisimetric.jax`. `reduction` looks for the best small chain: `starts` has clusterings to begin with, `small` the
distance of a small chain and its derivatives, `descent` the way down. They import everything below, and no learning
framework.
"""
