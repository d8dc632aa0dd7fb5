"""Whether anything of one split is in another, as a page, a file and a release have it."""

import json
import uuid
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.backups.selectors import finished_in
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    Benchmark,
    FamilyLink,
    Job,
    QrelSet,
    Query,
    User,
)
from benchmarks_app.splits import selectors as reads
from benchmarks_app.splits.services.splitting import Progress
from benchwright.families import exact_key, similar_pairs
from benchwright.files.errors import StoredFileError
from benchwright.files.sources import sha256_of
from benchwright.leaks import as_json, leak_report
from benchwright.splits.errors import SamePairError

LEAKS_KIND = "leak-report"
# Raised whenever a kept report would come out differently.
VERSION = 2


LEAKS_AT_ONCE = 2_000


def current_leak_report(
    benchmark: Benchmark,
    *,
    qrel_set: QrelSet | None = None,
    see_hidden: bool = False,
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """The leak report of the splits as they are now: kept, and computed where something changed.

    Without `see_hidden` nothing is said of relevant documents of hidden splits: so it may
    go with a release. Whoever asks for them has looked whether they may be seen.
    """
    chosen = qrel_set or reads.default_qrels(benchmark)
    kept_report = kept_leak_report(benchmark, qrel_set=chosen, see_hidden=see_hidden)
    if kept_report is not None:
        return kept_report
    folder = _report_folder(benchmark, chosen, see_hidden)
    report = _leak_report(benchmark, chosen, see_hidden, on_progress)
    settings.STAGING_DIR.mkdir(parents=True, exist_ok=True)
    staged = settings.STAGING_DIR / f"leaks-{uuid.uuid4().hex}.json"
    staged.write_text(as_json(report), encoding="utf-8")
    files.publish(staged, f"{folder}/{sha256_of(staged)}.json")
    staged.unlink(missing_ok=True)
    return report


def kept_leak_report(
    benchmark: Benchmark, *, qrel_set: QrelSet | None = None, see_hidden: bool = False
) -> dict[str, Any] | None:
    """The report, if nothing changed since it was computed; a broken file is as good as none."""
    chosen = qrel_set or reads.default_qrels(benchmark)
    for name in finished_in(_report_folder(benchmark, chosen, see_hidden)):
        with suppress(StoredFileError):  # the log has it; it is worked out again
            report: dict[str, Any] = json.loads(files.local_path(name).read_bytes())
            return report
    return None


def _report_folder(benchmark: Benchmark, chosen: QrelSet | None, see_hidden: bool) -> str:
    # Where nothing is hidden both reports are one.
    is_whole = see_hidden or not benchmark.hidden_splits
    # The corpus has the dates of documents.
    keys = [row and row.pk for row in (chosen, benchmark.current_corpus_version)]
    parts = [reads.fingerprint(benchmark), *keys, benchmark.corpus.lang, is_whole, VERSION]
    return f"leaks/{benchmark.pk}/{reads.hash_of(parts)}"


def _leak_report(
    benchmark: Benchmark, chosen: QrelSet | None, see_hidden: bool, on_progress: Progress | None
) -> dict[str, Any]:
    splittable = reads.splittable(benchmark, chosen)
    plan = reads.current_plan(benchmark)
    facts = reads.plan_facts(plan) if plan else None
    version = benchmark.current_corpus_version
    relevant = {docid for documents in splittable.relevant.values() for docid in documents}
    key = plan.parameters.get("document_date", "") if plan else ""
    return leak_report(
        reads.leak_queries(splittable, reads.current_assignment(benchmark, splittable)),
        plan=facts,
        documents_first_seen=reads.document_dates(benchmark, relevant, key),
        told_apart=reads.told_apart(benchmark),
        hidden=() if see_hidden else benchmark.hidden_splits,
        snapshot=str(version.snapshot_date) if version and version.snapshot_date else "",
        language=benchmark.corpus.lang,
        on_progress=on_progress,
    )


@transaction.atomic
def tell_apart(*, benchmark: Benchmark, user: User, a: Query, b: Query) -> FamilyLink:
    """Write down that two queries of different families are different needs, however they read.

    Raises
    ------
    SamePairError
        If they are one family, or the same text: nothing could tell them apart.
    """
    if a.family_id == b.family_id or exact_key(a.text) == exact_key(b.text):
        raise SamePairError(a=a.qid, b=b.qid)
    first, second = sorted((a, b), key=lambda query: query.pk)
    pairs = list(similar_pairs([first.text], [second.text], threshold=0.01))
    link, _ = FamilyLink.objects.update_or_create(
        query_a=first,
        query_b=second,
        reason=FamilyLink.Reason.TEXT,
        defaults={
            "benchmark": benchmark,
            "similarity": pairs[0][2] if pairs else 0.0,
            "verdict": FamilyLink.Verdict.DIFFERENT,
            "decided_by": user,
            "decided_at": timezone.now(),
        },
    )
    audit.record(actor=user, action="tell-apart", benchmark=benchmark, target=f"{a.qid}, {b.qid}")
    return link


def leaks_take_long(benchmark: Benchmark) -> bool:
    """Whether the report takes longer than a reader should wait."""
    return reads.queries_to_split(benchmark).count() > LEAKS_AT_ONCE


@transaction.atomic
def start_leak_report(*, benchmark: Benchmark, user: User) -> Job:
    """Start a job that computes the report; the one under way, if there is one."""
    under_way = Job.objects.active().filter(benchmark=benchmark, kind=LEAKS_KIND).first()
    return under_way or jobs.start(
        kind=LEAKS_KIND,
        title="Look for leaks between splits",
        benchmark=benchmark,
        user=user,
        parameters={},
    )


def leak_report_job(job: jobs.RunningJob) -> None:
    """The handler: both reports, that of keepers and the public one."""
    benchmark = job.benchmark

    def tell(done: int, total: int) -> None:
        job.progress(done, max(total, 1) * 2, "comparing queries")

    job.progress(0, 0, "reading queries")
    report = current_leak_report(benchmark, on_progress=tell)
    if benchmark.hidden_splits:
        current_leak_report(benchmark, see_hidden=True, on_progress=tell)
    with job.commit() as result:
        n = len(report["findings"])
        result.update(
            made=[f"leak report: {n} finding{'' if n == 1 else 's'}"],
            url=reverse("leak-report-detail", args=[benchmark.slug]),
        )
