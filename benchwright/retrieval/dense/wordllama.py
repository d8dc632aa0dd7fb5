"""wordllama: a small dense model that works without a network and without a graphics card.

It stands here as a real dense system to pool and to beat; its vectors are `core.static_vectors`.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from benchwright.matrices import static_vectors
from benchwright.matrices.static_vectors import N_DIMENSIONS, is_installed, version
from benchwright.retrieval.dense.embeddings import Embeddings, embeddings
from benchwright.retrieval.dense.index import DenseIndex
from benchwright.retrieval.errors import DemoExtraError
from benchwright.retrieval.searching import Texts, text_pairs

__all__ = ["build", "encode", "encoded", "is_installed", "version"]


def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One vector of 256 numbers for each text; zeros for a text without any token.

    Raises
    ------
    DemoExtraError
        If wordllama is not installed.
    """
    if not is_installed():
        raise DemoExtraError
    return static_vectors.encode(texts)


def build(documents: Texts) -> DenseIndex:
    """An index of documents that is searched by texts; a document may be empty.

    Raises
    ------
    DemoExtraError
        If wordllama is not installed.
    EmbeddingIdsError
        If two documents have one id.
    """
    return DenseIndex(encoded(documents), similarity="cosine", encode=encode)


def encoded(documents: Texts, *, together: int = 4096) -> Embeddings:
    """The vectors of documents (id, text); texts are held `together` at a time."""
    ids: list[str] = []
    parts: list[npt.NDArray[np.float32]] = []
    for batch in _batches(text_pairs(documents), together):
        ids.extend(docid for docid, _ in batch)
        parts.append(encode([text for _, text in batch]))
    vectors = np.concatenate(parts) if parts else np.zeros((0, N_DIMENSIONS), dtype=np.float32)
    return embeddings(ids, vectors, name="the documents")


def _batches(documents: Iterable[tuple[str, str]], size: int) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    for document in documents:
        batch.append(document)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
