"""Partition refinement: the coarsest partition whose classes move alike, by splitting with splitters.

Call a partition *stable* if, for all classes C and D, the states of C move into D with the same probability. A block S,
the *splitter*, splits another block by the numbers

    p(s, S) = Σ_{t ∈ S} P(s, t),

summed over the arcs into S only. When a block splits into parts, all but the largest become splitters (all of them, if
the block itself was waiting as a splitter): the sums for the largest part follow from those for the block and for the
other parts. So the arcs into a state are summed again only when its block has at most half its former size. Of the sums
of one block, all but the most frequent value are sorted. Together all splitters take O(arcs · log n).

Sums are *equal* when, sorted, they have no gap above `tol` between neighbours. Differences of sums that are equal in
this sense need not be equal. Probabilities are multiples of 2⁻⁵², so sums are exact; but once the kernel has treated
different numbers as equal (counts[UNEQUAL]), the caller starts further rounds with all blocks as splitters until a
round splits nothing. Every split adds a block and there are at most n, so the rounds end; usually the second is the
last.

A state may have several rows, one per action; `per_state` says how many, and states of a class agree in each of them.
All data is in arrays, so a call can stop after any splitter and the next call can resume.

References: Paige & Tarjan 1987; Valmari & Franceschinis 2010.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part

# Entries of `Blocks.counts`.
BLOCKS, WAITING, UNEQUAL = range(3)


@kernel
def transpose(indptr, indices, data, per_state, before):
    """Fill `before` with the transposed rows; row number s · per_state + a belongs to state s."""
    start = before.indptr
    start[:] = 0
    rows = len(indptr) - 1
    for row in range(rows):
        action = row % per_state
        for arc in range(indptr[row], indptr[row + 1]):
            start[np.int64(indices[arc]) * per_state + action + 1] += 1
    for slot in range(len(start) - 1):
        start[slot + 1] += start[slot]
    filled = start[:-1].copy()
    for row in range(rows):
        action = row % per_state
        for arc in range(indptr[row], indptr[row + 1]):
            slot = np.int64(indices[arc]) * per_state + action
            before.state[filled[slot]] = row // per_state
            before.probability[filled[slot]] = data[arc]
            filled[slot] += 1


@kernel
def refine(blocks, before, per_state, tol, most_blocks, budget):
    """Use up waiting splitters; stop early after about `budget` arcs, or with more than `most_blocks` blocks."""
    counts, total = blocks.counts, blocks.total
    while counts[WAITING] > 0 and budget > 0 and counts[BLOCKS] <= most_blocks:
        counts[WAITING] -= 1
        splitter = blocks.waiting[counts[WAITING]]
        blocks.is_waiting[splitter] = False
        size = 0
        for k in range(blocks.first[splitter], blocks.end[splitter]):
            blocks.splitter[size] = blocks.states[k]
            size += 1
        budget -= size
        for action in range(per_state):
            reached = 0
            for k in range(size):
                slot = np.int64(blocks.splitter[k]) * per_state + action
                for arc in range(before.indptr[slot], before.indptr[slot + 1]):
                    state = before.state[arc]
                    if blocks.is_alone[state]:
                        continue
                    if total[state] == 0.0:
                        blocks.reached[reached] = state
                        reached += 1
                    total[state] += before.probability[arc]
                budget -= before.indptr[slot + 1] - before.indptr[slot]
            hit = _mark(blocks, reached)
            for k in range(hit):
                _split(blocks, blocks.hit[k], tol)
            for k in range(reached):
                total[blocks.reached[k]] = 0.0


@part
def _mark(blocks, reached):
    """Move the reached states to the front of their blocks; returns the number of blocks that have such states."""
    hit = 0
    for k in range(reached):
        state = blocks.reached[k]
        block = blocks.block[state]
        if blocks.marked[block] == 0:
            blocks.hit[hit] = block
            hit += 1
        here = blocks.place[state]
        there = blocks.first[block] + blocks.marked[block]
        other = blocks.states[there]
        blocks.states[here] = other
        blocks.place[other] = here
        blocks.states[there] = state
        blocks.place[state] = there
        blocks.marked[block] += 1
    return hit


@part
def _split(blocks, block, tol):
    """Cut a block where its states' sums, sorted, have gaps; states that are not marked have the sum zero."""
    counts, states, total = blocks.counts, blocks.states, blocks.total
    first, end = blocks.first[block], blocks.end[block]
    middle = first + blocks.marked[block]
    blocks.marked[block] = 0
    highest = 0.0
    lowest = 0.0 if middle < end else np.inf
    for k in range(first, middle):
        highest = max(highest, total[states[k]])
        lowest = min(lowest, total[states[k]])
    if highest - lowest <= tol:
        if highest > lowest:
            counts[UNEQUAL] = 1
        return
    _sort(blocks, first, middle)

    # The parts with the larger sums become new blocks; the last one, next to the states not marked, keeps its number.
    before = counts[BLOCKS]
    begin = first
    for k in range(first + 1, middle + (1 if middle < end else 0)):
        after = total[states[k]] if k < middle else 0.0
        if total[states[k - 1]] - after > tol:
            part = counts[BLOCKS]
            counts[BLOCKS] += 1
            blocks.first[part] = begin
            blocks.end[part] = k
            for place in range(begin, k):
                blocks.block[states[place]] = part
            if k == begin + 1:
                blocks.is_alone[states[begin]] = True
            begin = k
        elif total[states[k - 1]] > after:
            counts[UNEQUAL] = 1
    blocks.first[block] = begin
    if end == begin + 1:
        blocks.is_alone[states[begin]] = True

    largest = block
    if not blocks.is_waiting[block]:
        for part in range(before, counts[BLOCKS]):
            if blocks.end[part] - blocks.first[part] > blocks.end[largest] - blocks.first[largest]:
                largest = part
        if largest != block:
            _wait(blocks, block)
    for part in range(before, counts[BLOCKS]):
        if part != largest:
            _wait(blocks, part)


