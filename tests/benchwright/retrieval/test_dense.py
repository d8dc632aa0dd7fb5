"""Exact search in vectors: against arithmetic of its own, with ties, bounds and bad numbers."""

from fractions import Fraction
from itertools import pairwise
from math import copysign, fsum, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import CutoffError
from benchwright.retrieval.dense import DenseIndex, compiled, embeddings, kernels
from benchwright.retrieval.dense import index as searching
from benchwright.retrieval.errors import (
    EmbeddingDimensionsError,
    EmbeddingIdsError,
    EmbeddingShapeError,
    EmbeddingValueError,
    KernelError,
    NoEncoderError,
    UnknownSimilarityError,
)
from tests.examples import examples

# Compiled once, beside the kernel of sparse vectors.
pytestmark = pytest.mark.xdist_group("compiled")


def numbered(vectors, letter="d"):
    return embeddings([f"{letter}{n}" for n in range(len(vectors))], vectors)


KERNELS = ("numpy", "numba")


def search(queries, documents, *, k=10, similarity="dot"):
    """What both kernels find, which is the same to the last bit."""
    by_numpy, by_numba = (
        list(
            DenseIndex(documents, similarity=similarity, kernel=kernel).search_vectors(queries, k=k)
        )
        for kernel in KERNELS
    )
    assert by_numpy == by_numba
    return by_numba


def brute_force(query, documents, k, similarity):
    """Scores as fractions, so that nothing is rounded before the very end; best first."""
    wanted = [Fraction(float(number)) for number in query]
    rows = []
    for docid, vector in zip(documents.ids, documents.vectors, strict=True):
        exact = [Fraction(float(number)) for number in vector]
        score = sum((a * b for a, b in zip(wanted, exact, strict=True)), Fraction())
        if similarity == "cosine":
            squares = sum(a * a for a in wanted) * sum(b * b for b in exact)
            # Squared with its sign: no root, so that equal cosines are equal fractions.
            score = score * abs(score) / squares if squares else Fraction()
        rows.append((score, docid.encode(), docid))
    return [(docid, score) for score, _, docid in sorted(rows, reverse=True)[:k]]


def as_score(value: Fraction, similarity: str) -> float:
    return float(value) if similarity == "dot" else copysign(sqrt(abs(value)), value)


# Numbers whose products and sums are exact in 64 bits, so that ties are ties.
NUMBERS = (
    [-3, -2, -1, 0, 1, 2, 3],
    [0, 0.5, -0.25, 1, 3, 2.0**-10, 1024],
    [1],
)
CASES = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(0, 3),  # queries
    st.integers(1, 12),  # documents
    st.integers(1, 5),  # dimensions
    st.sampled_from(NUMBERS),
    st.sampled_from([np.float16, np.float32, np.float64]),
)


def made(case):
    """Small matrices of which many scores are equal, and ids in another order than the rows."""
    seed, n_queries, n, d, numbers, dtype = case
    rng = np.random.default_rng(seed)
    queries, documents = (rng.choice(numbers, (rows, d)).astype(dtype) for rows in (n_queries, n))
    return queries, embeddings([f"d{number}" for number in rng.permutation(n)], documents)


@pytest.mark.in_thirds
@settings(max_examples=examples(1000), deadline=None)
@given(CASES, st.integers(1, 15), st.integers(1, 8), st.sampled_from(["dot", "cosine"]))
def test_results_equal_a_brute_force_of_fractions(case, k, tile, similarity):
    queries, kept = made(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching.Plan, "of", lambda **_: searching.Plan(2, tile))
        answers = search(numbered(queries, "q"), kept, k=k, similarity=similarity)

    assert [qid for qid, _ in answers] == [f"q{n}" for n in range(len(queries))]
    for query, (_, results) in zip(queries, answers, strict=True):
        wanted = brute_force(query, kept, k, similarity)
        scores = [as_score(score, similarity) for _, score in wanted]
        assert [score for _, score in results] == pytest.approx(scores, rel=1e-5, abs=1e-300)
        if similarity == "dot":
            assert [docid for docid, _ in results] == [docid for docid, _ in wanted]
        else:  # a root is rounded: equal cosines of other lengths can differ in the last bit
            assert_order(results, dict(brute_force(query, kept, len(kept), similarity)))


def assert_order(results, truth):
    for (one, score), (other, below) in pairwise(results):
        assert score >= below
        if score == below:
            assert one.encode() > other.encode()
        assert truth[one] >= truth[other] or score == pytest.approx(below, rel=1e-14)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_random_vectors_over_many_tiles(dtype, similarity):
    rng = np.random.default_rng(1)
    documents = rng.standard_normal((5000, 24)).astype(dtype)
    queries = rng.standard_normal((40, 24)).astype(dtype)
    wide, wanted = documents.astype(np.float64), queries.astype(np.float64)
    if similarity == "cosine":
        wide = wide / np.linalg.norm(wide, axis=1, keepdims=True)
        wanted = wanted / np.linalg.norm(wanted, axis=1, keepdims=True)
    scores = wanted @ wide.T

    answers = search(numbered(queries), numbered(documents), k=30, similarity=similarity)

    for row, (_, results) in zip(scores, answers, strict=True):
        order = np.argsort(-row, kind="stable")[:30]
        assert [docid for docid, _ in results] == [f"d{n}" for n in order]
        assert [score for _, score in results] == pytest.approx(row[order].tolist(), rel=1e-9)


