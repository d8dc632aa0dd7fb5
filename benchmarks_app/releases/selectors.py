"""Published releases as writers, checks and scoring read them: from their own files alone."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks_app.common.selectors.reading import (
    corpus_reader,
    documents_in_unit,
    hidden_rows,
    release_file_path,
    release_qrels,
)
from benchmarks_app.files import local_path
from benchmarks_app.models import Release, Unit
from benchwright.exports.exporter import file_pieces
from benchwright.formats.beir_writing import DocumentLike, MetadataShape, QueryLike, metadata_shape
from benchwright.releases.canonical import family_names
from benchwright.releases.machines import LABELS
from benchwright.releases.source import Qrels, ReleaseSource
from benchwright.texts.images import IMAGE_KEY, digests_in

T = TypeVar("T")
PathOf = Callable[[str], Path]
DEFAULT_SPLIT = "test"
QUERIES, FAMILIES, SLICES, WEIGHTS, SPLITS = (
    "queries.jsonl",
    "families.tsv",
    "slices.tsv",
    "weights.tsv",
    "splits.json",
)


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """A query as it is written; its metadata holds family, description, dates and the like."""

    qid: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Later(Mapping[str, T]):
    """A mapping that is read from its file when it is first looked into."""

    def __init__(self, read: Callable[[], Mapping[str, T]]) -> None:
        self._read = read
        self._found: Mapping[str, T] | None = None

    def _mapping(self) -> Mapping[str, T]:
        if self._found is None:
            self._found = self._read()
        return self._found

    def __getitem__(self, key: str) -> T:
        return self._mapping()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mapping())

    def __len__(self) -> int:
        return len(self._mapping())


def qrels_name(split: str, *, is_hidden: bool = False) -> str:
    """The file of a release that holds the grades of a split."""
    return f"{'hidden' if is_hidden else 'qrels'}/{split}.tsv"


def release_source(release: Release, *, see_hidden: bool = False) -> ReleaseSource:
    """A published release, read from its files.

    With `see_hidden` the grades of hidden splits are among `splits` too; whoever asks for that has
    looked whether they may be seen, and wrote down that they were. A grade of -1 says that a pair
    was pooled and not judged.
    """
    source = source_of_files(
        path_of=_path_of(release),
        manifest=release.manifest,
        title=release.benchmark.name,
        description=release.benchmark.description,
        documents=_documents_of(release),
        see_hidden=see_hidden,
    )
    return replace(source, images=_images_of(release) if source.documents else None)


def has_images(release: Release) -> bool:
    """Whether its documents are images, or any query of it has one."""
    kinds = release.manifest.get("query_metadata_kinds") or {}
    return release.benchmark.corpus.unit == Unit.IMAGE or IMAGE_KEY in kinds


def _images_of(release: Release) -> Callable[[DocumentLike | QueryLike], list[Path]] | None:
    """The files of the images of a document or query, where any has some."""
    corpus = release.benchmark.corpus
    if not has_images(release):
        return None
    stored = Later(lambda: dict(corpus.images.values_list("sha256", "stored")))

    def images(row: DocumentLike | QueryLike) -> list[Path]:
        digests = digests_in(row.metadata)
        return [local_path(stored[digest]) for digest in digests if digest in stored]

    return images


def whole_release_source(release: Release) -> ReleaseSource:
    """As `release_source`, every file of it checked before the first is read.

    Raises
    ------
    StoredFileError
        If one of them, or the corpus, is not what was stored.
    """
    for name in release.manifest["files"]:
        release_file_path(release, name)
    source = release_source(release)
    if source.documents is not None and release.corpus_version is not None:
        corpus_reader(release.corpus_version)
    return source


def source_of_files(
    *,
    path_of: PathOf,
    manifest: Mapping[str, Any],
    title: str,
    description: str,
    documents: Callable[[], Iterator[DocumentLike]] | None,
    see_hidden: bool,
) -> ReleaseSource:
    """A release from its files and its manifest, wherever the files are."""
    public, hidden = splits_in(manifest)
    grades = tuple(manifest.get("grades") or ())
    corpus = manifest.get("corpus") or {}
    queries = partial(_queries, path_of(QUERIES))
    return ReleaseSource(
        slug=manifest["benchmark"],
        version=manifest["version"],
        title=manifest.get("title") or title,
        description=manifest.get("description") or description,
        unit=manifest.get("unit", "document"),
        lang=manifest.get("lang", ""),
        licence=manifest.get("licence", ""),
        citation=manifest.get("citation", ""),
        threshold=_threshold(manifest),
        grades=grades,
        splits=tuple(sorted([*public, *hidden])) if see_hidden else public,
        hidden=hidden,
        queries=queries,
        query_shape=_query_shape(manifest, queries),
        qrels=partial(_qrels_of_split, path_of, manifest, see_hidden),
        documents=documents,
        document_shape=_shape(corpus.get("metadata_kinds") or {}),
        slices=Later(partial(_slices, path_of, manifest)),
        families=Later(partial(_families, path_of, manifest)),
        weights=Later(partial(_weights, path_of, manifest)),
        manifest=manifest,
        machine_labels=partial(file_pieces, path_of(LABELS))
        if LABELS in manifest["files"]
        else None,
    )


# --- parts of a release ----------------------------------------------------------------------


def release_slices(release: Release) -> dict[str, tuple[str, ...]]:
    """{slice: its queries} as the release froze them, both in the order of their bytes."""
    return _slices(_path_of(release), release.manifest)


def release_families(release: Release) -> dict[str, str]:
    """{query: family} as the release froze them; a family is called by its smallest query id."""
    return _families(_path_of(release), release.manifest)


def release_weights(release: Release) -> dict[str, float]:
    """{query: what it stands for in a weighted mean}, of the queries that have a weight."""
    return _weights(_path_of(release), release.manifest)


def release_splits(release: Release) -> dict[str, tuple[str, ...]]:
    """{split: its queries}, hidden ones too: which queries a split has is not a secret."""
    path_of = _path_of(release)
    if SPLITS in release.manifest["files"]:
        return {split: tuple(qids) for split, qids in _splits_as_written(path_of).items()}
    return _splits_by_qrels(path_of, release.manifest)


def hidden_queries(release: Release) -> frozenset[str]:
    """The queries of a release whose grades, and values, only its keepers may see."""
    hidden = release.hidden_splits
    if not hidden:
        return frozenset()
    splits = release_splits(release)
    return frozenset(qid for split in hidden for qid in splits.get(split, ()))


def hidden_parts(release: Release) -> list[frozenset[str]]:
    """The graded queries of each hidden split, and of all of them."""
    if not release.hidden_splits:
        return []
    graded, splits = frozenset(release_qrels(release)), release_splits(release)
    parts = [graded.intersection(splits.get(split, ())) for split in release.hidden_splits]
    return [*parts, frozenset[str]().union(*parts)]


def splits_in(manifest: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The public and the hidden splits that a manifest's files hold."""
    splits: dict[str, list[str]] = {"qrels": [], "hidden": []}
    for name in sorted(manifest["files"]):
        folder, _, rest = name.partition("/")
        if folder in splits and rest.endswith(".tsv"):
            splits[folder].append(rest.removesuffix(".tsv"))
    return tuple(splits["qrels"]), tuple(splits["hidden"])


