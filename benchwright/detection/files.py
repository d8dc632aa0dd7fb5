"""What one file is, by its first lines; its name decides only where they leave it open."""

import codecs
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from benchwright.detection.kinds import CONTENT_OF, FileKind
from benchwright.errors import FileProblemsError, Problems
from benchwright.files.inputs import Input
from benchwright.formats.errors import UnreadableKindError
from benchwright.formats.foreign import are_most
from benchwright.formats.mapping import (
    PARENT_FROM_ID,
    Content,
    guessed,
    is_complete,
    is_named_grade,
    plain_name,
)
from benchwright.formats.numbers import real, suggested_grades, whole, word_of
from benchwright.formats.tables import (
    DOC_START,
    MOST_COLUMNS,
    Form,
    Head,
    Layout,
    Record,
    cells_of,
    delimited_layout,
    head_of,
    is_smart,
    layout_of,
    records,
    sample,
)

HEAD_LINES = 20
# In the beginning of a text that was damaged.
MOST_NULS = 3
SAMPLE_ROWS = 50
# Queries are rarely longer than this, texts rarely shorter.
LONGEST_QUERY = 180
TOPIC = re.compile(rb"<top(ic)?[\s>]|<topics", re.IGNORECASE)
NO_RECORD = "Expected at least one record: write it again, or leave it out."
COMMENT = re.compile(rb"#|//|<!--.*-->$")
NAMES_QUERIES = re.compile(r"quer|topic|question|claim|\bqry|\.qry")
NAMES_DOCUMENTS = re.compile(r"corpus|collection|docs?\b|documents|passages|abstracts")
DOCUMENT_COLUMNS = {
    *("title", "url", "body", "abstract", "contents", "content", "passage", "parent_id"),
    *("docid", "doc_id", "docno", "pid", "passage_id", "document_id", "headline", "segment"),
}
QUERY_COLUMNS = {
    *("query", "question", "claim", "qid", "query_id", "frequency", "narrative", "description"),
    *("first_seen", "query_text", "topic_id"),
}
OF_QUERIES = {
    "family": FileKind.FAMILIES,
    "slice": FileKind.SLICES,
    "weight": FileKind.WEIGHTS,
}
FOREIGN = {
    b"%PDF": ("a PDF", "Write its documents as JSON lines with _id, title, text."),
    b"\x89PNG": ("a picture", "Texts, queries, grades and runs are taken."),
    b"\xff\xd8\xff": ("a picture", "Texts, queries, grades and runs are taken."),
    b"SQLite format 3": ("a database", "Export its tables as CSV."),
    b"ARROW1": ("an Arrow file", "Write it as Parquet."),
    b"7z\xbc\xaf": ("a 7z archive", "Pack the files as zip or tar.gz."),
    b"Rar!": ("a RAR archive", "Pack the files as zip or tar.gz."),
    b"BZh": ("compressed with bzip2", "Compress it with gzip or zstd."),
    b"\xfd7zXZ": ("compressed with xz", "Compress it with gzip or zstd."),
}
# Names of the files that hold one language each.
LANGUAGES = {
    "arabic": "ar", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr",
    "german": "de", "hindi": "hi", "indonesian": "id", "italian": "it", "japanese": "ja",
    "portuguese": "pt", "russian": "ru", "spanish": "es", "vietnamese": "vi",
}  # fmt: skip
LANGUAGE_WORD = re.compile(rf"(?:^|[/_.-])({'|'.join(LANGUAGES)})(?:[/_.-]|$)")
LANGUAGE_CODE = re.compile(r"-v\d[\d.]*-([a-z]{2})(?:-|$)")


@dataclass(frozen=True)
class Guess:
    """What a file seems to be; `kind` is None where its rows leave it open.

    `layout` and `mapping` are those of a table; `doubt` says why a person should look.
    """

    kind: FileKind | None
    layout: Layout | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    lang: str = ""
    doubt: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return self.layout.columns if self.layout else ()

    @property
    def is_ready(self) -> bool:
        """Whether it can be imported as it is guessed."""
        if self.kind is None:
            return False
        content = CONTENT_OF.get(self.kind)
        return content is None or is_complete(content, self.mapping)


