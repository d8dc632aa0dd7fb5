"""Queries, qrels and ids, for a corpus whose texts may not be passed on."""

from collections.abc import Iterator
from pathlib import Path

from benchwright.exports.beir import queries_and_qrels
from benchwright.exports.exporter import Exporter, Member, Snippet, judged
from benchwright.exports.side_files import side_files
from benchwright.ids import sorted_ids, text_hash
from benchwright.releases.source import ReleaseSource

DOCUMENTS = "documents.tsv"


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield the ids of the documents, queries, qrels, and the files beside them."""
    yield DOCUMENTS, documents_tsv(source)
    yield from queries_and_qrels(source)
    yield from side_files(source)


def documents_tsv(source: ReleaseSource) -> Iterator[bytes]:
    """Yield a header and an id a line; with a hash of the text where there is one.

    Who has the corpus sees by the hash whether it is the same; a corpus without texts gives the
    ids that were judged.
    """
    yield b"corpus-id\ttext-hash\n"
    if source.documents is not None:
        for document in source.documents():
            digest = text_hash(document.title, document.text)
            yield f"{document.docid}\t{digest}\n".encode()
        return
    docids = {docid for split in source.splits for _, docid, _ in judged(source, split)}
    for docid in sorted_ids(docids):
        yield f"{docid}\t\n".encode()


IDS_ONLY = Exporter(
    name="ids-only",
    label="Qrels and ids only",
    about=(
        "Queries, qrels, and of each document its id and a hash of its text, for a corpus that "
        "may not be passed on: who has it can check that it is the same."
    ),
    needs_texts=False,
    loses=("The documents' texts and metadata.",),
    members=members,
    snippets=(
        Snippet(
            "pandas",
            "import pandas\n\n"
            "# ids are text, whatever they look like\n"
            'table = {"sep": "\\t", "dtype": str, "keep_default_na": False, "quoting": 3}\n'
            'qrels = pandas.read_csv("{folder}/qrels/{split}.tsv", **table)\n'
            'documents = pandas.read_csv("{folder}/documents.tsv", **table)',
        ),
    ),
    suffix="-ids-only",
)
