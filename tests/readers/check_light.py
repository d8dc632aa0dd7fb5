"""Reads every export with the field's readers that need no PyTorch, and compares.

Run with the Python that has `light.lock`: `python tests/readers/check_light.py FOLDER`, where
`make_exports` has written FOLDER. Exits 1 where ids, texts or grades differ.
"""

import hashlib
import logging
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ["TQDM_DISABLE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="benchwright-readers-")
os.environ["IR_DATASETS_HOME"] = tempfile.mkdtemp(prefix="benchwright-readers-")

import datasets
import ir_datasets
import mlcroissant
import pytrec_eval
from beir.datasets.data_loader import GenericDataLoader
from beir.datasets.data_loader_hf import HFDataLoader
from comparing import Benchmark, one_line, run
from ir_datasets.formats import TrecQueries
from ir_datasets.util import LocalDownload

datasets.disable_progress_bars()
logging.disable(logging.WARNING)


def generic(b: Benchmark) -> dict[str, bool]:
    """The folder, and the folder that the zip unpacks into."""
    stem = f"{b.name}-0.1.0"
    zipfile.ZipFile(b.folder / f"{stem}.zip").extractall(b.folder)
    results = {}
    for what, folder in (("folder", b.path("beir")), ("zip", b.folder / stem)):
        for split in b.splits:
            corpus, queries, qrels = GenericDataLoader(str(folder)).load(split=split)
            results |= {
                f"{what} {split} corpus": corpus == b.corpus,
                f"{what} {split} queries": queries == b.of_split(split),
                f"{what} {split} qrels": qrels == b.qrels[split],
            }
    return results


def through_datasets(b: Benchmark, **where: str) -> dict[str, bool]:
    results = {}
    for split in b.splits:
        corpus, queries, qrels = HFDataLoader(**where).load(split=split)
        texts = {row["id"]: {"text": row["text"], "title": row["title"]} for row in corpus}
        results |= {
            f"{split} corpus": texts == b.corpus,
            f"{split} queries": {r["id"]: r["text"] for r in queries} == b.of_split(split),
            f"{split} qrels": {qid: dict(of) for qid, of in qrels.items()} == b.qrels[split],
        }
    return results


def hf_folder(b: Benchmark) -> dict[str, bool]:
    return through_datasets(b, data_folder=str(b.path("beir")))


def hf_repo(b: Benchmark) -> dict[str, bool]:
    repo = str(b.path("hub"))
    return through_datasets(b, hf_repo=repo, hf_repo_qrels=repo)


def grouped(rows: Any) -> dict[str, dict[str, int]]:
    results: dict[str, dict[str, int]] = {}
    for row in rows:
        results.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    return results


def load_dataset(b: Benchmark) -> dict[str, bool]:
    repo = str(b.path("hub"))
    corpus = datasets.load_dataset(repo, "corpus", split="corpus")
    queries = datasets.load_dataset(repo, "queries", split="queries")
    by_default, by_name = datasets.load_dataset(repo), datasets.load_dataset(repo, "qrels")
    kinds = {name: str(f.dtype) for name, f in by_default[b.splits[0]].features.items()}
    fields = {
        "corpus": {r["_id"]: {"text": r["text"], "title": r["title"]} for r in corpus} == b.corpus,
        "queries": {row["_id"]: row["text"] for row in queries} == b.queries,
        "splits": sorted(by_default) == b.splits,
        "types": kinds == {"query-id": "string", "corpus-id": "string", "score": "int32"},
    }
    for split in b.splits:
        fields[f"{split} qrels"] = grouped(by_default[split]) == b.qrels[split]
        fields[f"{split} qrels by name"] = grouped(by_name[split]) == b.qrels[split]
    return fields


def images(b: Benchmark) -> dict[str, bool]:
    """Columns of one image a row, and of several: kinds, and bytes as they went in."""
    results = {}
    for table, expected in b.expected.items():
        rows = datasets.load_dataset(str(b.path("hub")), table, split=table)
        column = "image" if "image" in rows.features else "images"
        image = datasets.Image()
        kind = image if column == "image" else datasets.List(image)
        as_bytes = datasets.Image(decode=False)
        raw = rows.cast_column(column, as_bytes if kind == image else datasets.List(as_bytes))
        read = {
            row["_id"]: [
                hashlib.sha256(image["bytes"]).hexdigest()
                for image in (row[column] if column == "images" else [row[column]])
                if image
            ]
            for row in raw
        }
        results |= {
            f"{table} kind": rows.features[column] == kind,
            f"{table} bytes": read == expected,
        }
    return results


def positives(b: Benchmark) -> dict[str, bool]:
    """The flavour of sentence-transformers, as its evaluators ask for it: one split name."""
    repo = str(b.path("sentence-transformers"))
    results = {}
    for split in b.splits:
        wanted = b.positives(split)
        tables = {
            name: datasets.load_dataset(repo, name, split=split)
            for name in ("corpus", "queries", "qrels")
        }
        pairs: dict[str, set[str]] = {}
        for row in tables["qrels"]:
            pairs.setdefault(row["query-id"], set()).add(row["corpus-id"])
        texts = {docid: text for docid, text in b.joined().items() if text.strip()}
        results |= {
            f"{split} corpus": {r["_id"]: r["text"] for r in tables["corpus"]} == texts,
            f"{split} queries": {r["_id"]: r["text"] for r in tables["queries"]} == b.queries,
            f"{split} qrels": pairs == wanted,
        }
    return results


def ir(b: Benchmark) -> dict[str, bool]:
    folder = b.path("ir-datasets")
    dataset = ir_datasets.create_dataset(
        docs_tsv=str(folder / "docs.tsv"),
        queries_tsv=str(folder / "queries.tsv"),
        qrels_trec=str(folder / "qrels.trec"),
    )
    documents = {doc.doc_id: doc.text for doc in dataset.docs_iter()}
    wanted = {docid: one_line(text) for docid, text in b.joined().items()}
    queries = {query.query_id: query.text for query in dataset.queries_iter()}
    qrels: dict[str, dict[str, int]] = {}
    for row in dataset.qrels_iter():
        qrels.setdefault(row.query_id, {})[row.doc_id] = row.relevance
    return {
        "documents": documents == wanted,
        "queries": queries == {qid: one_line(text) for qid, text in b.queries.items()},
        "qrels": qrels == {qid: of for split in b.splits for qid, of in b.qrels[split].items()},
    }


def topics(b: Benchmark) -> dict[str, bool]:
    """topics.txt, by the parser of TREC topics in ir_datasets."""
    read = TrecQueries(LocalDownload(str(b.path("trec") / "topics.txt"))).queries_iter()
    titles = {query.query_id: query.title for query in read}
    return {"titles": titles == {qid: one_line(text).strip() for qid, text in b.queries.items()}}


def trec(b: Benchmark) -> dict[str, bool]:
    results = {}
    for split in b.splits:
        with (b.path("trec") / "qrels" / f"{split}.trec").open(encoding="utf-8") as lines:
            qrels = pytrec_eval.parse_qrel(lines)
        best = {q: {d: float(g) for d, g in of.items()} for q, of in qrels.items()}
        values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg"}).evaluate(best)
        ideal = {q: float(any(of.values())) for q, of in b.qrels[split].items()}
        results[f"{split} qrels"] = qrels == b.qrels[split]
        results[f"{split} ndcg"] = {q: round(v["ndcg"], 12) for q, v in values.items()} == ideal
    return results


def said(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def croissant(b: Benchmark) -> dict[str, bool]:
    dataset = mlcroissant.Dataset(str(b.path("croissant") / "croissant.json"))
    fields = {"no errors": not dataset.metadata.ctx.issues.errors}

    def rows(name: str) -> list[dict[str, Any]]:
        return [
            {key.rpartition("/")[2]: said(value) for key, value in row.items()}
            for row in dataset.records(name)
        ]

    corpus = {row["_id"]: {"text": row["text"], "title": row["title"]} for row in rows("corpus")}
    fields["corpus"] = corpus == b.corpus
    fields["queries"] = {row["_id"]: row["text"] for row in rows("queries")} == b.queries
    for split in b.splits:
        fields[f"{split} qrels"] = grouped(rows(f"qrels/{split}")) == b.qrels[split]
    return fields


CHECKS = {
    "BEIR GenericDataLoader, folder and zip": ("beir", generic),
    "BEIR HFDataLoader, folder": ("beir", hf_folder),
    "BEIR HFDataLoader, repository": ("beir", hf_repo),
    "datasets.load_dataset, Hub layout": ("datasets", load_dataset),
    "datasets.load_dataset, positives only": ("datasets", positives),
    "ir_datasets.create_dataset": ("ir-datasets", ir),
    "ir_datasets, TREC topics": ("ir-datasets", topics),
    "pytrec_eval, TREC qrels": ("pytrec-eval-terrier", trec),
    "mlcroissant": ("mlcroissant", croissant),
}

IMAGE_CHECKS = {"datasets.load_dataset, images": ("datasets", images)}

if __name__ == "__main__":
    differs = [
        run(CHECKS, Path(sys.argv[1])),
        run(IMAGE_CHECKS, Path(sys.argv[1]), "images.json"),
    ]
    sys.exit(any(differs))
