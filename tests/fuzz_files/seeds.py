"""Small honest files, one or more of each kind, with the door that takes them."""

import gzip
import io
import json
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

N_QUERIES, N_DOCUMENTS = 6, 12
QUERIES = {f"q{n}": f"how does the engine number {n} work" for n in range(1, N_QUERIES + 1)}
DOCUMENTS = {
    f"d{n}": f"The engine of kind {n} turns a wheel. Ünïcode too."
    for n in range(1, N_DOCUMENTS + 1)
}
GRADES = [
    (qid, f"d{n + shift}", 1 + shift % 2) for n, qid in enumerate(QUERIES, 1) for shift in range(4)
]


@dataclass(frozen=True)
class Seed:
    """A file as it should be; `door` is where it is sent (`doors.DOORS`)."""

    kind: str
    purpose: str
    door: str
    name: str
    content: bytes


@cache
def seeds() -> dict[str, tuple[Seed, ...]]:
    """The honest files of each kind."""
    result: dict[str, list[Seed]] = defaultdict(list)
    for kind, purpose, door, name, content in _all():
        result[kind].append(Seed(kind, purpose, door, name, content))
    return {kind: tuple(of) for kind, of in result.items()}


def _all() -> Iterable[tuple[str, str, str, str, bytes]]:
    yield from _columnar()
    yield from _matrices()
    yield from _archives()
    yield from _compressed()
    yield from _json()
    yield from _tables()
    yield from _trec()
    yield from _images()


# --- columns ---------------------------------------------------------------------------------


def _frame(columns: Mapping[str, Any]) -> Any:
    import polars as pl

    return pl.DataFrame(dict(columns))


