"""Exact search against a scan of everything, whatever adds up the scores."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from benchwright.errors import CutoffError
from benchwright.retrieval.errors import KernelError
from benchwright.retrieval.sparse import compiled, kernels, plain
from benchwright.retrieval.sparse.postings import Postings
from tests.examples import examples

# Compiled once: in a clone that is new it takes half a minute, and each process would do it.
pytestmark = [pytest.mark.xdist_group("compiled"), pytest.mark.in_thirds]
WIDTH = 5
WEIGHTS = st.sampled_from([0.0, 0.0, 0.0, 1.0, 0.5, 0.1, 0.3, 1 / 3, 7.0, -0.25])
VECTORS = st.lists(WEIGHTS, min_size=WIDTH, max_size=WIDTH)
DOCUMENTS = st.lists(VECTORS, min_size=1, max_size=12)
ALL_EQUAL = [[1.0, 0.0, 0.0, 0.0, 0.0]] * 7


def scan(documents, query, k):
    """Every document's sum of products, added in the order of the dimensions."""
    scores = []
    for document in documents:
        score = 0.0
        for asked, held in zip(query, document, strict=True):
            if asked and held:
                score += asked * held
        scores.append(score)
    best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    return [(place, scores[place]) for place in best if scores[place] > 0][:k]


def found(postings, queries, k, kernel):
    weights = csr_array(np.array(queries, dtype=float).reshape(len(queries), WIDTH))
    return [
        list(zip(columns.tolist(), scores.tolist(), strict=True))
        for columns, scores in postings.search(weights, k, kernel=kernel)
    ]


@settings(max_examples=examples(1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(documents=ALL_EQUAL, queries=[[1.0, 0, 0, 0, 0], [0.0] * 5], k=3, stretch=100)
@example(documents=ALL_EQUAL[:1], queries=[[1.0, 0, 0, 0, 0]], k=30, stretch=100)
@example(documents=ALL_EQUAL, queries=[], k=1, stretch=2)
@given(
    documents=DOCUMENTS,
    queries=st.lists(VECTORS, max_size=2),
    k=st.integers(1, 14),
    stretch=st.sampled_from([5, 100]),
)
def test_both_kernels_equal_a_scan_of_every_document_to_the_last_bit(
    documents, queries, k, stretch
):
    postings = Postings.of(csr_array(np.array(documents)), stretch=stretch)
    expected = [scan(documents, query, k) for query in queries]

    assert found(postings, queries, k, "scipy") == expected
    assert found(postings, queries, k, "numba") == expected
    with in_parts(of=3):
        assert found(postings, queries, k, "numba") == expected


@contextmanager
def in_parts(*, of):
    """The compiled kernel takes any stretch part by part, of so many documents."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled, "MANY_DOCUMENTS", 0)
        patched.setattr(compiled, "PART", of)
        yield


def made(n, seed, *, levels=0):
    """Documents of thirty dimensions, of which some are in nearly all and some in very few."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(0.6, 3 / n, 30)
    matrix = (rng.random((n, 30)) < share) * rng.gamma(2.0, 1.0, (n, 30)) / share**0.3
    return np.round(matrix * levels) / levels if levels else matrix


@pytest.mark.parametrize("levels", [0, 1], ids=["all scores differ", "many scores are equal"])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_large_stretch_is_searched_by_bounds_without_losing_anything(levels, k):
    documents = made(20_000, seed=k, levels=levels)
    queries = csr_array(made(40, seed=1)[:20])
    postings = Postings.of(csr_array(documents))

    for kernel in ("scipy", "numba", "in parts"):
        with in_parts(of=1_000) if kernel == "in parts" else nullcontext():
            results = list(postings.search(queries, k, kernel=kernel.replace("in parts", "numba")))
        for row, (columns, scores) in enumerate(results):
            whole = in_order(documents, queries[[row]])
            best = np.lexsort((np.arange(len(whole)), -whole))[:k]
            best = best[whole[best] > 0]
            assert columns.tolist() == best.tolist()
            assert scores.tolist() == whole[best].tolist()


def in_order(documents, query):
    scores = np.zeros(len(documents))
    for dimension, weight in zip(query.indices, query.data, strict=True):
        scores += weight * documents[:, dimension]
    return scores


def test_search_without_the_adder_of_scipy_finds_the_same(monkeypatch):
    documents, queries = csr_array(made(500, seed=3)), csr_array(made(40, seed=1)[:20])
    postings = Postings.of(documents)
    with_it = [answer[1].tolist() for answer in postings.search(queries, 9, kernel="scipy")]

    monkeypatch.setattr(plain, "csc_matvec", None)

    assert [answer[1].tolist() for answer in postings.search(queries, 9, kernel="scipy")] == with_it


def test_memory_of_a_search_stays_small_beside_that_of_all_scores():
    import tracemalloc

    documents, queries = csr_array(made(200_000, seed=4)), csr_array(made(400, seed=5)[:300])
    postings = Postings.of(documents)
    tracemalloc.start()

    for _ in postings.search(queries, 100, kernel="scipy"):
        pass

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16e6 < 300 * 200_000 * 8 / 20


@pytest.mark.parametrize("kernel", ["scipy", "numba"])
def test_corpus_without_documents_finds_nothing(kernel):
    postings = Postings.of(csr_array((0, WIDTH)))

    assert found(postings, [[1.0] * WIDTH], 3, kernel) == [[]]


def test_depth_below_one_is_refused_at_the_call():
    with pytest.raises(CutoffError, match="at least 1"):
        Postings.of(csr_array((1, WIDTH))).search(csr_array((1, WIDTH)), 0)


def test_unknown_kernel_is_refused_with_those_there_are():
    with pytest.raises(KernelError, match="expected numba or scipy"):
        kernels.kernel_name("cuda")


def test_missing_numba_names_the_extra_and_is_never_chosen(monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(kernels, "import_module", refuse)

    assert kernels.kernel_for(10**9) == "scipy"
    with pytest.raises(KernelError, match="extra `fast`"):
        kernels.kernel_name("numba")


def test_small_index_does_not_wait_for_a_compiler():
    assert (kernels.kernel_for(1000), kernels.kernel_for(10**9)) == ("scipy", "numba")
