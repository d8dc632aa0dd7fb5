"""Lines as nearly every run and all qrels have them, split many at once: the twin's quick half.

What is odd in the least (a comment, a column too few or too many, a carriage return, a score that
is none) is handed back as it came, for `trec` to read line by line.
"""

from collections.abc import Iterator
from itertools import islice
from math import isnan
from operator import ge, gt
from typing import Any, Literal, NamedTuple

from benchwright.formats.trec import BYTE_ORDER_MARK

Scores = list[float] | list[bytes]
"""Numbers; or, of one `Form`, their tokens, which compare as the numbers do."""

Form = tuple[int, int]
"""Width and place of the point of numbers without sign or exponent."""

# Decimals of 15 digits are different doubles where they are different tokens.
_MOST_DIGITS = 15

# Below so many rows a query, splitting by columns is quicker than splitting by queries.
_FEW_ROWS = 4


Order = Literal["strictly", "with ties", "not"]


class Rows(NamedTuple):
    """Rows of one query that stand together."""

    qid: bytes
    docids: list[bytes]
    ranks: list[bytes]
    scores: Scores
    form: Form | None  # None for numbers

    @property
    def order(self) -> "Order":
        """How the scores go down, if they do."""
        scores: list[Any] = self.scores
        if all(map(gt, scores, islice(scores, 1, None))):
            return "strictly"
        return "with ties" if all(map(ge, scores, islice(scores, 1, None))) else "not"


def run_parts(block: bytes, *, is_start: bool) -> Iterator[Rows | bytes]:
    """Whole lines of a run in their order: rows, or bytes that are to be read line by line."""
    clean = without_oddities(block, is_start=is_start)
    if clean is None:
        yield block
        return
    start = 0
    while start < len(clean) and (taken := rows_alike(clean, start)):
        rows, start = taken
        yield rows
        if len(rows.docids) < _FEW_ROWS:
            break
    rest = clean[start:]
    columns = run_columns(rest)
    yield from [rest] if columns is None else columns


def without_oddities(block: bytes, *, is_start: bool) -> bytes | None:
    """The lines, ended by LF alone; None where bytes or a mark in them want a closer look."""
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if any(byte in block for byte in (b"\0", b"\r", b"\x0b", b"\x0c")):
        return None
    return None if is_start and block.startswith(BYTE_ORDER_MARK) else block


def rows_alike(block: bytes, start: int) -> tuple[Rows, int] | None:
    """The rows of the query that begins at `start`, and where they end.

    Only if all of them begin alike up to the document, and end alike after the score; the three
    columns between are then all that has to be split. Otherwise None.
    """
    line = block[start : block.index(b"\n", start) + 1]
    columns = line.split(b" ")
    is_plain = len(columns) == 6 and all(columns) and columns[5] != b"\n" and b"\t" not in line
    if not is_plain:
        return None
    head, tail = b"%b %b " % (columns[0], columns[1]), b" " + columns[5]
    end = _end_of_head(block, start, head)
    if columns[0].startswith(b"#") or block[end - len(tail) : end] != tail:
        return None
    # A NUL stands where one row ends and the next begins.
    inside = block[start + len(head) : end - len(tail)].replace(tail + head, b" \0 ")
    tokens = inside.split()
    n = len(tokens) // 4 + 1
    if len(tokens) != 4 * n - 1 or tokens[3::4].count(b"\0") != n - 1:
        return None
    form = form_of(tokens[2::4])
    scores = tokens[2::4] if form else numbers(tokens[2::4], inside)
    if scores is None:
        return None
    return Rows(columns[0], tokens[::4], tokens[1::4], scores, form), end


def _end_of_head(block: bytes, start: int, head: bytes) -> int:
    """Where the last line ends that begins with `head`, if those lines stand together."""
    low = block.index(b"\n", start) + 1
    high = len(block)
    while low < high:  # a line that begins at `low` or later is the first without the head
        middle = block.rfind(b"\n", low, (low + high) // 2) + 1 or low
        if block.startswith(head, middle):
            low = block.index(b"\n", middle) + 1
        else:
            high = middle
    return low


def run_columns(block: bytes) -> list[Rows] | None:
    """The rows of lines of six columns each, by query; None where one of them is odd."""
    columns = split_columns(block, 6)
    scores = numbers(columns[4], block) if columns else None
    if columns is None or scores is None:
        return None
    qids, _, docids, ranks, *_ = columns
    return [
        Rows(qids[start], docids[start:stop], ranks[start:stop], scores[start:stop], None)
        for start, stop in groups_of(qids)
    ]


def split_columns(block: bytes, n_columns: int) -> list[list[bytes]] | None:
    """The columns of lines that have so many each, and are no comments; otherwise None."""
    n, width = block.count(b"\n"), n_columns + 1
    # A NUL stands for each line feed: in lines of six columns, every seventh token is one.
    tokens = block.replace(b"\n", b" \0 ").split()
    if len(tokens) != width * n or tokens[n_columns::width].count(b"\0") != n:
        return None
    columns = [tokens[place::width] for place in range(n_columns)]
    is_comment = b"#" in block and any(qid.startswith(b"#") for qid in set(columns[0]))
    return None if is_comment else columns


def groups_of(qids: list[bytes]) -> Iterator[tuple[int, int]]:
    """Start and end of every group of equal ids that stand together."""
    start = 0
    while start < len(qids):
        stop = _end_of_group(qids, start)
        yield start, stop
        start = stop


def _end_of_group(qids: list[bytes], start: int) -> int:
    qid = qids[start]
    low, high = start + 1, len(qids)
    while low < high:  # wrong where the query comes back: then its rows are counted short
        middle = (low + high) // 2
        low, high = (middle + 1, high) if qids[middle] == qid else (low, middle)
    if qids[start:low].count(qid) == low - start:
        return low
    return next(place for place in range(start, low) if qids[place] != qid)


def form_of(tokens: list[bytes]) -> Form | None:
    """What all of these tokens look like, if they look alike: then none needs to be converted."""
    width, point = len(tokens[0]), tokens[0].find(b".")
    whole = b"".join(tokens)
    is_alike = (
        (width > 1 or point < 0)
        and width - (point >= 0) <= _MOST_DIGITS
        and set(map(len, tokens)) == {width}
        and not whole.translate(None, b"0123456789.")
        and whole.count(b".") == (len(tokens) if point >= 0 else 0)
        and (point < 0 or whole[point::width].count(b".") == len(tokens))
    )
    return (width, point) if is_alike else None


def numbers(tokens: list[bytes], block: bytes) -> list[float] | None:
    """Scores of tokens of a block; None where one of them is none."""
    try:
        scores = list(map(float, tokens))
    except ValueError:
        return None
    # float() takes 1_0, which no other reader of runs does. A NaN makes the sum one, as do inf and
    # -inf together; reading line by line tells them apart.
    has_underscore = b"_" in block and b"_" in b"".join(tokens)
    return None if has_underscore or isnan(sum(scores)) else scores
