"""Products of vectors that are the same on every processor and wherever the rows stand.

A linear algebra library adds products in an order that depends on the processor and on the place
of a row in its matrix. Here each row is rounded to multiples of 2^-26 of a power of two that is not
below its length. With X and Y the whole numbers of two rows, |X| and |Y| are at most 2^26, and so
by Cauchy and Schwarz any sum of some of their products is at most 2^52: 64 bits hold all of them
exactly, and no order can change them. Equal rows have equal products, and ties are real.
"""

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Rows = NDArray[np.intp]

BITS = 26
UNIT_ROUNDOFF = 2.0**-24
# Rows of 32 bits are a little longer than they were before they were rounded.
LENGTHENED = 1 + 2.0**-20
# Numbers of pairs that are multiplied together.
PAIRED_NUMBERS = 2**18


def lengths_of(rows: Doubles) -> Doubles:
    """Euclidean lengths; squares are added in an order that only the number of columns decides."""
    squares = np.square(rows)
    n = squares.shape[1]
    while n > 1:
        half = (n + 1) // 2
        squares[:, : n - half] += squares[:, half:n]
        n = half
    lengths: Doubles = np.sqrt(squares[:, :1].sum(axis=1))
    return lengths


def exponents_of(lengths: Doubles) -> NDArray[np.int32]:
    """Of the power of two for each row."""
    exponents: NDArray[np.int32] = np.frexp(lengths / LENGTHENED)[1]
    return exponents


def round_rows(rows: Singles, exponents: NDArray[np.int32]) -> None:
    """Round the rows in place: 32 bits hold the multiples of any of their numbers."""
    shifts = BITS - exponents[:, np.newaxis]
    rows[...] = np.ldexp(np.rint(np.ldexp(rows.astype(np.float64), shifts)), -shifts)


def exact_dots(left: Singles, right: Singles) -> Doubles:
    """Of each rounded row with that of the same place."""
    dots: Doubles = np.einsum("ij,ij->i", left.astype(np.float64), right.astype(np.float64))
    return dots


def exact_products(left: Singles, right: Singles) -> Doubles:
    """`left @ right.T` of rounded rows."""
    products: Doubles = left.astype(np.float64) @ right.T.astype(np.float64)
    return products


def exact_pairs(left: Singles, right: Singles, rows: Rows, columns: Rows) -> Doubles:
    """Of some rows of the left with some of the right."""
    dots = np.empty(len(rows))
    step = max(1, PAIRED_NUMBERS // max(1, left.shape[1]))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        dots[part] = exact_dots(left[rows[part]], right[columns[part]])
    return dots


def relative_error(n_dimensions: int) -> float:
    """How far a 32-bit product may be from that of the same vectors, over their lengths' product.

    n u / (1 - n u) for a sum of n products in any order, u the unit roundoff (Higham, Accuracy and
    Stability of Numerical Algorithms, 2002, section 3.1). 8 roundings more are for what was done to
    both vectors before, or is done to the product after.
    """
    n_rounded = (n_dimensions + 8) * UNIT_ROUNDOFF
    return 1.01 * n_rounded / (1 - n_rounded) if n_rounded < 0.5 else 2.0
