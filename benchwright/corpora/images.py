"""Images of documents and queries: checked one by one, and named by what they hold.

A row says which images it has by their paths in its archive; what is kept in its metadata are their
digests, so an image that changes changes the corpus version.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from benchwright.errors import ArchiveError, Problem, Problems
from benchwright.files.archives import open_source
from benchwright.files.inputs import FileInput, Input, MemberInput
from benchwright.files.sources import Limits, Source
from benchwright.formats.beir import CorpusRow, QueryRow
from benchwright.formats.errors import ImageArchiveError
from benchwright.formats.tables import CELL, head_of, image_columns, images_of_cell, parquet_rows
from benchwright.judges.errors import ImageError
from benchwright.judges.images import ImageLimits, checked_image
from benchwright.sandbox import reader
from benchwright.texts.images import IMAGE_KEY, digests_in

PATH_KEYS = ("image", "images", "image_path", "img_path", "file", "file_name", "path")
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff")
THUMBNAIL_SIDE = 256
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class DocumentImage:
    """An image that lies in a folder under its digest, and its thumbnail likewise."""

    sha256: str
    media_type: str
    width: int
    height: int
    size: int
    thumbnail: str


@reader
def images_in(
    path: Path,
    name: str,
    member: str,
    folder: Path,
    limits: ImageLimits,
    max_bytes: int,
    *,
    progress: Tell,
) -> tuple[dict[str, DocumentImage], dict[str, Problem]]:
    """The images of a table's documents by the names that its rows have for them.

    Whole ones are put into `folder`; of the others it is told what is wrong. Of a Parquet table
    (`member` of a collection, or the file itself) they are what its cells hold, by the digests of
    their bytes (`tables.images_of_cell`), and otherwise all of the archive, by their paths.

    Raises
    ------
    ImageArchiveError
        If the table comes alone, without its images.
    ArchiveError
        If it is damaged, or its files come to more than `max_bytes`.
    """
    aside = _Aside(folder, limits)
    bounds = Limits(max_bytes=max_bytes)
    with open_source(path, limits=bounds) if member else nullcontext() as source:
        table = MemberInput(source, member) if source else FileInput(path, name)
        if head_of(table).is_parquet:
            _take_cells(table, folder, max_bytes, aside, progress)
        if source and not aside.images:
            _take_members(source, limits, aside, progress)
    if not source and not aside.images and not aside.broken:
        raise ImageArchiveError(file=name)
    return aside.images, aside.broken


def are_files(images: Iterable[str]) -> bool:
    """Whether images, by the names that `images_in` gives them, lie beside their table."""
    names = list(images)
    return bool(names) and not any(name.startswith(CELL) for name in names)


def _take_members(source: Source, limits: ImageLimits, aside: "_Aside", progress: Tell) -> None:
    members = [member for member in source.members() if member.lower().endswith(SUFFIXES)]
    for n, member in enumerate(members):
        progress(n, len(members), "looking into the images")
        with source.opened(member) as stream:
            data = stream.read(limits.max_bytes + 1)  # one byte more says that it is too large
        aside.put(member, data, member, 0)


def _take_cells(
    table: Input, folder: Path, max_bytes: int, aside: "_Aside", progress: Tell
) -> None:
    """Put the images of a Parquet table's cells aside.

    Raises
    ------
    ArchiveError
        If it is damaged, or its images come to more than `max_bytes`.
    """
    path = table.seekable(folder)
    columns = image_columns(path, table.shown)
    n_bytes = 0
    for line, row in enumerate(parquet_rows(path, table.shown) if columns else (), start=1):
        progress(line, 0, "looking into the images")
        for column in columns:
            for key, data in images_of_cell(row[column]):
                n_bytes += len(data)
                if n_bytes > max_bytes:
                    reason = f"its images come to more than {max_bytes:,} bytes"
                    raise ArchiveError(file=table.shown, reason=reason)
                if data and key not in aside.images and key not in aside.broken:
                    aside.put(key, data, table.shown, line)


class _Aside:
    """Images that lie in a folder by their digests, and what is wrong with the others."""

    def __init__(self, folder: Path, limits: ImageLimits) -> None:
        self.folder, self.limits = folder, limits
        self.images: dict[str, DocumentImage] = {}
        self.broken: dict[str, Problem] = {}

    def put(self, key: str, data: bytes, file: str, line: int) -> None:
        try:
            self.images[key] = _put_aside(data, file, self.folder, self.limits)
        except ImageError as error:
            self.broken[key] = Problem(file, line, str(error).removeprefix(f"{file}: "))


def _put_aside(data: bytes, name: str, folder: Path, limits: ImageLimits) -> DocumentImage:
    image = checked_image(data, limits, name=name)
    thumbnail = thumbnail_of(image.data)
    digest = sha256(thumbnail).hexdigest()
    (folder / image.sha256).write_bytes(image.data)
    (folder / digest).write_bytes(thumbnail)
    return DocumentImage(
        image.sha256, image.media_type, image.width, image.height, len(image.data), digest
    )


def thumbnail_of(data: bytes) -> bytes:
    """A PNG of at most 256 pixels a side, of the first frame; what is transparent stays so."""
    from PIL import Image, ImageOps

    with Image.open(BytesIO(data)) as picture:
        upright = ImageOps.exif_transpose(picture)
        has_alpha = "A" in upright.getbands() or "transparency" in upright.info
        small = upright.convert("RGBA" if has_alpha else "RGB")
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    out = BytesIO()
    small.save(out, format="PNG")
    return out.getvalue()


def with_images(
    rows: Iterable[CorpusRow],
    images: Mapping[str, DocumentImage],
    *,
    broken: Iterable[str],
    column: str,
    file: str,
    problems: Problems,
) -> Iterator[CorpusRow]:
    """Yield the rows, each with the digests of its images; one that names none is a problem.

    The paths stand in `column`, or where that is empty in one that is usually called so. A path is
    one inside the archive, or only the last part of it where no two files share that; images of
    `broken` paths are told of elsewhere.
    """
    named = _Named(images, broken, file, problems)
    for row in rows:
        key, names = _names(row.metadata, [column] if column else PATH_KEYS)
        if not names:
            where = f"column '{column}'" if column else f"one of {', '.join(PATH_KEYS)}"
            text = f"document {row.docid} has no image; expected its path in {where}"
            problems.add(file, row.line, text)
            continue
        metadata = named.metadata(row, key, names)
        if metadata is not None:
            yield row._replace(metadata=metadata)


def with_query_images(
    rows: Iterable[QueryRow],
    load: Callable[[], tuple[Mapping[str, DocumentImage], Iterable[str]]],
    *,
    column: str,
    file: str,
    problems: Problems,
) -> Iterator[QueryRow]:
    """Yield the queries, each with the digests of the images that it has in `column`, if any.

    `load` gives the images, and paths of broken ones, as `with_images` takes them; it is called
    when the first query has any. An address on the web is no image, and stays as it is.
    """
    named = None
    for row in rows:
        key, names = _names(row.metadata, [column])
        if not names or any(name.startswith(("https://", "http://")) for name in names):
            if digests_in(row.metadata) or not row.text:
                text = f"query {row.qid} has no image; expected its path in column '{column}'"
                problems.add(file, row.line, text)
            else:
                yield row
            continue
        named = named or _Named(*load(), file, problems)
        metadata = named.metadata(row, key, names)
        if metadata is not None:
            yield replace(row, metadata=metadata)


class _Named:
    """Images as the rows of a table name them."""

    def __init__(
        self,
        images: Mapping[str, DocumentImage],
        broken: Iterable[str],
        file: str,
        problems: Problems,
    ) -> None:
        self.images, self.file, self.problems = images, file, problems
        self.paths = _Paths([*images, *broken])

    def metadata(
        self, row: CorpusRow | QueryRow, key: str, names: list[str]
    ) -> dict[str, Any] | None:
        """The metadata of a row with its digests; None where one of them is not to be had."""
        digests = []
        for name in names:
            path = self.paths.full(name, beside=self.file)
            if path is None:
                advice = "expected the path of a PNG, JPEG, GIF, WebP or TIFF inside the same zip"
                problem = f"image '{name[:200]}' is not there; {advice}"
                self.problems.add(self.file, row.line, problem)
            elif path in self.images:
                digests.append(self.images[path].sha256)
        if len(digests) < len(names):
            return None
        # Last, also where an export of ours has them already: equal rows are equal to the byte.
        others = {key: value for key, value in row.metadata.items() if key != IMAGE_KEY}
        metadata = others | {IMAGE_KEY: digests}
        if names[0].startswith(CELL):
            _name_by_paths(metadata, key)
        return metadata


def _name_by_paths(metadata: dict[str, Any], key: str) -> None:
    """Of images that were cells, keep the paths that are told; their digests stand elsewhere."""
    paths = [name.split(" ", 2)[2:] for name in _names(metadata, [key])[1]]
    if not all(paths):
        del metadata[key]
    else:
        cell_paths = [path for (path,) in paths]
        metadata[key] = cell_paths if isinstance(metadata[key], list) else cell_paths[0]


def _names(metadata: Mapping[str, Any], keys: Iterable[str]) -> tuple[str, list[str]]:
    """The first column that has any images, and their paths in order."""
    for key in keys:
        value = metadata.get(key)
        values = value if isinstance(value, list) else [value]
        names = [name for name in values if isinstance(name, str) and name]
        if names and len(names) == len(values):
            return key, names
    return "", []


class _Paths:
    """Paths of an archive: by themselves, beside the table, or where one ends as the other."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = set(paths)
        self.by_last: dict[str, list[str]] = {}
        for path in self.paths:
            self.by_last.setdefault(path.rpartition("/")[2], []).append(path)

    def full(self, name: str, *, beside: str) -> str | None:
        plain = (name if name in self.paths else name.replace("\\", "/")).removeprefix("./")
        folder = beside.rpartition("/")[0]
        for path in (plain, f"{folder}/{plain}"):
            if path in self.paths:
                return path
        # Of another folder of a longer path it is another image, though it has the same name.
        fits = [
            path
            for path in self.by_last.get(plain.rpartition("/")[2], [])
            if f"/{path}".endswith(f"/{plain}") or f"/{plain}".endswith(f"/{path}")
        ]
        return fits[0] if len(fits) == 1 else None
