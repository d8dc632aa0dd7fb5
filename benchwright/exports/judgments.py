"""Grades as Quepid, OpenSearch, Elasticsearch's ranking evaluation and LETOR have them."""

import csv
import io
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from benchwright.exports.exporter import Exporter, Member, Snippet, judged
from benchwright.exports.side_files import MANIFEST, machine_files, manifest_json
from benchwright.releases.source import ReleaseSource

CUTOFF = 10
# (query id, query text, [(document id, grade)])
Judged = tuple[str, str, list[tuple[str, int]]]


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield four files of each split, and the manifest."""
    yield from machine_files(source)
    yield MANIFEST, [manifest_json(source.manifest)]
    for split in source.splits:
        yield f"quepid/{split}.csv", quepid_csv(source, split)
        yield f"opensearch/{split}.json", opensearch_json(source, split)
        yield f"rank_eval/{split}.json", rank_eval_json(source, split)
        yield f"letor/{split}.txt", letor_lines(source, split)


def quepid_csv(source: ReleaseSource, split: str) -> Iterator[bytes]:
    """Yield the ratings as Quepid imports and exports them; the query is its text."""
    yield _csv_line("query", "docid", "rating")
    for _, text, ratings in _judged_queries(source, split):
        for docid, grade in ratings:
            yield _csv_line(text, docid, grade)


def opensearch_json(source: ReleaseSource, split: str) -> Iterator[bytes]:
    """Yield the body that imports a judgment list into OpenSearch's Search Relevance Workbench."""
    head = {
        "name": f"{source.stem} {split}",
        "description": source.title,
        "type": "IMPORT_JUDGMENT",
    }
    yield json.dumps(head, ensure_ascii=False)[:-1].encode() + b', "judgmentRatings": [\n'
    yield from _listed(
        {
            "query": text,
            "ratings": [{"docId": docid, "rating": str(grade)} for docid, grade in ratings],
        }
        for _, text, ratings in _judged_queries(source, split)
    )
    yield b"]}\n"


def rank_eval_json(source: ReleaseSource, split: str) -> Iterator[bytes]:
    """Yield a request of Elasticsearch's (and OpenSearch's) ranking evaluation.

    The index is called as the benchmark is; its fields are those of `corpus.jsonl`.
    """
    yield b'{"requests": [\n'
    yield from _listed(
        {
            "id": qid,
            "request": {"query": {"multi_match": {"query": text, "fields": ["title", "text"]}}},
            "ratings": [
                {"_index": source.slug, "_id": docid, "rating": grade} for docid, grade in ratings
            ],
        }
        for qid, text, ratings in _judged_queries(source, split)
    )
    metric = {"dcg": {"k": CUTOFF, "normalize": True}}
    yield b'], "metric": ' + json.dumps(metric).encode() + b"}\n"


def letor_lines(source: ReleaseSource, split: str) -> Iterator[bytes]:
    """Yield lines of LETOR (SVMlight) without features, which whoever extracts them adds.

    Queries are numbered, as its readers expect; what they are called stands behind the document.
    """
    yield b"# grade qid:number feature:value ... # docid = document query = query\n"
    for number, (qid, _, ratings) in enumerate(_judged_queries(source, split), start=1):
        for docid, grade in ratings:
            yield f"{grade} qid:{number} # docid = {docid} query = {qid}\n".encode()


def _judged_queries(source: ReleaseSource, split: str) -> Iterator[Judged]:
    """The judged queries of a split, with their grades, in the order of the grades."""
    texts = {query.qid: query.text for query in source.queries()}
    for qid, rows in groupby(judged(source, split), key=lambda row: row[0]):
        yield qid, texts[qid], [(docid, grade) for _, docid, grade in rows]


def _listed(rows: Iterator[Any]) -> Iterator[bytes]:
    """The elements of a JSON list, one a line."""
    for number, row in enumerate(rows):
        yield (b",\n" if number else b"") + json.dumps(row, ensure_ascii=False).encode()
    yield b"\n"


def _csv_line(*cells: object) -> bytes:
    line = io.StringIO()
    # Only where lines end in CR LF is a lone CR inside a cell quoted.
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().removesuffix("\r\n").encode() + b"\n"


JUDGMENTS = Exporter(
    name="judgments",
    label="Judgments for search engines",
    about=(
        "For each split the ratings as Quepid has them, a judgment list of OpenSearch's Search "
        "Relevance Workbench, a request of Elasticsearch's rank_eval, and LETOR's lines; the "
        "manifest."
    ),
    needs_texts=False,
    loses=(
        "The documents.",
        "For Quepid and OpenSearch the ids of queries: queries of the same words become one.",
        "What is known of a query beyond its text, families, slices and weights.",
        "Which queries nobody judged.",
        "For LETOR the texts of queries; there are no features, which a release does not have.",
    ),
    members=members,
    snippets=(
        Snippet(
            "Elasticsearch",
            "curl -H 'Content-Type: application/json' \\\n"
            "  -d @{folder}/rank_eval/{split}.json localhost:9200/_rank_eval",
        ),
        Snippet(
            "OpenSearch",
            "curl -X PUT -H 'Content-Type: application/json' \\\n"
            "  -d @{folder}/opensearch/{split}.json \\\n"
            "  localhost:9200/_plugins/_search_relevance/judgments",
        ),
    ),
    suffix="-judgments",
)
