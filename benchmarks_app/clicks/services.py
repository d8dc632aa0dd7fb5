"""A log of clicks becomes a set of qrels; the log itself is forgotten, for it tells of people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.urls import reverse

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.common.selectors.reading import unknown_documents
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Qrel, QrelSet, Query, Upload, User
from benchwright.clicks.errors import ClickScaleError, NoClicksError
from benchwright.errors import BenchmarkError
from benchwright.formats.errors import QrelSetNameTakenError
from benchwright.ids import LONGEST_NAME
from benchwright.qrels.rules import Decision, qrels_digest
from benchwright.recipes import clicks as recipe
from benchwright.texts.counting import counted

JOB_KIND = "grade-clicks"
RULE = "click"
ROWS_PER_BATCH = 1000


@dataclass(frozen=True)
class Asked:
    """How a log is graded; without cuts by those of the model, without columns by their names."""

    name: str = ""
    model: str = recipe.MODEL.default
    least: int = recipe.LEAST.default
    cuts: tuple[float, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    actions: Sequence[str] = ()


def receive_logs(*, benchmark: Benchmark, user: User, logs: Iterable[Any]) -> list[Upload]:
    """Keep the files until the job has read them; none of them if one is refused.

    Raises
    ------
    EmptyUploadError, UploadTooLargeError
    """
    uploads: list[Upload] = []
    try:
        for log in logs:
            uploads.append(
                uploading.receive_path(benchmark=benchmark, owner=user, path=log)
                if isinstance(log, Path)
                else uploading.receive_upload(benchmark=benchmark, owner=user, file=log)
            )
    except BenchmarkError:
        forget_logs(uploads)
        raise
    return uploads


def grading_arguments(
    *, benchmark: Benchmark, uploads: Sequence[Upload], options: Asked
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to grade logs.

    Raises
    ------
    QrelSetNameTakenError
        If the benchmark has a set of this name.
    ClickScaleError
        If the cuts make more grades than the benchmark's scale has.
    """
    name = (options.name.strip() or uploads[0].name.split(".")[0])[:LONGEST_NAME] or "clicks"
    _refuse_taken(benchmark, name)
    _refuse_grades(benchmark, options)
    return {
        "kind": JOB_KIND,
        "title": f"Grade clicks of {uploads[0].name}",
        "parameters": {
            "uploads": [upload.pk for upload in uploads],
            "name": name,
            "model": options.model,
            "least": options.least,
            "cuts": list(options.cuts),
            "columns": dict(options.columns),
            "actions": list(options.actions),
        },
    }


@transaction.atomic
def start_grading(
    *, benchmark: Benchmark, user: User, uploads: Sequence[Upload], options: Asked
) -> Job:
    """Start the job; raises as `grading_arguments` does."""
    arguments = grading_arguments(benchmark=benchmark, uploads=uploads, options=options)
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    name = arguments["parameters"]["name"]
    audit.record(actor=user, action="grade-clicks", benchmark=benchmark, target=name, job=job.pk)
    return job


def forget_logs(uploads: Iterable[Upload]) -> None:
    for upload in uploads:
        uploading.forget(upload)


def forget_logs_of_ended(job_id: int, *, kind: str) -> None:
    """Forget the logs of a job of this kind that was cancelled or has failed: who wants it done
    after all sends them again."""
    ended = Job.objects.filter(pk=job_id, kind=kind, state__in=Job.ENDED_EARLY)
    for job in ended:
        forget_logs(Upload.objects.filter(pk__in=job.parameters["uploads"]))


def _refuse_taken(benchmark: Benchmark, name: str) -> None:
    if QrelSet.objects.ready().filter(benchmark=benchmark, name=name).exists():
        raise QrelSetNameTakenError(name=name)


def _refuse_grades(benchmark: Benchmark, options: Asked) -> None:
    # Loads numbers, which only a page that is sent needs.
    from benchwright.clicks.grading import CUTS

    n_cuts = len(options.cuts or CUTS[recipe.Model(options.model)])
    scale = sorted(benchmark.grades.values_list("value", flat=True))
    missing = set(range(n_cuts + 1)) - set(scale)
    if missing:
        raise ClickScaleError(
            grades=n_cuts + 1, highest=n_cuts, scale=", ".join(map(str, scale)), cuts=n_cuts
        )


# --- the job ---------------------------------------------------------------------------------


def grade_clicks(job: jobs.RunningJob) -> None:
    """The handler: read and grade apart, then make the set visible in one go."""
    uploads = list(Upload.objects.filter(pk__in=job.parameters["uploads"]).order_by("pk"))
    if not uploads:
        raise NoClicksError(file=job.parameters["name"], why="its log is no longer there.")
    try:
        rows, facts = _graded(job, uploads)
    except BenchmarkError:
        # Its sender mends the file and sends it again.
        with transaction.atomic():
            forget_logs(uploads)
        raise
    job.progress(1, 1, "making it visible")
    _commit(job, uploads, rows, facts)


