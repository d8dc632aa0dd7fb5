"""Agreement of two raters, from a table of the grades each gave the same items."""

import numpy as np

from benchwright.agreement.coefficients import Weights, agreement_weights
from benchwright.agreement.labels import Floats, Ints, Labels
from benchwright.agreement.measured import Measured


def cohen(table: Ints, weights: Weights = Weights.NONE) -> Measured:
    """Cohen's kappa of a grades x grades table (rows: the first rater's grades).

    Notes
    -----
    1 - sum(v O) / sum(v E), with v the disagreement of two grades by their places on the scale (1,
    their distance, or its square) and E what independent raters with the same shares would give.
    Cohen, Educational and Psychological Measurement 20, 1960, and Psychological Bulletin 70, 1968.
    """
    n = int(table.sum())
    if not n:
        return Measured.undefined("the two have no document in common")
    v = 1.0 - agreement_weights(len(table), weights)
    expected: Floats = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    chance = float((v * expected).sum())
    if not chance:
        return Measured.undefined("both gave one and the same grade throughout", n)
    return Measured(1.0 - float((v * table).sum()) / chance, n)


def kappas(tables: Floats, weights: Weights) -> Floats:
    """Cohen's kappa of each grades x grades table of a stack; NaN where it is undefined."""
    v = 1.0 - agreement_weights(tables.shape[-1], weights)
    n = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
        chance = (expected * v).sum(axis=(1, 2)) / n
        values = 1 - (tables * v).sum(axis=(1, 2)) / chance
    defined: Floats = np.where(chance > 0, values, np.nan)
    return defined


def pair_tables(labels: Labels) -> Ints:
    """Raters x raters x grades x grades: what two raters gave the items they share.

    `tables[a, b]` is filled for a < b only.
    """
    order = np.lexsort((labels.raters, labels.items))
    items, raters, grades = labels.items[order], labels.raters[order], labels.grades[order]
    n, g = len(labels.rater_keys), labels.n_grades
    tables = np.zeros(n * n * g * g, dtype=np.int64)
    apart = 1
    while apart < len(items):
        same = items[apart:] == items[:-apart]
        if not same.any():
            break
        a, b = raters[:-apart][same], raters[apart:][same]
        cell = ((a * n + b) * g + grades[:-apart][same]) * g + grades[apart:][same]
        tables += np.bincount(cell, minlength=len(tables))
        apart += 1
    return tables.reshape(n, n, g, g)
