"""BEIR's three files as streams of bytes, and a zip of them, the same bytes for the same input."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from benchwright.formats.beir import LARGEST_GRADE, QRELS_HEADER
from benchwright.formats.errors import UnwritableRowError
from benchwright.ids import id_problem

# The earliest time a zip can say; a file of a release has no time of its own.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
ZIP_MODE = 0o100644 << 16
UNIX = 3
BLOCK = 1 << 16
MAX_METADATA_KEYS = 64
OTHER_KEY = "original"
# What pandas takes for a missing value, and with it each reader that is built on it.
NULL_WORDS = frozenset(
    {
        *("NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NULL", "null", "None", "NaN", "nan", "-NaN"),
        *("-nan", "1.#IND", "1.#QNAN", "-1.#IND", "-1.#QNAN"),
    }
)
# What a reader that guesses types writes otherwise than it stood there: 007, +7, 1.50, 1e5, inf.
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf|infinity)",
    re.IGNORECASE | re.ASCII,
)
_PLAIN_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)
# How any of these begins: nearly every id is done with after one look.
_SUSPICIOUS = frozenset('0123456789+-.#<"NniI')

Row = TypeVar("Row")


class DocumentLike(Protocol):
    @property
    def docid(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


class QueryLike(Protocol):
    @property
    def qid(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


# Metadata: the same keys, with the same types, in every row


@dataclass(slots=True)
class MetadataShape:
    """The keys that any row's metadata has, and the one type each is written as.

    Type-guessing readers need both to be equal in every row: a key that a row lacks is written
    as null, and what has no single plain type over all rows is written as JSON text. More than 64
    keys (documents keyed by id, say) are written together, as JSON text under `original`.
    """

    kinds: dict[str, set[str]] = field(default_factory=dict)

    def add(self, metadata: Mapping[str, Any]) -> None:
        """Take one row's metadata into account; once there are too many keys, no more is kept."""
        for key, value in metadata.items():
            if len(self.kinds) <= MAX_METADATA_KEYS:
                self.kinds.setdefault(key, set()).add(_kind_of(value))

    def applied(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row's metadata with every key, sorted, each in its type."""
        if len(self.kinds) > MAX_METADATA_KEYS:
            return {OTHER_KEY: json_text(dict(metadata))}
        return {key: self._value(key, metadata.get(key)) for key in sorted(self.kinds)}

    @property
    def written(self) -> "MetadataShape":
        """The shape of the rows as they are written: applied to them it changes nothing."""
        if len(self.kinds) > MAX_METADATA_KEYS:
            return MetadataShape({OTHER_KEY: {"string"}})
        return MetadataShape({key: {self._kind(key)} for key in self.kinds})

    def _kind(self, key: str) -> str:
        """The one type that a key is written as; `null` where no row has a value."""
        kinds = self.kinds[key] - {"null"}
        if kinds == {"integer", "number"}:
            return "number"
        return next(iter(kinds), "null") if len(kinds) < 2 and "json" not in kinds else "string"

    def _value(self, key: str, value: Any) -> Any:
        if value is None or self.kinds[key] - {"null"} == {self._kind(key)}:
            return value
        return float(value) if self._kind(key) == "number" else json_text(value)


def metadata_shape(rows: Iterable[Mapping[str, Any]]) -> MetadataShape:
    """Return the shape of all these rows' metadata; one pass, one row in memory."""
    shape = MetadataShape()
    for row in rows:
        shape.add(row)
    return shape


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "strings"
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return kinds.get(type(value), "json")


# One encoder for all rows: json.dumps would make one for each.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def json_text(value: Any) -> str:
    """Return a value as JSON on one line, non-ASCII as it is."""
    return _encode(value)


# The three files


def corpus_jsonl(documents: Iterable[DocumentLike], *, shape: MetadataShape) -> Iterator[bytes]:
    """Yield the lines of corpus.jsonl.

    Parameters
    ----------
    documents
        Sorted by the bytes of their ids, each id once.
    shape
        Of all documents' metadata: `metadata_shape`.

    Raises
    ------
    UnwritableRowError
        If an id is out of order, comes twice or cannot be an id.
    """
    order = _Order("corpus.jsonl")
    for document in documents:
        order.check(document.docid)
        yield _line(
            {
                "_id": document.docid,
                "title": document.title,
                "text": document.text,
                "metadata": shape.applied(document.metadata),
            }
        )


def queries_jsonl(queries: Iterable[QueryLike], *, shape: MetadataShape) -> Iterator[bytes]:
    """Yield the lines of queries.jsonl; arguments and errors as of `corpus_jsonl`."""
    order = _Order("queries.jsonl")
    for query in queries:
        order.check(query.qid)
        metadata = shape.applied(query.metadata)
        yield _line({"_id": query.qid, "text": query.text, "metadata": metadata})


def qrels_tsv(rows: Iterable[tuple[str, str, int]], *, file: str = "qrels") -> Iterator[bytes]:
    """Yield the lines of a qrels TSV, header first.

    Parameters
    ----------
    rows
        Query id, document id, grade from 0 to 127; sorted by the bytes of both ids, each pair once.
        Grade 0 is kept: it says judged and not relevant.
    file
        How errors call it.

    Raises
    ------
    UnwritableRowError
        If a pair is out of order or comes twice, an id cannot be written, or a grade is negative:
        BEIR's readers take -1 for a grade and not for "unjudged".
    """
    order = _Order(file)
    yield "\t".join(QRELS_HEADER).encode() + b"\n"
    for qid, docid, grade in rows:
        order.check(qid, docid)
        check_grade(file, qid, docid, grade)
        yield f"{qid}\t{docid}\t{grade}\n".encode()


def _line(record: dict[str, Any]) -> bytes:
    # Keys in the order given, non-ASCII as it is: tabs and line feeds are the escapes of JSON.
    return json_text(record).encode() + b"\n"


def check_grade(file: str, qid: str, docid: str, grade: int) -> None:
    """Raise `UnwritableRowError` where a grade or the beginning of an id cannot be written."""
    row = f"{qid}, {docid}"
    if type(grade) is not int or not 0 <= grade <= LARGEST_GRADE:
        reason = f"grade {grade!r}; expected a whole number from 0 to {LARGEST_GRADE}"
        raise UnwritableRowError(file=file, row=row, reason=reason)
    if qid.startswith('"') or docid.startswith('"'):
        reason = "an id begins with a quote, which readers of TSV take away; rename it"
        raise UnwritableRowError(file=file, row=row, reason=reason)


class _Order:
    """Checks that ids can be written and come in the order of their bytes, each once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.last: tuple[bytes, ...] = ()

    def check(self, *ids: str) -> None:
        problem = next((reason for reason in map(id_problem, ids) if reason), None)
        key = tuple(text.encode(errors="surrogatepass") for text in ids)
        if not problem and key == self.last:
            problem = "comes twice; each may come once"
        elif not problem and key < self.last:
            problem = "is out of order; rows are sorted by the bytes of their ids"
        if problem:
            raise UnwritableRowError(file=self.file, row=", ".join(ids), reason=problem)
        self.last = key


def order_checked(rows: Iterable[Row], id_of: Callable[[Row], str], *, file: str) -> Iterator[Row]:
    """Yield the rows as they are, each found to have an id that can be written, in order, once.

    Raises
    ------
    UnwritableRowError
        At the first row that has not.
    """
    order = _Order(file)
    for row in rows:
        order.check(id_of(row))
        yield row


@dataclass(frozen=True, slots=True)
class Hazard:
    """What a reader of the field makes of an id that is correct; `code` is the linter's."""

    code: str
    says: str


def hazard_of(text: str) -> Hazard | None:
    """Return what a reader that guesses types, or takes quotes away, makes of an id."""
    first = text[:1]
    if first not in _SUSPICIOUS:
        return None
    if first == '"':
        return Hazard("id-quote", "readers of TSV take its quote away")
    if text in NULL_WORDS:
        return Hazard("id-null-word", "readers that guess types take it for a missing value")
    if text.isascii() and text.isdigit() and first == "0" and len(text) > 1:
        reason = f"readers that guess types take it for the number {int(text)}"
        return Hazard("id-leading-zeros", reason)
    if _NUMBER.fullmatch(text) and not _PLAIN_NUMBER.fullmatch(text):
        return Hazard("id-number", "among numbers alone, readers that guess types write it anew")
    return None


def id_hazard(text: str) -> str | None:
    """Return what a reader of the field makes of an id that is correct, or None.

    Examples
    --------
    >>> id_hazard("d1")
    >>> id_hazard("007")
    'readers that guess types take it for the number 7'
    """
    hazard = hazard_of(text)
    return hazard.says if hazard else None


# The zip


class _Outlet(io.RawIOBase):
    """What a zip is written to: it keeps the bytes until they are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        content, self.parts = b"".join(self.parts), []
        return content


def streamed_zip(members: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield a zip piece by piece, in constant memory; the same members give the same bytes.

    Parameters
    ----------
    members
        Name (with `/` between folders) and content in pieces. All names begin with one top
        folder, as BEIR's unzip helper expects. Sizes need not be known and may pass 4 GiB.

    Raises
    ------
    UnwritableRowError
        If a name has no folder, another top folder, or comes twice.

    Notes
    -----
    Equal bytes need an equal zlib: hashes of a release are taken of the members, not of the zip.
    """
    outlet = _Outlet()
    names: list[str] = []
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in members:
            _check_member_name(name, names)
            with archive.open(_zip_info(name), "w", force_zip64=True) as entry:
                for block in _blocks(pieces):
                    entry.write(block)
                    yield outlet.take()
            yield outlet.take()
    yield outlet.take()


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join small pieces: a line at a time would be slow to compress and to send."""
    waiting, size = [], 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _zip_info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, date_time=ZIP_TIME)
    # Parquet is compressed already; to do it again takes long and gains nothing.
    is_packed = name.endswith(".parquet")
    info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
    info.external_attr = ZIP_MODE
    info.create_system = UNIX  # else the machine that writes would show in the bytes
    return info


def _check_member_name(name: str, names: list[str]) -> None:
    """Refuse a name that would not unpack into the one top folder, and note the others."""
    top, _, rest = name.partition("/")
    is_plain = all(part not in ("", ".", "..") for part in name.split("/")) and "\\" not in name
    reason = None
    if not rest or not is_plain:
        reason = "expected a name such as toy/corpus.jsonl, inside one top folder"
    elif names and top != names[0].partition("/")[0]:
        reason = f"is outside the top folder of {names[0]}"
    elif name in names:
        reason = "comes twice"
    if reason:
        raise UnwritableRowError(file="zip", row=name, reason=reason)
    names.append(name)
