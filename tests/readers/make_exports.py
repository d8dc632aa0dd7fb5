"""Writes the exports of the demo and of the toy benchmark, and what a reader should find in them.

`python -m tests.readers.make_exports FOLDER`: a fresh site in a folder of its own, the real
commands, then FOLDER/<stem>.zip and FOLDER/<stem>.expected.json. The expectation comes from the
files that went in (and, for the demo, from the graded pairs), not from the export.
"""

import csv
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
TOY = ROOT / "fixtures" / "tiny_benchmark"
N_WAITING = 12


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        os.environ["BENCHWRIGHT_DATA"] = data
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("demo")
        write(folder, "stdlib", expected_demo())
        call_command("create_benchmark", "toy", name="Toy", owner="olga")
        call_command("import_beir", "toy", TOY, name="toy")
        call_command("publish_release", "toy", qrels="toy", release="0.1.0")
        write(folder, "toy", expected_toy())


def write(folder: Path, slug: str, expected: dict[str, Any]) -> None:
    from django.core.management import call_command

    stem = f"{slug}-0.1.0"
    call_command("export_release", slug, "0.1.0", output=folder / f"{stem}.zip")
    (folder / f"{stem}.expected.json").write_text(json.dumps(expected), "utf-8")


def jsonl(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def grouped(rows: list[dict[str, str]], grade: str) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for row in rows:
        qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row[grade])
    return qrels


def expected_toy() -> dict[str, Any]:
    documents = jsonl(TOY / "corpus.jsonl")
    return {
        "corpus": {d["_id"]: {"text": d["text"], "title": d.get("title")} for d in documents},
        "queries": {query["_id"]: query["text"] for query in jsonl(TOY / "queries.jsonl")},
        "qrels": {
            path.stem: grouped(table(path), "score") for path in sorted(TOY.glob("qrels/*.tsv"))
        },
    }


def expected_demo() -> dict[str, Any]:
    from annotation.models import PoolEntry
    from benchmarks_app.core.demo_corpus import collect_docstrings

    fixtures = ROOT / "fixtures" / "demo"
    queries = {query["_id"]: query["text"] for query in jsonl(fixtures / "queries.jsonl")}
    judged = sorted(queries)[:-N_WAITING]
    # Documents for practice and hidden checks give no qrels.
    entries = PoolEntry.objects.exclude(origin=PoolEntry.Origin.KNOWN)
    pooled = set(entries.values_list("query__qid", "document__docid"))
    rows = [
        row
        for row in table(fixtures / "grades.tsv")
        if row["query-id"] in judged and (row["query-id"], row["corpus-id"]) in pooled
    ]
    return {
        "corpus": {d.docid: {"text": d.text, "title": d.title} for d in collect_docstrings()},
        "queries": queries,
        "qrels": {"test": grouped(rows, "grade")},
    }


if __name__ == "__main__":
    main()
