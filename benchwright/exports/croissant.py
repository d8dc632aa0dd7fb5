"""BEIR's folder with croissant.json, which says what its files are and pins them by their hash."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchwright.exports.beir import members as beir_members
from benchwright.exports.croissant_metadata import croissant_json
from benchwright.exports.exporter import Exporter, Member, Snippet
from benchwright.releases.source import ReleaseSource

CROISSANT_JSON = "croissant.json"


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield BEIR's members, and at the end the metadata with the hash of each."""
    files: dict[str, dict[str, Any]] = {}
    for name, pieces in beir_members(source, work):
        yield name, _noted(pieces, files.setdefault(name, {}))
    yield CROISSANT_JSON, [croissant_json(source, files)]


def _noted(pieces: Iterable[bytes], facts: dict[str, Any]) -> Iterator[bytes]:
    """Yield the pieces, and then note their hash and size."""
    digest, n_bytes = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        n_bytes += len(piece)
        yield piece
    facts.update(sha256=digest.hexdigest(), n_bytes=n_bytes)


CROISSANT = Exporter(
    name="croissant",
    label="Croissant",
    about="BEIR's folder with croissant.json, which describes its files and pins them by SHA-256.",
    needs_texts=True,
    loses=(),
    members=members,
    snippets=(
        Snippet(
            "mlcroissant",
            "import mlcroissant\n\n"
            'dataset = mlcroissant.Dataset("{folder}/croissant.json")\n'
            'for row in dataset.records("qrels/{split}"):\n'
            "    print(row)",
        ),
    ),
    suffix="-croissant",
)
