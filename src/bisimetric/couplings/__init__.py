"""Couplings and potentials: what solvers propose and users look at. Imports `operators` and below.

`witness` is what the checker reads, `coupling` what users see, `occupancy` how often pairs are visited, `explanation`
what each pair contributes to a distance, `parting` the most likely way on which two models part, `joint_walk` what
both are about; `factored`, `rounded` and `averaged` are those of Sinkhorn solvers, `lifted`
those of classes seen on states.
"""
