"""wordllama: a small dense model that works without a network and without a graphics card.

A text is the mean of static vectors of its tokens (256 numbers each); the package carries them. Its
licence and training are its own affair: it stands here as a real dense system to pool and to beat.
"""

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.core.retrieval.dense.embeddings import Embeddings, embeddings
from scoring.core.retrieval.dense.errors import DemoExtraError
from scoring.core.retrieval.dense.index import DenseIndex

NAME = "wordllama"
DESCRIPTION = "wordllama: cosine of mean static token vectors (256 numbers)"
PACKAGE = "wordllama"
N_DIMENSIONS = 256
# Texts beyond this are cut: the mean of so many tokens hardly moves.
MOST_CHARACTERS = 20_000
EMBEDDED_TOGETHER = 64


def is_installed() -> bool:
    """Whether the extra `demo` is there; nothing is imported."""
    return find_spec(PACKAGE) is not None


def version() -> str:
    """The version that is installed; empty where none is."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(PACKAGE)
    except PackageNotFoundError:
        return ""


def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One vector of 256 numbers for each text; zeros for a text without any token.

    Raises
    ------
    DemoExtraError
        If wordllama is not installed.
    """
    model = _model()
    cut = [text[:MOST_CHARACTERS] for text in texts]
    out = np.zeros((len(cut), N_DIMENSIONS), dtype=np.float32)
    # By length: a batch is padded to its longest text. Empty ones would be divided by no token.
    order = sorted((n for n, text in enumerate(cut) if text.strip()), key=lambda n: len(cut[n]))
    for start in range(0, len(order), EMBEDDED_TOGETHER):
        rows = order[start : start + EMBEDDED_TOGETHER]
        out[rows] = model.embed([cut[n] for n in rows], norm=False)
    return np.nan_to_num(out, copy=False)


def build(documents: Iterable[tuple[str, str]]) -> DenseIndex:
    """An index of documents (id, text) that is searched by texts; a document may be empty.

    Raises
    ------
    DemoExtraError
        If wordllama is not installed.
    EmbeddingIdsError
        If two documents have one id.
    """
    return DenseIndex(encoded(documents), similarity="cosine", encode=encode)


def encoded(documents: Iterable[tuple[str, str]], *, together: int = 4096) -> Embeddings:
    """The vectors of documents (id, text); texts are held `together` at a time."""
    ids: list[str] = []
    parts: list[npt.NDArray[np.float32]] = []
    for batch in _batches(documents, together):
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


@cache
def _model() -> Any:
    if not is_installed():
        raise DemoExtraError
    # Called with threads of its own, its tokenizer would warn in every worker that was forked.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with _quiet(), tempfile.TemporaryDirectory(prefix="wordllama-") as folder:
        from wordllama import WordLlama

        _lay_out(Path(folder))
        # The package looks for its tokenizer in another folder than it carries it in, and would
        # download it: so it is shown its own files as if they had been downloaded.
        return WordLlama.load(cache_dir=Path(folder), disable_download=True)


def _lay_out(folder: Path) -> None:
    """Links in a cache folder to the files that the package carries."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise DemoExtraError
    for name in ("weights", "tokenizers"):
        place = folder / name
        place.mkdir()
        for file in (Path(spec.origin).parent / name).iterdir():
            if file.is_file():
                (place / file.name).symlink_to(file)


@contextmanager
def _quiet() -> Iterator[None]:
    """The package sets up logging for the whole program when it is imported: not here."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
