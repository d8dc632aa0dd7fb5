"""Static vectors of texts by wordllama: a small model without a network or a graphics card.

A text is the mean of static vectors of its tokens (256 numbers each); the package carries them. Its
licence and training are its own affair. It comes with the extra `demo`.
"""

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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

    Ask `is_installed` first: without the package there is only an ImportError.
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


@cache
def _model() -> Any:
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
        raise ModuleNotFoundError(name=PACKAGE)
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
