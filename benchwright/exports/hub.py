"""A dataset repository: Parquet files, and a README.md whose head says what they are.

No Python script (readers refuse them), no CSV (its readers guess types): ids are strings because
the files say so. The config `qrels` is the default one; with it `load_dataset(repo)`, BEIR's
HFDataLoader and MTEB all find the grades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.exports.exporter import (
    Exporter,
    Member,
    Snippet,
    documents_of,
    file_pieces,
    judged,
)
from benchwright.exports.side_files import side_files
from benchwright.files.external_sort import batched
from benchwright.files.parquet import ParquetSink
from benchwright.formats.beir_writing import (
    DocumentLike,
    MetadataShape,
    QueryLike,
    check_grade,
    json_text,
    order_checked,
)
from benchwright.formats.unlisted import NOT_RELEVANT, unlisted_of, unlisted_sentence
from benchwright.releases.machines import machine_sentence, machine_title
from benchwright.releases.source import ReleaseSource

if TYPE_CHECKING:
    import polars as pl

README = "README.md"
CORPUS, QUERIES, QRELS = "corpus", "queries", "qrels"
SHARD_ROWS = 500_000
# Text of a shard: a file of a few hundred megabytes is what downloads and viewers like.
SHARD_BYTES = 400 << 20
GROUP_ROWS = 10_000
# Of a table with images in it, as dataset libraries write them.
IMAGE_ROWS = 100
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LICENCES = frozenset(
    {
        *("apache-2.0", "mit", "mpl-2.0", "gpl-3.0", "lgpl-3.0", "bsd-2-clause", "bsd-3-clause"),
        *("cc0-1.0", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
        *("cc-by-nc-4.0", "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0", "cc-by-nd-4.0"),
        *("odc-by", "odbl", "pddl", "unlicense"),
    }
)


@dataclass(slots=True)
class Config:
    """One of the repository's tables: its columns, and the files of each split."""

    name: str
    features: tuple[tuple[str, str], ...]
    files: dict[str, list[str]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    is_default: bool = False

    def in_head(self) -> dict[str, Any]:
        """Return the config as a README's `configs` has it."""
        splits = [{"split": split, "path": paths} for split, paths in self.files.items()]
        head: dict[str, Any] = {"config_name": self.name, "data_files": splits}
        return head | ({"default": True} if self.is_default else {})

    @property
    def rows_at_once(self) -> int:
        """Rows that are held in memory, and of which a row group is made."""
        has_images = any(dtype in (IMAGE, IMAGES) for _, dtype in self.features)
        return IMAGE_ROWS if has_images else GROUP_ROWS

    def info(self) -> dict[str, Any]:
        """Return the columns as a README's `dataset_info` has them."""
        features = [
            {"name": name, **({"sequence": IMAGE} if dtype == IMAGES else {"dtype": dtype})}
            for name, dtype in self.features
        ]
        return {"config_name": self.name, "features": features}


TEXT_FEATURES = (("_id", "string"), ("title", "string"), ("text", "string"))
QUERY_FEATURES = (("_id", "string"), ("text", "string"))
QREL_FEATURES = (("query-id", "string"), ("corpus-id", "string"), ("score", "int32"))
METADATA = (("metadata", "string"),)
# A column of one image a row is called `image`, one of several `images`.
IMAGE, IMAGES = "image", "images"


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield the shards of the three tables, the files beside them, and the README that names all.

    Metadata is one column of JSON text, there only where any row has some: in columns of its own it
    would have nulls, and MTEB stops at the first one.
    """
    image_column = _image_column(source, documents_of) if source.unit == IMAGE else ()
    features = TEXT_FEATURES + image_column + _metadata_column(source.document_shape)
    corpus = Config(CORPUS, features)
    yield from shards(corpus, CORPUS, _document_rows(source, image_column), work, stem=CORPUS)
    image_column = _image_column(source, lambda of: of.queries())
    features = QUERY_FEATURES + image_column + _metadata_column(source.query_shape)
    queries = Config(QUERIES, features)
    yield from shards(queries, QUERIES, _query_rows(source, image_column), work, stem=QUERIES)
    qrels = Config(QRELS, QREL_FEATURES, is_default=True)
    for split in source.splits:
        rows = _qrel_rows(source, split)
        yield from shards(qrels, split, rows, work, stem=QRELS, file=split)
    yield README, [readme(source, [qrels, corpus, queries])]
    yield from side_files(source)


def _metadata_column(shape: MetadataShape) -> tuple[tuple[str, str], ...]:
    return METADATA if shape.kinds else ()


def _image_column(
    source: ReleaseSource, rows_of: Callable[[ReleaseSource], Iterable[DocumentLike | QueryLike]]
) -> tuple[tuple[str, str], ...]:
    """The column of images, where rows have any: of lists, where one has several."""
    if source.images is None:
        return ()
    most = max((len(source.images(row)) for row in rows_of(source)), default=0)
    kind = IMAGES if most > 1 else IMAGE
    return ((kind, kind),) if most else ()


def _document_rows(
    source: ReleaseSource, image_column: tuple[tuple[str, str], ...]
) -> Iterator[tuple[Any, ...]]:
    rows = order_checked(documents_of(source), lambda document: document.docid, file=CORPUS)
    for document in rows:
        images = [_image_cell(source, document, kind) for kind, _ in image_column]
        more = _metadata(source.document_shape, document.metadata)
        yield (document.docid, document.title, document.text, *images, *more)


def _image_cell(source: ReleaseSource, row: DocumentLike | QueryLike, kind: str) -> Any:
    """A cell of images, as the library `datasets` has it: bytes, and the path they came from."""
    files = source.images(row) if source.images else ()
    named = row.metadata.get(kind)
    paths = named if isinstance(named, list) else [named]
    file_paths = [*paths, *[None] * len(files)] if len(paths) == len(files) else [None] * len(files)
    cells = [
        {"bytes": file.read_bytes(), "path": path if isinstance(path, str) else None}
        for file, path in zip(files, file_paths, strict=False)
    ]
    return cells if kind == IMAGES else next(iter(cells), None)


def _query_rows(
    source: ReleaseSource, image_column: tuple[tuple[str, str], ...]
) -> Iterator[tuple[Any, ...]]:
    for query in order_checked(source.queries(), lambda query: query.qid, file=QUERIES):
        images = [_image_cell(source, query, kind) for kind, _ in image_column]
        yield (query.qid, query.text, *images, *_metadata(source.query_shape, query.metadata))


def _metadata(shape: MetadataShape, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the cell of the column of metadata, where there is one."""
    return (json_text(shape.applied(metadata)),) if shape.kinds else ()


def _qrel_rows(source: ReleaseSource, split: str) -> Iterator[tuple[str, str, int]]:
    for qid, docid, grade in judged(source, split):
        check_grade(f"{QRELS}/{split}", qid, docid, grade)
        yield qid, docid, grade


# --- shards --------------------------------------------------------------------------------------


def shards(
    config: Config,
    split: str,
    rows: Iterable[Sequence[Any]],
    work: Path,
    *,
    stem: str,
    file: str | None = None,
) -> Iterator[Member]:
    """Yield the Parquet files of a split, one on the disk at a time, and note them in `config`.

    Where the rows are cut depends on the rows alone. A split without rows has one file.
    """
    config.files[split] = []
    config.rows[split] = 0
    batches = _batches(rows, config)
    waiting = next(batches, None)
    while waiting is not None or not config.files[split]:
        name = f"{stem}/{file or stem}-{len(config.files[split]):05d}.parquet"
        path = work / name.replace("/", "-")
        with ParquetSink(path, schema=_schema(config), rows_per_group=config.rows_at_once) as sink:
            n_rows = n_bytes = 0
            while waiting is not None and n_rows < SHARD_ROWS and n_bytes < SHARD_BYTES:
                frame, size = waiting
                sink.write(frame)
                n_rows, n_bytes = n_rows + frame.height, n_bytes + size
                waiting = next(batches, None)
        config.files[split].append(name)
        config.rows[split] += n_rows
        yield name, file_pieces(path)
        path.unlink()


def _schema(config: Config) -> dict[str, Any]:
    import polars as pl

    image = pl.Struct({"bytes": pl.Binary(), "path": pl.String()})
    kinds = {"string": pl.String(), "int32": pl.Int32(), IMAGE: image, IMAGES: pl.List(image)}
    return {name: kinds[dtype] for name, dtype in config.features}


def _batches(rows: Iterable[Sequence[Any]], config: Config) -> Iterator[tuple[pl.DataFrame, int]]:
    """Yield frames of rows, each with the size of its contents."""
    for batch in batched(rows, config.rows_at_once):
        yield _frame(batch, config)


def _frame(batch: Sequence[Sequence[Any]], config: Config) -> tuple[pl.DataFrame, int]:
    import polars as pl

    schema = _schema(config)
    columns = dict(zip(schema, zip(*batch, strict=True), strict=True))
    frame = pl.DataFrame(columns, schema=schema, strict=True)
    return frame, int(frame.estimated_size())


# --- the README ----------------------------------------------------------------------------------


def readme(source: ReleaseSource, configs: Sequence[Config], *, note: str = "") -> bytes:
    """Return the README.md of a repository with these tables."""
    import yaml

    n_documents = sum(max(config.rows.values(), default=0) for config in configs[1:2])
    head: dict[str, Any] = {
        "pretty_name": source.title or source.slug,
        **_licence(source.licence),
        "task_categories": ["text-retrieval"],
        "tags": ["information-retrieval", "benchmark"],
        "size_categories": [next((name for n, name in SIZES if n_documents < n), "n>1M")],
        "configs": [config.in_head() for config in configs],
        "dataset_info": [config.info() for config in configs],
    }
    if source.lang:
        head["language"] = [source.lang.partition("-")[0]]
    written = yaml.safe_dump(head, sort_keys=True, allow_unicode=True, width=100)
    return f"---\n{written}---\n\n{_body(source, note)}".encode()


def _licence(licence: str) -> dict[str, str]:
    if not licence:
        return {}
    slug = licence.strip().lower().replace(" ", "-")
    if slug in LICENCES:
        return {"license": slug}
    return {"license": "other", "license_name": licence.strip()}


def _body(source: ReleaseSource, note: str) -> str:
    parts = [f"# {source.title or source.slug} {source.version}"]
    if source.description:
        parts.append(source.description.strip())
    if note:
        parts.append(note)
    scale = ", ".join(f"{grade['value']} {grade['name']}" for grade in source.grades)
    if scale:
        parts.append(f"Grades: {scale}. Relevant from {source.threshold} on.")
    if sentence := machine_sentence(source.manifest):
        parts.append(f"**{machine_title(source.manifest)}.** {sentence}")
    if unlisted_of(source.manifest) == NOT_RELEVANT:
        parts.append(unlisted_sentence(NOT_RELEVANT))
    if source.hidden:
        named = ", ".join(source.hidden)
        parts.append(f"Grades of {named} are not published; their queries are among the others.")
    if source.citation:
        parts.append(f"```bibtex\n{source.citation.strip()}\n```")
    return "\n\n".join(parts) + "\n"


SNIPPETS = (
    Snippet(
        "datasets",
        "from datasets import load_dataset\n\n"
        'qrels = load_dataset("{folder}", split="{split}")\n'
        'corpus = load_dataset("{folder}", "corpus", split="corpus")\n'
        'queries = load_dataset("{folder}", "queries", split="queries")',
    ),
    Snippet(
        "beir, from a repository",
        "from beir.datasets.data_loader_hf import HFDataLoader\n\n"
        "# both names: by itself it would look for the grades in …-qrels\n"
        'loader = HFDataLoader(hf_repo="{folder}", hf_repo_qrels="{folder}")\n'
        'corpus, queries, qrels = loader.load(split="{split}")',
    ),
)
HUB = Exporter(
    name="hub",
    label="Hub dataset repository",
    about=(
        "Parquet files of corpus, queries and qrels, and a README.md that says what they are; "
        "upload the folder as it is. Families, slices, weights and the manifest stand beside."
    ),
    needs_texts=True,
    loses=(),
    members=members,
    snippets=SNIPPETS,
    suffix="-hub",
    is_streamed=False,
    has_images=True,
)
