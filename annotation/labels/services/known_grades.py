"""Setting which documents have a known grade: hidden checks, and practice."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Max

from annotation.common.selectors.ledger import query_keys
from annotation.common.services.documents import document_rows
from annotation.judging.protocol.errors import GoldShareError, GradeNotOnScaleError, KnownPairError
from annotation.models import KnownGrade, Pool, PoolEntry
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.models import User
from benchwright.errors import Problems
from benchwright.qrels.known_grades import Known, known_grades_in

LARGEST_SHARE = 0.2


def add_known_grade(*, pool: Pool, known_grade: Known, actor: User) -> KnownGrade:
    """Set a known grade; a pair that is not in the pool becomes an entry of its own.

    A pair that has one already gets this in its place. Nobody is asked for more labels by it.

    Raises
    ------
    KnownPairError
        If the query or the document is not there, or the document has no text.
    GradeNotOnScaleError
        If the benchmark has no such grade.
    """
    return add_known_grades(pool=pool, known_grades=[known_grade], actor=actor)[0]


@transaction.atomic
def add_known_grades(*, pool: Pool, known_grades: Sequence[Known], actor: User) -> list[KnownGrade]:
    """Set several, all or none; errors as of `add_known_grade`, of the first that is wrong."""
    queries = query_keys(pool.benchmark)
    scale = set(pool.benchmark.grades.values_list("value", flat=True))
    for pair in known_grades:
        if pair.grade not in scale:
            raise GradeNotOnScaleError(grade=pair.grade, scale=", ".join(map(str, sorted(scale))))
        if pair.qid not in queries:
            raise KnownPairError(
                qid=pair.qid, docid=pair.docid, reason="no such query in this benchmark"
            )
    documents = _documents(pool, known_grades)
    rows = [
        _set(pool, pair, queries[pair.qid], documents[pair.docid], actor) for pair in known_grades
    ]
    audit.record(
        actor=actor,
        action="known-grades",
        benchmark=pool.benchmark,
        target=pool.name,
        n_grades=len(rows),
    )
    return rows


def _documents(pool: Pool, known_grades: Iterable[Known]) -> dict[str, int]:
    """{docid: primary key}, each with the text that it has today."""
    corpus = pool.benchmark.corpus
    texts = benchmark_documents(pool.benchmark, {pair.docid for pair in known_grades})
    for pair in known_grades:
        if pair.docid not in texts:
            reason = "the corpus has no text of this document"
            raise KnownPairError(qid=pair.qid, docid=pair.docid, reason=reason)
    return document_rows(corpus, list(texts), texts)


def _set(pool: Pool, pair: Known, query_id: int, document_id: int, actor: User) -> KnownGrade:
    entry, _ = PoolEntry.objects.get_or_create(
        pool=pool,
        query_id=query_id,
        document_id=document_id,
        defaults={"origin": PoolEntry.Origin.KNOWN, "priority": _last_place(pool)},
    )
    known_grade, _ = KnownGrade.objects.update_or_create(
        entry=entry,
        defaults={
            "purpose": pair.purpose,
            "grade": pair.grade,
            "explanation": pair.explanation,
            "set_by": actor,
        },
    )
    return known_grade


def _last_place(pool: Pool) -> int:
    last = pool.entries.aggregate(last=Max("priority"))["last"]
    return 0 if last is None else last + 1


@transaction.atomic
def remove_known_grade(*, known_grade: KnownGrade, actor: User) -> None:
    """Forget a known grade; what was judged because of it stays in the ledger."""
    known_grade = KnownGrade.objects.select_for_update().get(pk=known_grade.pk)
    entry = known_grade.entry
    known_grade.delete()
    if entry.origin == PoolEntry.Origin.KNOWN and not entry.slots.exists():
        entry.delete()
    audit.record(
        actor=actor,
        action="known-grade-remove",
        benchmark=entry.pool.benchmark,
        target=entry.pool.name,
        query=entry.query.qid,
        docid=entry.document.docid,
    )


@transaction.atomic
def set_gold_share(*, pool: Pool, share: float, actor: User) -> None:
    """How many of a person's labels are hidden checks, from none (0) to one in five (0.2).

    Raises
    ------
    GoldShareError
        If the share is beyond that.
    """
    if not 0 <= share <= LARGEST_SHARE:
        raise GoldShareError(share=share)
    Pool.objects.filter(pk=pool.pk).update(gold_share=share)
    audit.record(
        actor=actor,
        action="gold-share",
        benchmark=pool.benchmark,
        target=pool.name,
        share=share,
    )


# --- from a file ---------------------------------------------------------------------------------


def read_known_grades(content: bytes, *, pool: Pool, file: str, purpose: str) -> list[Known]:
    """Known grades of a table: query-id, corpus-id, grade; perhaps purpose, explanation.

    `purpose` is that of rows which name none.

    Raises
    ------
    FileProblemsError
        With every line that cannot be used.
    UnreadableFileError, ReadersBusyError
        If reading it took too much, or nobody could read it.
    """
    problems = Problems()
    scale = list(pool.benchmark.grades.values_list("value", flat=True))
    pairs, news = reading_apart.call(
        known_grades_in, content, file, purpose, set(query_keys(pool.benchmark)), scale, file=file
    )
    problems.take(news)
    texts = benchmark_documents(pool.benchmark, {pair.docid for pair in pairs})
    for pair in pairs:
        if pair.docid not in texts:
            problems.add(file, pair.line, f"the corpus has no text of document '{pair.docid}'")
    problems.raise_found()
    known_grades: list[Known] = pairs
    return known_grades


@transaction.atomic
def set_practice_mark(*, pool: Pool, mark: int | None, actor: User) -> Pool:
    """Set how many practice documents have to be right; who has passed before stays so."""
    locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    locked.practice_mark = mark
    locked.save(update_fields=["practice_mark"])
    audit.record(
        actor=actor,
        action="practice-mark",
        benchmark=pool.benchmark,
        target=locked.name,
        mark="usual" if mark is None else mark,
    )
    return locked
