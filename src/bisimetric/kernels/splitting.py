"""I - γΠᵀ split into two triangles, for a Π that is stored row by row: symmetric Gauss-Seidel without a transpose.

With D = I - γ diag Π and strict triangles L and U of γΠᵀD⁻¹,

    (I - γΠᵀ) D⁻¹ = I - L - U,        M = (I - L)⁻¹ (I - L - U) (I - U)⁻¹ = (I - U)⁻¹ + (I - L)⁻¹ (I - (I - U)⁻¹)

A product with M is one substitution through each triangle (Eisenstat's trick), so it has as many multiplications as one
with Π. Columns of L and U are rows of Π, so the substitutions push: a pair is final when its turn comes, and adds to
those that it leads to. Πᵀ itself is never made. Columns of L and U sum to γ at most, so a residual r of the system with
M is one of |(I - L) r|₁ ≤ 2 |r|₁ of the system with I - γΠᵀ. Every kernel is one or two passes: nothing iterates here.

Reference: Eisenstat 1981 (efficient preconditioned products).
"""

from __future__ import annotations

from bisimetric.kernels._compile import kernel
from bisimetric.kernels.layout import Index


@kernel
def split(inside, indptr, indices, data, discount, place, begin, middle, to, share, stay):
    """Number the rows `inside`, ascending, which lead to each other only, and scale them: share = γΠ/D, stay = D.

    Row k has its cells from begin[k] on, those to smaller numbers before middle[k]. A cell that leads to its own row
    has share 0 and comes after them. `place` gets the number of each row inside.
    """
    for k in range(len(inside)):
        place[inside[k]] = k
    begin[0] = 0
    for k in range(len(inside)):
        row = inside[k]
        low = Index(begin[k])
        high = low + Index(indptr[row + 1] - indptr[row])
        begin[k + 1] = high
        staying = 0.0
        for cell in range(Index(indptr[row]), Index(indptr[row + 1])):
            number = place[Index(indices[cell])]
            if number == k:
                staying += data[cell]
                continue
            # both ends are written, and one moves on: a branch would be guessed wrong half of the time
            to[low] = number
            share[low] = data[cell]
            to[high - Index(1)] = number
            share[high - Index(1)] = data[cell]
            low += Index(number < k)
            high -= Index(number > k)
        stay[k] = 1.0 - discount * staying
        middle[k] = low
        for cell in range(low, high):
            to[cell] = k
            share[cell] = 0.0
        scale = discount / stay[k]
        for cell in range(Index(begin[k]), Index(begin[k + 1])):
            share[cell] *= scale


@kernel
def apply_split(begin, middle, to, share, vector, out, other, pushed):
    """out = M·vector; returns <other, out> and <out, out>. `pushed` is zero, before and after."""
    one = Index(1)
    for k in range(len(middle)):
        row = Index(len(middle) - 1 - k)
        here = vector[row] + pushed[row]
        out[row] = here
        for cell in range(Index(begin[row]), Index(middle[row])):
            pushed[Index(to[cell])] += share[cell] * here
    product = 0.0
    square = 0.0
    for row in range(Index(len(middle))):
        here = -pushed[row]
        pushed[row] = 0.0
        for cell in range(Index(middle[row]), Index(begin[row + one])):
            pushed[Index(to[cell])] -= share[cell] * here
        here += out[row]
        out[row] = here
        product += other[row] * here
        square += here * here
    return product, square


@kernel
def substitute(begin, middle, to, share, x, upper):
    """x ← (I - U)⁻¹ x, or (I - L)⁻¹ x."""
    size = len(middle)
    for k in range(size):
        row = Index(size - 1 - k if upper else k)
        here = x[row]
        first, last = (begin[row], middle[row]) if upper else (middle[row], begin[row + Index(1)])
        for cell in range(Index(first), Index(last)):
            x[Index(to[cell])] += share[cell] * here


@kernel
def sweep_split(begin, to, share, stay, b, law, out):
    """out = b + γΠᵀ law; returns Σ |out - law|."""
    for k in range(Index(len(law))):
        out[k] = b[k] + (1.0 - stay[k]) * law[k]
    for k in range(Index(len(law))):
        here = stay[k] * law[k]
        for cell in range(Index(begin[k]), Index(begin[k + Index(1)])):
            out[Index(to[cell])] += share[cell] * here
    change = 0.0
    for k in range(Index(len(law))):
        change += abs(out[k] - law[k])
    return change