@pytest.mark.parametrize("order", [1, -1])
def test_documents_that_come_in_order_of_their_scores(order):
    documents = np.arange(1, 6001, dtype=np.float32)[::order, np.newaxis]

    ((_, results),) = search(numbered(np.ones((1, 1), np.float32)), numbered(documents), k=7)

    assert [score for _, score in results] == [6000.0 - n for n in range(7)]


def test_equal_vectors_are_tied_wherever_they_stand():
    rng = np.random.default_rng(2)
    same = rng.standard_normal((1, 99)).astype(np.float32)
    documents = np.repeat(same, 2500, axis=0)
    queries = np.concatenate([same, -same, rng.standard_normal((3, 99)).astype(np.float32)])
    expected = sorted((f"d{n}" for n in range(2500)), key=str.encode, reverse=True)[:5]

    for similarity in ("dot", "cosine"):
        for _, results in search(
            numbered(queries), numbered(documents), k=5, similarity=similarity
        ):
            assert [docid for docid, _ in results] == expected
            assert len({score for _, score in results}) == 1


def test_nearly_equal_documents_are_told_apart_in_64_bits():
    documents = np.full((3000, 8), 0.1)
    documents[1234, 0] += 1e-12
    documents[77, 0] += 2e-12

    ((_, results),) = search(numbered(np.ones((1, 8))), numbered(documents), k=2)

    assert [docid for docid, _ in results] == ["d77", "d1234"]


def test_huge_and_tiny_numbers_keep_their_order():
    scale = np.repeat(10.0 ** np.arange(-18, 19), 60)
    documents = (np.ones((len(scale), 3)) * scale[:, np.newaxis]).astype(np.float32)
    documents[:, 2] *= -1
    queries = np.array([[1e19, 1e19, 1e18], [-1e-20, 0, 0]], dtype=np.float32)
    wide, wanted = documents.astype(np.float64), queries.astype(np.float64)
    truth = (wanted[:, np.newaxis] * wide).sum(axis=2)

    for row, (_, results) in zip(
        truth, search(numbered(queries), numbered(documents), k=100), strict=True
    ):
        best = sorted(range(len(row)), key=lambda n: (row[n], f"d{n}".encode()), reverse=True)
        assert [docid for docid, _ in results] == [f"d{n}" for n in best[:100]]


def test_vector_of_zeros_scores_zero_and_ids_decide():
    documents = embeddings(["a", "b", "c"], np.array([[1.0, 0], [0, 0], [-1, 0]]))

    for similarity in ("dot", "cosine"):
        ((_, results),) = search(numbered(np.zeros((1, 2))), documents, similarity=similarity)
        assert results == [("c", 0.0), ("b", 0.0), ("a", 0.0)]
    ((_, results),) = search(numbered(np.array([[2.0, 0]])), documents, similarity="cosine")
    assert results == [("a", 1.0), ("b", 0.0), ("c", -1.0)]


def test_ties_go_by_the_bytes_of_ids():
    documents = embeddings(["é", "z", "Z", "10", "9"], np.ones((5, 2)))

    ((_, results),) = search(numbered(np.ones((1, 2))), documents)

    assert [docid for docid, _ in results] == ["é", "z", "Z", "9", "10"]


def test_no_query_and_no_document():
    documents = numbered(np.ones((3, 2)))

    assert search(numbered(np.zeros((0, 2))), documents) == []
    assert search(numbered(np.ones((1, 2))), numbered(np.zeros((0, 2)))) == [("d0", [])]


def test_progress_ends_with_all_queries():
    results = []

    list(
        DenseIndex(numbered(np.ones((3000, 2)))).search_vectors(
            numbered(np.ones((5, 2))), k=1, progress=lambda *said: results.append(said)
        )
    )

    assert results[-1] == (5, 5)
    assert results == sorted(results)
    assert len(results) > 1


