"""Whether the labels of a release are still about what its corpus says."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from benchmarks_app.common.selectors.reading import (
    corpus_documents,
    release_qrels,
    unknown_documents,
)
from benchmarks_app.label_facts import LabelRecord, label_records
from benchmarks_app.models import Benchmark, DocumentContent, Query, Release
from benchwright.qrels.freshness import FreshnessReport, Label, freshness_of
from scoring.scores.services.slice_scores import slices_compared, slices_of_release

AT_ONCE = 500
CACHED_SECONDS = 3600


@dataclass(frozen=True)
class QueriesAsked:
    """Of a release's queries: how many nobody asked within the limit, and how many say when."""

    n: int
    n_known: int
    n_old: int
    oldest: datetime | None


@dataclass(frozen=True)
class ReleaseFreshness:
    """A release's labels by state, overall and by the slices that may be shown."""

    report: FreshnessReport
    queries: QueriesAsked
    days: int
    has_texts: bool


def freshness_of_release(
    release: Release,
    *,
    days: int | None = None,
    hidden: frozenset[str] = frozenset(),
) -> ReleaseFreshness:
    """How many of a release's labels are stale today; `days` unless the setting says how old.

    Labels of `hidden` queries are left out: which documents are judged there is not told.

    The text that was read is the one that the label was given for. Of labels that came from
    elsewhere it is the one of the release's own corpus version, and their age is that of the qrels.
    """
    days = days or settings.LABELS_STALE_AFTER_DAYS
    now = timezone.now()
    version = release.benchmark.current_corpus_version
    facts = repr((release.pk, version and version.pk, days, f"{now:%Y-%m-%d}", sorted(hidden)))
    key = f"freshness-{sha256(facts.encode()).hexdigest()}"
    freshness = cache.get(key)
    if freshness is None:
        freshness = _worked_out(release, days, now, hidden)
        cache.set(key, freshness, timeout=CACHED_SECONDS)
    return freshness


def _worked_out(
    release: Release, days: int, now: datetime, hidden: frozenset[str]
) -> ReleaseFreshness:
    whole = release_qrels(release)
    qrels = {qid: of for qid, of in whole.items() if qid not in hidden}
    graded = {(q, d): g for q, of in qrels.items() for d, g in of.items() if g >= 0}
    members = slices_of_release(release)
    slices = slices_compared(release, is_public=bool(hidden))
    members_shown = {part.name: members[part.name] - hidden for part in slices}
    report = freshness_of(
        _labels(release, graded), members_shown, now=now, max_age=timedelta(days=days)
    )
    return ReleaseFreshness(
        report=report,
        queries=_queries_asked(release, qrels, now - timedelta(days=days)),
        days=days,
        has_texts=release.benchmark.corpus.has_texts,
    )


def _labels(release: Release, graded: Iterable[tuple[str, str]]) -> Iterable[Label]:
    records = label_records(release.qrel_set)
    pairs = list(graded)
    docids = {docid for _, docid in pairs}
    gone = unknown_documents(release.benchmark, docids)
    now_says = _texts_today(release.benchmark, docids - gone)
    then = _texts_of_release(release, {d for q, d in pairs if not _read(records, q, d)} - gone)
    for qid, docid in pairs:
        record = records.get((qid, docid))
        read_hash, today = _read(records, qid, docid), now_says.get(docid, "")
        if not read_hash and docid in then:
            read_hash, today = then[docid]
        yield Label(
            qid=qid,
            docid=docid,
            read_hash=read_hash,
            labelled_at=record.labelled_at if record else release.qrel_set.created_at,
            current_hash=today,
            is_there=docid not in gone,
        )


def _read(records: Mapping[tuple[str, str], LabelRecord], qid: str, docid: str) -> str:
    record = records.get((qid, docid))
    return record.content_hash if record else ""


def _texts_today(benchmark: Benchmark, docids: Iterable[str]) -> dict[str, str]:
    """{document: hash of its newest text}, of those that somebody could read here."""
    sorted_docids = sorted(docids)
    texts: dict[str, str] = {}
    for start in range(0, len(sorted_docids), AT_ONCE):
        rows = DocumentContent.objects.filter(
            document__corpus=benchmark.corpus_id,
            document__docid__in=sorted_docids[start : start + AT_ONCE],
        )
        texts |= dict(
            rows.order_by("first_seen", "pk").values_list("document__docid", "content_hash")
        )
    return texts


def _texts_of_release(release: Release, docids: set[str]) -> dict[str, tuple[str, str]]:
    """{document: hashes of its text in the release's corpus version and in the newest one}."""
    before, newest = release.corpus_version, release.benchmark.current_corpus_version
    if before is None or newest is None or not release.benchmark.corpus.has_texts or not docids:
        return {}
    if before.pk == newest.pk:
        # One text, whatever it says.
        return dict.fromkeys(docids, (before.sha256, before.sha256))
    then, today = (corpus_documents(version, docids) for version in (before, newest))
    return {
        docid: (then[docid].content_hash, today[docid].content_hash)
        for docid in then.keys() & today.keys()
    }


def _queries_asked(release: Release, qids: Iterable[str], before: datetime) -> QueriesAsked:
    wanted_qids = set(qids)
    rows = Query.objects.committed().filter(
        benchmark=release.benchmark_id, last_seen_at__isnull=False
    )
    asked_at = [
        at for qid, at in rows.values_list("qid", "last_seen_at") if at and qid in wanted_qids
    ]
    return QueriesAsked(
        n=len(wanted_qids),
        n_known=len(asked_at),
        n_old=sum(at < before for at in asked_at),
        oldest=min(asked_at, default=None),
    )
