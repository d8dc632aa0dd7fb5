"""Checking a benchmark's queries against a list from outside, as a job."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.text import slugify

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    Benchmark,
    ContaminatedQuery,
    ContaminationCheck,
    Job,
    Slice,
    Upload,
    User,
)
from benchmarks_app.slices.selectors import slices_of
from benchmarks_app.slices.services.members import make_hand_slice
from benchmarks_app.splits import selectors as reads
from benchwright.contamination import Degree, Match, OurQuery, OutsideQuery, by_slice, check_queries
from benchwright.contamination.checking import header_at, sketch_matches
from benchwright.contamination.errors import (
    CheckNameTakenError,
    NoOutsideQueriesError,
    NothingToCheckError,
    OtherSaltError,
)
from benchwright.contamination.outside import sent_outside
from benchwright.contamination.sketches import Hasher, SketchHeader, check_salt, is_sketch
from benchwright.errors import Problems
from benchwright.ids import LONGEST_NAME, storable
from benchwright.uploads.row_streams import received

JOB_KIND = "check-contamination"
ROWS_AT_ONCE = 500


def salt_of(benchmark: Benchmark) -> str:
    """The salt that sketches for this benchmark are made with: its own, and always the same."""
    digest = salted_hmac("benchwright.sketches", f"{benchmark.pk}", algorithm="sha256")
    return digest.hexdigest()[:32]


def check_arguments(
    *, benchmark: Benchmark, upload: Upload, name: str = "", salt: str = ""
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to check an uploaded list or sketch.

    Raises
    ------
    CheckNameTakenError
        If the benchmark has a check of this name.
    NothingToCheckError
        If the benchmark has no queries.
    SketchFormatError, OtherSaltError
        If a sketch is damaged, or was made with another salt.
    """
    called = (name.strip() or upload.name)[:LONGEST_NAME]
    if benchmark.contamination_checks.filter(name=called).exists():
        raise CheckNameTakenError(name=called)
    if not reads.queries_to_split(benchmark).exists():
        raise NothingToCheckError
    kind = _kind(upload)
    if kind == ContaminationCheck.Kind.SKETCH:
        _salt(benchmark, upload, _header(upload), salt)
    return {
        "kind": JOB_KIND,
        "title": f"Compare queries with {called}",
        "parameters": {"upload": upload.pk, "name": called, "kind": kind, "salt": salt},
    }


@transaction.atomic
def start_check(
    *, benchmark: Benchmark, user: User, upload: Upload, name: str = "", salt: str = ""
) -> Job:
    """Start a job that checks a list; raises as `check_arguments` does."""
    arguments = check_arguments(benchmark=benchmark, upload=upload, name=name, salt=salt)
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    audit.record(
        actor=user,
        action="check-contamination",
        benchmark=benchmark,
        target=arguments["parameters"]["name"],
    )
    return job


def _kind(upload: Upload) -> ContaminationCheck.Kind:
    with uploading.local(upload).open("rb") as stream:
        begins = stream.read(64)
    kinds = ContaminationCheck.Kind
    return kinds.SKETCH if is_sketch(begins) else kinds.QUERIES


def _header(upload: Upload) -> SketchHeader:
    path = uploading.local(upload)
    header: SketchHeader = reading_apart.call(header_at, path, upload.name, file=upload.name)
    return header


def _salt(benchmark: Benchmark, upload: Upload, header: SketchHeader, salt: str) -> str:
    """What our queries are hashed with, as the sketch's were: the salt given, inside it, or ours.

    Raises
    ------
    OtherSaltError
        If the sketch was made with another one.
    """
    used = check_salt(salt or header.salt or salt_of(benchmark))
    if Hasher(used, header.language).salt_check != header.salt_check:
        raise OtherSaltError(file=upload.name)
    return used


# --- the job -------------------------------------------------------------------------------


def contamination_job(job: jobs.RunningJob) -> None:
    """The handler: compare in one pass, then store the check with what it found."""
    upload = Upload.objects.get(pk=job.parameters["upload"])
    benchmark = job.benchmark
    job.progress(0, 0, "reading our queries")
    splittable = reads.splittable(benchmark, reads.default_qrels(benchmark))
    ours = [
        OurQuery(row["qid"], row["text"], frozenset(splittable.relevant.get(row["pk"], ())))
        for row in splittable.rows
    ]
    matches, n_outside = _compared(job, upload, ours)
    rows = by_slice([query.qid for query in ours], matches, slices_of(benchmark))
    keys = splittable.pk_of
    with job.commit() as result:
        check = _stored(job, upload, matches, rows, n_outside, keys)
        text = f"{check.n_exact} exact, {check.n_near} near, {check.n_possible} possible"
        result.update(
            made=[text], url=reverse("contamination-detail", args=[benchmark.slug, check.pk])
        )