def detect(lines: Iterable[bytes], name: str) -> FileKind | None:
    """Return the kind of a file that is not an archive, or None where it could be several.

    `lines` are its first lines, inflated; only some of them are looked at.
    """
    head = Head(b"", tuple(line.rstrip(b"\r\n") for line in islice(lines, HEAD_LINES)))
    return _of_text(head, name)


def guess(file: Input, folder: Path) -> Guess:
    """Return what a file is that is not an archive; `folder` is for what must be unpacked.

    Raises
    ------
    ArchiveError
        If it is compressed and damaged, or a Parquet file that is.
    UnreadableKindError
        If it is of a kind that is never taken.
    """
    head = head_of(file)
    refuse_foreign(head, file.shown)
    _refuse_wordless(head, file.shown)
    kind = None if head.is_parquet else _of_text(head, file.name)
    if kind is not None and kind not in CONTENT_OF and kind is not FileKind.PASSAGES:
        return Guess(kind, lang=language_of(file.name))
    layout = _layout(file, head, folder, kind)
    rows = [record for _, record in sample(file, layout, folder=folder, n=SAMPLE_ROWS)]
    if kind is None or (layout.form in _NAMED and rows):
        kind = _of_columns(layout, rows, file.name)
    file_guess = _guess_as(kind, layout, rows, file.name)
    problem = "" if rows or kind else _first_problem(file, layout, folder)
    return replace(file_guess, doubt=f"No record can be read: {problem}") if problem else file_guess


def _first_problem(file: Input, layout: Layout, folder: Path) -> str:
    try:
        next(iter(records(file, layout, folder=folder, problems=Problems(1))), None)
    except FileProblemsError as error:
        return str(error.problems[0])
    return ""


def guess_as(kind: FileKind, file: Input, folder: Path, *, has_header: bool | None = None) -> Guess:
    """Return how a file would be read as of this kind; raises as `guess` does."""
    head = head_of(file)
    refuse_foreign(head, file.shown)
    if kind not in CONTENT_OF and kind is not FileKind.PASSAGES:
        return Guess(kind, lang=language_of(file.name))
    layout = _layout(file, head, folder, kind, has_header)
    rows = [record for _, record in sample(file, layout, folder=folder, n=SAMPLE_ROWS)]
    return _guess_as(kind, layout, rows, file.name)


def language_of(name: str) -> str:
    """Return the language that a file's name says, or nothing.

    >>> language_of("topics.miracl-v1.0-sw-dev.tsv"), language_of("german_queries.dev.tsv")
    ('sw', 'de')
    """
    code, word = LANGUAGE_CODE.search(name.lower()), LANGUAGE_WORD.search(name.lower())
    return code[1] if code else LANGUAGES[word[1]] if word else ""


def refuse_foreign(head: Head, file: str) -> None:
    """Refuse what is no text and no Parquet; a spreadsheet is for who reads its sheets."""
    if head.is_sheet:
        return  # told where its sheets are read
    for magic, (what, advice) in FOREIGN.items():
        if head.start.startswith(magic):
            raise UnreadableKindError(file=file, what=what, advice=advice)
    if head.is_parquet:
        return
    if not head.start:
        raise UnreadableKindError(file=file, what="empty", advice=NO_RECORD)
    if not head.lines:
        what, advice = _no_text(head.start), "Texts in UTF-8 and Parquet are taken."
        if _is_unmarked_utf16(head.start):
            what = "UTF-16 without the mark that begins such a file"
            advice = "Save it as UTF-8, or as UTF-16 with its mark (BOM)."
        raise UnreadableKindError(file=file, what=what, advice=advice)


def _refuse_wordless(head: Head, file: str) -> None:
    """Refuse a text of white space and comments alone."""
    lines = [line.strip() for line in head.lines]
    words = [line for line in lines if line]
    if head.is_whole and lines and all(map(COMMENT.match, words)):
        n_lines = max(len(lines) - (not lines[-1]), 1)
        what = f"{'made of comments alone' if words else 'blank'} up to line {n_lines}"
        raise UnreadableKindError(file=file, what=what, advice=NO_RECORD)


