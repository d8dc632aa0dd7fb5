"""A stored run of passages becomes rows of a run of documents, some queries at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.corpora.errors import MixedUnitsError
from benchwright.runs.aggregation import RankedPassage, documents_of
from benchwright.runs.store import StoredRow

if TYPE_CHECKING:
    import polars as pl

    from benchwright.corpora.store import CorpusReader

CHUNK_ROWS = 200_000


@dataclass(slots=True)
class Lost:
    """Results that name no passage of the corpus: how many, and one of them."""

    n_rows: int = 0
    example: str = ""


def document_rows(
    parquet: Path, reader: CorpusReader, how: str, *, file: str, lost: Lost
) -> Iterator[StoredRow]:
    """Yield the documents of each query with their scores; `lost` counts what has no document.

    Raises
    ------
    MixedUnitsError
        If a result is not a passage but a document that passages are of.
    """
    for chunk in _whole_queries(parquet):
        passages = set(chunk["docid"].unique())
        parents = reader.parents_of(passages)
        _refuse_documents(passages, parents, reader, file)
        firsts = reader.first_passages(set(parents.values())) if how == "firstp" else set()
        for (qid,), rows in chunk.group_by("qid", maintain_order=True):
            ranked = [
                RankedPassage(*row) for row in rows.select("docid", "score", "rank").iter_rows()
            ]
            without = [passage.docid for passage in ranked if passage.docid not in parents]
            lost.n_rows += len(without)
            lost.example = lost.example or next(iter(without), "")
            for docid, score in documents_of(ranked, parents, how, firsts):
                yield StoredRow(0, str(qid), docid, score)


def _refuse_documents(
    passages: set[str], parents: dict[str, str], reader: CorpusReader, file: str
) -> None:
    unknown = passages - parents.keys()
    documents = unknown - reader.missing_parents(unknown)
    if documents and parents:
        passage = min(parents)
        raise MixedUnitsError(
            file=file, passage=passage, parent=parents[passage], document=min(documents)
        )


def _whole_queries(parquet: Path) -> Iterator[pl.DataFrame]:
    """Yield the run's rows, cut between queries only."""
    import polars as pl

    scan = pl.scan_parquet(parquet)
    n_rows = int(scan.select(pl.len()).collect().item())
    rest: pl.DataFrame | None = None
    for start in range(0, n_rows, CHUNK_ROWS):
        rows = scan.slice(start, CHUNK_ROWS).collect()
        whole = rows if rest is None else pl.concat([rest, rows])
        is_last = start + CHUNK_ROWS >= n_rows
        ends_with = whole[-1, "qid"]
        n_whole = len(whole) if is_last else int((whole["qid"] < ends_with).sum())
        if n_whole:
            yield whole[:n_whole]
        rest = whole[n_whole:]
