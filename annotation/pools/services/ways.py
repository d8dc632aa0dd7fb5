"""What an estimate would be worth: drawn documents beside whole queries, in labels and hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks_app.common.selectors.qrel_sets import gains_of
from benchmarks_app.common.selectors.reading import qrels_of
from benchmarks_app.models import Benchmark
from benchmarks_app.queries.selectors import grades_set

if TYPE_CHECKING:
    from annotation.pools.services.planning import PlannedPool
    from benchwright.estimation.planning import Plan
    from benchwright.estimation.populations import Population

# With fewer graded queries deviations say little, and some are taken for granted.
FEWEST_QUERIES = 20
# Of the most that a value, or a gain, can be.
ASSUMED_QUERY, ASSUMED_GRADE = {"P": 0.25, "DCG": 0.2}, {"P": 0.5, "DCG": 1 / 3}


@dataclass(frozen=True)
class Deviations:
    """How far values of queries, and gains of documents, spread; `source` "" where assumed."""

    query: float
    grade: float
    source: str = ""


def ways_of(benchmark: Benchmark, planned: PlannedPool, seconds: float) -> dict[str, Any]:
    """How narrow the intervals of runs would be, and what whole queries would take for it.

    Half widths are those of the run with the widest; `seconds` is what a label takes.
    """
    from benchwright.estimation.documents import probabilities
    from benchwright.estimation.planning import compared, whole_queries_for

    population, sharing = _population(planned), planned.plan.sharing
    labels = float(planned.plan.recipe.labels or 0)
    n_queries, amounts = len(population.queries), population.amounts_of_all
    deviations = _deviations(benchmark, population)
    of_query: dict[str, Any] = {
        "n_queries": n_queries,
        "query_deviation": deviations.query,
        "seconds_a_label": seconds * (sharing.overlap + sharing.double_share),
    }
    plans = [
        compared(
            population.amounts(run),
            population.of_query.tolist(),
            budget=labels,
            grade_deviation=deviations.grade,
            pi=probabilities(amounts, labels),
            **of_query,
        )
        for run in population.ranks
    ]
    whole, drawn = max(plans, key=lambda ways: ways[1].half_width)
    n_each = len(population.pairs) / n_queries
    as_narrow = whole_queries_for(drawn.half_width, n_each=n_each, **of_query)
    return {
        "measure": f"{population.measure}@{population.cutoff}",
        "n_documents": len(population.pairs),
        "n_queries": n_queries,
        "source": deviations.source,
        "drawn": _told(drawn),
        "whole": _told(whole),
        "as_narrow": _told(as_narrow),
    }


def _population(planned: PlannedPool) -> Population:
    if planned.population is None:
        message = "a pool of another strategy has no ways"
        raise ValueError(message)
    return planned.population


def _told(plan: Plan) -> dict[str, float | None]:
    """A plan as JSON has it: of a single query there is no interval."""
    half_width = plan.half_width if plan.half_width < float("inf") else None
    return {
        "n_labels": plan.n_labels,
        "n_queries": plan.n_queries,
        "half_width": half_width,
        "hours": plan.hours,
    }


def _deviations(benchmark: Benchmark, population: Population) -> Deviations:
    """By the newest grades of people's, where enough of the queries have some."""
    import numpy as np

    qrel_set = grades_set(benchmark)
    gain = gains_of(benchmark, population.measure)
    grades = {(qid, docid): gain(g) for qid, docid, g in qrels_of(qrel_set)} if qrel_set else {}
    gains = np.array([grades.get(pair, np.nan) for pair in population.pairs])
    is_graded = ~np.isnan(gains)
    graded = np.unique(population.of_query[is_graded])
    if qrel_set is None or len(graded) < FEWEST_QUERIES:
        return _assumed(benchmark, population)
    known_gains = np.where(is_graded, gains, 0.0)
    values = [
        np.bincount(population.of_query, population.amounts(run) * known_gains)[graded]
        for run in population.ranks
    ]
    query = float(np.sqrt(np.mean([of.var(ddof=1) for of in values])))
    grade = float(gains[is_graded].std())
    if not query or not grade:
        return _assumed(benchmark, population)
    return Deviations(query, grade, qrel_set.name)


def _assumed(benchmark: Benchmark, population: Population) -> Deviations:
    import numpy as np

    from benchwright.estimation.documents import discounts

    measure, cutoff = population.measure, population.cutoff
    values = benchmark.grades.values_list("value", flat=True)
    most = 1 if measure == "P" else max([*values, 1])
    ideal = discounts(np.arange(1, cutoff + 1), measure=measure, cutoff=cutoff).sum()
    return Deviations(
        float(ASSUMED_QUERY[measure] * most * ideal), float(ASSUMED_GRADE[measure] * most)
    )
