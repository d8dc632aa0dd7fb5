"""The documents, queries and grades of one file, whatever it is written in.

`folder` is for what must be unpacked. Where `numbers` is given, ids that are numbers become texts
and are counted there; without it they are what the format's own reader makes of them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchwright.detection import CONTENT_OF, FileKind, Part, layout_for
from benchwright.detection.number_ids import NumberIds
from benchwright.errors import Problems
from benchwright.files.inputs import Input
from benchwright.formats import beir, mapped, passages
from benchwright.formats.beir import CorpusRow, QrelRow, QueryRow
from benchwright.formats.mapped import ResultRow
from benchwright.formats.mapping import checked
from benchwright.formats.tables import Layout, Records, records
from benchwright.formats.tabular import docid_rows
from benchwright.formats.trec import read_qrels
from benchwright.formats.trec_topics import read_topics

ID_FIELDS = ("id", "query", "document")


def document_rows(
    part: Part, given: Input, *, folder: Path, problems: Problems, numbers: NumberIds | None = None
) -> Iterable[CorpusRow]:
    """Yield the documents of a corpus file."""
    shown = given.shown
    if part.kind is FileKind.CORPUS:
        lines = numbers.lines(given.lines(), shown) if numbers else given.lines()
        return beir.corpus_rows(lines, file=shown, problems=problems)
    if part.kind is FileKind.IDS:
        return docid_rows(given.lines(), file=shown, problems=problems)
    if part.kind is FileKind.PASSAGES:
        read = records_of(part, given, folder, problems)
        return passages.passage_document_rows(read, file=shown, problems=problems)
    mapping, read = _mapped(part, given, folder, problems, numbers)
    return mapped.document_rows(read, mapping, file=shown, problems=problems)


def query_rows(
    part: Part, given: Input, *, folder: Path, problems: Problems, numbers: NumberIds | None = None
) -> Iterable[QueryRow]:
    """Yield the queries of a file of queries."""
    shown, lang = given.shown, part.lang
    if part.kind is FileKind.TOPICS:
        return _topic_rows(part, given, problems)
    if part.kind is FileKind.PASSAGES:
        read = records_of(part, given, folder, problems)
        read = numbers.records(read, passages.QUERY_IDS, shown) if numbers else read
        return passages.passage_query_rows(read, file=shown, problems=problems, lang=lang)
    mapping, read = _mapped(part, given, folder, problems, numbers)
    return mapped.query_rows(read, mapping, file=shown, problems=problems, lang=lang)


def qrel_rows(
    part: Part, given: Input, *, folder: Path, problems: Problems, numbers: NumberIds | None = None
) -> Iterable[QrelRow]:
    """Yield the grades of a file of qrels."""
    shown = given.shown
    if part.kind is FileKind.BEIR_QRELS:
        return beir.qrel_rows(given.lines(), file=shown, problems=problems)
    if part.kind is FileKind.QRELS:
        read = read_qrels(given.lines(), file=shown, problems=problems)
        return (QrelRow(row.line, _text(row.qid), _text(row.docid), row.grade) for row in read)
    if part.kind is FileKind.PASSAGES:
        numbered = records_of(part, given, folder, problems)
        return passages.passage_qrel_rows(numbered, file=shown, problems=problems)
    mapping, numbered = _mapped(part, given, folder, problems, numbers)
    return mapped.qrel_rows(numbered, mapping, file=shown, problems=problems)


def run_rows(part: Part, given: Input, *, folder: Path, problems: Problems) -> Iterable[ResultRow]:
    """Yield the results of a run that is a table."""
    mapping, read = _mapped(part, given, folder, problems, None)
    return mapped.run_rows(read, mapping, file=given.shown, problems=problems)


def records_of(part: Part, given: Input, folder: Path, problems: Problems) -> Records:
    """Yield the records of a table, each with its line."""
    return records(given, _layout(part, given, folder), folder=folder, problems=problems)


def _topic_rows(part: Part, given: Input, problems: Problems) -> Iterator[QueryRow]:
    content = b"".join(given.lines())
    for topic in read_topics(content, file=given.shown, problems=problems):
        yield QueryRow(
            topic.line,
            topic.qid,
            topic.text,
            metadata=dict(topic.others),
            description=topic.description,
            narrative=topic.narrative,
            first_seen=topic.first_seen,
            lang=part.lang,
        )


def _text(raw: bytes) -> str:
    # What is not UTF-8 matches no query or document of ours, and is shown as it was written.
    return raw.decode(errors="backslashreplace")


def _mapped(
    part: Part, given: Input, folder: Path, problems: Problems, numbers: NumberIds | None
) -> tuple[dict[str, str], Records]:
    """The mapping, which fits the columns that are there, and the records."""
    layout = _layout(part, given, folder)
    kind = part.kind or FileKind.DOCUMENTS
    mapping = checked(CONTENT_OF[kind], part.mapping, layout.columns)
    read = records(given, layout, folder=folder, problems=problems)
    if numbers:
        columns = [mapping[field] for field in ID_FIELDS if field in mapping]
        read = numbers.records(read, columns, given.shown)
    return mapping, read


def _layout(part: Part, given: Input, folder: Path) -> Layout:
    kind = part.kind or FileKind.DOCUMENTS
    return layout_for(kind, given, folder, has_header=part.has_header)
