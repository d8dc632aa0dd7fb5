"""Drafts of releases: made, changed, looked over, published or thrown away."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, QrelSet, Release, User
from benchmarks_app.releases.services.building import Built, build
from benchmarks_app.releases.services.declaring import declared
from benchmarks_app.releases.services.files import machine_sets
from benchmarks_app.releases.services.releasing import (
    findings_of,
    proposed_version,
    refuse_findings,
    refuse_nothing,
    refuse_taken,
    start_release,
    wanted_of,
)
from benchwright.findings import Severity
from benchwright.releases.errors import DraftChangedError, DraftNotCheckedError, ThresholdError
from benchwright.releases.options import ReleaseOptions
from benchwright.releases.versions import parse_version

CHECK_KIND = "check-release"


def draft_options(benchmark: Benchmark) -> ReleaseOptions:
    """What a new draft begins with: the choices of the newest release, else the benchmark's."""
    newest = Release.objects.published().filter(benchmark=benchmark).newest_first().first()
    if newest is not None and newest.options:
        return replace(
            ReleaseOptions.from_json(newest.options), is_version_proposed=True, accepted=()
        )
    return ReleaseOptions(
        is_version_proposed=True,
        description=benchmark.description,
        licence=benchmark.licence,
        citation=benchmark.citation,
        passes_on_texts=benchmark.corpus.may_be_passed_on,
    )


@transaction.atomic
def create_draft(
    *,
    user: User,
    qrel_set: QrelSet,
    version: str = "",
    notes: str = "",
    options: ReleaseOptions | None = None,
) -> Release:
    """A draft, and the job that looks it over; without a version it follows what changed.

    Raises
    ------
    VersionError, VersionTakenError, ThresholdError, NothingToReleaseError, DeclaredMeasureError
        If it cannot be called so, there is no such grade or measure, or nothing is relevant.
    MachineLabelsError
        If a set beside the grades is no machine's.
    """
    benchmark = qrel_set.benchmark
    _lock(benchmark)
    draft = Release(benchmark=benchmark, state=Release.State.DRAFT, created_by=user)
    _set(draft, qrel_set, version, notes, options or draft_options(benchmark))
    draft.save()
    audit.record(actor=user, action="draft-release", benchmark=benchmark, target=draft.version)
    start_check(draft=draft, user=user)
    return draft


@transaction.atomic
def change_draft(
    *,
    user: User,
    draft: Release,
    qrel_set: QrelSet,
    version: str = "",
    notes: str = "",
    options: ReleaseOptions,
) -> Release:
    """Change a draft, and look it over again; errors as of `create_draft`.

    Raises
    ------
    DraftChangedError
        If it is no draft any more.
    """
    _lock(draft.benchmark)
    row = _locked(draft)
    _set(row, qrel_set, version, notes, options)
    row.save()
    audit.record(actor=user, action="change-draft", benchmark=row.benchmark, target=row.version)
    start_check(draft=row, user=user)
    return row


@transaction.atomic
def delete_draft(*, user: User, draft: Release) -> None:
    """Throw a draft away.

    Raises
    ------
    DraftChangedError
        If it is no draft any more.
    """
    row = _locked(draft)
    audit.record(actor=user, action="delete-draft", benchmark=row.benchmark, target=row.version)
    row.delete()


def _lock(benchmark: Benchmark) -> None:
    """Two versions of one number would be one too many: of two drafts at once, one comes first."""
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)


def _locked(draft: Release) -> Release:
    row = Release.objects.drafts().select_for_update().filter(pk=draft.pk).first()
    if row is None:
        raise DraftChangedError
    return row


def _set(
    draft: Release, qrel_set: QrelSet, version: str, notes: str, options: ReleaseOptions
) -> None:
    """Fill in a draft; what was found before is of another one now."""
    benchmark = qrel_set.benchmark
    _refuse_threshold(benchmark, options.threshold)
    machine_sets(benchmark, options.machine_labels)
    refuse_nothing(qrel_set, options)
    options = replace(
        options,
        is_version_proposed=not version,
        accepted=(),
        measures=declared(options.measures),
    )
    if version:
        numbers = parse_version(version)
        refuse_taken(benchmark, numbers, but=draft if draft.pk else None)
    elif draft.pk and draft.options.get("is_version_proposed"):
        numbers = (draft.major, draft.minor, draft.patch)
    else:
        numbers = parse_version(proposed_version(benchmark))
    draft.major, draft.minor, draft.patch = numbers
    draft.qrel_set = qrel_set
    draft.corpus_version = benchmark.current_corpus_version
    draft.tie_rule = benchmark.tie_rule
    draft.notes = notes
    draft.options = options.as_json()
    draft.findings, draft.label_diff, draft.manifest, draft.content_sha256 = [], {}, {}, ""


