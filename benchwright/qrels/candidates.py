"""Lists of documents worth judging, as files have them."""

from collections.abc import Iterable, Iterator

from benchwright.errors import Problems
from benchwright.files.encodings import as_shown
from benchwright.formats.trec import numbered_columns, whole_number
from benchwright.ids import id_problem

# First cells of the header lines that such files may have, those of `benchwright pool` among them.
HEADERS = {"query", "qid", "query-id", "query_id"}


def read_candidates(
    lines: Iterable[bytes], *, file: str, problems: Problems
) -> Iterator[tuple[str, str, int]]:
    """Yield query, document, priority (from 1) by rising priority, each pair once.

    A line holds a query, a document and a priority, separated by tabs or blanks; where no line has
    a priority, the order of the lines is it. More columns are passed over, so that a file of
    `benchwright pool` can be read. Of a pair that comes twice the better priority counts.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    rows: dict[tuple[str, str], tuple[int, int]] = {}
    for number, columns in numbered_columns(lines, file=file, problems=problems):
        if number <= 2 and columns[0].decode(errors="replace").lower() in HEADERS:
            continue
        row = _row(number, columns, file, problems)
        if row is not None:
            qid, docid, priority = row
            place = (number if priority is None else priority, number)
            rows[qid, docid] = min(place, rows.get((qid, docid), place))
    ordered = sorted(rows, key=lambda pair: rows[pair])
    for rank, (qid, docid) in enumerate(ordered, start=1):
        yield qid, docid, rank


def _row(
    number: int, columns: list[bytes], file: str, problems: Problems
) -> tuple[str, str, int | None] | None:
    if len(columns) < 2:
        text = "1 column; expected a query and a document. Complete the line or drop it."
        problems.add(file, number, text)
        return None
    qid, docid = (column.decode(errors="surrogateescape") for column in columns[:2])
    for kind, text in (("query", qid), ("document", docid)):
        if reason := id_problem(text):
            problems.add(file, number, f"{kind} id {text[:60]!r}: {reason}")
            return None
    if len(columns) == 2:
        return qid, docid, None
    priority = whole_number(columns[2])
    if priority is None:
        excerpt = as_shown(columns[2][:40])
        text = f"priority is '{excerpt}'; expected a whole number, 1 for the first. Correct it."
        problems.add(file, number, text)
        return None
    return qid, docid, priority
