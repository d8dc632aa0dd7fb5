"""Vectors of any encoder: what is taken, what is refused, and what they find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_array

from benchwright.errors import CutoffError, DuplicateDocumentError
from benchwright.retrieval.errors import EncoderError, NoEncoderError, VectorError
from benchwright.retrieval.sparse.vectors import (
    VectorIndex,
    as_matrix,
    encode_in_batches,
    vector_idf,
)
from tests.examples import examples

DOCUMENTS = [{0: 1.0, 2: 0.5}, {}, {1: 2.0, 2: 1.0}]
IDS = ["a", "b", "c"]


def index_of(documents=DOCUMENTS, ids=IDS, **options):
    matrix = as_matrix(documents, 3, places=[f"document '{name}'" for name in ids])
    return VectorIndex.of(ids, matrix, **{"idf": False, **options})


def search(index, *queries, k=9):
    qids = [f"q{number}" for number in range(len(queries))]
    return [documents for _, documents in index.search_vectors(qids, list(queries), k=k)]


def test_score_is_the_sum_of_products_and_idf_is_on_the_query():
    plain, weighted = index_of(), index_of(idf=True)

    # Of 3 documents dimension 2 is in two and dimension 0 in one.
    idf_0, idf_2 = np.log(1 + 2.5 / 1.5), np.log(1 + 1.5 / 2.5)
    assert search(plain, {0: 2.0, 2: 1.0}) == [[("a", 2.5), ("c", 1.0)]]
    [[(_, best), (_, second)]] = search(weighted, {0: 2.0, 2: 1.0})
    assert (best, second) == pytest.approx((2 * idf_0 + 0.5 * idf_2, idf_2))


def test_choice_of_idf_is_told_in_the_facts():
    assert index_of().facts()["idf"] == "none of ours"
    assert "ln(1 + (N - df + 0.5)" in index_of(idf=True).facts()["idf"]


@pytest.mark.parametrize(
    "given_as",
    [
        lambda rows: rows,
        lambda rows: [{np.int32(d): np.float32(w) for d, w in row.items()} for row in rows],
        lambda rows: as_matrix(rows, 3, places=IDS),
        lambda rows: coo_matrix(as_matrix(rows, 3, places=IDS).toarray().astype(np.float32)),
        lambda rows: as_matrix(rows, 3, places=IDS).toarray(),
    ],
    ids=["mappings", "numpy numbers", "csr array", "old coo matrix", "dense array"],
)
def test_vectors_may_come_in_any_of_these_shapes(given_as):
    assert search(index_of(given_as(DOCUMENTS)), {0: 2.0, 2: 1.0}) == [[("a", 2.5), ("c", 1.0)]]


def test_matrix_narrower_than_the_model_is_widened_and_stored_zeros_do_not_count():
    matrix = as_matrix(
        csr_array(([1.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2)), 5, places=["a", "b"]
    )

    assert matrix.shape == (2, 5)
    assert vector_idf(matrix)[1] == pytest.approx(np.log(1 + 2.5 / 0.5))


def test_matrix_that_is_given_is_not_changed():
    given_one = csr_array(([0.0, 1.0], ([0, 0], [1, 0])), shape=(1, 3))

    as_matrix(given_one, 3, places=["a"])

    assert given_one.nnz == 2


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        ({-1: 1.0}, "document 'b': dimension is -1; expected a whole number from 0 to 2"),
        ({3: 1.0}, "dimension is 3; expected a whole number from 0 to 2"),
        ({"red": 1.0}, "dimension is 'red'"),
        ({1.5: 1.0}, "dimension is 1.5"),
        ({1: float("nan")}, "document 'b': the weight of dimension 1 is nan"),
        ({1: float("inf")}, "the weight of dimension 1 is inf; expected a finite number"),
        ({1: "x"}, "the weight of dimension 1 is 'x'"),
        ([1.0, 2.0], "document 'b': is list; expected a mapping"),
    ],
)
def test_vector_that_cannot_be_is_refused_with_its_place(vector, words):
    with pytest.raises(VectorError, match=words):
        index_of([{}, vector, {}])


def test_weight_of_a_matrix_that_is_no_number_is_refused_with_its_row():
    matrix = csr_array(np.array([[0, 1.0, 0], [0, 0, np.inf], [0, 0, 0]]))

    with pytest.raises(VectorError, match="document 'b': the weight of dimension 2 is inf"):
        index_of(matrix)


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([{}, {}], "returned 2 vectors for 3 texts"),
        (csr_array((4, 3)), "returned 4 vectors for 3 texts"),
        (csr_array((3, 9)), "9 dimensions; expected at most 3"),
        (np.zeros(3), "1 dimensions; expected 2"),
        (None, "returned NoneType; expected a mapping for each text, or a matrix"),
    ],
)
def test_vectors_that_do_not_fit_the_texts_are_refused(vectors, words):
    with pytest.raises(EncoderError, match=words):
        index_of(vectors)


def test_ids_that_do_not_fit_the_rows_are_refused():
    with pytest.raises(EncoderError, match="2 ids for 3 rows"):
        VectorIndex.of(["a", "b"], csr_array((3, 3)), idf=False)


def test_id_given_twice_is_refused_by_name():
    with pytest.raises(DuplicateDocumentError, match="'a' is in the corpus 2 times"):
        index_of(ids=["a", "a", "c"])


@pytest.mark.parametrize("query", [{}, {1: 0.0}, {1: -1.0}])
def test_query_without_a_weight_above_zero_finds_nothing(query):
    assert search(index_of(), query) == [[]]


def test_weights_below_zero_count_against_a_document():
    assert search(index_of(), {1: 1.0, 2: -1.0}) == [[("c", 1.0)]]


def test_depth_below_one_is_refused_at_the_call():
    with pytest.raises(CutoffError):
        index_of().search_vectors([], [], k=0)
    with pytest.raises(CutoffError):
        index_of().search([], k=0)


def test_texts_need_an_encoder():
    with pytest.raises(NoEncoderError, match="Give the vectors of the queries"):
        index_of().search([("q", "red")], k=1)


def test_texts_are_encoded_in_batches_with_progress():
    sizes, steps = [], []

    def encode(texts):
        sizes.append(len(texts))
        return [{0: float(len(text))} for text in texts]

    index = index_of(encode_queries=encode)
    queries = [(f"q{number}", "xx") for number in range(5)]
    answers = index.search(queries, k=1, batch_size=2, progress=lambda *seen: steps.append(seen))

    assert [hits for _, hits in answers] == [[("a", 2.0)]] * 5
    assert (sizes, steps) == ([2, 2, 1], [(2, 5), (4, 5), (5, 5)])


def test_error_of_an_encoder_names_the_document():
    documents = [(f"d{number}", "") for number in range(5)]

    with pytest.raises(VectorError, match="document 'd4': dimension is 7"):
        encode_in_batches(
            documents, lambda texts: [{8 - len(texts): 1.0}] * len(texts), 7, batch_size=2
        )


WEIGHTS = st.dictionaries(st.integers(0, 9), st.floats(0, 5, width=32), max_size=6)


@settings(max_examples=examples(60), deadline=None)
@given(
    documents=st.lists(WEIGHTS, max_size=9),
    query=WEIGHTS,
    size=st.integers(1, 4),
    k=st.integers(1, 9),
    idf=st.booleans(),
)
def test_batches_of_any_size_find_what_a_scan_finds(documents, query, size, k, idf):
    texts = [(f"d{number}", str(number)) for number in range(len(documents))]
    matrix = encode_in_batches(
        texts, lambda batch: [documents[int(text)] for text in batch], 10, batch_size=size
    )
    index = VectorIndex.of([docid for docid, _ in texts], matrix, idf=idf)

    [(_, search_vector)] = index.search_vectors(["q"], [query], k=k)

    df = [sum(held.get(d, 0) != 0 for held in documents) for d in range(10)]
    weight = [np.log(1 + (len(documents) - n + 0.5) / (n + 0.5)) if idf else 1.0 for n in df]
    scores = {
        docid: sum(query[d] * weight[d] * held.get(d, 0) for d in query)
        for (docid, _), held in zip(texts, documents, strict=True)
    }
    expected = sorted((score for score in scores.values() if score > 0), reverse=True)[:k]
    assert [score for _, score in search_vector] == pytest.approx(expected, rel=1e-5)
    assert search_vector == sorted(
        search_vector, key=lambda hit: (hit[1], hit[0].encode()), reverse=True
    )
