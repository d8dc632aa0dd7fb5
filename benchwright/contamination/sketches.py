"""Sketches of query lists: enough to find near duplicates, and no text.

A sketch holds for each distinct query three kinds of keyed hashes: of its normalised text, of its
words in no order, and of 32 bands of its MinHash signature. Whoever has the salt can hash queries
of their own and look for equal hashes; docs/contamination.md says what a sketch tells and to whom.
"""

import json
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from benchwright.contamination.errors import SaltError, SketchFormatError
from benchwright.families.keys import DEFAULT_LANGUAGE, bag_keys
from benchwright.families.normalising import normalised
from benchwright.files.external_sort import ExternalSort, batched

if TYPE_CHECKING:
    import polars as pl


# --- Keyed hashes of a query: of its text, its words, and the bands of its MinHash signature.

BANDS = 32
ROWS = 4
SHINGLE = 3
KEY_BYTES = 8
BAND_BYTES = 4
ROW_BYTES = 2 * KEY_BYTES + BANDS * BAND_BYTES

LEAST_SALT = 16
MOST_SHINGLES_KEPT = 1_000_000
AT_ONCE = 2_000


def new_salt() -> str:
    """A salt that nobody guesses: 128 random bits, in hexadecimal."""
    return secrets.token_hex(16)


def check_salt(salt: str) -> str:
    """The salt without blanks around it.

    Raises
    ------
    SaltError
        If it is too short to keep anybody from trying all of them.
    """
    salt = salt.strip()
    if len(salt) < LEAST_SALT:
        reason = (
            f"The salt has {len(salt)} characters; expected at least {LEAST_SALT}, as the page of "
            "the check shows them."
        )
        raise SaltError(reason=reason)
    return salt


@dataclass(frozen=True)
class HashedQueries:
    """Hashes of queries, a row each: `keys` are exact and bag, `bands` those of the signature."""

    exact: Any
    bag: Any
    bands: Any

    def __len__(self) -> int:
        return len(self.exact)

    def rows(self) -> list[bytes]:
        """Each query's hashes as they stand in a sketch."""
        keys = np.stack([self.exact, self.bag], axis=1).astype("<u8")
        bands = self.bands.astype("<u4")
        return [key.tobytes() + band.tobytes() for key, band in zip(keys, bands, strict=True)]


class Hasher:
    """Hashes queries under one salt.

    Every hash is BLAKE2b with a key made of the salt, so without the salt none can be tried. Of a
    signature only hashes of four of its values together are kept: a single value would tell a
    shingle of three characters, and there are so few of these that all could be tried.
    """

    def __init__(self, salt: str, language: str = DEFAULT_LANGUAGE) -> None:
        self.key = blake2b(check_salt(salt).encode(), digest_size=32).digest()
        self.language = language
        numbers = range(2 * BANDS * ROWS)
        drawn = np.array([self._number(b"%d" % n, b"permutation") for n in numbers], np.uint64)
        half = BANDS * ROWS
        self._factors = drawn[:half] | np.uint64(1)
        self._addends = drawn[half:]
        self._shingles: dict[str, int] = {}

    @property
    def salt_check(self) -> str:
        """A hash of the salt alone, by which a sketch says which salt it was made with."""
        return blake2b(b"", key=self.key, digest_size=8, person=b"salt-check").hexdigest()

    def documents(self, docids: Sequence[str]) -> Any:
        """The hash of each document's id."""
        return np.array([self._number(docid.encode(), b"document") for docid in docids], np.uint64)

    def queries(self, texts: Sequence[str]) -> HashedQueries:
        """The hashes of each query."""
        plain = [normalised(text) for text in texts]
        bags = bag_keys(texts, self.language)
        parts = [
            self._bands(plain[start : start + AT_ONCE]) for start in range(0, len(plain), AT_ONCE)
        ]
        return HashedQueries(
            exact=np.array([self._number(key.encode(), b"exact") for key in plain], np.uint64),
            bag=np.array([self._number(key.encode(), b"bag") for key in bags], np.uint64),
            bands=np.vstack(parts) if parts else np.empty((0, BANDS), np.uint32),
        )

    def _number(self, content: bytes, purpose: bytes) -> int:
        digest = blake2b(content, key=self.key, digest_size=KEY_BYTES, person=purpose).digest()
        return int.from_bytes(digest, "little")

    def _bands(self, plain: Sequence[str]) -> Any:
        signatures = self._signatures(plain)
        bands = np.empty((len(plain), BANDS), np.uint32)
        for band in range(BANDS):
            values = np.ascontiguousarray(signatures[:, band * ROWS : (band + 1) * ROWS])
            person = b"band-%d" % band
            digests = b"".join(
                blake2b(row, key=self.key, digest_size=BAND_BYTES, person=person).digest()
                for row in values
            )
            bands[:, band] = np.frombuffer(digests, "<u4")
        return bands

    def _signatures(self, plain: Sequence[str]) -> Any:
        """The least value of each permutation over a text's shingles."""
        shingles = [_shingles(text) for text in plain]
        hashed = np.array(
            [self._shingle(shingle) for row in shingles for shingle in row], np.uint64
        )
        starts = np.cumsum([0, *(len(row) for row in shingles[:-1])])
        signatures = np.empty((len(plain), BANDS * ROWS), np.uint32)
        for n, (factor, addend) in enumerate(zip(self._factors, self._addends, strict=True)):
            permuted = (hashed * factor + addend) >> np.uint64(32)
            signatures[:, n] = np.minimum.reduceat(permuted, starts)
        return signatures

    def _shingle(self, shingle: str) -> int:
        number = self._shingles.get(shingle)
        if number is None:
            if len(self._shingles) >= MOST_SHINGLES_KEPT:
                self._shingles.clear()
            number = self._shingles[shingle] = self._number(shingle.encode(), b"shingle")
        return number


