"""The unit that is measured: of a corpus, of a benchmark, and grades brought to it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from django.db import transaction

from benchmarks_app.common.selectors.reading import (
    corpus_reader,
    measures_documents_of_passages,
    qrels_of,
)
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Corpus, Qrel, QrelSet, Unit, User
from benchwright.corpora.errors import (
    MixedUnitsError,
    NotDerivableError,
    ParentsMissingError,
    UnitTakenError,
)
from benchwright.corpora.store import CorpusReader
from benchwright.corpora.units import RULE, read_unit
from benchwright.files.external_sort import batched
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.ids import LONGEST_NAME

ROWS_PER_BATCH = 500
SHOWN = 3
BY_DOCUMENT = " by document"


@transaction.atomic
def change_corpus(
    *,
    benchmark: Benchmark,
    actor: User,
    unit: str,
    corpus_unit: str,
    lang: str,
    may_be_passed_on: bool,
    shown_metadata: Iterable[str] = (),
) -> None:
    """Save what is known of the benchmark's corpus, the unit it measures and what judges see.

    Raises
    ------
    UnknownUnitError
        If a unit is none.
    UnitTakenError
        If what is there already is of the other unit.
    ParentsMissingError
        If documents are to be measured on passages that do not name theirs.
    """
    corpus = Corpus.objects.select_for_update().get(pk=benchmark.corpus_id)
    benchmark.corpus = corpus
    unit, corpus_unit = read_unit(unit), read_unit(corpus_unit)
    if corpus_unit != corpus.unit:
        _refuse_other_rows(corpus, corpus_unit)
    corpus.unit = corpus_unit
    if unit != benchmark.unit:
        _refuse_other_results(benchmark, unit)
    benchmark.unit = unit
    refuse_unit(benchmark)
    corpus.lang, corpus.may_be_passed_on = lang, may_be_passed_on
    benchmark.shown_metadata = sorted(shown_metadata)
    corpus.save()
    benchmark.save(update_fields=["unit", "shown_metadata"])
    audit.record(actor=actor, action="change-corpus", benchmark=benchmark, target=corpus.name)


def _refuse_other_rows(corpus: Corpus, unit: str) -> None:
    """Rows are read as passages or as documents when they are imported."""
    if corpus.versions.exists():
        raise UnitTakenError(
            what="The corpus",
            unit=unit,
            why="it has been imported",
            advice="Make a benchmark with a corpus of that unit",
        )


def _refuse_other_results(benchmark: Benchmark, unit: str) -> None:
    results_by_name = {
        "runs": benchmark.runs.exists(),
        "qrels": benchmark.qrel_sets.exists(),
        "releases": benchmark.releases.exists(),
    }
    results = [name for name, is_there in results_by_name.items() if is_there]
    if results:
        raise UnitTakenError(
            what="The benchmark",
            unit=unit,
            why=f"it has {' and '.join(results)} already",
            advice="Make another benchmark on the same corpus",
        )


def refuse_unit(benchmark: Benchmark) -> None:
    """Raise where a benchmark cannot measure its unit on its corpus."""
    corpus, version = benchmark.corpus, benchmark.current_corpus_version
    if benchmark.unit == Unit.PASSAGE and corpus.unit == Unit.DOCUMENT:
        raise UnitTakenError(
            what="The benchmark",
            unit=Unit.PASSAGE.value,
            why="the rows of its corpus are documents",
            advice="Import the passages, each with its document, into a corpus of passages",
        )
    if measures_documents_of_passages(benchmark) and version and not version.n_parents:
        raise ParentsMissingError(what=f"Benchmark '{benchmark}'")


# --- grades --------------------------------------------------------------------------------


@transaction.atomic
def derive_document_qrels(
    *, benchmark: Benchmark, qrel_set: QrelSet, actor: User, name: str = ""
) -> QrelSet:
    """A further set of qrels: the grade of a document is the highest of its passages.

    `qrel_set` is the benchmark's own, or that of another one on the same corpus; queries are found
    by their ids.

    Raises
    ------
    OtherUnitError, MixedUnitsError, NotDerivableError
        If the benchmark measures passages, or the set holds something else than passages.
    QrelSetNameTakenError
        If the benchmark has a set of this name.
    """
    version = benchmark.current_corpus_version
    if not measures_documents_of_passages(benchmark) or version is None:
        why = f"{benchmark} does not measure documents on a corpus of passages."
        raise NotDerivableError(name=qrel_set.name, why=why)
    name = name or f"{qrel_set.name[: LONGEST_NAME - len(BY_DOCUMENT)]}{BY_DOCUMENT}"
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)
    reader = corpus_reader(version)
    grades = _document_grades(qrel_set, reader)
    rows = _in_benchmark(benchmark, qrel_set, grades)
    derived = QrelSet.objects.create(
        benchmark=benchmark,
        name=name,
        kind=qrel_set.kind,
        unlisted=qrel_set.unlisted,
        state=QrelSet.State.BUILDING,
        rule=RULE,
        parameters={
            "derived_from": qrel_set.name,
            "derived_from_id": qrel_set.pk,
            "derived_from_digest": qrel_set.digest,
            "corpus_version": version.number,
            "n_passages": qrel_set.n_qrels,
        },
        as_of_event=qrel_set.as_of_event,
    )
    for some in batched(rows, ROWS_PER_BATCH):
        Qrel.objects.bulk_create(
            Qrel(qrel_set=derived, query_id=query, docid=docid, grade=grade, is_derived=True)
            for query, docid, grade in some
        )
    _finish(derived, grades, benchmark)
    audit.record(actor=actor, action="derive-qrels", benchmark=benchmark, target=name)
    return derived


Grades = Mapping[tuple[str, str], int]


def _document_grades(qrel_set: QrelSet, reader: CorpusReader) -> Grades:
    """{(qid, document): highest grade of its passages}."""
    rows = list(qrels_of(qrel_set))
    passages = {docid for _, docid, _ in rows}
    parents = reader.parents_of(passages)
    _refuse_others(qrel_set, passages, parents, reader)
    grades: dict[tuple[str, str], int] = {}
    for qid, docid, grade in rows:
        key = qid, parents[docid]
        grades[key] = max(grade, grades.get(key, grade))
    return grades


def _refuse_others(
    qrel_set: QrelSet, passages: set[str], parents: dict[str, str], reader: CorpusReader
) -> None:
    others = passages - parents.keys()
    documents = others - reader.missing_parents(others)
    if documents and parents:
        passage = min(parents)
        raise MixedUnitsError(
            file=f"Qrels '{qrel_set.name}'",
            passage=passage,
            parent=parents[passage],
            document=min(documents),
        )
    if documents:
        why = f"its grades are of documents already, such as '{min(documents)}'."
        raise NotDerivableError(name=qrel_set.name, why=why)
    if others:
        names = ", ".join(f"'{other}'" for other in sorted(others)[:SHOWN])
        why = (
            f"{len(others):,} of its passages are not in the corpus, such as {names}, so their "
            "documents are not known. Import the corpus they are of."
        )
        raise NotDerivableError(name=qrel_set.name, why=why)


def _in_benchmark(
    benchmark: Benchmark, qrel_set: QrelSet, grades: Grades
) -> Iterator[tuple[int, str, int]]:
    queries = dict(benchmark.queries.committed().values_list("qid", "pk"))
    lacking = sorted({qid for qid, _ in grades} - queries.keys())
    if lacking:
        names = ", ".join(f"'{qid}'" for qid in lacking[:SHOWN])
        why = f"{len(lacking):,} of its queries are not in {benchmark}, such as {names}."
        raise NotDerivableError(name=qrel_set.name, why=why)
    scale = set(benchmark.grades.values_list("value", flat=True))
    odd = sorted({grade for grade in grades.values() if grade >= 0} - scale)
    if odd:
        why = f"grade {odd[0]} is not on the scale of {benchmark}."
        raise NotDerivableError(name=qrel_set.name, why=why)
    return ((queries[qid], docid, grade) for (qid, docid), grade in grades.items())


def _finish(qrel_set: QrelSet, grades: Grades, benchmark: Benchmark) -> None:
    relevant = set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))
    qrel_set.n_qrels = len(grades)
    qrel_set.n_queries = len({qid for qid, _ in grades})
    qrel_set.n_relevant = sum(grade in relevant for grade in grades.values())
    lines = sorted(f"{qid}\t{docid}\t{grade}\n".encode() for (qid, docid), grade in grades.items())
    qrel_set.digest = hashlib.sha256(b"".join(lines)).hexdigest()
    qrel_set.state = QrelSet.State.READY
    qrel_set.save()