def test_texts_are_encoded_and_ids_of_queries_may_be_equal():
    seen = []

    def encode(texts):
        seen.extend(texts)
        return np.array([[len(text), 1.0] for text in texts])

    index = DenseIndex(embeddings(["a", "b"], np.array([[1.0, 0], [0, 1]])), encode=encode)

    items = list(index.search([("q", "four"), ("q", "")], k=1))

    assert items == [("q", [("a", 4.0)]), ("q", [("b", 1.0)])]
    assert index.retrieve("xyz", k=2) == [("a", 3.0), ("b", 1.0)]
    assert seen == ["four", "", "xyz"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_memory_of_a_mapped_file_stays_small(tmp_path, kernel):
    """The scores of all queries and documents together would be 72 MB."""
    import tracemalloc

    rng = np.random.default_rng(3)
    np.save(tmp_path / "d.npy", rng.standard_normal((60_000, 16)).astype(np.float16))
    documents = numbered(np.load(tmp_path / "d.npy", mmap_mode="r"))
    queries = numbered(rng.standard_normal((300, 16)).astype(np.float32))
    index = DenseIndex(documents, kernel=kernel)
    next(index.search_vectors(queries, k=1))  # what compiling takes is not of the search

    tracemalloc.start()
    for _ in index.search_vectors(queries, k=100):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 64 << 20


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 7, 8, 100, 384])
def test_products_are_added_alike_and_near_the_truth(n_dimensions):
    rng = np.random.default_rng(n_dimensions)
    vectors = rng.standard_normal((50, n_dimensions)).astype(np.float32)
    others = rng.standard_normal((4, n_dimensions))
    which = rng.integers(0, 4, 50)

    sums = kernels.dots(vectors, others, which)

    assert sums.tolist() == compiled.dots(vectors, others, which).tolist()
    exact = [fsum(a * b) for a, b in zip(vectors.astype(float), others[which], strict=True)]
    assert sums == pytest.approx(exact, rel=1e-12, abs=1e-13)


def test_kernel_is_chosen_by_size_and_by_what_is_installed(monkeypatch):
    assert [kernels.kernel_for(n) for n in (10**6, 10**9)] == ["numpy", "numba"]
    monkeypatch.setattr(kernels, "has_numba", lambda: False)
    assert kernels.kernel_for(10**9) == "numpy"
    with pytest.raises(KernelError, match="Install the extra `fast`"):
        DenseIndex(numbered(np.ones((1, 1))), kernel="numba")


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_bad_number_names_row_and_id(value, dtype, similarity):
    documents = np.ones((1500, 3), dtype)
    documents[[1200, 1300], 1] = value

    with pytest.raises(EmbeddingValueError, match=r"row 1200 \(from 0\), 'd1200'.*1 more rows"):
        search(numbered(np.ones((1, 3))), numbered(documents), similarity=similarity)
    with pytest.raises(EmbeddingValueError, match=f"holds {value:g}"):
        DenseIndex(numbered(np.ones((1, 3)))).search_vectors(numbered(documents), k=1)


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_number_beyond_32_bits_is_refused(similarity):
    documents = np.ones((3, 2))
    documents[1, 0] = 1e39

    with pytest.raises(EmbeddingValueError, match=r"row 1 .* holds 1e\+39"):
        search(numbered(np.ones((1, 2))), numbered(documents), similarity=similarity)


def test_dimensions_that_differ_are_refused():
    with pytest.raises(EmbeddingDimensionsError, match=r"have 3 dimensions and .* 2"):
        search(numbered(np.ones((1, 3))), numbered(np.ones((1, 2))))


@pytest.mark.parametrize(
    ("ids", "vectors", "error", "words"),
    [
        (["a"], np.ones((2, 3)), EmbeddingIdsError, "1 ids for 2 rows"),
        (["a", "b", "a"], np.ones((3, 1)), EmbeddingIdsError, "'a' is the id of 2 rows.* 0 and 2"),
        (["a", ""], np.ones((2, 1)), EmbeddingIdsError, "id of row 1"),
        (["a"], np.ones(3), EmbeddingShapeError, "the shape is 3;"),
        (["a"], np.ones((1, 2, 3)), EmbeddingShapeError, "1 x 2 x 3"),
        (["a"], np.ones((1, 2), int), EmbeddingShapeError, "int64"),
        (["a"], np.ones((1, 2), complex), EmbeddingShapeError, "complex128"),
        (["a"], np.ones((1, 0)), EmbeddingShapeError, "no dimension"),
    ],
)
def test_misfits_are_refused(ids, vectors, error, words):
    with pytest.raises(error, match=words):
        embeddings(ids, vectors)


def test_cutoff_similarity_and_text_without_encoder_are_refused_by_the_call():
    index = DenseIndex(numbered(np.ones((1, 1))))

    with pytest.raises(CutoffError):
        index.search_vectors(numbered(np.ones((1, 1))), k=0)
    with pytest.raises(NoEncoderError):
        index.search([("q", "text")], k=1)
    with pytest.raises(CutoffError):
        DenseIndex(numbered(np.ones((1, 1))), encode=len).search([], k=0)
    with pytest.raises(UnknownSimilarityError, match="'l2'"):
        DenseIndex(numbered(np.ones((1, 1))), similarity="l2")
    with pytest.raises(KernelError, match="expected numba or numpy"):
        DenseIndex(numbered(np.ones((1, 1))), kernel="scipy")
