"""The files and names that examples of README and docs take for granted, small and made up."""

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image
from scipy import sparse

from benchmarks_app.models import Benchmark, Grade, User
from benchwright.estimation.drawing import drawn
from tests import factories

QIDS = [f"q{n}" for n in range(1, 41)]
DOCIDS = [f"d{n}" for n in range(1, 21)]
WORDS = ("bread", "yeast", "flour", "salt", "steam", "dough", "crust", "oven")


def _grade(query: int, document: int) -> int:
    """A grade from 0 to 2; one document of each query has 2."""
    return 2 if query % 20 == document else int((query * 7 + document * 3) % 5 == 0)


def qrels(name: str = "", every: int = 2) -> str:
    """Every second document judged, or all; a machine errs in every seventh pair."""
    rows = (
        (qid, docid, (_grade(q, d) + (name == "machine" and (q + d) % 7 == 0)) % 3)
        for q, qid in enumerate(QIDS)
        for d, docid in enumerate(DOCIDS)
        if (q + d) % every == 0
    )
    return "".join(f"{qid} 0 {docid} {grade}\n" for qid, docid, grade in rows)


def run(name: str, step: int, *, is_best: bool = True) -> str:
    """All documents of each query; with step 0 in the best order, or in the worst."""
    lines = []
    for q, qid in enumerate(QIDS):
        sign = -3 if is_best and (q * step) % 5 < 3 else 1
        wanted = {d: _grade(q, d) * sign for d in range(20)}
        order = sorted(range(20), key=lambda d, q=q, w=wanted: (w[d] + (d * step + q) % 4, d))
        lines += [
            f"{qid} Q0 {DOCIDS[d]} {rank} {20.5 - rank} {name}\n"
            for rank, d in enumerate(order, start=1)
        ]
    return "".join(lines)


RUNS = (
    "bm25",
    "dense",
    "hybrid",
    "splade",
    "current",
    "candidate",
    "other",
    "older",
    "a",
    "b",
    "c",
)


def _texts() -> dict[str, str]:
    """Files of lines."""
    kinds = dict.fromkeys(("judged.qrels", "people.qrels"), qrels())
    files = {
        **kinds,
        "machine.qrels": qrels("machine"),
        "qrels.txt": qrels(every=1),
        "qrels/test.tsv": _beir_qrels(),
    }
    files |= {f"{name}.run": run(name, step) for step, name in enumerate(RUNS, start=1)}
    # A candidate that is better in every query.
    files |= {"current.run": run("current", 0, is_best=False), "candidate.run": run("candidate", 0)}
    files |= {"exact.run": run("exact", 1), "hnsw.run": run("hnsw", 1)}
    files["weights.tsv"] = "query-id\tweight\n" + "".join(
        f"{qid}\t{n % 3 + 1}\n" for n, qid in enumerate(QIDS)
    )
    documents = [
        {"_id": docid, "title": WORDS[n % 8], "text": f"{WORDS[n % 8]} {WORDS[n // 3]} useful"}
        for n, docid in enumerate(DOCIDS)
    ]
    queries = [{"_id": qid, "text": f"{WORDS[n % 8]} {n}"} for n, qid in enumerate(QIDS)]
    files["corpus.jsonl"] = "".join(json.dumps(document) + "\n" for document in documents)
    files["queries.jsonl"] = "".join(json.dumps(query) + "\n" for query in queries)
    files["corpus.tsv"] = "".join(
        f"{document['_id']}\t{document['text']}\n" for document in documents
    )
    files["topics.tsv"] = "".join(f"{query['_id']}\t{query['text']}\n" for query in queries)
    files["slices.tsv"] = "query-id\tslice\n" + "".join(
        f"{qid}\t{'head' if n < 20 else 'tail'}\n" for n, qid in enumerate(QIDS)
    )
    files["families.tsv"] = "query-id\tfamily\n" + "".join(f"{qid}\t{qid}\n" for qid in QIDS)
    files["teams.tsv"] = "".join(f"{name}.run\t{name}\n" for name in "abc")
    files["docs.qrels"] = qrels()
    files["passages.run"] = run("passages", 3).replace(" d", " d#").replace("d#", "d")
    files["parents.tsv"] = "".join(f"{docid}\t{docid}\n" for docid in DOCIDS)
    files["gate.json"] = json.dumps({"measure": "nDCG@10", "labels": "pooled"})
    files["unjudged.tsv"] = "".join(
        f"{qid}\t{DOCIDS[(n + 1) % 20]}\n" for n, qid in enumerate(QIDS)
    )
    case = {"expected_output": "Ada.", "retrieval_context": ["Ada, useful.", "Bread is baked."]}
    files["cases.jsonl"] = "".join(
        json.dumps({"id": f"c{n}", "input": f"Who wrote {n}?", **case}) + "\n" for n in range(3)
    )
    pair = {"query": "how to bake", "document": "useful: knead the dough"}
    files["pairs.jsonl"] = "".join(
        json.dumps({"query_id": f"q{n}", "document_id": f"d{n}", **pair}) + "\n" for n in range(3)
    )
    files["guideline.md"] = "Recipes count, shops do not.\n"
    files["scale.txt"] = "0 = No\n1 = Partly *\n2 = Yes *\n"
    files |= _logs()
    return files


