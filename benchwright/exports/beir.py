"""BEIR's folder, and beside BEIR's files what they have no place for."""

from collections.abc import Iterator
from pathlib import Path

from benchwright.exports.exporter import Exporter, Member, Snippet, documents_of, judged
from benchwright.exports.side_files import side_files
from benchwright.formats.beir_writing import corpus_jsonl, qrels_tsv, queries_jsonl
from benchwright.releases.source import ReleaseSource


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield corpus, queries, qrels, and the files beside them."""
    yield "corpus.jsonl", corpus_jsonl(documents_of(source), shape=source.document_shape)
    yield from queries_and_qrels(source)
    yield from side_files(source)


def queries_and_qrels(source: ReleaseSource) -> Iterator[Member]:
    """Yield queries.jsonl and the qrels of every public split."""
    for split in source.splits:
        name = f"qrels/{split}.tsv"
        yield name, qrels_tsv(judged(source, split), file=name)
    yield "queries.jsonl", queries_jsonl(source.queries(), shape=source.query_shape)


BEIR = Exporter(
    name="beir",
    label="BEIR",
    about=(
        "corpus.jsonl, queries.jsonl and qrels/*.tsv, and beside them families, slices, weights "
        "and the manifest, which BEIR's loaders pass over."
    ),
    needs_texts=True,
    loses=(),
    members=members,
    snippets=(
        Snippet(
            "beir",
            "from beir.datasets.data_loader import GenericDataLoader\n\n"
            "# one loader for each split: a loader that is used again raises KeyError\n"
            'corpus, queries, qrels = GenericDataLoader("{folder}").load(split="{split}")',
        ),
        Snippet(
            "beir, through datasets",
            "from beir.datasets.data_loader_hf import HFDataLoader\n\n"
            'corpus, queries, qrels = HFDataLoader(data_folder="{folder}").load(split="{split}")',
        ),
    ),
)
