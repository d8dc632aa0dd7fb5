"""What sentence-transformers' evaluators read: positives only, each table with the same splits."""

from collections.abc import Iterator, Set
from pathlib import Path

from benchwright.exports.errors import NothingToExportError
from benchwright.exports.exporter import Exporter, Member, Snippet, documents_of
from benchwright.exports.hub import CORPUS, QRELS, QUERIES, README, Config, readme, shards
from benchwright.exports.ir_datasets import joined
from benchwright.releases.source import ReleaseSource

LABEL = "sentence-transformers"
TEXTS = (("_id", "string"), ("text", "string"))
PAIRS = (("query-id", "string"), ("corpus-id", "string"))


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield the tables; a pair counts as relevant from the release's threshold on.

    Its readers ask for one split name in all three tables and look at no grade, so corpus and
    queries are the same files under every split's name. They pass over empty texts, and a relevant
    document that is not there could never be found: such pairs are left out too.

    Raises
    ------
    NothingToExportError
        If no pair is left.
    """
    empty: set[str] = set()
    corpus, queries, qrels = Config(CORPUS, TEXTS), Config(QUERIES, TEXTS), Config(QRELS, PAIRS)
    yield from shards(corpus, CORPUS, _texts(source, empty), work, stem=CORPUS)
    rows = ((query.qid, query.text) for query in source.queries() if query.text.strip())
    yield from shards(queries, QUERIES, rows, work, stem=QUERIES)
    splits = [split for split in source.splits if any(_positives(source, split, empty))]
    if not splits:
        raise NothingToExportError(format=LABEL, threshold=source.threshold)
    for split in splits:
        pairs = _positives(source, split, empty)
        yield from shards(qrels, split, pairs, work, stem=QRELS, file=split)
    qrels.is_default = True
    for config, own in ((corpus, CORPUS), (queries, QUERIES)):
        paths, n_rows = config.files.pop(own), config.rows.pop(own)
        config.files = dict.fromkeys(splits, paths)
        config.rows = dict.fromkeys(splits, n_rows)
    note = f"Positives only: pairs with a grade of {source.threshold} or more, grades left out."
    yield README, [readme(source, [qrels, corpus, queries], note=note)]


def _texts(source: ReleaseSource, empty: set[str]) -> Iterator[tuple[str, str]]:
    """Yield id and text of the documents that have one, and note the ids of the others."""
    for document in documents_of(source):
        text = joined(document)
        if text.strip():
            yield document.docid, text
        else:
            empty.add(document.docid)


def _positives(source: ReleaseSource, split: str, empty: Set[str]) -> Iterator[tuple[str, str]]:
    unasked = {query.qid for query in source.queries() if not query.text.strip()}
    for qid, docid, grade in source.qrels(split):
        if grade >= source.threshold and docid not in empty and qid not in unasked:
            yield qid, docid


SENTENCE_TRANSFORMERS = Exporter(
    name="sentence-transformers",
    label=LABEL,
    about=(
        "Positives only, as its information retrieval evaluators want them: corpus, queries and "
        "qrels with the same split names, no empty text."
    ),
    needs_texts=True,
    loses=(
        "Grades: a pair is relevant, from the release's threshold on, or it is not there.",
        "What was judged and found not relevant, so that judged shares cannot be told.",
        "Documents and queries without a text, and pairs with them.",
        "Where a document's title ends: title and text are one.",
        "Metadata, families, slices, weights and the manifest.",
    ),
    members=members,
    snippets=(
        Snippet(
            "sentence-transformers",
            "from datasets import load_dataset\n"
            "from sentence_transformers.evaluation import InformationRetrievalEvaluator\n\n"
            'tables = {name: load_dataset("{folder}", name, split="{split}")\n'
            '          for name in ("corpus", "queries", "qrels")}\n'
            "relevant = {}\n"
            'for row in tables["qrels"]:\n'
            '    relevant.setdefault(row["query-id"], set()).add(row["corpus-id"])\n'
            "evaluator = InformationRetrievalEvaluator(\n"
            '    queries={row["_id"]: row["text"] for row in tables["queries"]},\n'
            '    corpus={row["_id"]: row["text"] for row in tables["corpus"]},\n'
            "    relevant_docs=relevant,\n"
            ")",
        ),
    ),
    suffix="-sentence-transformers",
    is_streamed=False,
)
