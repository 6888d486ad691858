"""Logs of events: from tables and files of rows, or lists of sequences, to counts of transitions per sequence.

`sources` finds the rows of anything tabular, in batches; `columns` makes numbers of them with `codes`; `counting` adds
batches up. `sources` and `columns` know pyarrow, which is loaded when a table or a file is read.
"""