def _beir_qrels() -> str:
    rows = (line.split() for line in qrels().splitlines())
    return "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t{g}\n" for q, _, d, g in rows)


def _logs() -> dict[str, str]:
    """What was shown and clicked, and what was asked."""
    shown, events = [], []
    for n in range(120):
        asked = {
            "query_id": f"s{n}",
            "user_query": WORDS[n % 3],
            "query_response_hit_ids": DOCIDS[:5],
        }
        shown.append(json.dumps({**asked, "timestamp": "2026-01-01T00:00:00Z"}))
        click = {"query_id": f"s{n}", "action_name": "click", "timestamp": "2026-01-01T00:00:01Z"}
        hit = {"object": {"object_id": DOCIDS[n % 5], "object_id_field": "id"}}
        events.append(json.dumps({**click, "event_attributes": hit}))
    return {
        "ubi_queries.ndjson": "\n".join(shown) + "\n",
        "ubi_events.ndjson": "\n".join(events) + "\n",
        "ubi_queries.csv": "query_id,user_query,shown\n"
        + "".join(f"s{n},{WORDS[n % 3]},{' '.join(DOCIDS[:5])}\n" for n in range(120)),
        "ubi_events.csv": "query_id,action_name,object_id\n"
        + "".join(f"s{n},click,{DOCIDS[n % 5]}\n" for n in range(120)),
        "train.tsv": "".join(f"{n}\t{WORDS[n % 8]} and {WORDS[n % 5]}\n" for n in range(50)),
    }


def write_files(folder: Path) -> None:
    """All of them, into a folder."""
    for name, text in _texts().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    rng = np.random.default_rng(7)
    queries, documents = (rng.normal(size=(40, 8)).astype(np.float32) for _ in range(2))
    docids = [f"d{n}" for n in range(1, 41)]
    np.savez(folder / "queries.npz", ids=np.array(QIDS), embeddings=queries)
    np.savez(folder / "documents.npz", ids=np.array(docids), embeddings=documents)
    np.save(folder / "queries.npy", queries)
    np.save(folder / "documents.npy", documents)
    (folder / "ids.txt").write_text("".join(f"{qid}\n" for qid in QIDS))
    (folder / "documents.txt").write_text("".join(f"{docid}\n" for docid in docids))
    for name, matrix in (("view1", queries), ("view2", documents)):
        frame = pl.DataFrame({"id": QIDS, "embedding": matrix.astype(np.float64).tolist()})
        frame.write_parquet(folder / f"{name}.parquet")
    pages = [
        {"query": WORDS[n % 3], "shown": DOCIDS[:5], "clicked": DOCIDS[n % 5 : n % 5 + 1]}
        for n in range(300)
    ]
    pl.DataFrame(pages).write_parquet(folder / "pages.parquet")
    searches = "query,count\n" + "".join(f"{WORDS[n % 8]} number {n},{n}\n" for n in range(1, 601))
    (folder / "searches.csv.gz").write_bytes(gzip.compress(searches.encode()))
    (folder / "pictures").mkdir()
    (folder / "sparse").mkdir()
    for name, ids in (("queries", QIDS), ("documents", docids)):
        matrix = sparse.csr_matrix(np.eye(40, dtype=np.float32))
        sparse.save_npz(folder / "sparse" / f"{name}.npz", matrix)
        (folder / "sparse" / f"{name}.ids").write_text("".join(f"{docid}\n" for docid in ids))


def names(page: str) -> dict[str, object]:
    """What the Python of a page takes for granted."""
    return NAMES.get(page, dict)()


def _of_contextual() -> dict[str, object]:
    from benchwright.contextual import Case

    Image.new("RGB", (8, 8)).save("tower.jpg")
    texts = {"expected_output": "Ada.", "retrieval_context": ["Ada, useful.", "Bread is baked."]}
    return {"cases": [Case(input="Who wrote it?", **texts)]}


def _of_contrastive() -> dict[str, object]:
    z1, z2 = np.load("queries.npy"), np.load("documents.npy")
    return {"z1": z1, "z2": z2, "ids": QIDS, "long_ids": QIDS[:20]}


def _of_families() -> dict[str, object]:
    class Model:
        def encode(self, texts: list[str]) -> np.ndarray:
            return np.ones((len(texts), 4), dtype=np.float32)

    return {"np": np, "ids": QIDS, "texts": QIDS, "model": Model()}


