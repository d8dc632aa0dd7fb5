"""Collections by name: `beir:…` and `hub:…` are brought, `irds:…` is asked of ir_datasets."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchwright.datasets.collection import Given, Qrels
from benchwright.datasets.errors import HiddenQrelsError, LibraryMissingError
from benchwright.datasets.naming import listed
from benchwright.datasets.places import Where
from benchwright.detection.collections import SPLIT, split_named
from benchwright.errors import MissingFileError
from benchwright.fetching.bringing import bring
from benchwright.fetching.catalog import IrDataset, open_dataset
from benchwright.fetching.download import FetchLimits, Tell
from benchwright.fetching.names import Collection, Kind, read_collection
from benchwright.formats.beir import CorpusRow

LIBRARIES = {Kind.HUB: ("huggingface_hub", "hub"), Kind.IRDS: ("ir_datasets", "catalog")}
LIMITS = FetchLimits(max_bytes=256 << 30)


def named(where: Where) -> Collection | None:
    """Return the collection that a text names, or None where it is a path or paths.

    Raises
    ------
    CollectionNameError
        If it begins as a name does, and is none.
    LibraryMissingError
        If what reads it is not installed.
    """
    if not isinstance(where, str) or where.partition(":")[0].lower() not in set(Kind):
        return None
    collection = read_collection(where)
    library, extra = LIBRARIES.get(collection.kind, ("", ""))
    if library and find_spec(library) is None:
        raise LibraryMissingError(name=str(collection), library=library, extra=extra)
    return collection


def brought(
    collection: Collection,
    cache: Path | str | None,
    limits: FetchLimits | None,
    tell: Tell | None = None,
) -> Path:
    """Return the zip of a collection, which is kept in `cache`; raises as `bring`."""
    if cache is None:
        advice = f"Say where: cache='data' keeps the download of {collection} there."
        raise MissingFileError(place=collection, expected="folder for the download", advice=advice)
    folder = Path(cache)
    folder.mkdir(parents=True, exist_ok=True)
    allowed, progress = limits or LIMITS, tell or _silent
    return bring(collection, downloads=folder, work=folder, limits=allowed, tell=progress)


def _silent(done: int, total: int, message: str) -> None:
    """Nobody is told."""


def from_catalog(
    collection: Collection, *, graded: bool, hides: str = "", tell: Tell | None = None
) -> Given:
    """Return what ir_datasets has under an id; it keeps what it downloads in a folder of its own.

    Raises
    ------
    CollectionNameError, CollectionShapeError
        As `open_dataset`.
    HiddenQrelsError, MissingFileError
        If the id has no grades.
    """
    dataset = open_dataset(collection)
    split = _split_of(collection.name)
    qrels = _qrels(dataset) if graded and dataset.has_qrels else {}
    if graded and not dataset.has_qrels:
        if hides and split.startswith("test"):
            there = listed(["dev", "train"])
            raise HiddenQrelsError(place=collection, split=split, whose=hides, there=there)
        advice = "Name an id that has some, or say graded=False."
        raise MissingFileError(place=collection, expected="qrels", advice=advice)
    return Given(
        name=str(collection),
        split=split,
        documents=lambda problems: _documents(dataset, tell or _silent),
        queries={row["_id"]: row["text"] for row in dataset.queries()},
        qrels=qrels,
    )


def _split_of(name: str) -> str:
    """The split that an id of ir_datasets names, `dev/small` as `dev.small`; test without one."""
    splits = SPLIT.findall(name.replace("/small", ".small"))
    if not splits:
        return "test"
    split, size = splits[-1]
    return split_named(split) + (f".{size}" if size else "")


def _qrels(dataset: IrDataset) -> Qrels:
    qrels: Qrels = {}
    for qid, docid, grade in dataset.qrels():
        qrels.setdefault(qid, {})[docid] = grade
    return qrels


def _documents(dataset: IrDataset, tell: Tell) -> Iterator[CorpusRow]:
    for number, row in enumerate(dataset.documents(tell), start=1):
        yield CorpusRow(number, row["_id"], row.get("title", ""), row["text"], row["metadata"])
