"""Whether another version of a prompt agrees better with people, on pairs that were held back."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchwright.agreement.bootstrap import kappa_difference_with_interval
from benchwright.agreement.coefficients import Weights
from benchwright.agreement.labels import Ints
from benchwright.agreement.measured import Measured
from benchwright.agreement.two_raters import cohen
from benchwright.calibration.calibrating import (
    LEAST_PAIRS,
    LEAST_QUERIES,
    Grades,
    plain,
    tables_of,
)
from benchwright.statistics.intervals import mean_interval
from benchwright.texts.counting import counted

BETTER, WORSE, ALIKE = "better", "worse", "alike"


@dataclass(frozen=True, slots=True)
class Improvement:
    """Agreement with people before and after, on the pairs of queries without an example.

    `kappa` and `exact` are after minus before, with intervals over families of queries. `n_shown`
    pairs were left out because an example is of their query or its family. `too_few` says what is
    lacking for a verdict; "" where it is enough.
    """

    n_pairs: int
    n_queries: int
    n_families: int
    n_shown: int
    kappa_before: Measured
    kappa_after: Measured
    kappa: Measured
    exact_before: float
    exact_after: float
    exact: Measured
    too_few: str

    @property
    def outcome(self) -> str:
        """By the interval of kappa: `better`, `worse` or `alike`; "" where nothing can be said."""
        low, high = self.kappa.low, self.kappa.high
        if self.too_few or low is None or high is None:
            return ""
        if low > 0:
            return BETTER
        return WORSE if high < 0 else ALIKE

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values, NaN as null."""
        facts: dict[str, Any] = plain(asdict(self)) | {"outcome": self.outcome}
        return facts


def improvement(
    people: Grades,
    before: Grades,
    after: Grades,
    *,
    scale: Iterable[int],
    examples_of: Collection[str] = (),
    families: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Improvement | None:
    """Agreement of `after` with people beside that of `before`; None without a pair in common.

    Parameters
    ----------
    people, before, after
        Grades by query and document; a pair counts where all three have one on the scale.
    scale
        The grades there are.
    examples_of
        Queries of which a prompt held an example: pairs of their families are left out.
    families
        {query: family}; a query without one is its own.
    seed
        Of the 1,000 draws of families behind the interval of kappa.

    Notes
    -----
    Quadratic kappa is that of `benchwright.agreement`. Its difference has a percentile bootstrap
    over families: whole families are drawn with replacement, and the same draw makes both kappas.
    That of exact agreement is the mean over pairs of 1 where `after` alone met people's grade, -1
    where `before` alone did and else 0, with Student's t over families, as means have it.
    """
    of = families or {}
    grades = tuple(sorted(set(scale)))
    example_families = {of.get(query, query) for query in examples_of}
    common = [
        (query, document, grade, before[query][document], after[query][document])
        for query, by_document in people.items()
        for document, grade in by_document.items()
        if document in before.get(query, {}) and document in after.get(query, {})
    ]
    common = [row for row in common if set(row[2:]) <= set(grades)]
    rows = [row for row in common if of.get(row[0], row[0]) not in example_families]
    if not rows:
        return None
    befores = tables_of([row[:4] for row in rows], grades, of)
    afters = tables_of([(*row[:3], row[4]) for row in rows], grades, of)
    n_queries = len({row[0] for row in rows})
    return Improvement(
        n_pairs=len(rows),
        n_queries=n_queries,
        n_families=len(befores),
        n_shown=len(common) - len(rows),
        kappa_before=cohen(befores.sum(axis=0), Weights.QUADRATIC),
        kappa_after=cohen(afters.sum(axis=0), Weights.QUADRATIC),
        kappa=kappa_difference_with_interval(
            befores, afters, Weights.QUADRATIC, np.random.default_rng(seed)
        ),
        exact_before=_exact(befores),
        exact_after=_exact(afters),
        exact=_exact_difference(rows, of),
        too_few=_too_few(len(rows), n_queries),
    )


def _exact(tables: Ints) -> float:
    """The share of pairs on the diagonal."""
    total = tables.sum(axis=0)
    return float(np.trace(total) / total.sum())


def _exact_difference(
    rows: list[tuple[str, str, int, int, int]], families: Mapping[str, str]
) -> Measured:
    gains = np.array([float(row[4] == row[2]) - float(row[3] == row[2]) for row in rows])
    numbers: dict[str, int] = {}
    family = [numbers.setdefault(families.get(row[0], row[0]), len(numbers)) for row in rows]
    if len(numbers) < 2:
        return Measured(float(gains.mean()), len(rows))
    low, high = mean_interval(gains[:, np.newaxis], families=np.array(family))[:, 0]
    return Measured(float(gains.mean()), len(rows), "", float(low), float(high))


def _too_few(n_pairs: int, n_queries: int) -> str:
    if n_pairs >= LEAST_PAIRS and n_queries >= LEAST_QUERIES:
        return ""
    return (
        f"people and both prompts graded {counted(n_pairs, 'pair')} of "
        f"{counted(n_queries, 'query')} without an example; {LEAST_PAIRS} pairs of "
        f"{LEAST_QUERIES} queries are enough."
    )
