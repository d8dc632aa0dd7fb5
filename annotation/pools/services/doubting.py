"""What the estimate from the judged documents doubts most comes first in a query.

Only the places in the queue are stored: no estimate is, and none is shown to who judges.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from annotation.common.selectors.ledger import newest_grades, queries_with_labels
from annotation.pools.services.planning import PlannedPool
from benchmarks_app.common.selectors.learning import (
    estimate_from_judged,
    ranking_functions,
    runs_all_see,
)
from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.queries.selectors import families_to_draw
from benchwright.estimation.learned import LEAST_FAMILIES
from benchwright.pools.entries import Pair
from benchwright.pools.errors import PoolRecipeError


def families_to_doubt_by(benchmark: Benchmark, as_of: int) -> dict[str, str]:
    """{query: family}, where people's labels up to an event are of enough families.

    Raises
    ------
    PoolRecipeError
        If they are not.
    """
    families = families_to_draw(benchmark)
    labelled = queries_with_labels(benchmark, as_of) & families.keys()
    n = len({families[qid] for qid in labelled})
    if n < LEAST_FAMILIES:
        what = f"People have judged documents of {n} families of queries, too few to doubt by"
        raise PoolRecipeError(what=what, expected=f"{LEAST_FAMILIES} or more, or another order")
    return families


def by_doubt(
    benchmark: Benchmark, planned: PlannedPool, tell: Callable[[int, int, str], None]
) -> PlannedPool:
    """The same pool in the order of doubt, by the labels of its plan's event.

    Raises
    ------
    PoolRecipeError, LearningError
        If there are too few labels to learn from, or too many documents.
    """
    tell(len(planned.runs), len(planned.runs), "learning from the judged documents")
    pairs = list(planned.table.frame.select("qid", "docid").iter_rows())
    doubt = doubt_in(benchmark, pairs, as_of=planned.plan.as_of, runs=planned.runs)
    table = planned.table.by_doubt(doubt)
    n_wanted = dict(zip(pairs, planned.labels, strict=True))
    ordered = table.frame.select("qid", "docid").iter_rows()
    return replace(planned, table=table, labels=[n_wanted[pair] for pair in ordered])


def doubt_in(
    benchmark: Benchmark, pairs: Iterable[Pair], *, as_of: int, runs: Sequence[Run]
) -> Callable[[str, str], float]:
    """How far the grade of each document is in doubt, by the labels up to an event.

    Parameters
    ----------
    pairs
        Query and document of what is asked about.
    runs
        What is learned from where the benchmark has no runs that all see.

    Raises
    ------
    PoolRecipeError, LearningError
        If there are too few labels to learn from, or too many documents.
    """
    families = families_to_doubt_by(benchmark, as_of)
    labels = {q: of for q, of in newest_grades(benchmark, as_of).items() if q in families}
    pool: dict[str, set[str]] = {qid: {*of} for qid, of in labels.items()}
    for qid, docid in pairs:
        pool.setdefault(qid, set()).add(docid)
    estimate = estimate_from_judged(
        {qid: sorted(pool[qid]) for qid in sorted(pool)},
        labels,
        families=families,
        functions=ranking_functions(list(runs_all_see(benchmark))) or runs,
        benchmark=benchmark,
        version=benchmark.current_corpus_version,
    )
    relevant_from = min(relevant_values(benchmark), default=1)
    return replace(estimate, relevant_from=relevant_from).doubt
