"""Sets of qrels that are there: mapped to other grades as a new set, and deleted."""

import hashlib

from django.db import connection, transaction
from django.db.models import Q

from benchmarks_app.common.selectors.qrel_sets import grades_in, relevant_values
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Job, Qrel, QrelSet, Release, Upload, User
from benchwright.formats.errors import (
    GradeNotOnScaleError,
    NothingMappedError,
    QrelSetInUseError,
    QrelSetNameTakenError,
    QrelSetNotImportedError,
    UnlistedError,
)
from benchwright.formats.unlisted import UNLISTED
from benchwright.qrels.grade_map import mapped_origins, parse_grade_map
from benchwright.texts.counting import first_of

RELEASES_NAMED = 5


@transaction.atomic
def map_qrels(
    *, qrel_set: QrelSet, actor: User, name: str = "", grade_map: str = "", unlisted: str = ""
) -> QrelSet:
    """A further set: the grades of an imported one, mapped; what it does not list, said anew.

    `grade_map` and `unlisted` are as of an import; what they leave out stays as it is.

    Raises
    ------
    QrelSetNotImportedError
        If the set was derived from judgments: these are derived by another rule instead.
    GradeMapError, GradeNotOnScaleError, UnlistedError
        If a mapping cannot be read, a grade is none of the benchmark's, or `unlisted` is no word.
    NothingMappedError
        If the new set would be the old one.
    QrelSetNameTakenError
        If the benchmark has a set of this name.
    """
    if qrel_set.kind not in (QrelSet.Kind.IMPORTED, QrelSet.Kind.MACHINE, QrelSet.Kind.CLICK):
        raise QrelSetNotImportedError(name=qrel_set.name)
    if unlisted and unlisted not in UNLISTED:
        raise UnlistedError(unlisted=unlisted, known=", ".join(UNLISTED))
    there = set(qrel_set.qrels.values_list("grade", flat=True).distinct())
    grades = parse_grade_map(grade_map).items()
    mapped = {old: new for old, new in grades if old in there and old != new}
    if not mapped and unlisted in ("", qrel_set.unlisted):
        raise NothingMappedError(name=qrel_set.name)
    benchmark = qrel_set.benchmark
    _refuse_off_scale(benchmark, {mapped.get(grade, grade) for grade in there})
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)  # one name at a time
    name = name or _next_name(qrel_set)
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)
    derived = _mapped_set(qrel_set, name, unlisted or qrel_set.unlisted, there, mapped)
    _copy(qrel_set, derived, mapped)
    derived.n_relevant = derived.qrels.filter(grade__in=relevant_values(benchmark)).count()
    derived.save(update_fields=["n_relevant"])
    audit.record(
        actor=actor,
        action="map-qrels",
        benchmark=benchmark,
        target=name,
        of=qrel_set.name,
        grade_map=derived.parameters["grade_map"],
        unlisted=derived.unlisted,
    )
    return derived


def _mapped_set(
    old: QrelSet, name: str, unlisted: str, there: set[int], mapped: dict[int, int]
) -> QrelSet:
    """The row of a mapped set, still without its grades."""
    pairs = sorted(mapped.items())
    return QrelSet.objects.create(
        benchmark=old.benchmark,
        name=name,
        kind=old.kind,
        state=QrelSet.State.READY,
        rule=old.rule,
        rule_version=old.rule_version,
        unlisted=unlisted,
        parameters={
            **old.parameters,
            "mapped_from": old.name,
            "mapped_from_digest": old.digest,
            "grade_map": {str(grade): new for grade, new in pairs},
            "origins": mapped_origins(there, mapped, old.parameters.get("origins", {})),
        },
        digest=hashlib.sha256(f"{old.digest} {pairs}".encode()).hexdigest(),
        n_qrels=old.n_qrels,
        n_queries=old.n_queries,
    )


def _refuse_off_scale(benchmark: Benchmark, grades: set[int]) -> None:
    scale = set(benchmark.grades.values_list("value", flat=True))
    odd = sorted(grade for grade in grades if grade >= 0 and grade not in scale)
    if odd:
        raise GradeNotOnScaleError(grade=odd[0], scale=", ".join(map(str, sorted(scale))))


def _next_name(qrel_set: QrelSet) -> str:
    """`name (2)`, or the first number that is free."""
    taken_names = set(
        QrelSet.objects.filter(benchmark=qrel_set.benchmark_id).values_list("name", flat=True)
    )
    stem = qrel_set.name[:110]
    return next(
        name for n in range(2, len(taken_names) + 3) if (name := f"{stem} ({n})") not in taken_names
    )


def _copy(old: QrelSet, new: QrelSet, mapped: dict[int, int]) -> None:
    """Write the rows of one set into another, in the database; the grades are whole numbers."""
    cases = " ".join(f"WHEN {before:d} THEN {after:d}" for before, after in mapped.items())
    grade = f"CASE grade {cases} ELSE grade END" if cases else "grade"
    table = connection.ops.quote_name(Qrel._meta.db_table)
    columns = "query_id, docid, {grade}, is_derived"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (qrel_set_id, {columns.format(grade='grade')}) "
            f"SELECT %s, {columns.format(grade=grade)} FROM {table} WHERE qrel_set_id = %s",
            [new.pk, old.pk],
        )


@transaction.atomic
def delete_qrels(*, qrel_set: QrelSet, actor: User) -> None:
    """Delete a set that no release uses; the file it came from may be imported again.

    Raises
    ------
    QrelSetInUseError
        If a release or a draft uses it, or a job is about to.
    """
    row = QrelSet.objects.select_for_update().get(pk=qrel_set.pk)
    if users := users_of(row):
        raise QrelSetInUseError(name=row.name, users=first_of(users, RELEASES_NAMED))
    facts = {
        "n_qrels": row.n_qrels,
        "digest": row.digest,
        "grades": {str(grade): n for grade, n in grades_in(row).items()},
    }
    audit.record(
        actor=actor, action="delete-qrels", benchmark=row.benchmark, target=row.name, **facts
    )
    row.delete()
    _let_file_come_again(row)


def users_of(qrel_set: QrelSet) -> list[str]:
    """The releases, drafts and unfinished jobs that use a set, in words."""
    names = [
        f"draft {release.version}"
        if release.state == Release.State.DRAFT
        else f"release {release.version}"
        for release in qrel_set.releases.order_by("major", "minor", "patch", "pk")
    ]
    waiting = Job.objects.active().filter(
        Q(parameters__qrel_set=qrel_set.pk) | Q(parameters__qrels=qrel_set.pk),
        benchmark=qrel_set.benchmark_id,
    )
    return names + [f"the job '{job.title}'" for job in waiting.order_by("pk")]


def _let_file_come_again(deleted: QrelSet) -> None:
    """Forget that a file was imported, where it became this set alone and none was mapped of it."""
    sha256 = deleted.parameters.get("sha256")
    sets = QrelSet.objects.filter(benchmark=deleted.benchmark_id, parameters__sha256=sha256)
    if not sha256 or sets.exists():
        return
    uploads = Upload.objects.filter(
        benchmark=deleted.benchmark_id, sha256=sha256, imported_as__startswith="qrels '"
    )
    uploads.exclude(imported_as__contains="; ").update(imported_as="")
