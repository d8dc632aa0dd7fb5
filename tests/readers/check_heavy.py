"""Runs the readers that need PyTorch on every export, with a random encoder, and compares.

Run with the Python that has `heavy.lock` and PyTorch: `python tests/readers/check_heavy.py FOLDER`,
where `make_exports` has written FOLDER. Exits 1 where ids, texts, grades or a mean differ.
"""

import hashlib
import importlib.util
import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="benchwright-readers-")
os.environ["TQDM_DISABLE"] = "1"
os.environ["MTEB_CACHE"] = tempfile.mkdtemp(prefix="benchwright-readers-")

import datasets
import mteb
import numpy as np
import pytrec_eval
import torch
from beir.datasets.data_loader import GenericDataLoader
from beir.retrieval.evaluation import EvaluateRetrieval
from beir.retrieval.search.dense import DenseRetrievalExactSearch
from comparing import Benchmark, run
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta
from sentence_transformers import SentenceTransformer
from sentence_transformers.evaluation import InformationRetrievalEvaluator

logging.disable(logging.WARNING)
WIDTH = 32


def vectors(texts: list[str]) -> np.ndarray:
    """A random direction of each text, the same for the same text."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
    made = np.array([np.random.default_rng(seed).normal(size=WIDTH) for seed in seeds])
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def mean_ndcg(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> float:
    values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)
    return sum(value["ndcg_cut_10"] for value in values.values()) / len(qrels)


# --- mteb ----------------------------------------------------------------------------------------


class RandomEncoder(AbsEncoder):
    mteb_model_meta = ModelMeta.create_empty({"name": "test/random", "revision": "1"})

    def __init__(self) -> None:
        pass

    def encode(self, inputs: Any, **options: Any) -> np.ndarray:
        return np.vstack([vectors(batch["text"]) for batch in inputs])


def task_of(folder: Path) -> Any:
    """The task of the export's own task.py."""
    spec = importlib.util.spec_from_file_location(
        f"task_of_{folder.parent.name}", folder / "task.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classes = [value for name, value in vars(module).items() if name.endswith("Retrieval")]
    return next(case for case in classes if case.__module__ == module.__name__)()


def mteb_end_to_end(b: Benchmark) -> dict[str, bool]:
    task = task_of(b.path("mteb"))
    predictions = Path(tempfile.mkdtemp(prefix="benchwright-readers-"))
    result = mteb.evaluate(
        RandomEncoder(), task, cache=None, prediction_folder=predictions, show_progress_bar=False
    )
    main_scores = {
        split: rows[0]["main_score"] for split, rows in result.task_results[0].scores.items()
    }
    saved = json.loads(next(predictions.rglob("*predictions.json")).read_text("utf-8"))
    fields = {"splits": list(main_scores) == ["test"]}
    for split, score in main_scores.items():
        answered = saved["default"][split]
        # MTEB rounds to five decimals, and leaves results with the query's own id out.
        mean = mean_ndcg(b.qrels[split], answered)
        fields[f"{split} nDCG@10 {score:.5f} is that of trec_eval {mean:.5f}"] = (
            abs(mean - score) < 0.6e-5
        )
    return fields


def mteb_loader(b: Benchmark) -> dict[str, bool]:
    task = task_of(b.path("mteb"))
    task.load_data()
    results = {}
    for split in task.metadata.eval_splits:
        read = task.dataset["default"][split]
        corpus = {row["id"]: {"text": row["text"], "title": row["title"]} for row in read["corpus"]}
        results |= {
            f"{split} corpus": corpus == b.corpus,
            f"{split} queries": {r["id"]: r["text"] for r in read["queries"]} == b.of_split(split),
            f"{split} qrels": read["relevant_docs"] == b.qrels[split],
        }
    return results


# --- BEIR ----------------------------------------------------------------------------------------


class RandomModel:
    def encode_queries(self, queries: list[str], batch_size: int, **options: Any) -> torch.Tensor:
        return torch.from_numpy(vectors(queries))

    def encode_corpus(self, corpus: Any, batch_size: int, **options: Any) -> torch.Tensor:
        return torch.from_numpy(vectors([f"{d['title']} {d['text']}".strip() for d in corpus]))


def beir_end_to_end(b: Benchmark) -> dict[str, bool]:
    values = {}
    for split in b.splits:
        corpus, queries, qrels = GenericDataLoader(str(b.path("beir"))).load(split=split)
        search = DenseRetrievalExactSearch(RandomModel(), batch_size=256)
        retriever = EvaluateRetrieval(search, score_function="dot", k_values=[10])
        results = retriever.retrieve(corpus, queries)
        ndcg, *_ = retriever.evaluate(qrels, results, [10])
        kept = {q: {d: s for d, s in of.items() if d != q} for q, of in results.items()}
        mean = mean_ndcg(b.qrels[split], kept)
        values[f"{split} nDCG@10"] = abs(ndcg["NDCG@10"] - mean) < 0.6e-5
    return values


# --- sentence-transformers -----------------------------------------------------------------------


class RandomModule(torch.nn.Module):
    """The text itself is what is looked up: a module that tokenizes nothing."""

    def tokenize(self, texts: list[str], **options: Any) -> dict[str, torch.Tensor]:
        return {"vectors": torch.from_numpy(vectors(list(texts)))}

    preprocess = tokenize

    def forward(self, features: dict[str, torch.Tensor], **options: Any) -> dict[str, torch.Tensor]:
        return {**features, "sentence_embedding": features["vectors"]}

    def get_sentence_embedding_dimension(self) -> int:
        return WIDTH

    get_embedding_dimension = get_sentence_embedding_dimension


def sentence_transformers(b: Benchmark) -> dict[str, bool]:
    model = SentenceTransformer(modules=[RandomModule()], device="cpu")
    results = {}
    for split in b.splits:
        repo = str(b.path("sentence-transformers"))
        tables = {
            name: datasets.load_dataset(repo, name, split=split)
            for name in ("corpus", "queries", "qrels")
        }
        relevant: dict[str, set[str]] = {}
        for row in tables["qrels"]:
            relevant.setdefault(row["query-id"], set()).add(row["corpus-id"])
        evaluator = InformationRetrievalEvaluator(
            queries={row["_id"]: row["text"] for row in tables["queries"]},
            corpus={row["_id"]: row["text"] for row in tables["corpus"]},
            relevant_docs=relevant,
            write_csv=False,
        )
        values = evaluator(model)
        results[f"{split} relevant"] = relevant == b.positives(split)
        results[f"{split} evaluated"] = 0 <= values[evaluator.primary_metric] <= 1
    return results


CHECKS = {
    "mteb, loading": ("mteb", mteb_loader),
    "mteb, a retrieval task end to end": ("mteb", mteb_end_to_end),
    "BEIR, exact search end to end": ("beir", beir_end_to_end),
    "sentence-transformers, its evaluator": ("sentence-transformers", sentence_transformers),
}

if __name__ == "__main__":
    sys.exit(run(CHECKS, Path(sys.argv[1])))
