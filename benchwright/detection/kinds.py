"""The kinds of files that an import can read."""

from enum import StrEnum

from benchwright.formats.mapping import Content


class FileKind(StrEnum):
    """What an import can read."""

    BEIR = "beir"
    CORPUS = "corpus"
    DOCUMENTS = "documents"
    IDS = "ids"
    QUERIES = "queries"
    TOPICS = "topics"
    PASSAGES = "passages"
    JUDGED = "judged"
    QRELS = "qrels"
    BEIR_QRELS = "beir-qrels"
    QREL_TABLE = "qrel-table"
    RUN = "run"
    RUN_TABLE = "run-table"
    FAMILIES = "families"
    SLICES = "slices"
    WEIGHTS = "weights"


KIND_LABELS: dict[FileKind, str] = {
    FileKind.BEIR: "Collection: folder, zip or tar with corpus, queries, qrels",
    FileKind.CORPUS: "Corpus: JSON lines with _id, title, text (BEIR)",
    FileKind.DOCUMENTS: "Corpus: a table of documents",
    FileKind.IDS: "Corpus without texts: a document id a line",
    FileKind.QUERIES: "Queries: a table",
    FileKind.TOPICS: "Queries: TREC topics",
    FileKind.PASSAGES: "Queries with positive and negative passages (MIRACL)",
    FileKind.JUDGED: "Judged queries: a table or JSON with the texts of queries and grades",
    FileKind.QRELS: "Qrels: TREC",
    FileKind.BEIR_QRELS: "Qrels: BEIR (TSV with header)",
    FileKind.QREL_TABLE: "Qrels: a table",
    FileKind.RUN: "Run: TREC",
    FileKind.RUN_TABLE: "Run: a table",
    FileKind.FAMILIES: "Families of queries",
    FileKind.SLICES: "Slices of queries",
    FileKind.WEIGHTS: "Weights of queries",
}
# What a kind brings. A file of passages is queries, documents and qrels in one,
# judged queries are queries and qrels.
QUERY_KINDS = (FileKind.QUERIES, FileKind.TOPICS, FileKind.PASSAGES, FileKind.JUDGED)
DOCUMENT_KINDS = (FileKind.CORPUS, FileKind.DOCUMENTS, FileKind.IDS)
GRADED_KINDS = (FileKind.QRELS, FileKind.BEIR_QRELS, FileKind.QREL_TABLE)  # a grade in each row
QREL_KINDS = (*GRADED_KINDS, FileKind.PASSAGES, FileKind.JUDGED)
RUN_KINDS = (FileKind.RUN, FileKind.RUN_TABLE)
# The kinds whose columns a person may map.
CONTENT_OF: dict[FileKind, Content] = {
    FileKind.DOCUMENTS: Content.DOCUMENTS,
    FileKind.QUERIES: Content.QUERIES,
    FileKind.QREL_TABLE: Content.QRELS,
    FileKind.RUN_TABLE: Content.RUN,
    FileKind.JUDGED: Content.JUDGED,
}