def parquet(columns: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    _frame(columns).write_parquet(out)
    return out.getvalue()


def columns_of_documents() -> dict[str, list[str]]:
    return {
        "docid": list(DOCUMENTS),
        "title": ["engine"] * N_DOCUMENTS,
        "text": [*DOCUMENTS.values()],
    }


def _columns_of_run() -> dict[str, list[Any]]:
    rows = list(run_rows())
    return dict(zip(("qid", "docid", "score"), map(list, zip(*rows, strict=True)), strict=True))


def _columns_of_grades() -> dict[str, list[Any]]:
    return dict(zip(("qid", "docid", "grade"), map(list, zip(*GRADES, strict=True)), strict=True))


def _columns_of_vectors(ids: Iterable[str]) -> dict[str, list[Any]]:
    names = list(ids)
    return {"id": names, "vector": [[float(n), 1.0, 0.5, -float(n)] for n in range(len(names))]}


def _columnar() -> Iterable[tuple[str, str, str, str, bytes]]:
    yield "parquet", "corpus", "import", "corpus.parquet", parquet(columns_of_documents())
    queries = {"qid": [*QUERIES], "query": [*QUERIES.values()]}
    yield "parquet", "queries", "import", "queries.parquet", parquet(queries)
    yield "parquet", "qrels", "import", "qrels.parquet", parquet(_columns_of_grades())
    yield "parquet", "run", "submit", "run.parquet", parquet(_columns_of_run())
    yield "parquet", "run", "import", "run.parquet", parquet(_columns_of_run())
    vectors = parquet(_columns_of_vectors(DOCUMENTS))
    yield "parquet", "embeddings", "embeddings", "documents.parquet", vectors
    yield "parquet", "pairs", "contrastive", "z1.parquet", vectors
    log = {"query": ["engine", "wheel"] * 5, "count": [3, 4] * 5}
    yield "parquet", "log", "logs", "log.parquet", parquet(log)
    out = io.BytesIO()
    _frame(columns_of_documents()).write_ipc(out)
    yield "arrow", "corpus", "import", "corpus.arrow", out.getvalue()
    out = io.BytesIO()
    _frame(_columns_of_run()).write_ipc_stream(out)
    yield "arrow", "run", "submit", "run.arrow", out.getvalue()
    out = io.BytesIO()
    _frame(_columns_of_vectors(DOCUMENTS)).write_ipc(out)
    yield "arrow", "embeddings", "embeddings", "documents.arrow", out.getvalue()


# --- matrices --------------------------------------------------------------------------------


def matrix(n_rows: int = N_DOCUMENTS, n_columns: int = 4) -> Any:
    import numpy as np

    return np.arange(n_rows * n_columns, dtype=np.float32).reshape(n_rows, n_columns) + 1


def npy(array: Any) -> bytes:
    import numpy as np

    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(ids: Iterable[str]) -> bytes:
    import numpy as np

    names = list(ids)
    members = {"vectors.npy": npy(matrix(len(names))), "ids.npy": npy(np.array(names))}
    return zipped(members)


def _matrices() -> Iterable[tuple[str, str, str, str, bytes]]:
    for door in ("embeddings", "contrastive", "families"):
        n_rows = N_QUERIES if door == "families" else N_DOCUMENTS
        yield "npy", "matrix", door, "matrix.npy", npy(matrix(n_rows))
    yield "npy", "matrix", "import", "matrix.npy", npy(matrix())
    for door in ("embeddings", "contrastive", "families"):
        ids = QUERIES if door == "families" else DOCUMENTS
        yield "npz", "matrix and ids", door, "matrix.npz", npz(ids)
    yield "npz", "matrix and ids", "import", "matrix.npz", npz(DOCUMENTS)


# --- archives --------------------------------------------------------------------------------


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip that is the same each time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            archive.writestr(info, content)
    return out.getvalue()


def tarred(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def zstd(content: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(write_content_size=True).compress(content)


def collection() -> dict[str, bytes]:
    """A collection in BEIR's layout."""
    return {
        "corpus.jsonl": corpus_lines(),
        "queries.jsonl": query_lines(),
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\n" + _rows(GRADES, "\t"),
    }


def image_members() -> dict[str, bytes]:
    return {f"a.{kind.lower()}": picture(kind) for kind in ("PNG", "JPEG", "GIF", "WEBP")}


def _archives() -> Iterable[tuple[str, str, str, str, bytes]]:
    yield "zip", "collection", "import", "collection.zip", zipped(collection())
    yield "zip", "images", "images", "images.zip", zipped(image_members())
    yield "tar", "collection", "import", "collection.tar", tarred(collection())
    yield "tar", "collection", "import", "collection.tar.gz", gzipped(tarred(collection()))


def _compressed() -> Iterable[tuple[str, str, str, str, bytes]]:
    for kind, pack, end in (("gz", gzipped, "gz"), ("zst", zstd, "zst")):
        yield kind, "corpus", "import", f"corpus.jsonl.{end}", pack(corpus_lines())
        yield kind, "qrels", "import", f"qrels.txt.{end}", pack(qrels_lines())
        yield kind, "run", "submit", f"run.txt.{end}", pack(run_lines())
        yield kind, "cases", "cases", f"cases.jsonl.{end}", pack(case_lines())
        yield kind, "log", "logs", f"log.csv.{end}", pack(log_lines())


# --- texts -----------------------------------------------------------------------------------


def json_lines(rows: Iterable[Any]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def corpus_lines() -> bytes:
    return json_lines(
        {"_id": docid, "title": "engine", "text": text, "metadata": {"year": 1999}}
        for docid, text in DOCUMENTS.items()
    )


def query_lines() -> bytes:
    return json_lines({"_id": qid, "text": text} for qid, text in QUERIES.items())


def case_lines(image: str = "a.png") -> bytes:
    return json_lines(
        {
            "id": f"c{n}",
            "input": f"what is engine {n}",
            "expected_output": "an engine",
            "retrieval_context": ["This is useful.", {"image": image}, "Something else."],
        }
        for n in range(3)
    )


def log_lines() -> bytes:
    rows = [f"engine {n},{n + 1},2026-01-{n + 1:02}" for n in range(12)]
    return "\n".join(["query,count,date", *rows, ""]).encode()


def run_rows() -> Iterable[tuple[str, str, float]]:
    for qid in QUERIES:
        for n, docid in enumerate(DOCUMENTS):
            yield qid, docid, float(N_DOCUMENTS - n)


def run_lines() -> bytes:
    rows = ((q, "Q0", d, N_DOCUMENTS + 1 - int(s), s, "made") for q, d, s in run_rows())
    return _rows(rows, " ")


def qrels_lines() -> bytes:
    return _rows(((qid, 0, docid, grade) for qid, docid, grade in GRADES), " ")


def _rows(rows: Iterable[Iterable[Any]], between: str) -> bytes:
    return "".join(f"{between.join(map(str, row))}\n" for row in rows).encode()


def _json() -> Iterable[tuple[str, str, str, str, bytes]]:
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for qid, docid, score in run_rows():
        scores[qid][docid] = score
    yield "json", "run", "submit", "run.json", json.dumps(scores).encode()
    yield "json", "run", "import", "run.json", json.dumps(scores).encode()
    result = {
        "task_name": "SciFact",
        "dataset_revision": "abc",
        "mteb_version": "1.38.0",
        "scores": {"test": [{"ndcg_at_10": 0.7, "main_score": 0.7, "hf_subset": "default"}]},
        "evaluation_time": 3.5,
    }
    yield "json", "reported", "reported", "SciFact.json", json.dumps(result).encode()
    about = json.dumps({"method": {"name": "made"}, "resources": {"hardware": "none"}})
    yield "json", "metadata of a run", "metadata", "ir_metadata.yml", about.encode()
    ids = json.dumps(list(DOCUMENTS)).encode()
    yield "json", "ids", "ids", "ids.json", ids
    yield "jsonl", "corpus", "import", "corpus.jsonl", corpus_lines()
    yield "jsonl", "queries", "import", "queries.jsonl", query_lines()
    passages = [
        {
            "query_id": qid,
            "query": text,
            "positive_passages": [{"docid": "d1#0", "title": "", "text": "an engine"}],
            "negative_passages": [{"docid": "d2#1", "title": "", "text": "a wheel"}],
        }
        for qid, text in QUERIES.items()
    ]
    yield "jsonl", "passages", "import", "dev.jsonl", json_lines(passages)
    yield "jsonl", "cases", "cases", "cases.jsonl", case_lines()
    log = json_lines({"query": f"engine {n}", "count": n + 1} for n in range(9))
    yield "jsonl", "log", "logs", "log.jsonl", log
    rows = ({"qid": q, "docid": d, "score": s} for q, d, s in run_rows())
    yield "jsonl", "run", "submit", "run.jsonl", json_lines(rows)


def _tables() -> Iterable[tuple[str, str, str, str, bytes]]:
    documents = [
        ("docid", "title", "text"),
        *((d, "engine", f'"{t}"') for d, t in DOCUMENTS.items()),
    ]
    yield "csv", "documents", "import", "documents.csv", _rows(documents, ",")
    queries = [("qid", "query", "frequency"), *((q, t, 3) for q, t in QUERIES.items())]
    yield "csv", "queries", "import", "queries.csv", _rows(queries, ";")
    yield "csv", "qrels", "import", "qrels.csv", _rows([("qid", "docid", "grade"), *GRADES], ",")
    pairs = [(q, d) for q, d, _ in GRADES]
    yield (
        "csv",
        "pairs without grades",
        "import",
        "pairs.csv",
        _rows([("qid", "docid"), *pairs], ","),
    )
    beir = _rows([("query-id", "corpus-id", "score"), *GRADES], "\t")
    yield "csv", "BEIR qrels", "import", "test.tsv", beir
    for name in ("family", "slice", "weight"):
        cells = [("query-id", name), *((q, n + 1) for n, q in enumerate(QUERIES))]
        yield "csv", name, "import", f"{name}.tsv", _rows(cells, "\t")
    slices = _rows([("query-id", "slice"), *((q, "head") for q in QUERIES)], "\t")
    yield "csv", "slices", "slices", "slices.tsv", slices
    splits = _rows(((q, "test") for q in QUERIES), "\t")
    yield "csv", "splits", "splits", "splits.tsv", splits
    yield "csv", "run", "submit", "run.csv", _rows([("qid", "docid", "score"), *run_rows()], ",")
    yield "csv", "log", "logs", "log.csv", log_lines()
    yield "csv", "labels", "labels", "labels.csv", _rows([("qid", "docid", "grade"), *GRADES], ",")
    yield (
        "csv",
        "outside list",
        "contamination",
        "list.txt",
        _rows(((t,) for t in QUERIES.values()), ""),
    )


def _trec() -> Iterable[tuple[str, str, str, str, bytes]]:
    yield "trec", "run", "submit", "bm25.run", run_lines()
    yield "trec", "run", "import", "bm25.run", run_lines()
    yield "trec", "qrels", "import", "qrels.txt", qrels_lines()
    yield "trec", "labels", "labels", "labels.qrels", qrels_lines()
    ranks = ((q, d, N_DOCUMENTS + 1 - int(s)) for q, d, s in run_rows())
    yield "trec", "MS MARCO run", "submit", "marco.tsv", _rows(ranks, "\t")
    documents = "".join(
        f"<DOC>\n<DOCNO> {d} </DOCNO>\n<TEXT>\n{t}\n</TEXT>\n</DOC>\n" for d, t in DOCUMENTS.items()
    )
    yield "trec", "documents", "import", "docs.trec", documents.encode()
    smart = "".join(f".I {n}\n.T\nengine\n.W\n{t}\n" for n, t in enumerate(DOCUMENTS.values(), 1))
    yield "smart", "documents", "import", "cran.all", smart.encode()
    smart = "".join(f".I {n}\n.W\n{t}\n" for n, t in enumerate(QUERIES.values(), 1))
    yield "smart", "queries", "import", "cran.qry", smart.encode()
    topics = "".join(
        f'<topic number="{n}"><query>{t}</query><narrative>n</narrative></topic>\n'
        for n, t in enumerate(QUERIES.values(), 1)
    )
    whole = f'<?xml version="1.0" encoding="UTF-8"?>\n<topics>\n{topics}</topics>\n'
    yield "xml", "topics", "import", "topics.xml", whole.encode()
    old = "".join(
        f"<top>\n<num> Number: {n}\n<title> {t}\n<desc> Description:\nx\n<narr> y\n</top>\n"
        for n, t in enumerate(QUERIES.values(), 1)
    )
    yield "xml", "old topics", "import", "topics.txt", old.encode()


# --- images ----------------------------------------------------------------------------------

SVG = (
    b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="8" height="6">'
    b'<rect width="8" height="6" fill="red"/></svg>\n'
)


def picture(kind: str) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    shades = Image.linear_gradient("L").resize((16, 12)).convert("RGB")
    more: dict[str, Any] = {}
    if kind in ("JPEG", "PNG"):
        exif = Image.Exif()
        exif[0x0112], exif[0x010F] = 6, "camera"
        more = {"exif": exif}
    if kind == "GIF":
        more = {"save_all": True, "append_images": [shades.rotate(90), shades.rotate(180)]}
    shades.save(out, kind, **more)
    return out.getvalue()


def _images() -> Iterable[tuple[str, str, str, str, bytes]]:
    for kind, name in (("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif")):
        yield kind.lower(), "image of a case", "images", f"a.{name}", picture(kind)
        yield kind.lower(), "image put down", "import", f"a.{name}", picture(kind)
    yield "svg", "image of a case", "images", "a.svg", SVG
    yield "svg", "image put down", "import", "a.svg", SVG
