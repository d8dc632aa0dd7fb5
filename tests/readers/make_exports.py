"""Writes the exports that the field's readers read, and what a reader should find in them.

`python -m tests.readers.make_exports FOLDER`: a fresh site in a folder of its own, the real
commands, then FOLDER/<benchmark>/<benchmark>-<format>/ for each format, <stem>.zip, and
expected.json beside them. The expectation comes from the files that went in (and, for the
demo, from the graded pairs), not from the export.

The demo, the toy of odd characters, and Cranfield where the data folder has it; and two benchmarks
of images, with images.json in place of expected.json.
"""

import csv
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from tests.collections import CRANFIELD_SCALE, convert_cranfield

ROOT = Path(__file__).resolve().parent.parent.parent
TOY = ROOT / "fixtures" / "tiny_benchmark"
DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", ROOT.parent / "shared" / "data"))
N_WAITING = 12
# Not BEIR's, whose documents have texts.
NAMES = {"corpus": "documents", "queries": "queries"}


def main() -> None:
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
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
        for name, most in (("pictures", 1), ("albums", 2)):
            write_images(folder, Path(data), name, most)
        if (DATA / "cranfield").is_dir():
            write(folder, "cranfield", import_cranfield(Path(data) / "cranfield"))
        else:
            print(f"no Cranfield: {DATA} has none (BENCHWRIGHT_TEST_DATA)")


def write(folder: Path, slug: str, expected: dict[str, Any]) -> None:
    """Write a release as a folder of each format, and BEIR's as a zip too."""
    from django.core.management import call_command

    from benchwright.exports import EXPORTERS

    here = folder / slug
    here.mkdir()
    for name in EXPORTERS:
        # datasets 5.2 keeps what it read by the folder's name alone: each needs one of its own.
        path = here / f"{slug}-{name}"
        call_command(
            "export_release", slug, "0.1.0", format=name, folder=True, output=path, verbosity=0
        )
    call_command("export_release", slug, "0.1.0", output=here / f"{slug}-0.1.0.zip")
    (here / "expected.json").write_text(json.dumps(expected), "utf-8")


def write_images(folder: Path, data: Path, slug: str, most: int) -> None:
    """Write the Hub export of a benchmark whose documents and queries have `most` images or one."""
    from django.core.management import call_command
    from PIL import Image

    packed = data / f"{slug}.zip"
    rows: dict[str, list[dict[str, Any]]] = {"corpus": [], "queries": []}
    expected: dict[str, Any] = {}
    with zipfile.ZipFile(packed, "w") as archive:
        for table, rgb in (("corpus", 0), ("queries", 90)):
            images: dict[str, list[str]] = {}
            for number in range(3):
                names = [f"{table}-{number}-{n}.png" for n in range(most if number == 0 else 1)]
                for n, name in enumerate(names):
                    out = io.BytesIO()
                    Image.new("RGB", (40, 30), (rgb, 50 * number, 100 * n)).save(out, "PNG")
                    archive.writestr(name, out.getvalue())
                    images.setdefault(f"{table[0]}{number}", []).append(
                        hashlib.sha256(out.getvalue()).hexdigest()
                    )
                rows[table].append({"id": f"{table[0]}{number}", "images": names})
            expected[table] = images
            lines = "".join(json.dumps(row) + "\n" for row in rows[table])
            archive.writestr(f"{NAMES[table]}.jsonl", lines)
        pairs = "".join(f"q{number}\tc{number}\t2\n" for number in range(3))
        archive.writestr("qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{pairs}")
    call_command("create_benchmark", slug, name=slug, owner="olga", unit="image")
    call_command("import_file", slug, packed)
    call_command("publish_release", slug, qrels=slug, release="0.1.0")
    path = folder / slug / f"{slug}-hub"
    path.parent.mkdir()
    call_command(
        "export_release", slug, "0.1.0", format="hub", folder=True, output=path, verbosity=0
    )
    (path.parent / "images.json").write_text(json.dumps(expected), "utf-8")


def import_cranfield(folder: Path) -> dict[str, Any]:
    """Import Cranfield as its owner would, publish it, and return what went in."""
    from django.core.management import call_command

    collection = convert_cranfield(DATA / "cranfield", folder)
    call_command(
        "create_benchmark", "cranfield", name="Cranfield", owner="olga", scale=CRANFIELD_SCALE
    )
    call_command(
        "import_trec",
        "cranfield",
        corpus=collection.corpus,
        queries=collection.queries,
        qrels=collection.qrels,
        name="official",
        grade_map=collection.grade_map,
    )
    call_command("publish_release", "cranfield", qrels="official", release="0.1.0")
    qrels: dict[str, dict[str, int]] = {}
    for (qid, docid), grade in collection.official.items():
        qrels.setdefault(qid, {})[docid] = grade
    return {
        "corpus": {
            d["_id"]: {"text": d["text"], "title": d["title"]} for d in jsonl(collection.corpus)
        },
        "queries": {query["_id"]: query["text"] for query in jsonl(collection.queries)},
        "qrels": {"test": qrels},
        "threshold": 1,
    }


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
        "threshold": 2,  # of the scale that a benchmark has by default
    }


def expected_demo() -> dict[str, Any]:
    from annotation.models import PoolEntry
    from benchmarks_app.models import Query
    from benchwright.datasets.demo import collect_docstrings

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
    # Of two grades next to each other the lower one counts.
    second = grouped(table(fixtures / "second_grades.tsv"), "grade")
    grades = {
        qid: {
            docid: min(grade, second.get(qid, {}).get(docid, grade)) for docid, grade in of.items()
        }
        for qid, of in grouped(rows, "grade").items()
    }
    split_of = dict(Query.objects.filter(qid__in=judged).values_list("qid", "family__split"))
    return {
        "corpus": {d.docid: {"text": d.text, "title": d.title} for d in collect_docstrings()},
        "queries": queries,
        "qrels": {
            split: {qid: of for qid, of in grades.items() if split_of[qid] == split}
            for split in sorted(set(split_of.values()))
        },
        "threshold": 2,
    }


if __name__ == "__main__":
    main()
