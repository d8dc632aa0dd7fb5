"""Reads of corpora, of files that were put down, and of what an overview shows beside the apps."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from benchmarks_app.common.selectors.reading import corpus_documents, corpus_reader
from benchmarks_app.models import AuditEvent, Benchmark, Corpus, CorpusVersion, Job, Upload
from benchmarks_app.permissions import Action, may
from benchwright.corpora.store import StoredDocument

SAMPLES = 20
# Characters of a text that changed: so many in all, so many of them before the change.
SHOWN, SHOWN_BEFORE = 240, 80
DIFFERENCES = {
    "added": "added",
    "changed": "changed",
    "described": "other metadata only",
    "removed": "removed",
}


def corpora_visible_to(user: Any) -> QuerySet[Corpus]:
    """Corpora of the benchmarks that a person may see, with their newest version's size."""
    newest = CorpusVersion.objects.ready().filter(corpus=OuterRef("pk")).order_by("-number")
    benchmarks = Benchmark.objects.visible_to(user)
    proposed = Q(versions__state=CorpusVersion.State.PROPOSED)
    return (
        Corpus.objects.filter(benchmarks__in=benchmarks)
        .annotate(
            n_documents=Subquery(newest.values("n_documents")[:1]),
            newest_number=Subquery(newest.values("number")[:1]),
            is_cut=Subquery(newest.values("cut")[:1]),
            n_proposed=Count("versions", filter=proposed, distinct=True),
        )
        .select_related("owner")
        .order_by("name", "pk")
        .distinct()
    )


@dataclass(frozen=True)
class Sharing:
    """The benchmarks on one corpus: those that the asker may see, and how many others."""

    shown: list[Benchmark]
    n_others: int


def sharing_of(corpus: Corpus, user: Any) -> Sharing:
    everyone = corpus.benchmarks.count()
    visible = list(Benchmark.objects.visible_to(user).filter(corpus=corpus).order_by("name", "pk"))
    return Sharing(visible, everyone - len(visible))


def sample_documents(version: CorpusVersion) -> list[StoredDocument]:
    """Documents evenly from the whole order, the first and the last among them."""
    n = version.n_documents
    if n <= SAMPLES:
        return corpus_reader(version).at(range(n))
    return corpus_reader(version).at(number * (n - 1) // (SAMPLES - 1) for number in range(SAMPLES))


@dataclass(frozen=True)
class Change:
    """A document as it was and as it will be; None where it is not."""

    docid: str
    before: StoredDocument | None
    after: StoredDocument | None

    @property
    def said_before(self) -> str:
        return _around(_said(self.before), _said(self.after))

    @property
    def said_after(self) -> str:
        return _around(_said(self.after), _said(self.before))

    @property
    def begins(self) -> str:
        return _around(_said(self.after or self.before), "")


def _said(document: StoredDocument | None) -> str:
    if document is None:
        return ""
    return f"{document.title}: {document.text}" if document.title else document.text


def _around(text: str, other: str) -> str:
    """What a text says where it begins to differ from another one, with a little before it."""
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False))
    )
    start = max(0, same - SHOWN_BEFORE) if same > SHOWN_BEFORE * 2 else 0
    excerpt = text[start : start + SHOWN]
    before, after = "…" if start else "", "…" if start + SHOWN < len(text) else ""
    return f"{before}{excerpt}{after}"


def examples_of(version: CorpusVersion) -> list[tuple[str, int, list[Change]]]:
    """(what happened, to how many, the first few of them) of a version against its base."""
    difference = version.difference
    base = version.corpus.versions.filter(number=difference.get("base")).first()
    ids = difference.get("examples", {})
    docids = [docid for some in ids.values() for docid in some]
    before = corpus_documents(base, docids) if base else {}
    after = corpus_documents(version, docids)
    return [
        (
            label,
            difference.get(kind, 0),
            [Change(docid, before.get(docid), after.get(docid)) for docid in ids.get(kind, ())],
        )
        for kind, label in DIFFERENCES.items()
        if difference.get(kind)
    ]


