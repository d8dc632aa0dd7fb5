"""What the field's readers make of a BEIR folder, row by row: our writer and our linter know it.

`generic` and `typed` do what BEIR's two loaders do, in a few lines and without their packages.
"""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchwright.exports import EXPORTERS
from benchwright.exports.exporter import written
from benchwright.findings import Severity
from benchwright.linting.folders import lint_folder
from tests.benchwright.odd_toy import QRELS, source

MISSING = {"NA", "null", "None", "nan", "NULL", "NaN", "N/A", ""}
Loaded = tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, int]]]


def generic(folder: Path, split: str = "test") -> Loaded:
    """As GenericDataLoader: JSON line by line, a csv reader whose first line is passed over."""

    def jsonl(name: str) -> dict[str, Any]:
        with (folder / name).open(encoding="utf8") as lines:
            return {row["_id"]: row for row in map(json.loads, lines)}

    corpus, queries = jsonl("corpus.jsonl"), jsonl("queries.jsonl")
    qrels: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
        next(rows)
        for row in rows:
            qrels.setdefault(row[0], {})[row[1]] = int(row[2])
    return corpus, {qid: queries[qid] for qid in qrels}, qrels


def typed(folder: Path, split: str = "test") -> dict[str, dict[str, int]]:
    """The qrels as readers that guess types have them: NA words missing, columns of digits ints."""
    with (folder / "qrels" / f"{split}.tsv").open(encoding="utf-8-sig") as lines:
        rows = [row for row in csv.reader(lines, delimiter="\t") if row]
    columns = [list(column) for column in zip(*rows[1:], strict=True)]
    for index in (0, 1):
        if all(cell.isdigit() for cell in columns[index]):
            columns[index] = [str(int(cell)) for cell in columns[index]]
        columns[index] = [None if cell in MISSING else cell for cell in columns[index]]
    qrels: dict[Any, dict[Any, int]] = {}
    for qid, docid, score in zip(*columns, strict=True):
        qrels.setdefault(qid, {})[docid] = int(float(score))
    return qrels


@dataclass(frozen=True)
class Row:
    """One row of the table: how the rule is broken, what is told of it and where."""

    rule: str
    broken: Callable[[Path], None]
    code: str
    severity: Severity
    where: str
    # What BEIR's first loader does with it: an error, or what it holds is wrong; None: nothing bad.
    raises: type[Exception] | None = None
    is_wrong: Callable[[Loaded], bool] | None = None