def _compared(
    job: jobs.RunningJob, upload: Upload, ours: list[OurQuery]
) -> tuple[list[Match], int]:
    path = uploading.local(upload)
    if job.parameters["kind"] == ContaminationCheck.Kind.SKETCH:
        header = _header(upload)
        salt = _salt(job.benchmark, upload, header, job.parameters["salt"])
        sketched = reading_apart.call(
            sketch_matches,
            ours,
            path,
            upload.name,
            header,
            salt,
            file=upload.name,
            is_job=True,
            progress=job.progress,
        )
        return sketched, header.n_queries
    problems = Problems()
    matches, n = check_queries(
        ours,
        _outside(job, path, upload.name, problems),
        language=job.benchmark.corpus.lang,
        tell=job.progress,
    )
    problems.raise_found()
    if not n:
        raise NoOutsideQueriesError(file=upload.name)
    return matches, n


def _outside(
    job: jobs.RunningJob, path: Path, file: str, problems: Problems
) -> Iterator[OutsideQuery]:
    stream = reading_apart.stream(sent_outside, path, file, job.folder, problems.limit, file=file)
    return received(stream, problems)


def _stored(
    job: jobs.RunningJob,
    upload: Upload,
    matches: list[Match],
    rows: list[dict[str, Any]],
    n_outside: int,
    keys: dict[str, int],
) -> ContaminationCheck:
    whole = rows[0]
    try:
        with transaction.atomic():
            check = ContaminationCheck.objects.create(
                benchmark=job.benchmark,
                name=job.parameters["name"],
                kind=job.parameters["kind"],
                upload=upload,
                parameters={
                    "sha256": upload.sha256,
                    "file": upload.name,
                    "n_queries": whole["n"],
                    "not_compared": _not_compared(job.benchmark, keys),
                },
                result={"slices": rows},
                n_outside=n_outside,
                n_exact=whole["n_exact"],
                n_near=whole["n_near"],
                n_possible=whole["n_possible"],
                created_by=job.user,
            )
    except IntegrityError as error:
        raise CheckNameTakenError(name=job.parameters["name"]) from error
    ContaminatedQuery.objects.bulk_create(
        (
            ContaminatedQuery(
                check_made=check,
                query_id=keys[match.qid],
                degree=match.degree.value,
                similarity=min(match.similarity, 1.0),
                outside_text=storable(match.outside),
            )
            for match in matches
        ),
        batch_size=ROWS_AT_ONCE,
    )
    return check


def _not_compared(benchmark: Benchmark, keys: dict[str, int]) -> list[int]:
    """Queries that are here and were not looked for: they came meanwhile, or are left out."""
    return sorted({*benchmark.queries.values_list("pk", flat=True)} - {*keys.values()})


# --- what is done with it ------------------------------------------------------------------


def clean_slice_name(check: ContaminationCheck) -> str:
    """After the check's name; "MS MARCO" and "ms-marco" would be one, so the later has its key."""
    word = slugify(check.name)
    earlier = ContaminationCheck.objects.filter(benchmark=check.benchmark_id, pk__lt=check.pk)
    if not word or word in map(slugify, earlier.values_list("name", flat=True)):
        word = f"{word}-{check.pk}".strip("-")
    return f"clean-{word}"[:LONGEST_NAME]


def make_clean_slice(
    *, check: ContaminationCheck, user: User, without_possible: bool = False
) -> Slice:
    """A slice of the queries that the outside list does not hold, so that boards can show it.

    Raises
    ------
    SliceTakenError
        If there is a slice of its name.
    """
    degrees = [Degree.EXACT, Degree.NEAR] + [Degree.POSSIBLE] * without_possible
    return make_hand_slice(
        benchmark=check.benchmark,
        name=clean_slice_name(check),
        qids=clean_qids(check, degrees),
        actor=user,
        description=f"Queries that “{check.name}” does not hold.",
    )


def clean_qids(check: ContaminationCheck, degrees: list[Degree] | None = None) -> list[str]:
    """Ids of the queries of which nothing of these degrees was found, by their bytes.

    Queries that came after the check are not among them: nobody looked for them.
    """
    wanted_degrees = degrees or [Degree.EXACT, Degree.NEAR]
    matched = check.matches.filter(degree__in=[degree.value for degree in wanted_degrees])
    rows = reads.queries_to_split(check.benchmark).filter(created_at__lte=check.created_at)
    unmatched = rows.exclude(pk__in=matched.values("query")).values_list("pk", "qid")
    not_compared = set(check.parameters.get("not_compared", ()))
    return sorted((qid for pk, qid in unmatched if pk not in not_compared), key=str.encode)


@transaction.atomic
def delete_check(*, check: ContaminationCheck, user: User) -> None:
    """Take a check and what it found away; the file it was made of stays among the uploads."""
    check = ContaminationCheck.objects.select_for_update().get(pk=check.pk)
    audit.record(
        actor=user, action="delete-contamination", benchmark=check.benchmark, target=check.name
    )
    check.delete()