@part
def _wait(blocks, block):
    """Put a block on the stack of waiting splitters."""
    blocks.is_waiting[block] = True
    blocks.waiting[blocks.counts[WAITING]] = block
    blocks.counts[WAITING] += 1


@part
def _sort(blocks, first, end):
    """Sort states[first : end] by their sums, largest first, without comparing those with the most frequent sum."""
    states, total, order, key = blocks.states, blocks.total, blocks.order, blocks.key
    frequent, lead = total[states[first]], 0  # if a value has a majority, it is this one (Boyer & Moore 1991)
    for k in range(first, end):
        if total[states[k]] == frequent:
            lead += 1
        elif lead == 0:
            frequent, lead = total[states[k]], 1
        else:
            lead -= 1
    rare, common = 0, end - first
    for k in range(first, end):
        if total[states[k]] == frequent:
            common -= 1
            order[common] = states[k]
        else:
            order[rare] = states[k]
            key[rare] = total[states[k]]
            rare += 1
    size = end - first
    _merge_sort(blocks, rare)
    k = first
    above = 0
    while above < rare and key[above] > frequent:
        states[k] = order[above]
        above += 1
        k += 1
    for other in range(rare, size):
        states[k] = order[other]
        k += 1
    for other in range(above, rare):
        states[k] = order[other]
        k += 1
    for k in range(first, end):
        blocks.place[states[k]] = k


@part
def _merge_sort(blocks, size):
    """Sort order[:size] by key[:size], largest first, ties in their order; bottom up, no recursion."""
    order, key, order_before, key_before = blocks.order, blocks.key, blocks.order_before, blocks.key_before
    width = 1
    while width < size:
        for k in range(size):
            order_before[k] = order[k]
            key_before[k] = key[k]
        for begin in range(0, size, 2 * width):
            i, middle = begin, min(begin + width, size)
            j, end = middle, min(begin + 2 * width, size)
            for k in range(begin, end):
                if i < middle and (j == end or key_before[i] >= key_before[j]):
                    order[k] = order_before[i]
                    key[k] = key_before[i]
                    i += 1
                else:
                    order[k] = order_before[j]
                    key[k] = key_before[j]
                    j += 1
        width *= 2
