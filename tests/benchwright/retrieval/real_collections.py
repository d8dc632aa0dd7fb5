"""Real collections as documents, queries and grades."""

import csv
import io
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from benchwright.families.query_files import read_query_texts
from benchwright.retrieval.from_files import corpus_texts
from tests.benchwright.realdata import data_folder, smart_blocks


class Collection(NamedTuple):
    documents: list[tuple[str, str]]
    queries: list[tuple[str, str]]
    grades: dict[str, dict[str, int]]


def cranfield() -> Collection:
    folder = data_folder("cranfield")
    documents = [
        (docid, fields.get("T", "") + fields.get("W", ""))
        for docid, fields in smart_blocks(folder / "cran.all.1400")
    ]
    blocks = enumerate(smart_blocks(folder / "cran.qry"), start=1)
    queries = [(str(number), fields["W"]) for number, (_, fields) in blocks]
    return Collection(documents, queries, grades_in(folder / "qrels_derived.txt"))


def vaswani() -> Collection:
    folder = data_folder("vaswani")
    topics = re.findall(
        r"<num>(\S+?)</num><title>(.*?)</title>", (folder / "query-text.trec").read_text(), re.S
    )
    documents = list(corpus_texts(folder / "doc-text.trec.gz"))
    return Collection(documents, [(qid, text) for qid, text in topics], grades_in(folder / "qrels"))


def scifact() -> Collection:
    folder = data_folder("scifact")
    with zipfile.ZipFile(folder / "scifact_claims_corpus_csv.zip") as packed:
        text = packed.read("corpus_train.csv").decode("utf-8")
    documents = [
        (row["doc_id"], f"{row['title']} {row['abstract']}")
        for row in csv.DictReader(io.StringIO(text))
    ]
    rows = (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]
    grades = graded(row.split("\t") for row in rows)
    queries = [(query.qid, query.text) for query in read_query_texts(folder / "queries.jsonl")]
    return Collection(documents, [pair for pair in queries if pair[0] in grades], grades)


def grades_in(path: Path) -> dict[str, dict[str, int]]:
    return graded(
        (qid, docid, grade)
        for qid, _, docid, grade in map(str.split, path.read_text().splitlines())
    )


def graded(rows: Iterable[Iterable[str]]) -> dict[str, dict[str, int]]:
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for qid, docid, grade in rows:
        grades[qid][docid] = int(grade)
    return dict(grades)


COLLECTIONS: dict[str, Callable[[], Collection]] = {
    "cranfield": cranfield,
    "scifact": scifact,
    "vaswani": vaswani,
}