def _is_unmarked_utf16(start: bytes) -> bool:
    """Whether bytes with NULs are text, two bytes a character, in either order."""
    orders = ("utf-16-le", "utf-16-be")
    return start.count(b"\0") > MOST_NULS and any(
        _is_printable_in(start, order) for order in orders
    )


def _is_printable_in(start: bytes, encoding: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        return False
    if "\0" in text or not all(
        character.isprintable() or character in "\t\r\n" for character in text
    ):
        return False
    return any("a" <= character <= "z" or character in "\t\n" for character in text)


def _no_text(start: bytes) -> str:
    """What a file is that holds NUL: a text with a stray one names its line."""
    if start.count(b"\0") > MOST_NULS or any(byte in start for byte in b"\1\2\3\4\5\6"):
        return "no text"
    line = start.count(b"\n", 0, start.index(b"\0")) + 1
    return f"no text: line {line} holds NUL (U+0000), which no text does. Remove it"


# The kind


def _of_text(head: Head, name: str) -> FileKind | None:
    """The kind that lines tell, without the columns of a table."""
    lines = [line.strip() for line in head.lines[: 5 * HEAD_LINES]]
    lines = [line for line in lines if line and not line.startswith(b"#")][:HEAD_LINES]
    if not lines or head.is_foreign:
        return None
    first = lines[0].removeprefix(b"\xef\xbb\xbf")
    if any(TOPIC.search(line) for line in lines):
        return FileKind.TOPICS
    if DOC_START.match(first):
        return FileKind.TOPICS if _names(NAMES_QUERIES, name) else FileKind.DOCUMENTS
    if is_smart(lines):
        return FileKind.QUERIES if _names(NAMES_QUERIES, name) else FileKind.DOCUMENTS
    if first.startswith(b"{"):
        return _of_json(lines, name)
    if first.lower().startswith(b"query-id\tcorpus-id\t"):
        return FileKind.BEIR_QRELS
    header = [plain_name(cell) for cell in first.decode(errors="replace").split("\t")]
    if len(header) == 2 and header[0] == "query_id" and header[1] in OF_QUERIES:
        return OF_QUERIES[header[1]]
    return _of_tokens(lines, name)


def _names(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.search(name.lower()) is not None


def _of_json(lines: Sequence[bytes], name: str) -> FileKind:
    columns: set[str] = set()
    texts: list[str] = []
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            columns |= {plain_name(key) for key in record}
            texts.append(str(record.get("text", "")))
    if columns & {"positive_passages", "negative_passages"}:
        return FileKind.PASSAGES
    has_images = "text" not in columns and "image" in guessed(Content.DOCUMENTS, list(columns))
    if has_images or ("_id" not in columns and columns):
        return FileKind.DOCUMENTS  # a table: its columns say more
    if _names(NAMES_QUERIES, name):
        return FileKind.QUERIES
    is_corpus = "title" in columns or _names(NAMES_DOCUMENTS, name) or not texts
    is_short = bool(texts) and median(map(len, texts)) <= LONGEST_QUERY
    return FileKind.CORPUS if is_corpus or not is_short else FileKind.QUERIES


def _of_tokens(lines: list[bytes], name: str) -> FileKind | None:
    rows = [line.split() for line in lines]
    if all(line.count(b"\t") == 1 for line in lines):
        # Two cells: the blanks in them separate words, and no columns.
        return _of_delimited(lines, name)
    counts = {len(row) for row in rows}
    # A line of these that is broken is told when they are read.
    graded = [row for row in rows if len(row) == 4 and whole(row[3]) is not None]
    if are_most(row in graded for row in rows):
        return FileKind.QREL_TABLE if _is_shifted(graded) else FileKind.QRELS
    if are_most(len(row) >= 5 and _is_run_line(row) for row in rows):
        return FileKind.RUN
    if counts == {3} and all(whole(row[2]) is not None for row in rows):
        return FileKind.RUN_TABLE if _is_ranked(rows) else FileKind.QREL_TABLE
    if counts == {3} and all(real(row[2]) is not None for row in rows):
        return None  # scores, or grades between 0 and 1
    if counts == {1} and not any(b"," in line or b";" in line for line in lines):
        return FileKind.IDS
    if b"\t" in lines[0] or b"," in lines[0] or ";" in lines[0].decode(errors="replace"):
        return _of_delimited(lines, name)
    return FileKind.QUERIES if _names(NAMES_QUERIES, name) else None


def _is_run_line(columns: Sequence[bytes]) -> bool:
    return columns[1].upper() in (b"Q0", b"0") or whole(columns[3]) is not None


def _is_shifted(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the documents stand in the second column, where TREC has a constant."""
    return len(rows) > 3 and len({row[2] for row in rows}) == 1 < len({row[1] for row in rows})


def _lacks_grade(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the second of three columns is TREC's constant, so that no grade follows."""
    return len(rows) > 3 and {str(row[1]).upper() for row in rows} in ({"0"}, {"Q0"})


def _is_ranked(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the third column counts the rows of each query: a run, and not grades."""
    last: dict[Any, int] = {}
    for row in rows:
        rank = whole(row[2])
        if rank is None:
            return False
        if row[0] in last and rank != last[row[0]] + 1:
            return False
        if row[0] not in last and rank not in (0, 1):
            return False
        last[row[0]] = rank
    return len(last) < len(rows)


def _of_delimited(lines: Sequence[bytes], name: str) -> FileKind | None:
    """The kind of a table of cells, asked of its header or of its texts."""
    layout = delimited_layout(lines)
    if len(layout.columns) > MOST_COLUMNS:
        return None  # told where its columns are asked for
    rows: list[Record] = []
    for line in lines[1 if layout.has_header else 0 :]:
        text = line.decode(errors="replace")
        if layout.form is Form.TSV:
            cells = text.split(layout.delimiter, len(layout.columns) - 1)
        else:
            cells = cells_of(text, layout.delimiter)
        rows.append(dict(zip(layout.columns, cells, strict=False)))
    return _of_columns(layout, rows, name)


def _of_columns(layout: Layout, rows: Sequence[Record], name: str) -> FileKind | None:
    columns = {plain_name(column) for column in layout.columns}
    if columns & {"positive_passages", "negative_passages"}:
        return FileKind.PASSAGES
    if layout.form in (Form.SMART, Form.DOCS):
        return FileKind.QUERIES if _names(NAMES_QUERIES, name) else FileKind.DOCUMENTS
    if layout.form in (Form.TSV, Form.SPACED) or not (layout.has_header or layout.form in _NAMED):
        return _of_nameless(layout, rows, name)
    pairs = guessed(Content.QRELS, layout.columns)
    if _are_judged_queries(layout, rows) or _lack_documents(layout, rows):
        return FileKind.JUDGED
    if {"query", "document"} <= pairs.keys():
        ranked = guessed(Content.RUN, layout.columns)
        grades = [column for column in layout.columns if is_named_grade(column)]
        if "rank" in ranked and grades:
            return None  # judged results: a run, or the grades beside it
        is_graded = "grade" in pairs and _are_grades(rows, pairs["grade"])
        if "rank" in ranked or ("score" in ranked and not (is_graded or grades)):
            return FileKind.RUN_TABLE
        return FileKind.QREL_TABLE
    is_query = is_complete(Content.QUERIES, guessed(Content.QUERIES, layout.columns))
    is_document = is_complete(Content.DOCUMENTS, guessed(Content.DOCUMENTS, layout.columns))
    if is_query != is_document:
        return FileKind.QUERIES if is_query else _documents(layout, columns)
    if not is_query:
        return None
    text = guessed(Content.DOCUMENTS, layout.columns).get("text")
    if text is None:  # an image in place of a text
        is_query = _names(NAMES_QUERIES, name) and not _names(NAMES_DOCUMENTS, name)
        return FileKind.QUERIES if is_query else _documents(layout, columns)
    is_query = _asks(columns, name, [str(row.get(text, "")) for row in rows])
    return FileKind.QUERIES if is_query else _documents(layout, columns)


_NAMED = (Form.JSON, Form.PARQUET, Form.DOCUMENT, Form.BULK, Form.SHEET, Form.LETOR)


def _are_judged_queries(layout: Layout, rows: Sequence[Record]) -> bool:
    """Whether grades stand beside the texts of their queries, which ids may go with."""
    mapping = guessed(Content.JUDGED, layout.columns)
    if not is_complete(Content.JUDGED, mapping) or "rank" in guessed(Content.RUN, layout.columns):
        return False
    column, texts = mapping["grade"], [str(row.get(mapping["text"]) or "") for row in rows]
    is_text = "id" in mapping or any(len(text.split()) > 1 for text in texts)
    return (_are_grades(rows, column) or is_named_grade(column)) and is_text


def _lack_documents(layout: Layout, rows: Sequence[Record]) -> bool:
    """Whether queries come with several grades each, so that a column of documents is missing."""
    mapping = guessed(Content.JUDGED, layout.columns)
    if "document" in mapping or not {"id", "text", "grade"} <= mapping.keys():
        return False
    ids = [row.get(mapping["id"]) for row in rows]
    return len({str(value) for value in ids}) < len(ids) and _are_grades(rows, mapping["grade"])


def _are_grades(rows: Sequence[Record], column: str) -> bool:
    """Whether a column holds grades: small numbers, or words that grades are known by."""
    values = [row.get(column) for row in rows]
    words = {word for word in map(word_of, values) if word}
    has_known_words = not words or bool(suggested_grades(words))
    return has_known_words and all(_is_small(value) or word_of(value) for value in values)


def _documents(layout: Layout, columns: set[str]) -> FileKind:
    is_beir = layout.form is Form.JSON and {"_id", "text"} <= columns
    return FileKind.CORPUS if is_beir else FileKind.DOCUMENTS


def _asks(columns: set[str], name: str, texts: Sequence[str]) -> bool:
    """Whether rows of id and text are queries: by columns, then the name, then the length."""
    if bool(columns & QUERY_COLUMNS) != bool(columns & DOCUMENT_COLUMNS):
        return bool(columns & QUERY_COLUMNS)
    if _names(NAMES_QUERIES, name) != _names(NAMES_DOCUMENTS, name):
        return _names(NAMES_QUERIES, name)
    return not texts or median(map(len, texts)) <= LONGEST_QUERY


def _is_small(value: Any) -> bool:
    """Whether a value is a grade rather than a score."""
    grade = whole(value)
    return grade is not None and abs(grade) <= 9


def _of_nameless(layout: Layout, rows: Sequence[Record], name: str) -> FileKind | None:
    values = [list(row.values()) for row in rows]
    width = len(layout.columns)
    thirds = [row[2] for row in values if len(row) > 2]
    if width == 3 and thirds and all(whole(value) is not None for value in thirds):
        is_ranked = len(thirds) == len(values) and _is_ranked(values)
        return FileKind.RUN_TABLE if is_ranked else FileKind.QREL_TABLE
    if width == 3 and thirds and all(real(value) is not None for value in thirds):
        return None  # scores, or grades between 0 and 1
    if not 2 <= width <= 4:
        return None
    if width == 4 and any(str(cell).startswith("http") for row in values for cell in row[1:2]):
        return FileKind.DOCUMENTS
    texts = [str(row[-1]) for row in values if len(row) == width]
    return FileKind.QUERIES if _asks(set(), name, texts) else FileKind.DOCUMENTS


# The mapping


def layout_for(
    kind: FileKind, file: Input, folder: Path, *, has_header: bool | None = None
) -> Layout:
    """Return how a table is read of which the kind is known; raises as `guess` does."""
    return _layout(file, head_of(file), folder, kind, has_header)


def _layout(
    file: Input, head: Head, folder: Path, kind: FileKind | None, has_header: bool | None = None
) -> Layout:
    layout = layout_of(file, head, folder, has_header=has_header)
    if layout.form not in (Form.CSV, Form.TSV) or kind not in _SPACED_KINDS:
        return layout
    lines = [line for line in head.lines if line.strip() and not line.startswith(b"#")]
    if len(layout.columns) > 2 or any(b"\t" in line for line in lines):
        return layout
    width = min((len(line.split()) for line in lines), default=0)
    columns = tuple(f"column {number}" for number in range(1, width + 1))
    return Layout(Form.SPACED, columns) if width >= 3 else layout


_SPACED_KINDS = (FileKind.QREL_TABLE, FileKind.RUN_TABLE)


def _guess_as(kind: FileKind | None, layout: Layout, rows: Sequence[Record], name: str) -> Guess:
    lang = language_of(name)
    content = CONTENT_OF.get(kind) if kind else None
    if kind is None or content is None:
        doubt = "" if kind else "Its columns do not say what it is: choose the kind."
        if kind is None and _end_in_reals(rows):
            doubt = "The third column is a number: a run's score, or a grade? Choose the kind."
        return Guess(kind, layout, lang=lang, doubt=doubt)
    is_named = layout.has_header or layout.form in (*_NAMED, Form.SMART, Form.DOCS)
    kept = layout.kept if content is Content.DOCUMENTS else ()
    columns = [column for column in layout.columns if column not in kept]
    mapping = guessed(content, columns) if is_named else _by_place(content, layout, rows)
    doubt = ""
    is_wide = layout.form is Form.SPACED and len(layout.columns) >= 4
    if content is Content.DOCUMENTS and "parent" not in mapping and _are_passages(mapping, rows):
        mapping["parent"] = PARENT_FROM_ID
    if content is Content.QRELS and mapping.get("document") in layout.columns[1:2] and is_wide:
        doubt = "The third column is the same in every row: documents are taken from the second."
    elif not is_complete(content, mapping):
        doubt = "Some columns are not known by their names: say what they are."
    elif (
        not is_named
        and content in (Content.QUERIES, Content.DOCUMENTS)
        and not (_names(NAMES_QUERIES, name) or _names(NAMES_DOCUMENTS, name))
    ):
        doubt = f"Told by the length of its texts alone: are these {content}?"
    return Guess(kind, layout, mapping, lang, " ".join(filter(None, (doubt, layout.note))))


def _end_in_reals(rows: Sequence[Record]) -> bool:
    """Whether each row is three cells of which the last is a number."""
    cells = [" ".join(map(str, row.values())).split() for row in rows]
    return bool(cells) and all(len(row) == 3 and real(row[2]) is not None for row in cells)


def _by_place(content: Content, layout: Layout, rows: Sequence[Record]) -> dict[str, str]:
    """The mapping of a table without header, by the order that collections have agreed on."""
    columns = layout.columns
    width = len(columns)
    if content is Content.QUERIES:
        return dict(zip(("id", "text"), columns, strict=False))
    if content is Content.DOCUMENTS:
        fields = {2: ("id", "text"), 3: ("id", "title", "text"), 4: ("id", "url", "title", "text")}
        return dict(zip(fields.get(width, ("id", "text")), columns, strict=False))
    if content is Content.JUDGED:
        return dict(zip(("text", "document", "grade"), columns, strict=False))
    if content is Content.RUN:
        if width >= 5:
            return dict(
                zip(("query", "document", "rank", "score"), _without(columns, 1), strict=False)
            )
        is_rank = all(whole(row.get(columns[-1])) is not None for row in rows)
        return dict(
            zip(("query", "document", "rank" if is_rank else "score"), columns, strict=False)
        )
    is_spaced = width >= 4 and layout.form is Form.SPACED
    if is_spaced and _is_shifted([list(row.values()) for row in rows]):
        # Grades, unless the fourth is a constant as well: then somebody must say.
        has_grades = len({row[columns[3]] for row in rows}) > 1
        shifted = dict(zip(("query", "document"), columns, strict=False))
        return shifted | ({"grade": columns[3]} if has_grades else {})
    lacks_grade = width == 3 and _lacks_grade([list(row.values()) for row in rows])
    if width >= 4 or lacks_grade:
        return dict(zip(("query", "document", "grade"), _without(columns, 1), strict=False))
    return dict(zip(("query", "document", "grade"), columns, strict=False))


def _without(columns: Sequence[str], at: int) -> list[str]:
    return [column for place, column in enumerate(columns) if place != at]


def _are_passages(mapping: Mapping[str, str], rows: Sequence[Record]) -> bool:
    """Whether every id is X#Y, as of passages of a document X."""
    ids = [str(row.get(mapping.get("id", ""), "")) for row in rows]
    return bool(ids) and all(_is_passage(docid) for docid in ids)


def _is_passage(docid: str) -> bool:
    document, _, number = docid.rpartition("#")
    return number.isdecimal() and document[:1] not in ("", "#")
