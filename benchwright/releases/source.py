"""A release as every writer and every check sees it: facts, and contents read as streams."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.formats.beir_writing import DocumentLike, MetadataShape, QueryLike

Qrels = Iterator[tuple[str, str, int]]
# Where in a release's folder the grades of hidden splits are.
HIDDEN_FILES = "hidden/"


@dataclass(frozen=True)
class ReleaseSource:
    """What a release holds, in the order of the bytes of its ids.

    Every function starts a new stream. `splits` are those whose grades may be read: the public
    ones, or all where the reader may see them; `hidden` names those whose grades are withheld, and
    whose queries are among `queries` all the same. `documents` is None where the corpus has no
    texts or they may not be passed on.
    """

    slug: str
    version: str
    title: str
    description: str
    unit: str
    lang: str
    licence: str
    citation: str
    threshold: int
    grades: tuple[Mapping[str, Any], ...]
    splits: tuple[str, ...]
    hidden: tuple[str, ...]
    queries: Callable[[], Iterator[QueryLike]]
    query_shape: MetadataShape
    qrels: Callable[[str], Qrels]
    documents: Callable[[], Iterator[DocumentLike]] | None
    document_shape: MetadataShape
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    # The pieces of machine_labels.tsv; None where no labels of a machine lie beside the grades.
    machine_labels: Callable[[], Iterator[bytes]] | None = None
    # The files of a document's or query's images, in order; None where all are texts alone.
    images: Callable[[DocumentLike | QueryLike], Sequence[Path]] | None = None

    @property
    def stem(self) -> str:
        """The name of the export's one top folder."""
        return f"{self.slug}-{self.version}"


# What is told of how grades came about where some are hidden: how they were asked for, and by whom.
# All else is counted or fitted on all of them, or a digest of a file that holds them.
TOLD_OF_DERIVATION = (
    *("file", "files", "settings", "as_of_time", "annotator", "without", "n_waived"),
    *("judge", "models", "model", "prompt_version", "prompt_hash", "campaign", "choice", "n_pages"),
    *("mapped_from", "grade_map"),
)


def public_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without what could be tried against guesses of hidden grades.

    Files of hidden splits are named, without digest and size. Nor is there a digest of all grades
    or of a file that has them, nor how many labels there were and how far people agreed. Where
    nothing is hidden it is the manifest as it is.
    """
    files = manifest.get("files", {})  # a draft that nobody has looked at has none
    if not any(name.startswith(HIDDEN_FILES) for name in files):
        return dict(manifest)
    named = {name: {} if name.startswith(HIDDEN_FILES) else facts for name, facts in files.items()}
    qrels = manifest["qrels"]
    withheld = dict.fromkeys(("digest", "agreement", "labels_per_pair"))
    derivation = {
        name: value
        for name, value in (qrels.get("derivation") or {}).items()
        if name in TOLD_OF_DERIVATION
    }
    return {**manifest, "files": named, "qrels": {**qrels, **withheld, "derivation": derivation}}
