"""BEIR folders and zips: corpus.jsonl, queries.jsonl and qrels/*.tsv, each also as .gz.

What the field's readers would lose or misread is a problem here, with its line
(docs/formats.md has the table of what each reader does).
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from benchwright.errors import MissingFileError, Problems
from benchwright.files.archives import open_source
from benchwright.files.sources import DEFAULT_LIMITS, Limits, Source
from benchwright.formats.numbers import FileGrade, real, whole
from benchwright.ids import id_problem

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
QRELS_HEADER = ("query-id", "corpus-id", "score")
QRELS_FILE = re.compile(r"^qrels/([^/]+)\.tsv(\.gz)?$")
BOM = b"\xef\xbb\xbf"
# The widest range every format we write can hold: TREC qrels are read into one signed byte.
LARGEST_GRADE = 127


_NO_METADATA: Mapping[str, Any] = {}


class CorpusRow(NamedTuple):
    """A document and the line it stands on; `parent` is the document that a passage is of.

    A tuple, as there are millions of them: it is made in a third of the time.
    """

    line: int
    docid: str
    title: str = ""
    text: str = ""
    metadata: Mapping[str, Any] = _NO_METADATA
    parent: str = ""


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query and the line it stands on; a table may say more of it than BEIR does.

    `frequency` counts how often it was asked; `first_seen` and `last_seen` are ISO 8601 dates or
    times, as written; `clicks` are counts by document id.
    """

    line: int
    qid: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    narrative: str = ""
    lang: str = ""
    frequency: int | None = None
    first_seen: str = ""
    last_seen: str = ""
    clicks: dict[str, int] = field(default_factory=dict)
    family: str = ""


@dataclass(frozen=True, slots=True)
class GradedRow:
    """What a file says of a document for a query: a number, or a word for one; and its line."""

    line: int
    qid: str
    docid: str
    grade: FileGrade


@dataclass(frozen=True, slots=True)
class QrelRow(GradedRow):
    """The grade of a document for a query, and the line it stands on."""

    grade: int


