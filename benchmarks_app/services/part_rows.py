"""The rows of each file of an import, whatever it is written in."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from benchmarks_app.core.detection import CONTENT_OF, FileKind, Part, layout_for
from benchmarks_app.core.formats import beir, mapped, passages
from benchmarks_app.core.formats.beir import CorpusRow, QrelRow, QueryRow
from benchmarks_app.core.formats.inputs import Input
from benchmarks_app.core.formats.mapped import ResultRow
from benchmarks_app.core.formats.tables import Layout, Records, records
from benchmarks_app.core.formats.tabular import docid_rows
from benchmarks_app.core.formats.trec import read_qrels
from benchmarks_app.core.formats.trec_topics import read_topics
from benchmarks_app.core.mapping import checked
from benchmarks_app.core.problems import Problems
from benchmarks_app.models import Unit
from benchmarks_app.services.staging import Import


class PartFile(Protocol):
    """A file at work."""

    @property
    def part(self) -> Part: ...
    @property
    def given(self) -> Input: ...


def document_rows(work: Import, file: PartFile) -> Iterator[CorpusRow]:
    """The documents of a corpus file."""
    lines, shown, problems = file.given.lines, file.given.shown, work.problems
    if file.part.kind is FileKind.CORPUS:
        yield from beir.corpus_rows(lines(), file=shown, problems=problems)
    elif file.part.kind is FileKind.IDS:
        yield from docid_rows(lines(), file=shown, problems=problems)
    elif file.part.kind is FileKind.PASSAGES:
        read = _records(work, file, problems)
        yield from passages.passage_document_rows(read, file=shown, problems=problems)
    else:
        mapping, read = _mapped(work, file, problems)
        has_parents = work.benchmark.corpus.unit == Unit.PASSAGE
        for row in mapped.document_rows(read, mapping, file=shown, problems=problems):
            yield row if has_parents or not row.parent else replace(row, parent="")


def query_rows(work: Import, file: PartFile) -> Iterable[QueryRow]:
    """The queries of a file of queries."""
    shown, problems, lang = file.given.shown, work.problems, file.part.lang
    if file.part.kind is FileKind.TOPICS:
        return _topic_rows(work, file)
    if file.part.kind is FileKind.PASSAGES:
        read = _records(work, file, problems)
        return passages.passage_query_rows(read, file=shown, problems=problems, lang=lang)
    mapping, read = _mapped(work, file, problems)
    return mapped.query_rows(read, mapping, file=shown, problems=problems, lang=lang)


def _topic_rows(work: Import, file: PartFile) -> Iterator[QueryRow]:
    content = b"".join(file.given.lines())
    for topic in read_topics(content, file=file.given.shown, problems=work.problems):
        yield QueryRow(
            topic.line,
            topic.qid,
            topic.text,
            metadata=dict(topic.others),
            description=topic.description,
            narrative=topic.narrative,
            lang=file.part.lang,
        )


def qrel_rows(
    work: Import, file: PartFile, *, problems: Problems | None = None
) -> Iterable[QrelRow]:
    """The grades of a file of qrels."""
    shown, told = file.given.shown, problems or work.problems
    if file.part.kind is FileKind.BEIR_QRELS:
        return beir.qrel_rows(file.given.lines(), file=shown, problems=told)
    if file.part.kind is FileKind.QRELS:
        read = read_qrels(file.given.lines(), file=shown, problems=told)
        return (QrelRow(row.line, _text(row.qid), _text(row.docid), row.grade) for row in read)
    if file.part.kind is FileKind.PASSAGES:
        numbered = _records(work, file, told)
        return passages.passage_qrel_rows(numbered, file=shown, problems=told)
    mapping, numbered = _mapped(work, file, told)
    return mapped.qrel_rows(numbered, mapping, file=shown, problems=told)


def _text(raw: bytes) -> str:
    # What is not UTF-8 matches no query or document of ours, and is shown as it was written.
    return raw.decode(errors="backslashreplace")


def run_rows(work: Import, file: PartFile) -> Iterable[ResultRow]:
    """The results of a run that is a table."""
    mapping, read = _mapped(work, file, work.problems)
    shown = file.given.shown
    return mapped.run_rows(read, mapping, file=shown, problems=work.problems)


def _mapped(work: Import, file: PartFile, problems: Problems) -> tuple[dict[str, str], Records]:
    """The mapping, which fits the columns that are there, and the records."""
    layout = _layout(work, file)
    kind = file.part.kind or FileKind.DOCUMENTS
    mapping = checked(CONTENT_OF[kind], file.part.mapping, layout.columns)
    folder = work.job.folder
    return mapping, records(file.given, layout, folder=folder, problems=problems)


def _records(work: Import, file: PartFile, problems: Problems) -> Records:
    return records(file.given, _layout(work, file), folder=work.job.folder, problems=problems)


def _layout(work: Import, file: PartFile) -> Layout:
    kind = file.part.kind or FileKind.DOCUMENTS
    return layout_for(kind, file.given, work.job.folder, has_header=file.part.has_header)
