"""What two logs say about the processes behind them. Imports `many`, `readers`, `solving` and below.

`compare` is the door. `pooled` puts two logs over the union of their states, `resampling` draws and solves one
resample, `rounds` runs them in this process or in several, `intervals` makes p-values and intervals of them, `changed`
names the transitions that differ, `comparison` is the answer.
"""
