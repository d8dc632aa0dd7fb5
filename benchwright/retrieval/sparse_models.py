"""A sparse model evaluated whole: its corpus encoded or read from a cache, searched and scored."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array

from benchwright.findings import Finding
from benchwright.retrieval import pitfalls
from benchwright.retrieval.cache import Cached, cache_folder, cached, corpus_digest
from benchwright.retrieval.evaluating import (
    EXPONENTIAL,
    K_VALUES,
    RetrievalScores,
    Slices,
    evaluate_retrieval,
)
from benchwright.retrieval.pitfalls import Grades, Retrieved
from benchwright.retrieval.searching import Progress, Result, Texts, text_pairs
from benchwright.retrieval.sparse.vectors import (
    BATCH,
    Encoder,
    VectorIndex,
    encode_in_batches,
    vector_idf,
)

KIND = "encoded-corpus"
TELL_EVERY = 100
DIGITS_OF_NAME = 16


@dataclass(frozen=True, slots=True)
class Encoded:
    """A corpus as an encoder has it: rows of the matrix in the order of `docids`."""

    docids: Sequence[str]
    matrix: csr_array

    def parts(self) -> dict[str, Any]:
        """Itself as parts of a folder."""
        return {
            "docids": list(self.docids),
            "width": self.matrix.shape[1],
            "ends": self.matrix.indptr,
            "dimensions": self.matrix.indices,
            "weights": self.matrix.data,
        }

    @classmethod
    def of_parts(cls, parts: Mapping[str, Any]) -> "Encoded":
        """What `parts` gave."""
        shape = (len(parts["docids"]), parts["width"])
        matrix_parts = (parts["weights"], parts["dimensions"], parts["ends"])
        return cls(docids=parts["docids"], matrix=csr_array(matrix_parts, shape=shape))


def evaluate_sparse_model(
    model: Encoder,
    corpus: Texts,
    queries: Texts,
    qrels: Grades,
    sparse_dim: int,
    cache_dir: Path | str | None = None,
    batch_size: int = BATCH,
    k: int = 100,
    *,
    idf: bool | None = None,
    k_values: Sequence[int] = K_VALUES,
    gain: str = EXPONENTIAL,
    slices: Slices | None = None,
    baseline: Retrieved | None = None,
    model_name: str | None = None,
    dataset_name: str | None = None,
    revision: str | None = None,
    preprocessing: str = "",
    progress: Progress | None = None,
) -> RetrievalScores:
    """The scores of a sparse encoder on a collection, and how they came about.

    Only queries with qrels are asked. The results are in `retrieved` of what comes back, and in
    `facts` the model, whether the idf was used, the kernel and whether the cache was read.

    Parameters
    ----------
    model
        `encode_documents(texts)` and `encode_queries(texts)` return a mapping of dimensions to
        weights for each text, or one sparse matrix.
    corpus
        A mapping of ids to texts (or to title and text, as BEIR's), or pairs of them as `load_beir`
        gives; those are read anew for each step, one batch in memory.
    sparse_dim
        Number of dimensions; each is below it.
    cache_dir
        Where encoded corpora are kept, each in `{cache_dir}/{model_name}/{dataset_name}/`.
    dataset_name
        Unless given it is made of the corpus's digest, so that corpora do not displace each other.
    k
        Results of each query.
    idf
        Whether a query's weights are multiplied by ln(1 + (N - df + 0.5) / (df + 0.5)). Unless
        given it is the model's own `idf`, and where it has none, yes: right for encoders whose
        weights leave it out, as BM25's do; not for SPLADE and the like.
    model_name, revision, preprocessing
        Of the model, for the cache: unless given, its own `name` (or class) and `revision`.
    gain, k_values, slices, baseline
        As for `evaluate_retrieval`.

    Raises
    ------
    EncoderError, VectorError
        If the encoder returns what no vector can be; the message names the text.
    QueriesDifferError, IdTypeError, MeasureParameterError, CutoffError
        As for `evaluate_retrieval`.
    StoreError
        If the cache's folder was not written by this program.
    """
    if not isinstance(corpus, Mapping) and iter(corpus) is corpus:
        corpus = list(corpus)  # can be read once only
    queries = dict(text_pairs(queries))
    numbered = _numbers_for_ids(corpus, queries, qrels)
    is_used = bool(getattr(model, "idf", True) if idf is None else idf)
    key = _cache_key(model, corpus, sparse_dim, model_name, revision, preprocessing)
    dataset = dataset_name or f"corpus-{key['corpus'][:DIGITS_OF_NAME]}"
    folder = cache_folder(Path(cache_dir), key["model"], dataset) if cache_dir else None
    grades = {
        str(qid): {str(docid): grade for docid, grade in of.items()} for qid, of in qrels.items()
    }
    query_texts = [(str(qid), queries[qid]) for qid in qrels if qid in queries]
    pitfalls.overlap(list(map(str, queries)), grades)
    encoded = _encoded_corpus(model, corpus, sparse_dim, batch_size, folder, key)
    weights, zeros = _encoded_queries(model, query_texts, sparse_dim, batch_size)
    matrix = encoded.content.matrix
    index = VectorIndex.of(encoded.content.docids, matrix, idf=is_used)
    results = index.search_vectors([qid for qid, _ in query_texts], weights, k=k)
    retrieved = dict(_told(results, len(query_texts), progress))
    scores = evaluate_retrieval(
        retrieved,
        grades,
        k_values,
        gain=gain,
        slices=slices,
        baseline=baseline,
        corpus=encoded.content.docids,
    )
    misfits = pitfalls.idf_fits(matrix, weights, vector_idf(matrix), is_used=is_used)
    scores.findings = (*numbered, *encoded.findings, *zeros, *misfits, *scores.findings)
    scores.retrieved = retrieved
    scores.facts = {**key, **index.facts(), "k": k, "cache_was_read": encoded.is_read}
    return scores


def _cache_key(
    model: Any,
    corpus: Texts,
    sparse_dim: int,
    model_name: str | None,
    revision: str | None,
    preprocessing: str,
) -> dict[str, Any]:
    """All that an encoded corpus depends on: where any of it differs, it is encoded again."""
    return {
        "model": model_name or str(getattr(model, "name", type(model).__name__)),
        "revision": revision or str(getattr(model, "revision", "")),
        "preprocessing": preprocessing or str(getattr(model, "preprocessing", "")),
        "sparse_dim": sparse_dim,
        "vocabulary": _vocabulary_digest(model),
        "corpus": corpus_digest((str(docid), text) for docid, text in text_pairs(corpus)),
    }


class _Watched:
    """An encoder's method that notes when it returns zeros and all."""

    def __init__(self, encode: Callable[[list[str]], Any], what: str) -> None:
        self._encode, self._what = encode, what
        self.findings: list[Finding] = []

    def __call__(self, texts: list[str]) -> Any:
        vectors = self._encode(texts)
        self.findings = self.findings or pitfalls.dense_vectors(vectors, self._what)
        return vectors


def _encoded_corpus(
    model: Encoder,
    corpus: Texts,
    sparse_dim: int,
    batch_size: int,
    folder: Path | None,
    key: Mapping[str, Any],
) -> Cached[Encoded]:
    """The corpus as the folder has it or the model encodes it, and what is odd about it."""
    encode = _Watched(model.encode_documents, "documents")

    def make() -> Encoded:
        docids: list[str] = []

        def texts() -> Iterator[tuple[str, str]]:
            for docid, text in text_pairs(corpus):
                docids.append(str(docid))
                yield docids[-1], text

        matrix = encode_in_batches(texts(), encode, sparse_dim, batch_size=batch_size)
        return Encoded(docids=docids, matrix=matrix)

    if folder is None:
        encoded = Cached(make(), is_read=False)
    else:
        encoded = cached(
            folder, KIND, key, make=make, to_parts=Encoded.parts, from_parts=Encoded.of_parts
        )
    return replace(encoded, findings=(*encoded.findings, *encode.findings))


def _encoded_queries(
    model: Encoder, query_texts: Sequence[tuple[str, str]], sparse_dim: int, batch_size: int
) -> tuple[csr_array, list[Finding]]:
    """The queries' weights, and what is odd about them."""
    encode = _Watched(model.encode_queries, "queries")
    weights = encode_in_batches(
        query_texts, encode, sparse_dim, what="query", batch_size=batch_size
    )
    return weights, encode.findings


def _told(results: Iterable[Result], n: int, progress: Progress | None) -> Iterator[Result]:
    for done, result in enumerate(results, start=1):
        yield result
        if progress and (done % TELL_EVERY == 0 or done == n):
            progress(done, n)


def _vocabulary_digest(model: Any) -> str:
    """SHA-256 of the model's own vocabulary, where it has one: a mapping or list of words."""
    vocabulary = getattr(model, "vocabulary", None)
    if vocabulary is None:
        return ""
    content = dict(vocabulary) if isinstance(vocabulary, Mapping) else list(vocabulary)
    return sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _numbers_for_ids(
    corpus: Texts, queries: Mapping[Any, str], qrels: Mapping[Any, Mapping[Any, int]]
) -> list[Finding]:
    """A note where ids are numbers everywhere; they are refused where only some are."""
    judged = (docid for documents in qrels.values() for docid in documents)
    kinds = {
        pitfalls.ids_of_one_type({"queries": queries, "qrels": qrels}),
        pitfalls.ids_of_one_type(
            {"corpus": (docid for docid, _ in text_pairs(corpus)), "qrels": judged}
        ),
    }
    return [] if kinds == {str} else [pitfalls.numbers_for_ids()]
