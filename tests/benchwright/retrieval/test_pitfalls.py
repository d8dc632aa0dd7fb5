"""Rare features should weigh more once: not never, and not twice."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from benchwright.retrieval.pitfalls import idf_fits
from benchwright.retrieval.sparse.vectors import vector_idf


def collection(power):
    """Weights that grow with the idf to this power; features from very common to very rare."""
    rng = np.random.default_rng(2)
    share = np.geomspace(0.9, 0.01, 60)
    present = rng.random((500, 60)) < share
    noise = rng.uniform(0.9, 1.1, present.shape)
    documents = csr_array(present * noise)
    idf = vector_idf(documents)
    queries = csr_array((rng.random((80, 60)) < 0.2) * idf**power)
    return documents, queries, idf


@pytest.mark.parametrize(
    ("power", "is_used", "words"),
    [
        (0, False, ["forgotten-idf"]),
        (0, True, []),
        (1, False, []),
        (1, True, ["doubled-idf"]),
    ],
    ids=["needed, not used", "needed, used", "carried, not used", "carried, used"],
)
def test_idf_that_does_not_fit_the_weights_is_told(power, is_used, words):
    result = idf_fits(*collection(power), is_used=is_used)

    assert [finding.code for finding in result] == words


def test_few_features_say_nothing():
    documents, queries, idf = collection(0)
    few = csr_array(queries.toarray() * (np.arange(60) < 10))

    assert idf_fits(documents, few, idf, is_used=False) == []


def test_features_that_no_document_has_say_nothing():
    documents, queries, idf = collection(0)

    assert idf_fits(csr_array(documents.shape), queries, idf, is_used=False) == []
