"""Wordings that share a meaning and few letters: static vectors of their tokens, where they are."""

from collections.abc import Sequence

import numpy as np

from benchmarks_app.core import static_vectors
from benchmarks_app.core.families.embeddings import Embeddings
from benchmarks_app.core.families.linking import QueryText
from benchmarks_app.core.families_errors import ParaphraseExtraError


def static_embeddings(queries: Sequence[QueryText]) -> Embeddings:
    """A vector for each query with a token that the model knows; the others have none.

    Raises
    ------
    ParaphraseExtraError
        If the extra `demo` is not installed.
    """
    if not static_vectors.is_installed():
        raise ParaphraseExtraError
    vectors = static_vectors.encode([query.text for query in queries])
    lengths = np.linalg.norm(vectors, axis=1)
    known = np.flatnonzero(lengths > 0)
    ids = tuple(queries[n].qid for n in known.tolist())
    return Embeddings(ids, vectors[known] / lengths[known, np.newaxis])
