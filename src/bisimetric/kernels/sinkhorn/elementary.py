"""Exponentials and logarithms of whole arrays, written so that the compiler vectorises them.

    exp(w + r) = 2^k · exp(((w - k·ln 2) + r)),    k = rint((w + r) / ln 2)
    log(x)     = e·ln 2 + 2·artanh((μ - 1)/(μ + 1)),   x = 2^e·μ,  μ in [1/√2, √2)

Arguments of exp come in two parts, a whole number w and a small rest r, so that no digit is lost where w is large. The
results of both are right to about one unit in the last place. A view of the array as integers gives the exponents and
mantissas. Every function is one pass, so nothing iterates here.

Reference: Cody & Waite 1980 (range reduction).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import reduction_kernel, vector_kernel

LOWEST_EXPONENT = -708.0  # exp of anything below is zero
PER_LN2 = 1.4426950408889634  # 1/ln 2
LN2_HIGH = 6.93147180369123816490e-01  # ln 2 with zeros as its last bits, so that its multiples up to 2^20 are exact
LN2_LOW = 1.90821492927058770002e-10  # ln 2 - LN2_HIGH
ROUNDER = 1.5 * 2.0**52  # x + ROUNDER - ROUNDER is x rounded to a whole number; the last bits of x + ROUNDER hold it
BIAS = 1023  # of the exponent of a double
MANTISSA = 0x000FFFFFFFFFFFFF  # bits of the mantissa
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # bits of 1/√2
TO_SQRT_HALF = 0x3FF0000000000000 - SQRT_HALF_BITS  # bits of 1 minus bits of 1/√2
TWO52_BITS = 0x4330000000000000  # bits of 2^52
TWO52 = 2.0**52


@vector_kernel
def exp_parts(count, whole, rest, out, scratch):
    """out = exp(whole + rest) on the first `count` entries; whole + rest ≤ 708."""
    for k in range(count):
        x = whole[k] + rest[k]
        scratch[k] = (x if x > LOWEST_EXPONENT else LOWEST_EXPONENT) * PER_LN2 + ROUNDER
    for k in range(count):
        power = scratch[k] - ROUNDER
        r = (whole[k] - power * LN2_HIGH) + (rest[k] - power * LN2_LOW)
        p = 1.6059043836821613e-10  # 1/13!
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 1.984126984126984e-04
        p = p * r + 1.3888888888888889e-03
        p = p * r + 8.333333333333333e-03
        p = p * r + 4.1666666666666664e-02
        p = p * r + 1.6666666666666666e-01
        p = p * r + 0.5
        p = p * (r * r) + r
        out[k] = p + 1.0
    bits = scratch.view(np.int64)
    for k in range(count):
        bits[k] = (bits[k] + BIAS) << 52
    for k in range(count):
        out[k] = out[k] * scratch[k] if whole[k] + rest[k] >= LOWEST_EXPONENT else 0.0


@vector_kernel
def log_all(count, x, out, scratch):
    """out = log(x) on the first `count` entries, which are positive normal numbers; overwrites x."""
    bits, exponents = x.view(np.int64), scratch.view(np.int64)
    for k in range(count):
        exponents[k] = ((bits[k] + TO_SQRT_HALF) >> 52) | TWO52_BITS
    for k in range(count):
        bits[k] = ((bits[k] + TO_SQRT_HALF) & MANTISSA) + SQRT_HALF_BITS
    for k in range(count):
        z = (x[k] - 1.0) / (x[k] + 1.0)
        z2 = z * z
        p = 0.09523809523809523  # 2/21
        p = p * z2 + 0.10526315789473684
        p = p * z2 + 0.11764705882352941
        p = p * z2 + 0.13333333333333333
        p = p * z2 + 0.15384615384615385
        p = p * z2 + 0.18181818181818182
        p = p * z2 + 0.2222222222222222
        p = p * z2 + 0.2857142857142857
        p = p * z2 + 0.4
        p = p * z2 + 0.6666666666666666
        e = scratch[k] - (TWO52 + BIAS)
        out[k] = e * LN2_HIGH + ((2.0 * z + z * z2 * p) + e * LN2_LOW)


@reduction_kernel
def lowest(x):
    """The smallest entry."""
    found = x[0]
    for k in range(1, len(x)):
        found = min(found, x[k])
    return found


@reduction_kernel
def highest(x):
    """The largest entry."""
    found = x[0]
    for k in range(1, len(x)):
        found = max(found, x[k])
    return found


@reduction_kernel
def inner(x, y):
    """Σ x·y."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total
