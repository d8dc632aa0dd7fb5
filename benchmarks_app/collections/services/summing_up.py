"""Bringing a run to the unit of its benchmark: passages are summed up into documents."""

import shutil
from pathlib import Path
from typing import Any

from benchmarks_app.common.selectors.reading import corpus_reader
from benchmarks_app.models import Benchmark, Unit
from benchwright.corpora.errors import (
    MixedUnitsError,
    OtherUnitError,
    ParentsMissingError,
    UnknownAggregationError,
)
from benchwright.corpora.store import CorpusReader
from benchwright.errors import Problems
from benchwright.runs.aggregation import AGGREGATIONS
from benchwright.runs.passages import Lost, document_rows
from benchwright.runs.store import RunSummary, top_k, write_run

LOOKED_AT = 10


def in_unit_of(
    benchmark: Benchmark,
    summary: RunSummary,
    *,
    file: str,
    folder: Path,
    how: str,
    reader: CorpusReader | None = None,
) -> tuple[RunSummary, dict[str, Any]]:
    """The run in the benchmark's unit, and how it got there: nothing where it was there already.

    `reader` is a corpus of the same import; otherwise the newest version is read.

    Raises
    ------
    UnknownAggregationError
        If `how` is no known way.
    MixedUnitsError
        If it ranks passages and documents.
    OtherUnitError
        If it ranks documents and the benchmark measures passages.
    ParentsMissingError
        If it ranks passages, documents are asked for, and the corpus does not name them.
    """
    if how not in AGGREGATIONS:
        raise UnknownAggregationError(how=how, known=", ".join(AGGREGATIONS))
    if benchmark.corpus.unit != Unit.PASSAGE:
        return summary, {}
    version = benchmark.current_corpus_version
    if reader is None and version is not None:
        reader = corpus_reader(version)
    if reader is None:
        return summary, {}
    ids = {row.docid for row in top_k(summary.parquet, LOOKED_AT)}
    passages = ids - reader.missing(ids)
    documents = ids - reader.missing_parents(ids)
    if passages and documents:
        _refuse_mixed(reader, min(passages), min(documents), file)
    if benchmark.unit == Unit.PASSAGE:
        _refuse_documents(reader, documents, file)
        return summary, {}
    if not passages:
        return summary, {}
    if not reader.has_parents:
        raise ParentsMissingError(what=f"Benchmark '{benchmark}'")
    return _summed_up(reader, summary, file, folder, how, benchmark.tie_rule)


def _refuse_mixed(reader: CorpusReader, passage: str, document: str, file: str) -> None:
    parent = reader.parents_of([passage])[passage]
    raise MixedUnitsError(file=file, passage=passage, parent=parent, document=document)


def _refuse_documents(reader: CorpusReader, documents: set[str], file: str) -> None:
    if documents:
        document = min(documents)
        passage = reader.passages([document])[document][0].docid
        raise OtherUnitError(file=file, document=document, passage=passage)


def _summed_up(
    reader: CorpusReader,
    summary: RunSummary,
    file: str,
    folder: Path,
    how: str,
    ties: str,
) -> tuple[RunSummary, dict[str, Any]]:
    lost = Lost()
    problems = Problems()
    rows = document_rows(summary.parquet, reader, how, file=file, lost=lost)
    written = write_run(rows, directory=folder, problems=problems, file=file, ties=ties)
    shutil.move(written.parquet, summary.parquet)
    facts: dict[str, Any] = {
        "aggregation": how,
        "passages": summary.n_rows,
        "passage_depth": summary.depth,
    }
    if lost.n_rows:
        facts |= {"passages_left_out": lost.n_rows, "a_passage_left_out": lost.example}
    at = {name: getattr(written, name) for name in ("n_rows", "n_queries", "depth", "sha256")}
    return RunSummary(**at, parquet=summary.parquet, warnings=written.warnings), facts
