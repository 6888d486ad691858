"""One problem in several processes: its source rows are shared out between the workers of a Ray cluster.

`shard` is what a worker holds and does, `shards` asks all of them, `actors` runs them on Ray, `operator` is the Bellman
operator, the evaluation and the witness over them. Only `actors` knows Ray. Imports `certificates` and below.
"""