def _shingles(plain: str) -> list[str]:
    """Every three characters in a row of each word, with a blank before and after it.

    Inside words only, so that the same words in another order have the same ones.
    """
    shingles: dict[str, None] = {}
    for word in plain.split() or [""]:
        padded = f" {word} ".ljust(SHINGLE)
        shingles.update(
            dict.fromkeys(padded[n : n + SHINGLE] for n in range(len(padded) - SHINGLE + 1))
        )
    return list(shingles)


# --- A sketch as a file: a line that says so, a line of JSON, then rows of hashes of fixed
# length. Rows are sorted and each is there once, so that neither the order nor the repetitions of
# the list are told.

MAGIC = b"benchwright-sketch"
VERSION = 1
LONGEST_HEADER = 4096
ROWS_AT_ONCE = 50_000


@dataclass(frozen=True)
class SketchHeader:
    """What a sketch says of itself. `salt` is there only where its owner put it into the file."""

    n_queries: int
    n_documents: int
    salt_check: str
    salt: str | None = None
    language: str = "en"
    bands: int = BANDS
    rows: int = ROWS
    shingle: int = SHINGLE

    def as_bytes(self) -> bytes:
        first = MAGIC + b" %d\n" % VERSION
        return first + json.dumps(asdict(self), sort_keys=True).encode() + b"\n"


def is_sketch(beginning: bytes) -> bool:
    """Whether a file that begins so is a sketch, of whatever version."""
    return beginning.startswith(MAGIC)


def read_header(path: Path, *, file: str | None = None) -> SketchHeader:
    """What a sketch says of itself, checked against its length.

    Raises
    ------
    SketchFormatError
        If it is no sketch, one of another version, or cut short.
    """
    return _header(path, file or path.name)[0]


def _header(path: Path, file: str) -> tuple[SketchHeader, int]:
    with path.open("rb") as stream:
        first = stream.readline(LONGEST_HEADER)
        second = stream.readline(LONGEST_HEADER)
        begin = stream.tell()
    magic, _, version = first.strip().partition(b" ")
    if magic != MAGIC:
        raise SketchFormatError(file=file, reason="is not a sketch")
    if version != b"%d" % VERSION:
        reason = f"is a sketch of version {version.decode(errors='replace')[:20]}, expected 1"
        raise SketchFormatError(file=file, reason=reason)
    header = _parsed(second, file)
    expected = begin + header.n_queries * ROW_BYTES + header.n_documents * KEY_BYTES
    size = path.stat().st_size
    if size != expected:
        reason = f"has {size:,} bytes and should have {expected:,}; it was cut short or changed"
        raise SketchFormatError(file=file, reason=reason)
    return header, begin


