"""From submitted embeddings to a run: checked, searched exactly, staged as any run is."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings

from benchmarks_app.collections.services import runs
from benchmarks_app.common.selectors.reading import corpus_reader, measures_documents_of_passages
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import Benchmark
from benchwright.errors import ScoringError
from benchwright.ids import id_problem, some_ids
from benchwright.retrieval.dense import DenseIndex, Embeddings
from benchwright.retrieval.dense.bundles import Bundle, unpacked_bundle
from benchwright.retrieval.dense.embeddings import refuse_bad_rows, refuse_misfit
from benchwright.retrieval.searching import Result
from benchwright.runs.store import StoredRow

Tell = Callable[[float, str], None]
"""Called with the share that is done and with what is being done."""

READ, SEARCHED = 0.15, 0.95
IDS_AT_ONCE = 50_000
FILE = "the embeddings"


def read_submitted_embeddings(
    *, path: Path, folder: Path, benchmark: Benchmark, aggregation: str, tell: Tell
) -> tuple[runs.StagedRun, dict[str, Any]]:
    """Check a bundle of embeddings, search it, and write the run as Parquet into `folder`.

    With the run comes what is known of its system.

    Queries that the benchmark lacks are left out and counted, as those of a run are.

    Raises
    ------
    BenchmarkError
        With what is wrong: of a file, a row, an id; or of the run, see `runs.stage_run`.
    """
    tell(0.0, "reading the vectors")
    bundle = _bundle(path, folder / "vectors")
    tell(READ / 2, "checking the vectors")
    _refuse_bad(bundle)
    n_missing = _n_without_vector(benchmark, bundle.documents)
    queries, n_extra = _known_queries(benchmark, bundle.queries)
    tell(READ, f"searching {len(bundle.documents):,} documents")
    staged = runs.stage_run(
        rows=_rows(_results(bundle, queries, tell)),
        file=FILE,
        folder=folder / "run",
        benchmark=benchmark,
        aggregation=aggregation,
        max_depth=settings.RUN_MAX_DEPTH,
    )
    notes = _notes(benchmark, bundle, n_missing, n_extra)
    staged = replace(staged, n_extra_queries=n_extra, warnings=[*notes, *staged.warnings])
    return staged, _facts(bundle, n_missing)


def _bundle(path: Path, folder: Path) -> Bundle:
    sent = reading_apart.stream(
        unpacked_bundle, path, folder, settings.EMBEDDINGS_LIMIT_BYTES, file=FILE
    )
    ids, unpacked = reading_apart.items_and_result(sent)
    bundle: Bundle = unpacked.with_ids(ids)
    return bundle


def _refuse_bad(bundle: Bundle) -> None:
    if not len(bundle.documents):
        raise NoDocumentVectorsError
    refuse_misfit(bundle.queries, bundle.documents)
    for vectors in (bundle.queries, bundle.documents):
        for row, name in enumerate(vectors.ids):
            if reason := id_problem(name):
                raise BadIdsError(name=vectors.name, row=row, id=repr(name[:80]), reason=reason)
        refuse_bad_rows(vectors)


# --- ids -----------------------------------------------------------------------------------


def _n_without_vector(benchmark: Benchmark, documents: Embeddings) -> int:
    """How many documents of the corpus cannot be found, for they have no vector.

    0 where nobody knows the documents of the corpus.

    Raises
    ------
    UnknownDocumentsError
        If vectors are of documents that the corpus lacks.
    """
    version = benchmark.current_corpus_version
    if version is None:
        return 0
    reader = corpus_reader(version)
    not_rows = _missing(reader.missing, documents.ids)
    unknown = not_rows
    if not_rows and measures_documents_of_passages(benchmark):
        unknown = _missing(reader.missing_parents, sorted(not_rows))
    if unknown:
        raise UnknownDocumentsError(
            n_unknown=f"{len(unknown):,}",
            n_given=f"{len(documents):,}",
            examples=some_ids(unknown),
            corpus=str(benchmark.corpus),
        )
    n_there = version.n_parents if len(not_rows) == len(documents) else version.n_documents
    return max(0, n_there - len(documents))


def _missing(ask: Callable[[Iterable[str]], set[str]], ids: Any) -> set[str]:
    """What a corpus lacks, asked piece by piece."""
    lacking: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        lacking |= ask(ids[start : start + IDS_AT_ONCE])
    return lacking


def _known_queries(benchmark: Benchmark, queries: Embeddings) -> tuple[Embeddings, int]:
    """The vectors of the benchmark's queries, and how many others there are."""
    qids = set(benchmark.queries.committed().values_list("qid", flat=True))
    rows = [row for row, qid in enumerate(queries.ids) if qid in qids]
    if not rows:
        raise runs.NoCommonQueryError(
            file="query embeddings",
            run_ids=some_ids(queries.ids) or "no query",
            benchmark_ids=some_ids(qids) or "none yet",
        )
    asked_for = replace(
        queries, ids=[queries.ids[row] for row in rows], vectors=queries.vectors[rows]
    )
    return asked_for, len(queries) - len(rows)


# --- results -------------------------------------------------------------------------------


def _results(bundle: Bundle, queries: Embeddings, tell: Tell) -> Iterator[Result]:
    index = DenseIndex(bundle.documents, similarity=bundle.settings.similarity)

    def searched(done: int, total: int) -> None:
        share = READ + (SEARCHED - READ) * done / max(total, 1)
        tell(share, f"searching: {done:,} of {total:,} queries")

    return index.search_vectors(queries, k=bundle.settings.depth, progress=searched)


def _rows(results: Iterable[Result]) -> Iterator[StoredRow]:
    for qid, hits in results:
        for docid, score in hits:
            yield StoredRow(0, qid, docid, score)


def _notes(benchmark: Benchmark, bundle: Bundle, n_missing: int, n_extra: int) -> list[str]:
    notes = [*bundle.queries.notes, *bundle.documents.notes]
    if n_missing:
        n = n_missing + len(bundle.documents)
        notes.append(
            f"{n_missing:,} of the {n:,} documents of {benchmark.corpus} have no vector: they "
            "could not be found for any query."
        )
    if n_extra:
        notes.append(f"{n_extra:,} query vectors are of queries that the benchmark lacks.")
    return notes


def _facts(bundle: Bundle, n_missing: int) -> dict[str, Any]:
    """What the files say of their system; what the submitter said comes before it."""
    vectors = bundle.documents.vectors
    similarity = {"dot": "dot product", "cosine": "cosine"}[bundle.settings.similarity]
    facts: dict[str, Any] = {
        "type": "dense",
        "index": "exact",
        "method": f"{similarity} of vectors of {vectors.shape[1]} {vectors.dtype} numbers",
    }
    if n_missing:
        facts["Documents without a vector"] = n_missing
    return facts


class UnknownDocumentsError(ScoringError):
    code = "embedding-unknown-documents"
    message = (
        "{n_unknown} of the {n_given} ids of the document embeddings are not in the corpus "
        "({examples}); expected its ids alone. Embed the documents of corpus {corpus}, or leave "
        "the others out."
    )


class BadIdsError(ScoringError):
    code = "embedding-bad-ids"
    message = (
        "{name}: the id of row {row} (from 0), {id}: {reason}. Write the ids as they are here."
    )


class NoDocumentVectorsError(ScoringError):
    code = "embedding-no-documents"
    message = "The document embeddings hold no row, so there is nothing to find. Embed the corpus."