# --- reading the files -----------------------------------------------------------------------


def _path_of(release: Release) -> PathOf:
    return partial(release_file_path, release)


def _documents_of(release: Release) -> Callable[[], Iterator[DocumentLike]] | None:
    version = release.corpus_version
    is_passed_on = (release.manifest.get("corpus") or {}).get("texts", True)
    if version is None or not is_passed_on or not release.benchmark.corpus.has_texts:
        return None
    return lambda: documents_in_unit(version, release.manifest.get("unit", ""))


def _queries(path: Path) -> Iterator[SourceQuery]:
    with path.open("rb") as stream:
        for line in stream:
            row = json.loads(line)
            yield SourceQuery(row["_id"], row["text"], row.get("metadata") or {})


def _query_shape(
    manifest: Mapping[str, Any], queries: Callable[[], Iterator[SourceQuery]]
) -> MetadataShape:
    """The shape of queries as their file has them, which the manifest has of what was written."""
    kinds = manifest.get("query_metadata_kinds")
    if kinds is None:
        return metadata_shape(row.metadata for row in queries())
    return _shape(kinds).written


def _shape(kinds: Mapping[str, Iterable[str]]) -> MetadataShape:
    return MetadataShape({key: set(values) for key, values in kinds.items()})


def _threshold(manifest: Mapping[str, Any]) -> int:
    if "threshold" in manifest:
        return int(manifest["threshold"])
    grades = manifest.get("grades") or ()
    return min((grade["value"] for grade in grades if grade["is_relevant"]), default=1)


