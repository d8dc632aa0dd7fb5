"""Small collections in the layouts that the field has, made by the tests."""

import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import polars as pl

HEADER = b"query-id\tcorpus-id\tscore\n"
BEIR = {
    "corpus.jsonl": b'{"_id": "d1", "title": "Bread", "text": "rises"}\n'
    b'{"_id": "d2", "title": "", "text": "soup"}\n{"_id": "d3", "title": "", "text": "tea"}\n',
    "queries.jsonl": b'{"_id": "q1", "text": "why?"}\n{"_id": "q2", "text": "how?"}\n'
    b'{"_id": "q3", "text": "who?"}\n',
    "qrels/test.tsv": HEADER + b"q1\td1\t2\nq1\td2\t0\nq2\td2\t1\n",
    "qrels/dev.tsv": HEADER + b"q3\td3\t1\n",
}
MIRACL = {
    "topics/topics.miracl-v1.0-sw-dev.tsv": b"6\tBandari iko wapi?\n8\tNani?\n",
    "topics/topics.miracl-v1.0-sw-train.tsv": b"1\tLini?\n",
    "topics/topics.miracl-v1.0-sw-test-a.tsv": b"9\tNini?\n",
    "qrels/qrels.miracl-v1.0-sw-dev.tsv": b"6\tQ0\t7#0\t1\n6\tQ0\t7#2\t0\n8\tQ0\t9#0\t1\n",
    "qrels/qrels.miracl-v1.0-sw-train.tsv": b"1\tQ0\t7#2\t1\n",
}
MIRACL_CORPUS = "\n".join(
    json.dumps({"docid": docid, "title": "Mombasa", "text": text})
    for docid, text in (("7#0", "bandari"), ("7#2", "mji"), ("9#0", "rais"), ("9#1", "nchi"))
).encode()
PASSAGES = [
    {
        "query_id": 6,
        "query": "Bandari iko wapi?",
        "positive_passages": [{"docid": "7#0", "title": "Mombasa", "text": "bandari"}],
        "negative_passages": [{"docid": "7#2", "title": "Mombasa", "text": "mji"}],
    },
    {
        "query_id": 8,
        "query": "Nani?",
        "positive_passages": [{"docid": "7#2", "title": "Mombasa", "text": "mji"}],
        "negative_passages": [],
    },
]
MMARCO = {
    "collections/german_collection.tsv": b"0\tDas Brot geht auf.\n1\tDie Suppe kocht.\n2\tTee\n",
    "collections/french_collection.tsv": b"0\tLe pain\n1\tLa soupe\n2\tLe th\xc3\xa9\n",
    "queries/dev/german_queries.dev.tsv": b"10\tWarum?\n11\tWie?\n12\tWer?\n",
    "queries/dev/french_queries.dev.tsv": b"10\tPourquoi ?\n11\tComment ?\n12\tQui ?\n",
    "queries/train/german_queries.train.tsv": b"20\tWann?\n",
    "qrels.dev.tsv": b"10\t0\t0\t1\n11\t0\t1\t1\n",
    "qrels.dev.small.tsv": b"11\t0\t1\t1\n",
    "triples.train.ids.small.tsv": b"20\t0\t7000001\n20\t1\t7000002\n",
    "top1000.dev": b"10\t0\tWarum?\tDas Brot\n",
    "runs/run.bm25_german-msmarco.txt": b"10\t0\t1\n10\t1\t2\n",
}


def folder_of(files: Mapping[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zip_of(files: Mapping[str, bytes], path: Path, top: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{top}/{name}" if top else name, content)
    return path


def miracl(tmp_path: Path) -> tuple[Path, Path]:
    """The folders of topics with qrels, and of the corpus, as MIRACL's two repositories."""
    asked = folder_of(MIRACL, tmp_path / "miracl-v1.0-sw")
    corpus = {"docs-0.jsonl.gz": gzip.compress(MIRACL_CORPUS)}
    return asked, folder_of(corpus, tmp_path / "miracl-corpus-v1.0-sw")


def parquet(**columns: list[object]) -> bytes:
    out = io.BytesIO()
    named = {name.replace("__", "-"): values for name, values in columns.items()}
    pl.DataFrame(named).write_parquet(out)
    return out.getvalue()
