"""Files of labels that were given elsewhere: read, checked whole, then entered whole or not at all.

The ledger takes nothing back, so every line is checked before the first one is written.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.urls import reverse

from annotation.labels.services import entering_labels
from annotation.labels.services.entering_labels import Entered, Origin, enter_labels
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.reading import unknown_documents
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.common.services.analysing import analyse
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Upload, User
from benchwright.errors import Problems
from benchwright.files.external_sort import batched
from benchwright.formats.errors import NothingImportedError
from benchwright.ids import LONGEST_NAME
from benchwright.qrels.errors import TooManyLabelsError
from benchwright.qrels.files import Label, raters_at, sent_labels
from benchwright.qrels.grade_map import parse_grade_map
from benchwright.qrels.raters import Raters, known_raters
from benchwright.texts.counting import counted
from benchwright.uploads import Place
from benchwright.uploads.row_streams import received

JOB_KIND = "import-labels"
# They are written in one transaction, and whoever judges waits for it on SQLite.
MOST_LABELS = 200_000
IDS_PER_LOOK = 5_000
UNKNOWN_QUERY = "query '{qid}' is not in the benchmark; import its queries first, or drop the line"
UNKNOWN_DOCUMENT = "document '{docid}' is not in the corpus; correct the id, or drop the line"


def labels_arguments(
    *,
    upload: Upload,
    pool: Pool | None = None,
    rater: str = "",
    source: str = "",
    grade_map: str = "",
    accounts: Mapping[str, str] | None = None,
    machines: Collection[str] | None = None,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to import a file of labels.

    `rater` is who gave them where the file has no column for it; left empty, they count as the
    importer's. `source` says where they are from; by default the name of the file. `accounts` and
    `machines` say who the raters are: see `core.raters.known_raters`.

    Raises
    ------
    GradeMapError
        If `grade_map` cannot be read.
    """
    return {
        "kind": JOB_KIND,
        "title": f"Import labels {upload.name}",
        "parameters": {
            "upload": upload.pk,
            "pool": pool.pk if pool else None,
            "rater": rater[:LONGEST_NAME],
            "source": source,
            "grade_map": {str(key): value for key, value in parse_grade_map(grade_map).items()},
            "accounts": dict(accounts or {}),
            "machines": None if machines is None else sorted(machines),
        },
    }


@transaction.atomic
def start_import(*, benchmark: Benchmark, user: User, upload: Upload, **options: Any) -> Job:
    """Start a job that imports labels; raises as `labels_arguments` does."""
    arguments = labels_arguments(upload=upload, **options)
    return jobs.start(benchmark=benchmark, user=user, **arguments)


def raters_in(
    *, benchmark: Benchmark, upload: Upload, rater: str = "", grade_map: str = ""
) -> Counter[str]:
    """How many labels each rater of a file gave; what is wrong in it is for the import to say."""
    counts: Counter[str] = reading_apart.call(
        raters_at,
        Place(uploading.local(upload), upload.name),
        scale_of(benchmark),
        parse_grade_map(grade_map),
        rater[:LONGEST_NAME],
        MOST_LABELS,
        file=upload.name,
    )
    return counts


def import_labels(job: jobs.RunningJob) -> None:
    """The handler: every line is read and checked, then all events are appended at once."""
    upload = Upload.objects.get(pk=job.parameters["upload"])
    labels = _read(job, upload)
    job.progress(len(labels), len(labels), "writing them down")
    origin = _origin(job, upload, labels)
    with job.commit() as result:
        done = enter_labels(origin=origin, labels=labels)
        analyse(Judgment, Slot)
        _record(origin, done)
        result.update(
            n_labels=done.n(entering_labels.SAVED),
            n_same=done.n(entering_labels.SAME),
            n_outside=done.n(entering_labels.OUTSIDE),
            n_stale=done.n_stale,
            n_extra=done.n_extra,
            n_machine=done.n_machine,
            made=[_made(done)],
            notes=_notes(done, origin),
            url=_where(origin),
        )


def _read(job: jobs.RunningJob, upload: Upload) -> list[Label]:
    """The labels of the file, all of them good.

    Raises
    ------
    FileProblemsError
        With every line that cannot be used.
    TooManyLabelsError, NothingImportedError
        If the file holds too much, or nothing.
    """
    benchmark, problems = job.benchmark, Problems()
    grade_map = {int(key): value for key, value in job.parameters["grade_map"].items()}
    stream = reading_apart.stream(
        sent_labels,
        Place(uploading.local(upload), upload.name),
        scale_of(benchmark),
        grade_map,
        job.parameters["rater"],
        problems.limit,
        file=upload.name,
    )
    rows = received(stream, problems)
    labels: list[Label] = []
    known_qids = _known_queries(benchmark)
    for batch in batched(rows, IDS_PER_LOOK):
        labels += batch
        if len(labels) > MOST_LABELS:
            raise TooManyLabelsError(file=upload.name, limit=f"{MOST_LABELS:,}")
        # For a pool, what it does not hold is left out and counted, whatever the reason.
        for label, reason in (
            [] if job.parameters["pool"] else unknown_ids(benchmark, batch, known_qids)
        ):
            problems.add(upload.name, label.line, reason)
        job.progress(len(labels), 0, f"{counted(len(labels), 'label')} read")
    problems.raise_found()
    if not labels:
        raise NothingImportedError(file=upload.name, what="label")
    return labels


