"""Real collections of the data folder, converted to the files a newcomer would import."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The readme of Cranfield's judgments: 1 is a complete answer, 4 of minimum interest.
CRANFIELD_GRADES = {1: 4, 2: 3, 3: 2, 4: 1, -1: 0}
CRANFIELD_SCALE = """0 = Not relevant: of no interest
1 = Minimum interest: such as a historical viewpoint *
2 = Useful: general background, or a way to tackle an aspect *
3 = High relevance: without it, much more work *
4 = Complete answer: says what was asked *"""


@dataclass(frozen=True)
class Cranfield:
    """Files ready to be imported; `grades` is on the scale of the file, {(qid, docid): code}."""

    corpus: Path
    queries: Path
    qrels: Path
    runs: list[Path]
    grades: dict[tuple[str, str], int]

    @property
    def grade_map(self) -> str:
        """As the import page takes it: "1=4, 2=3, ..."."""
        return ", ".join(f"{code}={grade}" for code, grade in CRANFIELD_GRADES.items())

    @property
    def official(self) -> dict[tuple[str, str], int]:
        """The grades on the benchmark's scale, the best the highest."""
        return {pair: CRANFIELD_GRADES[code] for pair, code in self.grades.items()}


def smart_records(path: Path) -> Iterator[dict[str, str]]:
    """Records of a SMART file, {field: text with its lines}; the field of the id is "I"."""
    record: dict[str, str] = {}
    field = ""
    for line in path.read_text(encoding="utf-8", errors="strict").splitlines():
        if line.startswith(".I "):
            if record:
                yield record
            record, field = {"I": line[3:].strip()}, ""
        elif len(line) == 2 and line[0] == "." and line[1].isupper():
            field = line[1]
            record[field] = ""
        else:
            record[field] = f"{record[field]}\n{line}" if record[field] else line
    if record:
        yield record


def convert_cranfield(source: Path, folder: Path) -> Cranfield:
    """Write corpus.jsonl, queries.jsonl and qrels.txt of `source` (cranfield) into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus, queries, qrels = (folder / n for n in ("corpus.jsonl", "queries.jsonl", "qrels.txt"))
    _write_lines(corpus, (_document(record) for record in smart_records(source / "cran.all.1400")))
    # The judgments number the queries by their place in the file, not by their id.
    asked = enumerate(smart_records(source / "cran.qry"), start=1)
    _write_lines(queries, ({"_id": str(n), "text": _flat(record["W"])} for n, record in asked))
    lines = (source / "cranqrel").read_text().splitlines()
    rows = [(qid, docid, int(code)) for qid, docid, code in map(str.split, lines)]
    qrels.write_text("".join(f"{qid} 0 {docid} {code}\n" for qid, docid, code in rows))
    grades = {(qid, docid): code for qid, docid, code in rows}
    return Cranfield(corpus, queries, qrels, sorted((source / "runs").iterdir()), grades)


def _document(record: dict[str, str]) -> dict[str, str]:
    title, text = _flat(record["T"]), record["W"]
    # The abstract begins with the title once more, broken into the same lines.
    text = text.removeprefix(record["T"]).strip("\n")
    return {"_id": record["I"], "title": title, "text": text}


def _flat(text: str) -> str:
    return " ".join(text.split())


def _write_lines(path: Path, rows: Iterator[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def expected_means(source: Path) -> dict[str, dict[str, str]]:
    """{run: {measure: mean}} as printed by trec_eval, with its four decimals."""
    with (source / "expected.all.tsv").open(newline="") as table:
        return {row["run"]: row for row in csv.DictReader(table, delimiter="\t")}


def expected_per_topic(source: Path, measure: str) -> dict[str, dict[str, float]]:
    """{run: {qid: value}} of one of trec_eval's measures."""
    results: dict[str, dict[str, float]] = {}
    with gzip.open(source / "expected.per_topic.tsv.gz", "rt", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["measure"] == measure and row["topic"] != "all":
                results.setdefault(row["run"], {})[row["topic"]] = float(row["value"])
    return results