def _qrels_of_split(
    path_of: PathOf, manifest: Mapping[str, Any], see_hidden: bool, split: str
) -> Qrels:
    """The rows of a split; a table of BEIR cannot say -1, so such rows are read from TREC qrels."""
    public, hidden = splits_in(manifest)
    if split in hidden and see_hidden:
        yield from hidden_rows(path_of(qrels_name(split, is_hidden=True)))
    elif split not in public:
        raise KeyError(split)
    elif manifest["qrels"].get("n_unjudged") and SPLITS in manifest["files"]:
        qids = set(_splits_as_written(path_of)[split])
        yield from (row for row in _trec_rows(path_of("qrels.trec")) if row[0] in qids)
    else:
        yield from _qrels_rows(path_of(qrels_name(split)))


def _trec_rows(path: Path) -> Qrels:
    with path.open("rb") as stream:
        for line in stream:
            qid, _, docid, grade = line.decode().split()
            yield qid, docid, int(grade)


def _splits_as_written(path_of: PathOf) -> dict[str, list[str]]:
    splits: dict[str, list[str]] = json.loads(path_of(SPLITS).read_bytes())["splits"]
    return splits


def _qrels_rows(path: Path) -> Qrels:
    for qid, docid, grade in _table(path):
        yield qid, docid, int(grade)


def _table(path: Path) -> Iterator[list[str]]:
    with path.open("rb") as stream:
        next(stream)
        for line in stream:
            yield line.rstrip(b"\n").decode().split("\t")


def _slices(path_of: PathOf, manifest: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    if SLICES not in manifest["files"]:
        return {}
    slices_by_query: dict[str, list[str]] = {}
    for qid, name in _table(path_of(SLICES)):
        slices_by_query.setdefault(name, []).append(qid)
    return {name: tuple(slices_by_query[name]) for name in sorted(slices_by_query, key=str.encode)}


def _families(path_of: PathOf, manifest: Mapping[str, Any]) -> dict[str, str]:
    if FAMILIES in manifest["files"]:
        return {row[0]: row[1] for row in _table(path_of(FAMILIES))}
    families = {
        row.qid: row.metadata.get("family") or row.qid for row in _queries(path_of(QUERIES))
    }
    return family_names(families, families)


def _weights(path_of: PathOf, manifest: Mapping[str, Any]) -> dict[str, float]:
    if WEIGHTS not in manifest["files"]:
        return {}
    return {qid: float(weight) for qid, weight in _table(path_of(WEIGHTS))}


def _splits_by_qrels(path_of: PathOf, manifest: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Splits of a release that has no list of them: by who is graded where, else the default."""
    public, _ = splits_in(manifest)
    split_of = {
        row[0]: split for split in public for row in _qrels_rows(path_of(qrels_name(split)))
    }
    splits: dict[str, list[str]] = {}
    for query in _queries(path_of(QUERIES)):
        splits.setdefault(split_of.get(query.qid, DEFAULT_SPLIT), []).append(query.qid)
    return {split: tuple(qids) for split, qids in splits.items()}
