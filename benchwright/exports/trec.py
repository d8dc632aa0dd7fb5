"""TREC's topics and qrels, and runs in its form."""

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from pathlib import Path
from typing import Any

from benchwright.exports.exporter import Exporter, Member, Snippet, one_line
from benchwright.exports.side_files import MANIFEST, machine_files, manifest_json
from benchwright.formats.beir_writing import QueryLike
from benchwright.formats.trec import QrelRow, RunRow, write_qrels, write_run
from benchwright.releases.source import ReleaseSource

FIELDS = ("title", "desc", "narr")
LABELS = {"title": "Topic:", "desc": "Description:", "narr": "Narrative:"}


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield the qrels, of all splits and of each, the queries as table and topics, the manifest."""
    yield from machine_files(source)
    yield MANIFEST, [manifest_json(source.manifest)]
    yield "qrels.trec", qrels_trec(source)
    for split in source.splits:
        yield f"qrels/{split}.trec", qrels_trec(source, (split,))
    yield "queries.tsv", queries_tsv(source.queries())
    yield "topics.txt", topics(source.queries())


def qrels_trec(source: ReleaseSource, splits: Iterable[str] | None = None) -> Iterator[bytes]:
    """Yield `qid 0 docid grade` lines of the splits (all public ones), by the bytes of both ids.

    Grades below 0 are kept where the source has them: in the pool, and not judged.
    """
    streams = [source.qrels(split) for split in (source.splits if splits is None else splits)]
    rows = merge(*streams, key=lambda row: (row[0].encode(), row[1].encode()))
    return write_qrels(
        QrelRow(0, qid.encode(), docid.encode(), grade) for qid, docid, grade in rows
    )


def queries_tsv(queries: Iterable[QueryLike]) -> Iterator[bytes]:
    """Yield `qid<TAB>text` lines, without a header; texts on one line."""
    for query in queries:
        yield f"{query.qid}\t{one_line(query.text)}\n".encode()


def topics(queries: Iterable[QueryLike]) -> Iterator[bytes]:
    """Yield a `<top>` for each query, with all four fields: ir_datasets asserts them.

    A label is written where the text begins with one, as readers take the first one away.
    """
    for query in queries:
        text_of = {
            "title": query.text,
            "desc": query.metadata.get("description") or "",
            "narr": query.metadata.get("narrative") or "",
        }
        fields = "".join(f"<{field}> {_labelled(field, text_of[field])}\n\n" for field in FIELDS)
        yield f"<top>\n\n<num> Number: {query.qid}\n{fields}</top>\n\n".encode()


def _labelled(field: str, text: str) -> str:
    text = one_line(text)
    label = LABELS[field]
    is_needed = field != "title" or text.lower().lstrip().startswith(label.lower())
    return f"{label} {text}".rstrip(" ") if is_needed else text


TREC = Exporter(
    name="trec",
    label="TREC topics and qrels",
    about=(
        "topics.txt with num, title, desc and narr; queries.tsv; qrels.trec, and one file of "
        "qrels for each split; the manifest."
    ),
    needs_texts=False,
    loses=(
        "The documents.",
        "Families, slices, weights, and what else is known of a query beyond title, description "
        "and narrative.",
        "Tabs and line ends in texts, which become blanks; in topics.txt, a text that looks like "
        "a tag or a label may be read otherwise: queries.tsv has it as it is.",
        "Which split a query is in that nobody judged.",
    ),
    members=members,
    snippets=(
        Snippet(
            "pytrec_eval",
            "import pytrec_eval\n\n"
            'with open("{folder}/qrels/{split}.trec") as lines:\n'
            "    qrels = pytrec_eval.parse_qrel(lines)\n"
            'evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"})',
        ),
        Snippet(
            "trec_eval",
            "# -c: queries that a run does not answer count 0\n"
            "trec_eval -c -M1000 -m ndcg_cut.10 {folder}/qrels/{split}.trec my.run",
        ),
        Snippet("benchwright", "benchwright score {folder}/qrels/{split}.trec my.run -m nDCG@10"),
    ),
    suffix="-trec",
)

# --- a run, and beside it what is known of the system --------------------------------------------


METADATA = "ir-metadata.yml"


def run_members(
    name: str, rows: Iterable[tuple[str, str, float, int]], metadata: Mapping[str, Any]
) -> Iterator[Member]:
    """Yield `<name>.run` and, where anything is known, `ir-metadata.yml`.

    Parameters
    ----------
    name
        What the run is called; its tag too, where the metadata has none.
    rows
        Query, document, score and rank, best first in each query.
    metadata
        As `ir_metadata` has it: kept as it is. It stands in a file of its own, because most readers
        of runs stop at a comment.
    """
    tag = str(metadata.get("tag") or name).encode()
    lines = (RunRow(0, qid.encode(), docid.encode(), s, rank, tag) for qid, docid, s, rank in rows)
    yield f"{name}.run", write_run(lines)
    if metadata:
        yield METADATA, [metadata_yaml(metadata)]


def metadata_yaml(metadata: Mapping[str, Any]) -> bytes:
    """Return what is known of a system as YAML, the keys sorted."""
    import yaml

    written: str = yaml.safe_dump(dict(metadata), sort_keys=True, allow_unicode=True, width=100)
    return written.encode()
