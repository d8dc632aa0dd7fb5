"""Exports of a release, streamed: the files of the release, and the corpus it pins."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks_app import selectors
from benchmarks_app.core.formats.beir_writing import MetadataShape, corpus_jsonl, streamed_zip
from benchmarks_app.core.release_errors import NoTextsError
from benchmarks_app.models import Release

CHUNK = 1 << 16
BEIR_FILES = ("queries.jsonl", "qrels/")


def export_name(release: Release) -> str:
    """The stem of the zip, and the name of its one folder."""
    return f"{release.benchmark.slug}-{release.version}"


def has_beir_export(release: Release) -> bool:
    return release.corpus_version is not None and release.benchmark.corpus.has_texts


def beir_zip(release: Release) -> Iterator[bytes]:
    """The release as a BEIR zip, in pieces, in constant memory.

    Raises
    ------
    NoTextsError
        If the corpus holds ids only. Raised by the call, not by the first piece.
    """
    if not has_beir_export(release):
        raise NoTextsError
    return streamed_zip(_members(release))


def _members(release: Release) -> Iterator[tuple[str, Iterator[bytes]]]:
    top = export_name(release)
    yield f"{top}/corpus.jsonl", _corpus(release)
    for name in sorted(release.manifest["files"]):
        if name.startswith(BEIR_FILES):
            yield f"{top}/{name}", file_pieces(selectors.release_file_path(release, name))
    yield f"{top}/manifest.json", iter([manifest_bytes(release)])


def manifest_bytes(release: Release) -> bytes:
    return json.dumps(release.manifest, indent=2, sort_keys=True, ensure_ascii=False).encode()


def _corpus(release: Release) -> Iterator[bytes]:
    kinds = release.manifest["corpus"]["metadata_kinds"]
    shape = MetadataShape({key: set(found) for key, found in kinds.items()})
    documents = selectors.corpus_reader(release.corpus_version).iterate()
    return corpus_jsonl(documents, shape=shape)


def file_pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(CHUNK):
            yield piece