def in_file(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_bytes()
        assert old.encode() in text
        (folder / name).write_bytes(text.replace(old.encode(), new.encode(), 1))

    return change


def before(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(content + (folder / name).read_bytes())


def after(name: str, content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + content)


TEST, CORPUS, QUERIES = "qrels/test.tsv", "corpus.jsonl", "queries.jsonl"
HEADER = "query-id\tcorpus-id\tscore\n"
FIRST = "q-cjk\td-cjk\t3\n"
ERROR, WARNING = Severity.ERROR, Severity.WARNING
ROWS = [
    Row(
        "header line mandatory",
        in_file(TEST, HEADER, ""),
        "header-missing",
        ERROR,
        f"{TEST}:1",
        is_wrong=lambda got: "d-cjk" not in got[2].get("q-cjk", {}),
    ),
    Row(
        "score is an integer literal",
        in_file(TEST, FIRST, "q-cjk\td-cjk\t3.0\n"),
        "grade-not-integer",
        ERROR,
        f"{TEST}:2",
        raises=ValueError,
    ),
    Row(
        "no blank line in qrels",
        in_file(TEST, FIRST, FIRST + "\n"),
        "blank-line",
        ERROR,
        f"{TEST}:3",
        raises=IndexError,
    ),
    Row(
        "no blank line in jsonl",
        after(CORPUS, b"\n"),
        "blank-line",
        ERROR,
        f"{CORPUS}:8",
        raises=json.JSONDecodeError,
    ),
    Row(
        "exactly three columns",
        in_file(TEST, FIRST, "q-cjk\td-cjk\t3\textra\n"),
        "columns",
        ERROR,
        f"{TEST}:2",
    ),
    Row(
        "_id always a JSON string",
        in_file(QUERIES, '{"_id": "q-cjk"', '{"_id": 7'),
        "id-not-string",
        ERROR,
        f"{QUERIES}:2",
        raises=KeyError,
    ),
    Row(
        "no id of digits with leading zeros",
        in_file(TEST, FIRST, "q-cjk\t007\t3\n"),
        "id-leading-zeros",
        ERROR,
        f"{TEST}:2",
    ),
    *(
        Row(
            f"no id {word!r}",
            in_file(TEST, FIRST, f"q-cjk\t{word}\t3\n"),
            "id-null-word",
            ERROR,
            f"{TEST}:2",
        )
        for word in ("NA", "null", "None", "nan")
    ),
    Row(
        "no empty id",
        in_file(TEST, FIRST, "q-cjk\t\t3\n"),
        "id-empty",
        ERROR,
        f"{TEST}:2",
    ),
    Row(
        "no id beginning with a quote",
        in_file(TEST, FIRST, 'q-cjk\t"d-cjk\t3\n'),
        "id-quote",
        ERROR,
        f"{TEST}:2",
        raises=IndexError,
    ),
    Row(
        "no space in ids",
        in_file(CORPUS, '"_id": "d-cjk"', '"_id": "d cjk"'),
        "id-white-space",
        ERROR,
        f"{CORPUS}:2",
    ),
    Row(
        "no tab in ids",
        in_file(CORPUS, '"_id": "d-cjk"', '"_id": "d\\tcjk"'),
        "id-white-space",
        ERROR,
        f"{CORPUS}:2",
    ),
    Row(
        "every query of the qrels exists",
        in_file(TEST, FIRST, "q-gone\td-cjk\t3\n"),
        "query-dangling",
        ERROR,
        f"{TEST}:2",
        raises=KeyError,
    ),
    Row(
        "every document of the qrels exists",
        in_file(TEST, FIRST, "q-cjk\td-gone\t3\n"),
        "document-dangling",
        ERROR,
        f"{TEST}:2",
        is_wrong=lambda got: "d-gone" not in got[0] and "d-gone" in got[2]["q-cjk"],
    ),
    Row(
        "a pair is unique",
        in_file(TEST, FIRST, FIRST + "q-cjk\td-cjk\t0\n"),
        "pair-duplicate",
        ERROR,
        f"{TEST}:3",
        is_wrong=lambda got: got[2]["q-cjk"]["d-cjk"] == 0,
    ),
    Row(
        "no byte order mark",
        before(QUERIES, b"\xef\xbb\xbf"),
        "byte-order-mark",
        ERROR,
        f"{QUERIES}:1",
        raises=json.JSONDecodeError,
    ),
    Row(
        "LF endings",
        in_file(TEST, "\n", "\r\n"),
        "line-end",
        WARNING,
        f"{TEST}:1",
    ),
    Row(
        "title present",
        in_file(CORPUS, '"title": "A number", ', ""),
        "title-missing",
        WARNING,
        f"{CORPUS}:1",
        is_wrong=lambda got: got[0]["123"].get("title") is None,
    ),
    Row(
        "text never null",
        in_file(CORPUS, '"text": "1 2 3"', '"text": null'),
        "text-null",
        ERROR,
        f"{CORPUS}:1",
        is_wrong=lambda got: got[0]["123"]["text"] is None,
    ),
    Row(
        "no grade of -1",
        in_file(TEST, FIRST, "q-cjk\td-cjk\t-1\n"),
        "grade-negative",
        ERROR,
        f"{TEST}:2",
        is_wrong=lambda got: got[2]["q-cjk"]["d-cjk"] == -1,
    ),
    Row(
        "no query has the id of a document",
        in_file(CORPUS, '"_id": "d-tag"', '"_id": "q-cjk"'),
        "query-id-is-document-id",
        WARNING,
        QUERIES,
    ),
    Row(
        "the same keys of metadata in every row",
        in_file(CORPUS, '"metadata": {"url": "u1"}', '"metadata": {"other": "u1"}'),
        "metadata-differs",
        WARNING,
        f"{CORPUS}:2",
    ),
    Row(
        "each line is JSON",
        in_file(CORPUS, '{"_id": "123"', "{'_id': '123'"),
        "not-json",
        ERROR,
        f"{CORPUS}:1",
        raises=json.JSONDecodeError,
    ),
    Row(
        "UTF-8",
        after(QUERIES, b'{"_id": "z", "text": "\xff", "metadata": {}}\n'),
        "encoding",
        ERROR,
        f"{QUERIES}:6",
        raises=UnicodeDecodeError,
    ),
    Row(
        "no document twice",
        after(CORPUS, b'{"_id": "d-tag", "title": "", "text": "x", "metadata": {"url": null}}\n'),
        "id-duplicate",
        ERROR,
        f"{CORPUS}:8",
    ),
    Row(
        "a query in one split",
        after(TEST, b"q-topic\td-tag\t1\n"),
        "query-in-two-splits",
        ERROR,
        f"{TEST}:6",
    ),
]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Our own export."""
    written(EXPORTERS["beir"], source(), tmp_path / "toy")
    return tmp_path / "toy"


@pytest.mark.parametrize("row", ROWS, ids=[row.rule for row in ROWS])
def test_broken_rule_is_told_with_its_line(folder, row):
    assert row.code not in {finding.code for finding in lint_folder(folder).findings}
    row.broken(folder)

    findings = [finding for finding in lint_folder(folder).findings if finding.code == row.code]

    assert findings, [finding.where for finding in lint_folder(folder).findings]
    assert (findings[0].severity, findings[0].where) == (row.severity, row.where)
    assert findings[0].message
    assert findings[0].advice


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.raises], ids=[row.rule for row in ROWS if row.raises]
)
def test_reader_stops_at_it(folder, row):
    generic(folder)
    row.broken(folder)

    with pytest.raises(row.raises):
        generic(folder)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.is_wrong], ids=[row.rule for row in ROWS if row.is_wrong]
)
def test_reader_takes_it_in_silence_and_holds_something_else(folder, row):
    assert not row.is_wrong(generic(folder))
    row.broken(folder)

    assert row.is_wrong(generic(folder))


def test_reader_that_guesses_types_loses_ids_like_numbers_and_words(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / TEST).write_text(f"{HEADER}01\t007\t1\n02\t008\t1\n")
    assert typed(tmp_path) == {"1": {"7": 1}, "2": {"8": 1}}

    (tmp_path / TEST).write_text(f"{HEADER}q1\tnull\t1\nq2\tNA\t1\n")
    assert typed(tmp_path) == {"q1": {None: 1}, "q2": {None: 1}}


@pytest.mark.parametrize("split", ["dev", "test"])
def test_our_own_export_is_read_as_it_was_written(folder, split):
    corpus, queries, qrels = generic(folder, split)

    wanted: dict[str, dict[str, int]] = {}
    for qid, docid, grade in QRELS[split]:
        wanted.setdefault(qid, {})[docid] = grade
    assert qrels == wanted == typed(folder, split)
    assert queries.keys() == wanted.keys()
    assert {d["_id"]: (d["title"], d["text"]) for d in corpus.values()} == {
        d.docid: (d.title, d.text) for d in source().documents()
    }