def _of_machine_judges() -> dict[str, object]:
    """A hundred queries of ten documents each, all judged."""
    qids = [f"q{n}" for n in range(100)]
    people = {qid: {f"d{d}": (n + d) % 4 for d in range(10)} for n, qid in enumerate(qids)}
    before = {
        qid: {d: (g + (len(d + qid) % 2)) % 4 for d, g in row.items()}
        for qid, row in people.items()
    }
    values = {qid: (n % 10) / 10 for n, qid in enumerate(qids)}
    queries = [qid for qid in qids for _ in range(10)]
    scores = {qid: {d: float(g) for d, g in row.items()} for qid, row in people.items()}
    return {
        "people": people,
        "before": before,
        "after": people,
        "families": {qid: qid for qid in qids},
        "machine_values": values,
        "people_values": values,
        "queries": queries,
        "documents": [f"d{d}" for _ in qids for d in range(10)],
        "ranks": np.tile(np.arange(1, 11), 100),
        "of_query": np.repeat(np.arange(100), 10),
        "machine_grades": np.tile(np.arange(10) % 2, 100),
        "grades": people,
        "labels": np.tile(np.arange(10) % 2, 100).astype(float),
        "query_families": qids,
        "draw": drawn(values, 50, seed=7),
        "pool": {qid: list(row) for qid, row in people.items()},
        "bm25": scores,
        "tfidf": scores,
        "run": {qid: list(row) for qid, row in people.items()},
    }


def _of_retrieval() -> dict[str, object]:
    corpus = {docid: f"{WORDS[n % 8]} Fluss" for n, docid in enumerate(DOCIDS)}
    judged = {"q1": {"d1": 1, "d2": 0}}

    class Model:
        def encode_documents(self, texts: list[str]) -> list[dict[int, float]]:
            return [{len(text): 1.0} for text in texts]

        encode_queries = encode_documents

    other = {"q1": [("d2", 1.0), ("d1", 0.5)]}
    return {
        "documents": list(corpus.items()),
        "corpus": corpus,
        "queries": {"q1": "bread Fluss"},
        "qrels": judged,
        "other": other,
        "model": Model(),
    }


NAMES = {
    "docs/contextual.md": _of_contextual,
    "docs/contrastive.md": _of_contrastive,
    "docs/families.md": _of_families,
    "docs/machine-judges.md": _of_machine_judges,
    "docs/retrieval.md": _of_retrieval,
}


def furnish(page: str) -> User:
    """Who owns the benchmarks that a page's commands name, which are made, with files of theirs."""
    owner = factories.user("olga")
    for slug in BENCHMARKS.get(page, ()):
        factories.member(factories.texts_benchmark(slug), owner.username, "owner")
    if page == "docs/slices.md":
        factories.query(Benchmark.objects.get(), "q1")
        lines = ["query-id\tslice", "q1\thead", "d-qX\thead", "alone"]
        Path("slices.tsv").write_text("\n".join(lines) + "\n")
    if page in ("docs/importing.md", "docs/commands.md"):
        papers = {"doi": ["10.1/a", "10.1/b"], "abstract": ["Of ice.", "Of fire."]}
        pl.DataFrame({**papers, "year": [1990, 2020]}).write_parquet("papers.parquet")
    if page == "docs/importing.md":
        for qid in ("q1", "q2"):
            factories.query(Benchmark.objects.get(slug="clicks"), qid)
        cranfield = Benchmark.objects.get(slug="cranfield")
        Grade.objects.create(benchmark=cranfield, value=4, name="Best", is_relevant=True)
        _write_foreign_files()
    return owner


BENCHMARKS = {
    "docs/commands.md": ("papers",),
    "docs/importing.md": ("cranfield", "clicks", "covid", "papers"),
    "docs/slices.md": ("stdlib",),
}


def _write_foreign_files() -> None:
    """A few lines each, as Cranfield, a shop and TREC write them."""
    Path("cran.all.1400").write_text(
        "".join(
            f".I {n}\n.T\nwing {n}\n.A\nsomebody\n.B\n1950\n.W\nflow {n} .\n" for n in (1, 2, 3)
        )
    )
    Path("cran.qry").write_text("".join(f".I {n}\n.W\nwhat of flow {n}\n" for n in (1, 2)))
    Path("cranqrel").write_text("1 1 1\n1 2 -1\n2 3 4\n2 1 2\n2 2 3\n")
    Path("runs").mkdir()
    Path("runs/bm25.run.gz").write_bytes(gzip.compress(b"1 Q0 1 1 2.0 bm25\n2 Q0 3 1 1.0 bm25\n"))
    Path("positives.csv").write_text("qid,docid\nq1,d1\nq2,d2\n")
    Path("qrels.txt").write_text("1 0 d1 1\n1 0 d2 0\n")
    Path("topics.xml").write_text(
        "<topics><topic number='1'><query>masks</query><question>do masks help</question>"
        "<narrative>Studies.</narrative></topic></topics>"
    )