class BeirSource:
    """A benchmark in BEIR's layout; rows are read as a stream, each time anew."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.corpus = source.plain_or_gz(CORPUS)
        self.queries = source.plain_or_gz(QUERIES)
        self._splits = _split_members(source.members())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.source.close()

    def corpus_rows(self, problems: Problems) -> Iterator[CorpusRow]:
        """Yield the documents that can be read, and collect what is wrong with the others.

        Duplicate ids are found where the corpus is sorted: `corpus_store.write_corpus`.

        Raises
        ------
        MissingFileError
            If there is no corpus.jsonl.
        FileProblemsError
            When `problems` reaches its limit.
        """
        member = self._required(self.corpus, CORPUS)
        return corpus_rows(self.source.lines(member), file=member, problems=problems)

    def queries_rows(self, problems: Problems) -> Iterator[QueryRow]:
        """Yield the queries that can be read; raises as `corpus_rows` does."""
        member = self._required(self.queries, QUERIES)
        return query_rows(self.source.lines(member), file=member, problems=problems)

    def qrels_splits(self) -> list[str]:
        """Return the names of the splits that have qrels: `["dev", "test"]`."""
        return sorted(self._splits)

    def qrels_rows(self, split: str, problems: Problems) -> Iterator[QrelRow]:
        """Yield the grades of a split that can be read; raises as `corpus_rows` does."""
        member = self._required(self._splits.get(split), f"qrels/{split}.tsv")
        return qrel_rows(self.source.lines(member), file=member, problems=problems)

    def _required(self, member: str | None, expected: str) -> str:
        if member is None:
            raise _missing(self.source, expected)
        return member


def open_beir(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> BeirSource:
    """Return the benchmark in a folder, or in a zip with or without a top folder.

    Raises
    ------
    ArchiveError
        If it is neither folder nor zip, or the zip is unsafe.
    MissingFileError
        If it holds none of BEIR's files.
    """
    source = open_source(path, limits=limits)
    beir = BeirSource(source)
    if not (beir.corpus or beir.queries or beir.qrels_splits()):
        source.close()
        raise _missing(source, f"{CORPUS}, {QUERIES} or qrels/*.tsv")
    return beir


def _missing(source: Source, expected: str) -> MissingFileError:
    names = source.members()
    listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    advice = f"It holds: {listed or 'no file'}. Put the file beside the others, plain or as .gz."
    return MissingFileError(place=source.name, expected=expected, advice=advice)


def _split_members(members: list[str]) -> dict[str, str]:
    # Sorted backwards, so that where test.tsv and test.tsv.gz both are, the plain one is taken.
    matches = [(QRELS_FILE.match(member), member) for member in sorted(members, reverse=True)]
    return {match[1]: member for match, member in matches if match}


# JSON lines


def corpus_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[CorpusRow]:
    """Yield the documents of a corpus.jsonl; a row with a problem is left out."""
    for number, line in numbered(lines, file=file, problems=problems):
        row = _plain_row(number, line) or _checked_row(number, line, file, problems)
        if row is not None:
            yield row


def _plain_row(number: int, line: bytes) -> CorpusRow | None:
    """The document of a line that is as most are: id, title, text and nothing to look at twice."""
    try:
        text = line.decode()
        record, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if end != len(text) or type(record) is not dict:
        return None
    docid: Any = record.get("_id")
    title: Any = record.get("title")
    body: Any = record.get("text")
    is_plain = type(docid) is type(title) is type(body) is str and (
        len(record) == 3 or (len(record) == 4 and record.get("metadata") == {})
    )
    if not is_plain or id_problem(docid):
        return None
    # Only an escape can say what no text may hold: NUL, or half a character.
    if b"\\u" in line and (text_problem(title) or text_problem(body)):
        return None
    return CorpusRow(number, docid, title, body)


def _checked_row(number: int, line: bytes, file: str, problems: Problems) -> CorpusRow | None:
    """The document of a line, or None with everything that is wrong with it told."""
    record, reason = _json_object(line)
    if record is None:
        problems.add(file, number, reason)
        return None
    say = _teller(problems, file, number)
    docid, title, text = _id_of(record, say), _title_of(record, say), _text_of(record, say)
    metadata = _metadata_of(record, say, known=("_id", "title", "text", "metadata"))
    if docid is None or title is None or text is None or metadata is None:
        return None
    return CorpusRow(number, docid, title, text, metadata)


def query_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[QueryRow]:
    """Yield the queries of a queries.jsonl; a second query of the same id is a problem."""
    first_lines: dict[str, int] = {}
    for number, record in json_records(lines, file=file, problems=problems):
        say = _teller(problems, file, number)
        qid, text = _id_of(record, say), _text_of(record, say, may_be_empty=False)
        metadata = _metadata_of(record, say, known=("_id", "text", "metadata"))
        if qid is None or text is None or metadata is None:
            continue
        if is_new(qid, first_lines, file=file, line=number, problems=problems):
            yield QueryRow(number, qid, text, metadata)


def is_new(
    qid: str, first_lines: dict[str, int], *, file: str, line: int, problems: Problems
) -> bool:
    """Return whether a query id comes for the first time, and tell where it came before."""
    if qid in first_lines:
        text = f"query {qid} was on line {first_lines[qid]} already; keep one of the two"
        problems.add(file, line, text)
        return False
    first_lines[qid] = line
    return True


def json_records(
    lines: Iterator[bytes], *, file: str, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line of a JSON lines file that holds one."""
    for number, line in numbered(lines, file=file, problems=problems):
        record, reason = _json_object(line)
        if record is None:
            problems.add(file, number, reason)
        else:
            yield number, record


