"""Files of models and solutions: `save` and `load`. Imports `solving` and below.

A file is one document: an object with `format` ("bisimetric chain", "bisimetric mdp", "bisimetric solution",
"bisimetric mdp solution", "bisimetric horizon solution" or "bisimetric average solution") and an integer `version`,
now 1. The same document is stored in two ways, by suffix:

    .json   one JSON text; arrays are lists
    .npz    a zip archive: `meta.json` is the document without its arrays, and every array is a member named
            after its place in the document (`problem.cost.npy`); numpy.load(path) opens it too

A chain:

    transitions     {"shape": [n, n], "indptr", "indices", "data"}, or a list of n rows
    reward          [n], may be missing
    start           [n], or a state's index or name; may be missing
    names           [n] texts; may be missing
    labels          [n] texts, numbers or flat lists of those; may be missing.
                    ±∞ is {"float": "inf"} or {"float": "-inf"}
    row_error       [n] or one number, 1-norm by which the true rows may differ from these; 0 if missing
    start_error     number, the same for the start; 0 if missing
    merged          [n] true or false, states that stand for several whose rows differ; false if missing

A decision process has `start`, `names`, `labels` and `merged` as a chain has, and

    transitions     {"shape": [A, n, n], "indptr", "indices", "data"}, the rows of one action after the other; or a list
                    of A matrices, each as in a chain
    rewards         [n, A]
    available       [n, A] true or false; all true if missing
    actions         [A] texts; may be missing
    row_error       [n, A]

People may write models in JSON by hand; those need neither `format` nor `version`. A solution:

    problem         {"source": chain, "target": chain, "cost" [n, m], "cost_error", "cost_name", "cost_unit",
                    "discount", "normalised", "stop" [n, m] or missing}; `cost` includes the factor 1 - γ if normalised,
                    `cost_error` is the largest relative error of its entries, 0 if missing. For a bisimilarity
                    distance without a discount {"source", "target", "bisimilarity": tolerance of the classes}.
                    "one_chain" is true where both sides are one chain that is known up to `row_error`
    steps           [classes, classes], for the latter only: bounds on the number of steps to an end
    solver          its name
    status          the name of a `Status`
    history         one [step, gap, seconds] per step, or with the other fields of a `Step` after them, the interval as
                    two numbers, unknown ones as null; a gap of null is infinite
    value, lower, upper     [n, m], for the rows as stored; bounds for row errors are computed again
    priced, scale          [n, m] and a number: the value times `scale` that the potentials belong to
    witness         {"indptr" [n·m + 1], "left", "right", "weight" [cells], "potential"}: the coupling of pair
                    k = x·m + y puts weight[c], indptr[k] ≤ c < indptr[k+1], on the left[c]-th successor of x and
                    the right[c]-th of y; `potential` lists for every pair one number per successor of y

A solution of decision processes is the same, except for

    problem         {"source": process, "target": process, "discount", "actions": "same" or "matched"}
    witness         the same for all pairs of moves, one block after the other: with the same actions a block of n·m
                    pairs for every action, in the source's order; with matched ones a single block of all available
                    moves, state by state. `priced`, `scale` and `witness` are missing where V = c, or where no sweep
                    was finished

A solution over a finite horizon has the record of a solution (`solver`, …, `upper`); its values are computed again:

    problem         {"source": chain, "target": chain, "horizon", "discount", "costs" [k·n, m], "terminal" [n, m],
                    "cost_error", "cost_name", "cost_unit"}: k different costs, one below the other. "cost_steps" [h]
                    says which of them each step takes, if k > 1. "source_later" and "target_later" are the chains
                    after the first, if they change: {"transitions": as in a decision process, "row_error" and "merged"
                    [k, n], "reward" [k, n] and "labels" or missing, "steps" [h]: 0 is the first chain}
    keep_steps      whether the values of all times are kept

A solution of an average cost has that record, and proves it with one sweep:

    problem         {"source": chain, "target": chain, "cost" [n, m], "cost_error", "cost_name", "cost_unit"}
    priced, way     [n, m], h and the average costs outside the closed classes, in the scale where the largest cost is
                    in [1, 2); missing where there are none

Sizes are checked before anything is allocated, nothing is ever unpickled, and the bounds of a solution are proved again
from its couplings and potentials; `solver`, `status` and `history` are a record of the run and taken as written. A new
file is written under another name and moved into place when it is complete.
"""
