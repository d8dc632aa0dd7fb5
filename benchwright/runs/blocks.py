"""A TREC run as frames, read block by block: memory does not grow with the file.

Most blocks are as plain as the format allows, and are read as columns in one go. One that is not,
or may be wrong, is read line by line, by the reader that knows what to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from benchwright.files.sources import DEFAULT_LIMITS, Readable, line_too_long
from benchwright.formats.trec import BYTE_ORDER_MARK, RunLines
from benchwright.ids import MAX_ID_BYTES, id_problem

if TYPE_CHECKING:
    import polars as pl

    from benchwright.errors import Problems

BLOCK_BYTES = 8 << 20
COLUMNS = ("qid", "q0", "docid", "rank", "score", "tag")
# What nearly every run is made of; all else is looked at twice.
PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n"
# What another reader of columns would see in them, or this one misread.
NEVER_PLAIN = (b"\r", b"\x0b", b"\x0c", b"\x00")


def run_frames(stream: Readable, *, file: str, problems: Problems) -> Iterator[pl.DataFrame]:
    """Yield line, qid, docid, score of the results that can be read, in the order of the file.

    Raises
    ------
    ArchiveError
        If a line is too long.
    FileProblemsError
        When `problems` has reached its limit.
    """
    lines = RunLines(file=file, problems=problems)
    first = 1
    for block in _blocks(stream, file):
        frame = plain_frame(block, first)
        if frame is None or not _agrees(frame, lines):
            frame = _frame(_good_rows(lines, block, first, file, problems))
        yield frame[["line", "qid", "docid", "score"]]
        first += block.count(b"\n")


def _blocks(stream: Readable, file: str) -> Iterator[bytes]:
    """Yield pieces of whole lines; the last may lack its line feed."""
    rest = b""
    n_lines = 0
    while piece := stream.read(BLOCK_BYTES):
        block = rest + piece if rest else piece
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        if len(rest) > DEFAULT_LIMITS.max_line_bytes:
            raise line_too_long(file, n_lines + 1, DEFAULT_LIMITS.max_line_bytes)
        if end:
            n_lines += block.count(b"\n", 0, end)
            yield block[:end]
    if rest:
        yield rest


def plain_frame(block: bytes, first: int) -> pl.DataFrame | None:
    """Qid, docid, rank, score and line of a block that is all six columns; None of any other."""
    import polars as pl

    head = block[: block.find(b"\n") if b"\n" in block else len(block)]
    separator, other = (b"\t", b" ") if b"\t" in head else (b" ", b"\t")
    is_printable = not block.translate(None, PRINTABLE)
    begins_oddly = block.startswith((BYTE_ORDER_MARK, b"#")) or b"\n#" in block
    has_odd = not is_printable and any(odd in block for odd in NEVER_PLAIN)
    if begins_oddly or has_odd or other in block:
        return None
    types = {name: pl.String() for name in COLUMNS} | {"rank": pl.Int32(), "score": pl.Float64()}
    try:
        frame = pl.read_csv(
            block,
            separator=separator.decode(),
            has_header=False,
            quote_char=None,
            schema=types,
            columns=[0, 2, 3, 4, 5],
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    gaps: Any = sum(frame.null_count().row(0))
    n_bytes = pl.col("qid", "docid").str.len_bytes()
    is_bad = [pl.col("score").is_nan().any(), (~n_bytes.is_between(1, MAX_ID_BYTES)).any()]
    # One question for all: polars takes longer to begin with one than to answer it.
    if gaps or frame.select(pl.any_horizontal(is_bad)).item():
        return None
    if not is_printable and not all(_are_good_ids(frame[name]) for name in ("qid", "docid")):
        return None
    lines = pl.int_range(first, first + len(frame), eager=True)
    return frame.insert_column(0, lines.alias("line"))


def _are_good_ids(ids: pl.Series) -> bool:
    odd = ids.filter(ids.str.contains(r"[^\x21-\x7E]")).unique()
    return not any(map(id_problem, odd))


def _agrees(frame: pl.DataFrame, lines: RunLines) -> bool:
    """Whether no rank contradicts its score, so that no line of the block needs a word.

    Nobody needs to know of a second one: it is warned of once a file.
    """
    import polars as pl

    if lines.ranks.last is None or not len(frame):
        return True
    is_same = pl.col("qid") == pl.col("qid").shift()
    ranks, scores = pl.col("rank").diff(), pl.col("score").diff()
    wrong = is_same & (((ranks > 0) & (scores > 0)) | ((ranks < 0) & (scores < 0)))
    if frame.select(wrong.any()).item():
        return False
    # A query may go on in the next block.
    ends = frame[["qid", "rank", "score", "line"]]
    for qid, rank, score, line in (ends.row(0), ends.row(-1)):
        lines.ranks.see(qid.encode(), line, rank, score)
    return True


def _good_rows(
    lines: RunLines, block: bytes, first: int, file: str, problems: Problems
) -> Iterator[tuple[int, str, str, float]]:
    # Not splitlines, which ends lines at a carriage return too.
    content = (line + b"\n" for line in block.removesuffix(b"\n").split(b"\n"))
    for row in lines.rows(content, first=first):
        qid = taken_id(row.qid, "query id", row.line, file, problems)
        docid = taken_id(row.docid, "document id", row.line, file, problems)
        if qid is not None and docid is not None:
            yield row.line, qid, docid, row.score


def taken_id(raw: bytes, what: str, line: int, file: str, problems: Problems) -> str | None:
    """The id as text, or None and a problem where the server does not take it."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        problems.add(file, line, f"{what} {raw[:60]!r} is not UTF-8; write the file as UTF-8")
        return None
    reason = id_problem(text)
    if reason:
        problems.add(file, line, f"{what} {text[:60]!r}: {reason}")
        return None
    return text


def _frame(rows: Iterable[tuple[int, str, str, float]]) -> pl.DataFrame:
    import polars as pl

    schema = {"line": pl.Int64(), "qid": pl.String(), "docid": pl.String(), "score": pl.Float64()}
    return pl.DataFrame(list(rows), schema=schema, orient="row")
