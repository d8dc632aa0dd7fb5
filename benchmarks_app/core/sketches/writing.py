"""Making a sketch of a list of queries, in bounded memory."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from benchmarks_app.core.batches import batched
from benchmarks_app.core.external_sort import ExternalSort
from benchmarks_app.core.sketches.format import SketchHeader
from benchmarks_app.core.sketches.hashing import AT_ONCE, KEY_BYTES, Hasher

if TYPE_CHECKING:
    import polars as pl

TEMPORARY = "benchwright-sketch-"


def write_sketch(
    queries: Iterable[tuple[str, Iterable[str]]],
    path: Path,
    *,
    hasher: Hasher,
    salt_inside: str | None = None,
) -> SketchHeader:
    """Write the sketch of queries, each with the ids of its relevant documents.

    `salt_inside` puts the salt into the file: then anybody who has it can try guesses.
    """
    with TemporaryDirectory(prefix=TEMPORARY, dir=path.absolute().parent) as name:
        folder = Path(name)
        rows = ExternalSort(_made(folder / "queries"), by=["key"])
        documents = ExternalSort(_made(folder / "documents"), by=["key"])
        for batch in batched(queries, AT_ONCE):
            rows.add(_frame(hasher.queries([text for text, _ in batch]).rows()))
            numbers = hasher.documents([one for _, docids in batch for one in docids])
            if len(numbers):
                documents.add(_frame([int(n).to_bytes(KEY_BYTES, "little") for n in numbers]))
        body = folder / "body"
        with body.open("wb") as out:
            n_queries = _write_distinct(out, rows.merged())
            n_documents = _write_distinct(out, documents.merged())
        header = SketchHeader(
            n_queries, n_documents, hasher.salt_check, salt_inside, hasher.language
        )
        whole = folder / "sketch"
        with whole.open("wb") as out, body.open("rb") as content:
            out.write(header.as_bytes())
            shutil.copyfileobj(content, out, 1 << 20)
        whole.replace(path)
    return header


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _frame(rows: list[bytes]) -> "pl.DataFrame":
    """Rows with what they are sorted by: the hash of the text, which decides all others."""
    import polars as pl

    keys = [row[:KEY_BYTES].hex() for row in rows]
    return pl.DataFrame({"key": keys, "row": rows}, schema={"key": pl.String, "row": pl.Binary})


def _write_distinct(out: BinaryIO, frames: Iterator["pl.DataFrame"]) -> int:
    n = 0
    for frame in frames:
        # Rows of one key come in one frame.
        distinct = frame.unique("key", keep="first", maintain_order=True)["row"].to_list()
        out.write(b"".join(distinct))
        n += len(distinct)
    return n