def _refuse_threshold(benchmark: Benchmark, threshold: int | None) -> None:
    known_values = [
        value for value in benchmark.grades.values_list("value", flat=True) if value > 0
    ]
    if threshold is not None and threshold not in known_values:
        raise ThresholdError(threshold=threshold, known=", ".join(map(str, known_values)))


# --- looking it over -------------------------------------------------------------------------


@transaction.atomic
def start_check(*, draft: Release, user: User) -> Job:
    """Start a job that says what stands against publishing a draft, and what it changes."""
    return jobs.start(benchmark=draft.benchmark, user=user, **check_arguments(draft))


def check_arguments(draft: Release) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to look a draft over."""
    is_proposed = draft.options.get("is_version_proposed")
    return looking_arguments(
        qrel_set=draft.qrel_set,
        version="" if is_proposed else draft.version,
        notes=draft.notes,
        options=ReleaseOptions.from_json(draft.options),
        draft=draft,
    )


def looking_arguments(
    *,
    qrel_set: QrelSet,
    version: str = "",
    notes: str = "",
    options: ReleaseOptions | None = None,
    draft: Release | None = None,
) -> dict[str, Any]:
    """As `check_arguments`, also for what is not even a draft."""
    return {
        "kind": CHECK_KIND,
        "title": f"Check draft {draft.version}" if draft else "Check what would be released",
        "parameters": {
            "draft": draft.pk if draft else None,
            "qrel_set": qrel_set.pk,
            "version": version,
            "notes": notes,
            "options": (options or draft_options(qrel_set.benchmark)).as_json(),
        },
    }


def check_draft(job: jobs.RunningJob) -> None:
    """The handler: everything that publishing does, but nothing is published.

    If the draft was changed meanwhile the findings are of one that is no more: they are told by the
    job and not kept with the draft.
    """
    built = build(job, wanted_of(job))
    n_errors = sum(finding.severity is Severity.ERROR for finding in built.findings)
    with job.commit() as result:
        result["made"] = [f"{len(built.findings)} findings, {n_errors} of them errors"]
        result["version"] = built.manifest["version"]
        result["findings"] = [finding.as_json() for finding in built.findings]
        result["diff"] = built.diff_json()
        draft = Release.objects.drafts().filter(pk=job.parameters["draft"]).first()
        if draft is not None and _is_same(draft, job.parameters):
            _keep(draft, built)
            result["url"] = draft.get_absolute_url()
        elif job.parameters["draft"]:
            result["notes"] = ["The draft was changed meanwhile; a later check says what is found."]


def _is_same(draft: Release, data: dict[str, Any]) -> bool:
    parameters = check_arguments(draft)["parameters"]
    return all(parameters[key] == data[key] for key in ("qrel_set", "version", "notes", "options"))


def _keep(draft: Release, built: Built) -> None:
    """Write down what was found; a version that is proposed follows the step that is needed."""
    if draft.options.get("is_version_proposed") and not _is_taken(draft, built):
        draft.major, draft.minor, draft.patch = built.version
    draft.findings = [finding.as_json() for finding in built.findings]
    draft.label_diff = built.diff_json()
    draft.step = built.step
    draft.parent = built.parent
    draft.content_sha256 = built.manifest["content_sha256"]
    draft.hidden_splits = list(built.contents.hidden)
    checked = {"checked_at": timezone.now().isoformat(), "version": draft.version}
    draft.manifest = {**built.manifest, **checked}
    draft.save()


def _is_taken(draft: Release, built: Built) -> bool:
    major, minor, patch = built.version
    others = draft.benchmark.releases.exclude(pk=draft.pk)
    return others.filter(major=major, minor=minor, patch=patch).exists()


def jobs_of_draft(draft: Release) -> QuerySet[Job]:
    """Jobs that check or publish a draft, newest first."""
    jobs = Job.objects.filter(benchmark=draft.benchmark, parameters__draft=draft.pk)
    return jobs.order_by("-pk")


# --- publishing it ---------------------------------------------------------------------------


@transaction.atomic
def publish_draft(*, user: User, draft: Release, accepted: Collection[str]) -> Job:
    """Start the job that publishes a draft; it looks once more before it does.

    Raises
    ------
    DraftChangedError, DraftNotCheckedError
        If it is no draft any more, or was not looked over since it was changed.
    ReleaseRefusedError, WarningsNotSeenError
        If an error was found, or a warning that is not among those `accepted`, by their codes.
    NothingToReleaseError
        If no document is relevant.
    """
    row = _locked(draft)
    if not row.manifest:
        raise DraftNotCheckedError(version=row.version)
    refuse_findings(findings_of(row), accepted)
    return start_release(
        user=user,
        qrel_set=row.qrel_set,
        version=row.version,
        notes=row.notes,
        options=ReleaseOptions.from_json(row.options),
        draft=row,
        accepted=accepted,
    )