def numbered(
    lines: Iterator[bytes], *, file: str, problems: Problems
) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line, without its end and without a byte order mark."""
    for number, line in enumerate(lines, start=1):
        content = line.rstrip(b"\r\n")
        if number == 1 and content.startswith(BOM):
            content = content.removeprefix(BOM)
            text = "begins with a byte order mark, which was left out; save as UTF-8 without BOM"
            problems.warn(file, 1, text)
        if content.strip():
            yield number, content
        else:
            problems.add(file, number, "the line is blank; remove it (BEIR's reader stops at it)")


def _refuse_constant(name: str) -> None:
    msg = f"{name} is not a JSON number"
    raise ValueError(msg)


# Made once: `json.loads` with an option makes one for each line.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _json_object(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the object of a line and "", or None and what is wrong."""
    try:
        value = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        return None, f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
    except RecursionError:
        return None, "is nested too deeply; write metadata flat"
    except ValueError as error:
        hint = " (is this one JSON array? BEIR wants one object a line)" if line[:1] == b"[" else ""
        return None, f"is not JSON: {error}{hint}; complete the line or drop it"
    if not isinstance(value, dict):
        return None, f'is JSON but not an object{_shown(value)}; expected {{"_id": …, "text": …}}'
    return value, ""


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return f" ({text[:60]}{'…' if len(text) > 60 else ''})"


Say = Callable[[str], None]


def _teller(problems: Problems, file: str, line: int) -> Say:
    return lambda text: problems.add(file, line, text)


def _id_of(record: dict[str, Any], say: Say) -> str | None:
    value = record.get("_id")
    if isinstance(value, str):
        reason = id_problem(value)
        if reason is None:
            return value
        say(f"_id {value[:60]!r}: {reason}")
    elif "_id" not in record:
        say('has no "_id"; give each row an id of its own')
    elif isinstance(value, int) and not isinstance(value, bool):
        say(f'_id is the number {value}; expected a string: write "_id": "{value}"')
    else:
        say(f'_id is {json.dumps(value, default=str)[:60]}; expected a string such as "d1"')
    return None


def _title_of(record: dict[str, Any], say: Say) -> str | None:
    """Return the title; absent and null are the empty title, as BEIR's models take them."""
    return "" if record.get("title") is None else _string_of(record, "title", say)


def _text_of(record: dict[str, Any], say: Say, *, may_be_empty: bool = True) -> str | None:
    if "text" not in record:
        say('has no "text"; write "text": "…"')
        return None
    text = _string_of(record, "text", say)
    if text is not None and not may_be_empty and not text.strip():
        say("text is empty; a query needs words")
        return None
    return text


def _string_of(record: dict[str, Any], key: str, say: Say) -> str | None:
    value = record[key]
    if not isinstance(value, str):
        kind = "null" if value is None else f"not a string{_shown(value)}"
        say(f'{key} is {kind}; write "" where there is none')
        return None
    reason = text_problem(value)
    if reason:
        say(f"{key} {reason}")
        return None
    return value


def text_problem(text: str) -> str | None:
    """Return why a text cannot be stored, or None: NUL and lone surrogates are no text."""
    if "\0" in text:
        return "holds a NUL character (U+0000); remove it"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"holds half a character (a lone surrogate at {error.start}); write it as UTF-8"
    return None


def _metadata_of(record: dict[str, Any], say: Say, *, known: tuple[str, ...]) -> Any:
    """Return metadata and unknown fields together, or None where they cannot be kept."""
    metadata = record.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        say(f'metadata is not an object{_shown(metadata)}; write "metadata": {{}}')
        return None
    fields = dict(metadata or {})
    for key, value in record.items():
        if key not in known:
            fields[f"top_level_{key}" if key in fields else key] = value
    reason = metadata_problem(fields) if fields else None
    if reason:
        say(f"metadata {reason}")
        return None
    return fields


def metadata_problem(metadata: dict[str, Any]) -> str | None:
    """Return why metadata cannot be stored as JSON, or None."""
    try:
        written = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return "holds a number too large for JSON readers; write it as a string"
    except TypeError:
        return "holds a value that JSON cannot write; write it as a text"
    # JSON writes NUL as an escape: only where one may be, every value is looked at.
    texts = _strings_in(metadata) if "\\u0000" in written else [written]
    return next((reason for reason in map(text_problem, texts) if reason), None)


