"""Strongly connected components of a sparse matrix, their periods, and block substitution over small components.

    x(s) = b(s) + γ Σ_t Π(s, t) x(t)        solved component by component

Two states are in one component if each reaches the other. Components have no cycle among them, so each can be solved
once those that it leads to are. Tarjan's depth-first search looks at every arc a fixed number of times and then ends;
so does the breadth-first search for periods. Substitution is one elimination per component.

References: Tarjan 1972; Denardo 1977 (periods by levels).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel


@kernel
def components(indptr, indices, component, level):
    """Number the components so that moves never lead to a larger number; returns the number of components.

    level[component] is the length of the longest path from it through other components.
    """
    n = len(component)
    found, low = np.full(n, -1, np.int64), np.empty(n, np.int64)
    stack, path, edge = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    component[:] = -1
    count, met, held = 0, 0, 0
    for root in range(n):
        if found[root] >= 0:
            continue
        depth = 0
        path[0], edge[0] = root, indptr[root]
        found[root] = low[root] = met
        met += 1
        stack[held] = root
        held += 1
        while depth >= 0:
            state = path[depth]
            if edge[depth] < indptr[state + 1]:
                to = indices[edge[depth]]
                edge[depth] += 1
                if found[to] < 0:
                    depth += 1
                    path[depth], edge[depth] = to, indptr[to]
                    found[to] = low[to] = met
                    met += 1
                    stack[held] = to
                    held += 1
                elif component[to] < 0:
                    low[state] = min(low[state], found[to])
                continue
            depth -= 1
            if depth >= 0:
                low[path[depth]] = min(low[path[depth]], low[state])
            if low[state] < found[state]:
                continue
            first = held - 1
            while stack[first] != state:
                first -= 1
            for k in range(first, held):
                component[stack[k]] = count
            highest = 0
            for k in range(first, held):
                for at in range(indptr[stack[k]], indptr[stack[k] + 1]):
                    other = component[indices[at]]
                    if other != count:
                        highest = max(highest, level[other] + 1)
            level[count] = highest
            held = first
            count += 1
    return count


@kernel
def periods(indptr, indices, component, level, class_of, phase, period):
    """Number the components that nothing leaves, by their first states, and find their periods; returns how many.

    class_of, all -1 before, gets the number of every state in one, phase its distance from the first state modulo the
    period. The period is the greatest common divisor of phase(x) + 1 - phase(y) over all moves.
    """
    n, count = len(component), 0
    queue = np.empty(n, np.int64)
    for first in range(n):
        if level[component[first]] > 0 or class_of[first] >= 0:
            continue
        queue[0], class_of[first], phase[first] = first, count, 0
        done, met, divisor = 0, 1, 0
        while done < met:
            state = queue[done]
            done += 1
            for at in range(indptr[state], indptr[state + 1]):
                to = indices[at]
                if class_of[to] < 0:
                    class_of[to], phase[to] = count, phase[state] + 1
                    queue[met] = to
                    met += 1
                rest = abs(phase[state] + 1 - phase[to])
                while rest > 0:
                    divisor, rest = rest, divisor % rest
        for k in range(met):
            phase[queue[k]] %= divisor
        period[count] = divisor
        count += 1
    return count


@kernel
def substitute(states, begin, indptr, indices, data, discount, b, x):
    """Solve x = b + γΠx at the states of small components, each of which needs x only at components before it.

    Component k has states[begin[k] : begin[k + 1]]. Elimination needs no pivoting: the matrix I - γΠ is diagonally
    dominant by rows, or by columns if Π is transposed.
    """
    most = 1
    for k in range(len(begin) - 1):
        most = max(most, begin[k + 1] - begin[k])
    system, place = np.empty((most, most)), np.full(len(x), -1, np.int64)
    for k in range(len(begin) - 1):
        members = states[begin[k] : begin[k + 1]]
        size = len(members)
        for i in range(size):
            place[members[i]] = i
        for i in range(size):
            state = members[i]
            system[i, :size] = 0.0
            system[i, i] = 1.0
            total = b[state]
            for at in range(indptr[state], indptr[state + 1]):
                other = place[indices[at]]
                if other >= 0:
                    system[i, other] -= discount * data[at]
                else:
                    total += discount * data[at] * x[indices[at]]
            x[state] = total
        for i in range(size):
            for j in range(i + 1, size):
                factor = system[j, i] / system[i, i]
                if factor != 0.0:
                    for column in range(i + 1, size):
                        system[j, column] -= factor * system[i, column]
                    x[members[j]] -= factor * x[members[i]]
        for i in range(size - 1, -1, -1):
            total = x[members[i]]
            for j in range(i + 1, size):
                total -= system[i, j] * x[members[j]]
            x[members[i]] = total / system[i, i]
        for i in range(size):
            place[members[i]] = -1