def _parsed(line: bytes, file: str) -> SketchHeader:
    try:
        header = SketchHeader(**json.loads(line))
        is_good = min(int(header.n_queries), int(header.n_documents)) >= 0
    except (TypeError, ValueError, RecursionError) as error:
        raise SketchFormatError(file=file, reason="has a second line that is no header") from error
    if not is_good or (header.bands, header.rows, header.shingle) != (BANDS, ROWS, SHINGLE):
        reason = f"has other bands than this version's {BANDS} of {ROWS}"
        raise SketchFormatError(file=file, reason=reason)
    return header


def read_sketch(path: Path, *, file: str | None = None) -> Iterator[HashedQueries]:
    """The hashes of a sketch, in blocks; raises as `read_header` does."""
    header, begin = _header(path, file or path.name)
    with path.open("rb") as stream:
        stream.seek(begin)
        n_left = header.n_queries
        while n_left:
            n = min(n_left, ROWS_AT_ONCE)
            yield _hashes(stream.read(n * ROW_BYTES))
            n_left -= n


def read_documents(path: Path) -> Any:
    """The hashes of the documents that are relevant to any query of a sketch."""
    header, begin = _header(path, path.name)
    with path.open("rb") as stream:
        stream.seek(begin + header.n_queries * ROW_BYTES)
        return np.frombuffer(stream.read(), "<u8")


def _hashes(block: bytes) -> HashedQueries:
    kind = np.dtype([("exact", "<u8"), ("bag", "<u8"), ("bands", "<u4", (BANDS,))])
    rows = np.frombuffer(block, kind)
    return HashedQueries(rows["exact"], rows["bag"], rows["bands"])


# --- Which of our queries a sketch holds, or nearly.

# Of 32 bands of 4 values, (1 - J)-unlike queries share about 32 J^4: see docs/contamination.md for
# how these two levels compare with a similarity of .80 and .60 on real queries.
NEAR_BANDS = 8
POSSIBLE_BANDS = 4


@dataclass(frozen=True)
class SketchMatch:
    """What a sketch says of one query: the same text, the same words, or so many bands alike."""

    is_exact: bool
    has_same_words: bool
    n_bands: int

    @property
    def similarity(self) -> float:
        """The estimated share of shingles that it has in common with the nearest query (Jaccard).

        >>> SketchMatch(False, False, 2).similarity
        0.5
        """
        if self.is_exact or self.has_same_words:
            return 1.0
        return float((self.n_bands / BANDS) ** (1 / ROWS))


class SketchMatcher:
    """Holds our queries' hashes, and takes in a sketch block by block."""

    def __init__(self, texts: Sequence[str], hasher: Hasher) -> None:
        ours = hasher.queries(texts)
        self.ours = ours
        self.is_exact = np.zeros(len(texts), bool)
        self.has_same_words = np.zeros(len(texts), bool)
        self.n_bands = np.zeros(len(texts), np.int64)
        self._order = np.argsort(ours.bands, axis=0, kind="stable")
        self._sorted = np.take_along_axis(ours.bands, self._order, axis=0)

    def take(self, block: HashedQueries) -> None:
        """Look for our queries in a block of a sketch."""
        self.is_exact |= np.isin(self.ours.exact, block.exact)
        self.has_same_words |= np.isin(self.ours.bag, block.bag)
        pairs = np.concatenate([self._equal(block, band) for band in range(BANDS)])
        if not pairs.size:
            return
        encoded, times = np.unique(pairs, return_counts=True)
        np.maximum.at(self.n_bands, encoded & 0xFFFFFFFF, times)

    def _equal(self, block: HashedQueries, band: int) -> Any:
        """Pairs of equal hashes in one band: the sketch's row shifted by 32, and ours."""
        values, order = self._sorted[:, band], self._order[:, band]
        theirs = block.bands[:, band]
        first = np.searchsorted(values, theirs, "left")
        n = np.searchsorted(values, theirs, "right") - first
        rows = np.flatnonzero(n)
        times = n[rows]
        within = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        ours = order[np.repeat(first[rows], times) + within]
        return (np.repeat(rows, times).astype(np.int64) << 32) | ours.astype(np.int64)

    def matches(self) -> list[SketchMatch]:
        """What was found, for each of our queries."""
        return [
            SketchMatch(bool(exact), bool(words), int(n))
            for exact, words, n in zip(
                self.is_exact, self.has_same_words, self.n_bands, strict=True
            )
        ]


# --- Making a sketch of a list of queries, in bounded memory.

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
            numbers = hasher.documents([docid for _, docids in batch for docid in docids])
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
