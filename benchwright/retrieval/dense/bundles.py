"""Embeddings of queries and documents in one file: a zip of the files as they were given.

What belongs together is one upload with one digest: equal files with equal settings are equal
bytes, whatever the files were called. The zip begins with its manifest, which tells it from others.
"""

import json
import shutil
import zipfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchwright.files.archives import ZipSource
from benchwright.files.sources import CHUNK, Limits
from benchwright.matrices.reading import MappedFile, mapped_file
from benchwright.recipes import submissions
from benchwright.retrieval.dense.embeddings import SIMILARITIES, Embeddings
from benchwright.retrieval.dense.reading import LARGEST, read_embeddings
from benchwright.retrieval.errors import EmbeddingFileError
from benchwright.sandbox import reader

MANIFEST = "benchwright-embeddings.json"
FORMAT = 1
QUERIES, QUERY_IDS = "query-embeddings", "query-ids"
DOCUMENTS, DOCUMENT_IDS = "document-embeddings", "document-ids"
MEMBERS = (QUERIES, QUERY_IDS, DOCUMENTS, DOCUMENT_IDS)
SHOWN = {QUERIES: "query embeddings", DOCUMENTS: "document embeddings"}
LARGEST_MANIFEST = 4 << 10
DEPTH: int = submissions.DEPTH.default
MOST_DEEP = submissions.DEPTH.most
# For ids, and for two matrices that pass the limit: which is told by their shapes.
SPARE_BYTES = 1 << 30
# Where the name of a zip's first entry is written.
NAME_AT = 30


@dataclass(frozen=True, slots=True)
class Settings:
    """How the vectors are to be searched: by which similarity, and how many results a query has."""

    similarity: str = "cosine"
    depth: int = DEPTH

    def as_json(self) -> bytes:
        facts = {"format": FORMAT, "similarity": self.similarity, "depth": self.depth}
        return json.dumps(facts, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a bundle holds, its vectors mapped from the folder it was unpacked into."""

    settings: Settings
    queries: Embeddings
    documents: Embeddings


def pack(path: Path, settings: Settings, files: Mapping[str, Iterable[bytes]]) -> None:
    """Write a bundle of `files`, {one of `MEMBERS`: its bytes in pieces}."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        # Of no date: equal contents are equal bytes.
        archive.writestr(zipfile.ZipInfo(MANIFEST), settings.as_json())
        for name in MEMBERS:
            if name in files:
                with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as out:
                    for piece in files[name]:
                        out.write(piece)


def is_bundle(path: Path) -> bool:
    """Whether a file begins as a bundle does."""
    with path.open("rb") as stream:
        start = stream.read(NAME_AT + len(MANIFEST))
    return start.startswith(b"PK\x03\x04") and start[NAME_AT:] == MANIFEST.encode()


def read_bundle(path: Path, *, folder: Path, max_bytes: int = LARGEST) -> Bundle:
    """Unpack a bundle into `folder` and map its vectors; ids and shapes are looked at.

    Raises
    ------
    ArchiveError
        If the zip is damaged, unsafe, or inflates to more than it may.
    EmbeddingError
        If the manifest, the vectors or the ids are not what they have to be.
    """
    limits = Limits(max_bytes=2 * max_bytes + SPARE_BYTES)
    with closing(ZipSource(path, limits=limits)) as archive:
        settings = _settings(archive)
        files = _unpacked(archive, folder)
    for needed in (QUERIES, DOCUMENTS):
        if needed not in files:
            raise EmbeddingFileError(file=path.name, reason=f"lacks the {SHOWN[needed]}.")
    return Bundle(
        settings,
        _embeddings(files, QUERIES, QUERY_IDS, folder, max_bytes),
        _embeddings(files, DOCUMENTS, DOCUMENT_IDS, folder, max_bytes),
    )


@dataclass(frozen=True, slots=True)
class UnpackedBundle:
    """A bundle without its ids: where its vectors are, what they are called, what was noted."""

    settings: Settings
    n_queries: int
    vectors: tuple[MappedFile, MappedFile]
    notes: tuple[tuple[str, ...], tuple[str, ...]]

    def with_ids(self, ids: list[str]) -> Bundle:
        """The bundle, by the ids of its queries and then of its documents."""
        parts = (ids[: self.n_queries], ids[self.n_queries :])
        queries, documents = (
            Embeddings(some, where.opened(), SHOWN[name], notes)
            for some, where, name, notes in zip(
                parts, self.vectors, (QUERIES, DOCUMENTS), self.notes, strict=True
            )
        )
        return Bundle(self.settings, queries, documents)


@reader
def unpacked_bundle(
    path: Path, folder: Path, max_bytes: int
) -> Generator[str, None, UnpackedBundle]:
    """Yield the ids of a bundle from outside; what it returns is the rest of it.

    Raises as `read_bundle` does.
    """
    bundle = read_bundle(path, folder=folder, max_bytes=max_bytes)
    both = (bundle.queries, bundle.documents)
    for embeddings in both:
        yield from embeddings.ids
    return UnpackedBundle(
        bundle.settings,
        len(bundle.queries),
        (
            mapped_file(bundle.queries.vectors, folder / "queries.bin"),
            mapped_file(bundle.documents.vectors, folder / "documents.bin"),
        ),
        (bundle.queries.notes, bundle.documents.notes),
    )


def _settings(archive: ZipSource) -> Settings:
    with archive.opened(MANIFEST) as stream:
        content = stream.read(LARGEST_MANIFEST)
    try:
        facts = json.loads(content)
        settings = Settings(str(facts["similarity"]), int(facts["depth"]))
        is_known = int(facts["format"]) == FORMAT
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = f"cannot be read ({error}); expected format, similarity and depth."
        raise EmbeddingFileError(file=MANIFEST, reason=reason) from error
    if not is_known or settings.similarity not in SIMILARITIES:
        reason = f"expected format {FORMAT} and one of {', '.join(SIMILARITIES)}."
        raise EmbeddingFileError(file=MANIFEST, reason=reason)
    if not 1 <= settings.depth <= MOST_DEEP:
        reason = f"the depth is {settings.depth}; expected 1 to {MOST_DEEP:,}."
        raise EmbeddingFileError(file=MANIFEST, reason=reason)
    return settings


def _unpacked(archive: ZipSource, folder: Path) -> dict[str, Path]:
    """The members that are known by name, under names of our own; gzip and zstd are undone."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name in MEMBERS:
        if name in archive.members():
            paths[name] = folder / f"{name}.file"
            with archive.opened(name) as stream, paths[name].open("wb") as out:
                shutil.copyfileobj(stream, out, CHUNK)
    return paths


def _embeddings(
    files: Mapping[str, Path], vectors: str, ids: str, folder: Path, max_bytes: int
) -> Embeddings:
    return read_embeddings(
        files[vectors],
        ids=files.get(ids),
        name=SHOWN[vectors],
        folder=folder / f"{vectors}.unpacked",
        max_bytes=max_bytes,
    )
