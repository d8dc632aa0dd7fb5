"""The documents, queries and grades of one file, whatever it is written in.

`folder` is for what must be unpacked. Where `numbers` is given, ids that are numbers become texts
and are counted there; without it they are what the format's own reader makes of them.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchwright.detection import CONTENT_OF, FileKind, Part, layout_for
from benchwright.detection.number_ids import NumberIds
from benchwright.errors import Problems
from benchwright.files.encodings import as_shown
from benchwright.files.inputs import Input
from benchwright.formats import beir, mapped, passages
from benchwright.formats.beir import CorpusRow, GradedRow, QrelRow, QueryRow
from benchwright.formats.mapped import ResultRow
from benchwright.formats.mapping import checked
from benchwright.formats.tables import Layout, Records, records
from benchwright.formats.tabular import docid_rows
from benchwright.formats.trec import read_qrels
from benchwright.formats.trec_topics import read_topics
from benchwright.ids import id_problem

ID_FIELDS = ("id", "query", "document")


def document_rows(
    part: Part, file: Input, *, folder: Path, problems: Problems, numbers: NumberIds | None = None
) -> Iterable[CorpusRow]:
    """Yield the documents of a corpus file."""
    name = file.shown
    if part.kind is FileKind.CORPUS:
        lines = numbers.lines(file.lines(), name) if numbers else file.lines()
        return beir.corpus_rows(lines, file=name, problems=problems)
    if part.kind is FileKind.IDS:
        return docid_rows(file.lines(), file=name, problems=problems)
    if part.kind is FileKind.PASSAGES:
        numbered = records_of(part, file, folder, problems)
        return passages.passage_document_rows(numbered, file=name, problems=problems)
    mapping, numbered, kept = _mapped(part, file, folder, problems, numbers)
    return mapped.document_rows(numbered, mapping, file=name, problems=problems, kept=kept)


def query_rows(
    part: Part, file: Input, *, folder: Path, problems: Problems, numbers: NumberIds | None = None
) -> Iterable[QueryRow]:
    """Yield the queries of a file of queries."""
    name, lang = file.shown, part.lang
    if part.kind is FileKind.TOPICS:
        return _topic_rows(part, file, problems)
    if part.kind is FileKind.PASSAGES:
        numbered = records_of(part, file, folder, problems)
        numbered = numbers.records(numbered, passages.QUERY_IDS, name) if numbers else numbered
        return passages.passage_query_rows(numbered, file=name, problems=problems, lang=lang)
    mapping, numbered, _ = _mapped(part, file, folder, problems, numbers)
    if part.kind is FileKind.JUDGED:
        return mapped.judged_query_rows(numbered, mapping, file=name, problems=problems, lang=lang)
    return mapped.query_rows(numbered, mapping, file=name, problems=problems, lang=lang)


def qrel_rows(
    part: Part, file: Input, *, folder: Path, problems: Problems, numbers: NumberIds | None = None
) -> Iterable[GradedRow]:
    """Yield the grades of a file of qrels; those of a table may be words."""
    name = file.shown
    if part.kind is FileKind.BEIR_QRELS:
        return beir.qrel_rows(file.lines(), file=name, problems=problems)
    if part.kind is FileKind.QRELS:
        return _trec_qrel_rows(file, problems)
    if part.kind is FileKind.PASSAGES:
        numbered = records_of(part, file, folder, problems)
        return passages.passage_qrel_rows(numbered, file=name, problems=problems)
    mapping, numbered, _ = _mapped(part, file, folder, problems, numbers)
    if part.kind is FileKind.JUDGED:
        return mapped.judged_qrel_rows(numbered, mapping, file=name, problems=problems)
    return mapped.qrel_rows(numbered, mapping, file=name, problems=problems)


def _trec_qrel_rows(file: Input, problems: Problems) -> Iterator[QrelRow]:
    for row in read_qrels(file.lines(), file=file.shown, problems=problems):
        # What is not UTF-8 matches no query or document of ours, and is shown as it was written.
        qid, docid = as_shown(row.qid), as_shown(row.docid)
        if reason := id_problem(docid):
            problems.add(file.shown, row.line, f"document id {docid[:60]!r}: {reason}")
        else:
            yield QrelRow(row.line, qid, docid, row.grade)


def run_rows(part: Part, file: Input, *, folder: Path, problems: Problems) -> Iterable[ResultRow]:
    """Yield the results of a run that is a table."""
    mapping, numbered, _ = _mapped(part, file, folder, problems, None)
    return mapped.run_rows(numbered, mapping, file=file.shown, problems=problems)


def records_of(part: Part, file: Input, folder: Path, problems: Problems) -> Records:
    """Yield the records of a table, each with its line."""
    return records(file, _layout(part, file, folder), folder=folder, problems=problems)


def _topic_rows(part: Part, file: Input, problems: Problems) -> Iterator[QueryRow]:
    content = b"".join(file.lines())
    for topic in read_topics(content, file=file.shown, problems=problems):
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


def _mapped(
    part: Part, file: Input, folder: Path, problems: Problems, numbers: NumberIds | None
) -> tuple[dict[str, str], Records, frozenset[str]]:
    """The mapping, which fits the columns that are there, the records, and keys that are kept."""
    layout = _layout(part, file, folder)
    kind = part.kind or FileKind.DOCUMENTS
    mapping = checked(CONTENT_OF[kind], part.mapping, layout.columns)
    numbered = records(file, layout, folder=folder, problems=problems)
    if numbers:
        columns = [mapping[field] for field in ID_FIELDS if field in mapping]
        numbered = numbers.records(numbered, columns, file.shown)
    return mapping, numbered, layout.kept


def _layout(part: Part, file: Input, folder: Path) -> Layout:
    kind = part.kind or FileKind.DOCUMENTS
    return layout_for(kind, file, folder, has_header=part.has_header)
