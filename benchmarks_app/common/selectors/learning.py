"""The estimate from the judged documents, of what a benchmark has: scores of its runs, and words.

It is never a label, and no row holds it. What it is good for: docs/machine-judges.md.
"""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from benchmarks_app.common.selectors.reading import corpus_documents, run_path
from benchmarks_app.models import Benchmark, CorpusVersion, Run
from benchwright.estimation.errors import LearningError
from benchwright.estimation.learning import LearnedEstimate, learned_estimate
from benchwright.slices.words import weights_of, words_of

if TYPE_CHECKING:
    import polars as pl

# Ranking functions whose scores are learned from.
MOST_FUNCTIONS = 8
# Pooled documents of all queries together: a page waits for them.
MOST_DOCUMENTS = 100_000
# Different documents whose words are read, and how much of each.
MOST_TEXTS, MOST_CHARACTERS = 20_000, 2_000


def runs_all_see(benchmark: Benchmark) -> QuerySet[Run]:
    """The standing runs that everybody sees who sees the benchmark, the oldest first."""
    return Run.objects.standing().public().filter(benchmark=benchmark).order_by("pk")


def ranking_functions(runs: Sequence[Run]) -> list[Run]:
    """Of these runs those whose scores are learned from: the site's baselines, else the first."""
    baselines = [run for run in runs if run.kind == Run.Kind.BASELINE]
    return list(baselines or runs)[:MOST_FUNCTIONS]


def estimate_from_judged(
    pool: Mapping[str, Sequence[str]],
    grades: Mapping[str, Mapping[str, int]],
    *,
    families: Mapping[str, str],
    functions: Sequence[Run],
    benchmark: Benchmark,
    version: CorpusVersion | None,
) -> LearnedEstimate:
    """What the grade of every pooled document may be, learned from people's `grades`.

    Parameters
    ----------
    pool
        {query: its documents}; grades of others teach nothing.
    functions
        Runs whose scores are looked at.
    version
        The corpus whose texts are; words are left out where it has none, or where the pool has more
        than `MOST_TEXTS` documents.

    Raises
    ------
    LearningError
        If the pool is too large, or labels are of too few families.
    ArraysError
        If the pool is empty, or there is neither score nor text.
    """
    n_documents = sum(map(len, pool.values()))
    if n_documents > MOST_DOCUMENTS:
        why = f"there are {n_documents:,} pooled documents"
        raise LearningError(why=why, advice=f"At most {MOST_DOCUMENTS:,} are looked at.")
    return learned_estimate(
        pool,
        grades,
        scale=sorted({grade for of_query in grades.values() for grade in of_query.values()}),
        scores=_scores(pool, functions),
        families=families,
        **_words(pool, benchmark, version),
    )


def _scores(
    pool: Mapping[str, Sequence[str]], functions: Sequence[Run]
) -> dict[str, dict[str, dict[str, float]]]:
    """{run: {query: {document: score}}} of pooled documents; infinite scores are none."""
    import polars as pl

    rows = [(qid, docid) for qid, docids in pool.items() for docid in docids]
    schema = {"qid": pl.String(), "docid": pl.String()}
    pairs = pl.LazyFrame(rows, schema=schema, orient="row")
    return {f"{run.pk:020}": _scores_of(run, pairs) for run in functions}


def _scores_of(run: Run, pairs: "pl.LazyFrame") -> dict[str, dict[str, float]]:
    import polars as pl

    finite = pl.scan_parquet(run_path(run)).filter(pl.col("score").is_finite())
    rows = finite.join(pairs, on=["qid", "docid"], how="semi").select("qid", "docid", "score")
    scores: dict[str, dict[str, float]] = {}
    for qid, docid, score in rows.collect().iter_rows():
        scores.setdefault(qid, {})[docid] = score
    return scores


def _words(
    pool: Mapping[str, Sequence[str]], benchmark: Benchmark, version: CorpusVersion | None
) -> dict[str, Any]:
    """What `learned_estimate` takes of texts; nothing where there are none, or too many."""
    docids = {docid for of_query in pool.values() for docid in of_query}
    if version is None or not benchmark.corpus.has_texts or len(docids) > MOST_TEXTS:
        return {}
    texts = benchmark.queries.committed().filter(qid__in=list(pool)).values_list("qid", "text")
    queries = {qid: words_of(text) for qid, text in texts}
    documents = {
        docid: [*map(intern, words_of(f"{document.title} {document.text}"[:MOST_CHARACTERS]))]
        for docid, document in corpus_documents(version, docids).items()
    }
    query_words = {word for words in queries.values() for word in words}
    rarity = weights_of((set(documents[docid]) for docid in sorted(documents)), query_words)
    return {"query_words": queries, "document_words": documents, "idf": rarity}