def labels_at_stake(version: CorpusVersion, user: Any) -> list[dict[str, Any]]:
    """For each benchmark on the corpus what of its labels and grades a snapshot touches.

    A benchmark that the asker may not see has no name; which documents have grades is for who keeps
    it.
    """
    benchmarks = {
        benchmark.pk: benchmark
        for benchmark in Benchmark.objects.visible_to(user).filter(corpus=version.corpus)
    }
    return [
        {
            **row,
            "benchmark": (of := benchmarks.get(row["benchmark"])),
            "examples": row["examples"] if of and may(user, Action.EDIT, of) else [],
        }
        for row in version.difference.get("labels", [])
    ]


def benchmarks_of(some: Iterable[Corpus], user: Any) -> dict[int, list[Benchmark]]:
    """By the number of a corpus: the benchmarks on it that a person may see, by name."""
    visible = Benchmark.objects.visible_to(user).filter(corpus__in=[corpus.pk for corpus in some])
    of_corpus: dict[int, list[Benchmark]] = {}
    for benchmark in visible.order_by("name", "pk"):
        of_corpus.setdefault(benchmark.corpus_id, []).append(benchmark)
    return of_corpus


# Who tries a file again sees why it failed last, not what was a year ago.
JOBS_LOOKED_AT = 500


def waiting_uploads(benchmark: Benchmark) -> QuerySet[Upload]:
    """Files put down on the import page, in the order they came; not those in a job by now."""
    busy = Job.objects.active().filter(benchmark=benchmark, kind="import-file")
    taken_pks = [
        pk for listed in busy.values_list("parameters__uploads", flat=True) for pk in listed or ()
    ]
    rows = benchmark.uploads.filter(is_waiting=True).exclude(pk__in=taken_pks)
    return rows.select_related("benchmark__corpus", "owner").order_by("created_at", "pk")


class Refusal(NamedTuple):
    """Why the last import of a file imported nothing of it: the words, and rows of problems."""

    job: int
    error: str
    problems: list[dict[str, Any]]


def refusals(benchmark: Benchmark, uploads: Iterable[Upload]) -> dict[int, Refusal]:
    """{upload: refusal} of those whose last import, alone or with others, has failed."""
    waiting = {upload.pk for upload in uploads}
    rows = Job.objects.filter(benchmark=benchmark, kind="import-file").order_by("-pk")
    last: dict[int, int] = {}
    for pk, uploads_of in rows.values_list("pk", "parameters__uploads")[:JOBS_LOOKED_AT]:
        for upload in waiting.intersection(uploads_of or ()):
            last.setdefault(upload, pk)
    jobs = Job.objects.in_bulk(set(last.values()))
    pairs = ((upload, _refusal(jobs[pk], upload)) for upload, pk in last.items())
    return {upload: refusal for upload, refusal in pairs if refusal}


def _refusal(job: Job, upload: int) -> Refusal | None:
    if job.state == Job.State.FAILED:
        return Refusal(job.pk, job.error, job.problems)
    refusal = job.result.get("refused", {}).get(str(upload))
    return Refusal(job.pk, refusal["error"], refusal["problems"]) if refusal else None


def imported_uploads(benchmark: Benchmark) -> QuerySet[Upload]:
    """Files that became something, the newest first."""
    return benchmark.uploads.exclude(imported_as="").order_by("-pk")


EVENTS_SHOWN = 6
# An older failure that nobody minded is on the page of jobs.
LATELY = timedelta(days=14)


def latest_events(benchmark: Benchmark) -> list[AuditEvent]:
    events = benchmark.audit_events.select_related("actor").order_by("-at", "-pk")
    return list(events[:EVENTS_SHOWN])


def active_jobs(benchmark: Benchmark) -> list[Job]:
    return list(benchmark.jobs.active().order_by("-pk")[:EVENTS_SHOWN])


def jobs_failed_lately(benchmark: Benchmark, user: Any) -> QuerySet[Job]:
    """Failures of the last two weeks that were not made good: nothing of that title is done since.

    The newest first. What was wrong with a file is for who sent it to mend.
    """
    done = Job.objects.filter(
        benchmark=benchmark,
        kind=OuterRef("kind"),
        title=OuterRef("title"),
        state=Job.State.DONE,
        pk__gt=OuterRef("pk"),
    )
    failed = benchmark.jobs.filter(
        Q(problems=[]) | Q(created_by=user),
        state=Job.State.FAILED,
        created_at__gt=timezone.now() - LATELY,
    )
    return failed.exclude(Exists(done)).order_by("-pk")
