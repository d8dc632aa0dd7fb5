"""What `ir_datasets.create_dataset` reads: two tables without a header, and TREC qrels."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchwright.exports.exporter import Exporter, Member, Snippet, documents_of, one_line
from benchwright.exports.side_files import machine_files
from benchwright.exports.trec import qrels_trec, queries_tsv
from benchwright.formats.beir_writing import DocumentLike
from benchwright.releases.source import ReleaseSource


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield docs.tsv, queries.tsv, the qrels of all splits together and of each."""
    yield from machine_files(source)
    yield "docs.tsv", docs_tsv(documents_of(source))
    yield "qrels.trec", qrels_trec(source)
    for split in source.splits:
        yield f"qrels/{split}.trec", qrels_trec(source, (split,))
    yield "queries.tsv", queries_tsv(source.queries())


def docs_tsv(documents: Iterable[DocumentLike]) -> Iterator[bytes]:
    """Yield `docid<TAB>title and text` lines."""
    for document in documents:
        yield f"{document.docid}\t{one_line(joined(document))}\n".encode()


def joined(document: DocumentLike) -> str:
    """Return title and text as one, as BEIR's and MTEB's models read them."""
    if not document.title:
        return document.text
    return f"{document.title} {document.text}".rstrip(" ")


IR_DATASETS = Exporter(
    name="ir-datasets",
    label="ir_datasets TSV",
    about="docs.tsv, queries.tsv and qrels.trec, for ir_datasets.create_dataset.",
    needs_texts=True,
    loses=(
        "Where a document's title ends: title and text stand in one column.",
        "Tabs and line ends in texts, which become blanks.",
        "Metadata of documents and queries, families, slices, weights, and whether documents "
        "that the qrels do not list are unknown or not relevant.",
        "Which split a query is in that nobody judged.",
    ),
    members=members,
    snippets=(
        Snippet(
            "ir_datasets",
            "import ir_datasets  # with PYTHONUTF8=1 where the locale is not UTF-8\n\n"
            "dataset = ir_datasets.create_dataset(\n"
            '    docs_tsv="{folder}/docs.tsv",\n'
            '    queries_tsv="{folder}/queries.tsv",\n'
            '    qrels_trec="{folder}/qrels/{split}.trec",\n'
            ")",
        ),
    ),
    suffix="-ir-datasets",
)