Row = tuple[str, str, int]


def _graded(job: jobs.RunningJob, uploads: Sequence[Upload]) -> tuple[list[Row], dict[str, Any]]:
    from benchwright.clicks.grading import Grading, rows_apart

    parameters, benchmark = job.parameters, job.benchmark
    rows_in_words = benchmark.queries.committed().in_words_alone().order_by("pk")
    queries = list(rows_in_words.values_list("text", "qid"))
    grading = Grading(
        recipe.Model(parameters["model"]), parameters["least"], tuple(parameters["cuts"])
    )
    paths = [uploading.local(upload) for upload in uploads]
    rows, facts = reading_apart.call(
        rows_apart,
        paths,
        [upload.name for upload in uploads],
        job.folder,
        grading,
        queries,
        columns=parameters["columns"],
        actions=parameters["actions"],
        file=uploads[0].name,
        is_job=True,
        progress=job.progress,
    )
    lacking = unknown_documents(benchmark, {docid for _, docid, _ in rows})
    known_rows = [row for row in rows if row[1] not in lacking]
    if not known_rows:
        raise NoClicksError(file=uploads[0].name, why=_nothing(facts, len(rows)))
    return known_rows, {**facts, "n_unknown_documents": len(lacking)}


def _nothing(facts: Mapping[str, Any], n_graded: int) -> str:
    """Why no grade came of a log that could be read."""
    if n_graded:
        return f"none of its {n_graded:,} graded documents is in the corpus."
    if not facts["n_clicks"]:
        return why_no_clicks(facts)
    if facts["n_other"] >= facts["n_pages"]:
        return f"none of its {facts['n_pages']:,} pages asked a query of this benchmark."
    return (
        f"none of its {facts['n_pairs']:,} pairs was shown {facts['least']:,} times. "
        "Ask for less evidence, or give a longer log."
    )


def why_no_clicks(facts: Mapping[str, Any]) -> str:
    """Why a log that could be read has no click."""
    if facts["actions"]:
        actions = ", ".join(facts["actions"])
        return f"no action of its events counts as a click; there are {actions}. Name one."
    return (
        f"nobody clicked on what its {counted(facts['n_pages'], 'page')} showed. UBI's clicks "
        "are in its file of events: give both."
    )


def _commit(
    job: jobs.RunningJob, uploads: Sequence[Upload], rows: Sequence[Row], facts: dict[str, Any]
) -> None:
    benchmark, name = job.benchmark, job.parameters["name"]
    pks = dict(Query.objects.filter(benchmark=benchmark).values_list("qid", "pk"))
    relevant = relevant_values(benchmark)
    with job.commit() as result:
        _refuse_taken(benchmark, name)
        qrel_set = QrelSet.objects.create(
            benchmark=benchmark,
            name=name,
            kind=QrelSet.Kind.CLICK,
            state=QrelSet.State.READY,
            rule=RULE,
            parameters={**facts, "files": [upload.name for upload in uploads]},
            digest=qrels_digest([Decision(*row) for row in rows]),
            n_qrels=len(rows),
            n_queries=len({qid for qid, *_ in rows}),
            n_relevant=sum(grade in relevant for *_, grade in rows),
        )
        Qrel.objects.bulk_create(
            (
                Qrel(qrel_set=qrel_set, query_id=pks[qid], docid=docid, grade=grade)
                for qid, docid, grade in rows
            ),
            batch_size=ROWS_PER_BATCH,
        )
        forget_logs(uploads)
        result["made"] = [f"qrels '{name}' of kind click with {counted(len(rows), 'grade')}"]
        result["notes"] = _notes(facts)
        result["url"] = reverse("qrels-list", args=[benchmark.slug])


def _notes(facts: Mapping[str, Any]) -> list[str]:
    notes = [
        f"{counted(facts['n_pages'], 'page')} with {counted(facts['n_clicks'], 'click')}; "
        f"{facts['n_graded']:,} of {counted(facts['n_pairs'], 'pair')} have evidence enough, and "
        f"the interval of {facts['n_sure']:,} lies in one grade.",
        "These are grades of clicks, which is told wherever they are used; the log is forgotten.",
    ]
    left_out = {
        "n_other": ("page", "asked for none of the benchmark's queries."),
        "n_unknown_documents": ("document", "{are} not in the corpus and {were} left out."),
        "n_elsewhere": ("click", "{were} on nothing that a page showed."),
        "n_bad": ("row", "cannot be read and {were} left out."),
    }
    for key, (noun, text) in left_out.items():
        if n := facts[key]:
            are, were = ("is", "was") if n == 1 else ("are", "were")
            notes.append(f"{counted(n, noun)} {text.format(are=are, were=were)}")
    return notes + [f"{problem}" for problem in facts["problems"]]