def scale_of(benchmark: Benchmark) -> list[int]:
    return sorted(benchmark.grades.values_list("value", flat=True))


def _known_queries(benchmark: Benchmark) -> set[str]:
    return set(benchmark.queries.committed().values_list("qid", flat=True))


def unknown_ids(
    benchmark: Benchmark, labels: Sequence[Label], known_qids: set[str] | None = None
) -> list[tuple[Label, str]]:
    """Labels of queries or documents that are not here, each with what is wrong, in their order.

    A benchmark whose corpus has no texts takes documents of any id.
    """
    known_qids = _known_queries(benchmark) if known_qids is None else known_qids
    lacking: set[str] = set()
    if benchmark.corpus.has_texts:
        lacking = unknown_documents(benchmark, {label.docid for label in labels})
    return [
        (label, reason)
        for label in labels
        for reason in (
            UNKNOWN_QUERY.format(qid=label.qid) if label.qid not in known_qids else "",
            UNKNOWN_DOCUMENT.format(docid=label.docid) if label.docid in lacking else "",
        )
        if reason
    ]


@transaction.atomic
def enter_rows(*, origin: Origin, labels: Iterable[Label]) -> Entered:
    """Enter labels that somebody sent and that are checked already; in one transaction."""
    done = enter_labels(origin=origin, labels=list(labels))
    _record(origin, done)
    return done


def raters_among(
    benchmark: Benchmark,
    labels: Iterable[Label],
    *,
    importer: User,
    accounts: Mapping[str, str] | None = None,
    machines: Collection[str] | None = None,
) -> Raters:
    """Who gave these labels; see `core.raters.known_raters` for what is presumed, and refused."""
    return known_raters(
        {label.rater for label in labels},
        dict(benchmark.memberships.values_list("user__username", "user")),
        accounts=accounts,
        machines=machines,
        importer=importer.pk,
    )


def _origin(job: jobs.RunningJob, upload: Upload, labels: Iterable[Label]) -> Origin:
    pool = job.parameters["pool"]
    return Origin(
        benchmark=job.benchmark,
        actor=job.user,
        source=job.parameters["source"] or upload.name,
        sha256=upload.sha256,
        pool=Pool.objects.get(pk=pool, benchmark=job.benchmark) if pool else None,
        raters=raters_among(
            job.benchmark,
            labels,
            importer=job.user,
            accounts=job.parameters.get("accounts"),
            machines=job.parameters.get("machines"),
        ),
    )


def _record(origin: Origin, done: Entered) -> None:
    audit.record(
        actor=origin.actor,
        action="import-judgments",
        benchmark=origin.benchmark,
        target=origin.pool.name if origin.pool else origin.source_and_digest,
        n_labels=done.n(entering_labels.SAVED),
        source=origin.source_and_digest,
        accounts=dict(origin.raters.accounts),
        machines=sorted(origin.raters.machines),
    )


def _made(done: Entered) -> str:
    n_saved = counted(done.n(entering_labels.SAVED), "grade")
    return f"{n_saved} of {counted(len(done.queries), 'query')}"


def _notes(done: Entered, origin: Origin) -> list[str]:
    """What is worth knowing of the labels that were not simply entered."""
    texts = {
        "{n:,} were here already and change nothing": done.n(entering_labels.SAME),
        "{n:,} were given for another text and are stale": done.n_stale,
        "{n:,} are of pairs the pool does not hold": done.n(entering_labels.OUTSIDE),
        "{n:,} are extra: their documents have as many labels as are wanted": done.n_extra,
        "{n:,} are left out: whose they are judged these documents here": done.n(
            entering_labels.JUDGED_HERE
        ),
        "{n:,} are a machine's: they are kept apart and fill no place": done.n_machine,
    }
    notes = [text.format(n=n) for text, n in texts.items() if n]
    names = User.objects.in_bulk(origin.raters.accounts.values())
    notes += [
        f"rater '{rater}' is the account '{names[key].username}'"
        for rater, key in sorted(origin.raters.accounts.items())
    ]
    return notes + [f"rater '{rater}' is a machine" for rater in sorted(origin.raters.machines)]


def _where(origin: Origin) -> str:
    if origin.pool:
        return origin.pool.get_absolute_url()
    return reverse("annotation:judgment-list", args=[origin.benchmark.slug])