def _strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *_strings_in(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _strings_in(inner)


# Judgments


def qrel_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[QrelRow]:
    """Yield the grades of a qrels TSV; what is not a row is a problem.

    The first line must be a header: BEIR's reader skips it whatever it holds, so without one the
    first judgment would be lost. A pair twice with one grade is a warning, with two a problem.
    """
    first_rows: dict[tuple[str, str], QrelRow] = {}
    is_empty = True
    for number, line in numbered(lines, file=file, problems=problems):
        is_empty = False
        say = _teller(problems, file, number)
        fields = _fields(line, say)
        if fields is None:
            continue
        if number == 1 and not _is_first_judgment(
            fields, lambda text: problems.add(file, 1, text, is_whole=True)
        ):
            continue
        row = _qrel_row(number, fields, say)
        if row and _is_first_of_pair(row, first_rows, file, problems):
            yield row
    if is_empty:
        problems.add(file, 0, f"is empty; expected the header {'<TAB>'.join(QRELS_HEADER)}")


def _fields(line: bytes, say: Say) -> list[str] | None:
    try:
        return line.decode().split("\t")
    except UnicodeDecodeError as error:
        say(f"byte {error.start + 1} is not UTF-8; save the file as UTF-8")
        return None


def _is_first_judgment(fields: list[str], say: Say) -> bool:
    """Return whether the first line, which should be the header, is a row; tell if so."""
    if len(fields) == 3 and real(fields[2]) is None:
        return False
    if len(fields) == 3:
        say(
            "the header is missing: this line is a judgment, and BEIR's reader would lose it. "
            f"Put {'<TAB>'.join(QRELS_HEADER)} above it."
        )
        return True
    say(f"expected the header {'<TAB>'.join(QRELS_HEADER)}{_columns_hint(fields)}")
    return False


def _columns_hint(fields: list[str]) -> str:
    words = fields[0].split() if len(fields) == 1 else fields
    if len(words) == 4:
        return f"; found {len(words)} columns: TREC qrels are imported as TREC, not as BEIR"
    if len(fields) == 1 and len(words) > 1:
        return "; columns are separated by one TAB, not by spaces"
    if len(fields) == 1 and "," in fields[0]:
        return "; columns are separated by one TAB, not by commas"
    return f"; found {len(fields)} column{'s' if len(fields) != 1 else ''}"


def _qrel_row(number: int, fields: list[str], say: Say) -> QrelRow | None:
    if len(fields) != 3:
        say(f"expected 3 columns {'<TAB>'.join(QRELS_HEADER)}{_columns_hint(fields)}")
        return None
    qid, docid, score = fields
    reasons = [_qrel_id_problem(*pair) for pair in (("query-id", qid), ("corpus-id", docid))]
    grade = whole(score) if score == score.strip() else None
    reasons.append(_grade_problem(score, grade))
    problems = [reason for reason in reasons if reason]
    for reason in problems:
        say(reason)
    return None if problems or grade is None else QrelRow(number, qid, docid, grade)


def _qrel_id_problem(column: str, text: str) -> str | None:
    if text.startswith('"'):
        return f"{column} begins with a quote, which readers take away; write ids without quotes"
    reason = id_problem(text)
    return f"{column} {text[:60]!r}: {reason}" if reason else None


def _grade_problem(score: str, grade: int | None) -> str | None:
    if grade is None:
        return f"score is {score[:40]!r}; expected a whole number such as 0, 1 or 2"
    if abs(grade) > LARGEST_GRADE:
        return f"score is {score}; grades go from -{LARGEST_GRADE} to {LARGEST_GRADE}"
    return None


def _is_first_of_pair(
    row: QrelRow, first_rows: dict[tuple[str, str], QrelRow], file: str, problems: Problems
) -> bool:
    first = first_rows.setdefault((row.qid, row.docid), row)
    if first is row:
        return True
    pair = f"query {row.qid}, document {row.docid}"
    if first.grade == row.grade:
        problems.warn(file, row.line, f"{pair} stood on line {first.line} with the same grade")
    else:
        problems.add(
            file,
            row.line,
            f"{pair} has grade {row.grade} here and {first.grade} on line {first.line}; keep one",
        )
    return False
