"""Publishing a release: its files are written once, then a row that never changes."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import NAMED_AT_MOST, mark_exposed, refuse_hiding
from benchmarks_app.common.services.happening import happened
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, QrelSet, Query, QueryFamily, Release, User
from benchmarks_app.models.notices import Event
from benchmarks_app.releases.selectors import DEFAULT_SPLIT
from benchmarks_app.releases.services.building import Built, Wanted, build, write_words
from benchmarks_app.releases.services.declaring import declared
from benchmarks_app.releases.services.files import Contents, machine_sets, trec_lines
from benchmarks_app.signals import release_published
from benchwright.findings import Finding, Severity
from benchwright.releases.errors import (
    DeprecationError,
    DraftChangedError,
    HiddenMeanwhileError,
    NothingToReleaseError,
    ReleaseRefusedError,
    VersionTakenError,
    WarningsNotSeenError,
)
from benchwright.releases.options import ReleaseOptions
from benchwright.releases.versions import Version, next_version, parse_version

__all__ = [
    "JOB_KIND",
    "findings_of",
    "proposed_version",
    "publish_release",
    "release_arguments",
    "start_release",
    "trec_lines",
]
JOB_KIND = "publish-release"
# In place of a list of codes: whoever publishes has read every warning, or prints them.
EVERY_WARNING = "*"


def proposed_version(benchmark: Benchmark) -> str:
    """What the next release may be called, before anybody knows what changed."""
    newest = benchmark.releases.newest_first().values_list("major", "minor", "patch").first()
    return ".".join(str(number) for number in next_version(newest))


def release_arguments(
    *,
    qrel_set: QrelSet,
    version: str,
    notes: str = "",
    options: ReleaseOptions | None = None,
    draft: Release | None = None,
    accepted: Collection[str] | str = EVERY_WARNING,
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to publish a release.

    Raises
    ------
    VersionError, VersionTakenError, NothingToReleaseError, DeclaredMeasureError, MachineLabelsError
        If this release cannot be made.
    """
    options = options or ReleaseOptions()
    options = replace(options, measures=declared(options.measures))
    refuse_taken(qrel_set.benchmark, parse_version(version), but=draft)
    refuse_nothing(qrel_set, options)
    machine_sets(qrel_set.benchmark, options.machine_labels)
    return {
        "kind": JOB_KIND,
        "title": f"Publish release {version}",
        "parameters": {
            "qrel_set": qrel_set.pk,
            "version": version,
            "notes": notes,
            "options": options.as_json(),
            "draft": draft.pk if draft else None,
            "accepted": accepted if accepted == EVERY_WARNING else sorted(accepted),
        },
    }


@transaction.atomic
def start_release(*, user: User, qrel_set: QrelSet, **options: Any) -> Job:
    """Start a job that publishes a release; arguments and errors as of `release_arguments`."""
    arguments = release_arguments(qrel_set=qrel_set, **options)
    benchmark = qrel_set.benchmark
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    audit.record(
        actor=user,
        action="publish-release",
        benchmark=benchmark,
        target=arguments["parameters"]["version"],
    )
    return job


def refuse_nothing(qrel_set: QrelSet, options: ReleaseOptions) -> None:
    """Refuse grades of which none is relevant by the scale; another threshold is looked at later.

    Raises
    ------
    NothingToReleaseError
        If there is none.
    """
    if options.threshold is None and not qrel_set.n_relevant:
        raise NothingToReleaseError(name=qrel_set.name)


def refuse_taken(benchmark: Benchmark, version: Version, *, but: Release | None = None) -> None:
    """Refuse a version that another release or draft has.

    Raises
    ------
    VersionTakenError
        If there is one.
    """
    major, minor, patch = version
    others = benchmark.releases.exclude(pk=but.pk) if but else benchmark.releases.all()
    holder = others.filter(major=major, minor=minor, patch=patch).first()
    if holder is not None:
        raise VersionTakenError(
            version=holder.version,
            state="drafted" if holder.state == Release.State.DRAFT else "published",
        )


# --- the job ---------------------------------------------------------------------------------


def wanted_of(job: jobs.RunningJob) -> Wanted:
    """What a job is to publish or to check."""
    parameters = job.parameters
    return Wanted(
        benchmark=job.benchmark,
        qrel_set=QrelSet.objects.ready().get(pk=parameters["qrel_set"], benchmark=job.benchmark),
        version=parse_version(parameters["version"]) if parameters["version"] else None,
        notes=parameters["notes"],
        options=ReleaseOptions.from_json(parameters.get("options") or {}),
    )


def publish_release(job: jobs.RunningJob) -> None:
    """The handler: write the files, look at them, then the row, with the manifest that names all.

    Raises
    ------
    ReleaseRefusedError
        If there is an error among the findings.
    WarningsNotSeenError
        If there is a warning that nobody has accepted.
    """
    wanted = wanted_of(job)
    draft = _draft_of(job)
    refuse_taken(job.benchmark, parse_version(job.parameters["version"]), but=draft)
    built = build(job, wanted)
    refuse_findings(built.findings, job.parameters.get("accepted", EVERY_WARNING))
    now = timezone.now()
    manifest = write_words(built, at=now)
    folder = f"releases/{job.benchmark.pk}/{manifest['version']}-job{job.row.pk}"
    with job.commit() as result:
        for name, facts in built.contents.files.items():
            files.publish(job.folder / name, f"{folder}/{name}", facts["sha256"])
        release = _publish(job, built, draft, folder, manifest, now)
        _expose(built, now)
        result.update(version=release.version, url=release.get_absolute_url())
        result["notes"] = manifest["warnings"]
        # A worker that dies right after the commit would leave undone what follows from it.
        release_published.send(Release, release=release)
        names = [job.benchmark.slug, release.version]
        happened(
            Event.RELEASE_PUBLISHED,
            benchmark=job.benchmark,
            about={"release": release.version},
            path=release.get_absolute_url(),
            api_path=reverse("api:release-detail", args=names),
        )


def _draft_of(job: jobs.RunningJob) -> Release | None:
    key = job.parameters.get("draft")
    return Release.objects.drafts().filter(pk=key).first() if key else None


def findings_of(release: Release) -> list[Finding]:
    """What was found when a draft was last looked at, or a release was published."""
    return [Finding(**{**row, "severity": Severity(row["severity"])}) for row in release.findings]


def refuse_findings(findings: Sequence[Finding], accepted: Collection[str] | str) -> None:
    """Refuse to publish on an error, or on a warning that is not among those accepted.

    Raises
    ------
    ReleaseRefusedError, WarningsNotSeenError
        With each finding and what to do about it.
    """
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise ReleaseRefusedError(n=len(errors), said=_said(errors))
    unseen = [
        finding
        for finding in findings
        if finding.severity is Severity.WARNING
        and accepted != EVERY_WARNING
        and finding.code not in accepted
    ]
    if unseen:
        codes = sorted({finding.code for finding in unseen})
        raise WarningsNotSeenError(codes=", ".join(codes), said=_said(unseen))


def _said(findings: Sequence[Finding]) -> str:
    return "\n".join(
        f"{finding.code} ({finding.where}): {finding.message} {finding.advice}"
        for finding in findings
    )


def _publish(
    job: jobs.RunningJob,
    built: Built,
    draft: Release | None,
    folder: str,
    manifest: dict[str, Any],
    now: Any,
) -> Release:
    """Make the draft a release, or write one where there was no draft."""
    release = Release(pk=draft.pk if draft else None, benchmark=job.benchmark)
    release.major, release.minor, release.patch = built.version
    release.state = Release.State.PUBLISHED
    release.qrel_set = built.wanted.qrel_set
    release.corpus_version = built.contents.corpus_version
    release.tie_rule = job.benchmark.tie_rule
    release.notes = built.wanted.notes
    release.folder = folder
    release.manifest = manifest
    release.parent = built.parent
    release.label_diff = built.diff_json()
    release.step = built.step
    release.options = {
        **built.wanted.options.as_json(),
        "accepted": sorted({finding.code for finding in built.findings}),
    }
    release.content_sha256 = manifest["content_sha256"]
    release.hidden_splits = list(built.contents.hidden)
    release.findings = [finding.as_json() for finding in built.findings]
    release.created_by = job.user
    release.published_at = now
    if draft is None:
        if job.parameters.get("draft"):
            raise DraftChangedError
        _insert(release)
        return release
    # The row is taken only as the draft it was: who published, changed or deleted it was first.
    row = Release.objects.drafts().select_for_update().filter(pk=draft.pk).first()
    if row is None or not _is_as_asked(row, job.parameters):
        raise DraftChangedError
    release.created_at = draft.created_at
    release.save(force_update=True)
    return release


def _is_as_asked(draft: Release, parameters: dict[str, Any]) -> bool:
    """Whether a draft is still what was to be published; a version that is proposed may move."""
    options = ReleaseOptions.from_json(draft.options)
    return (
        draft.qrel_set_id == parameters["qrel_set"]
        and draft.notes == parameters["notes"]
        and options == ReleaseOptions.from_json(parameters["options"])
        and (options.is_version_proposed or draft.version == parameters["version"])
    )


def _insert(release: Release) -> None:
    try:
        with transaction.atomic():
            release.save(force_insert=True)
    except IntegrityError as error:
        raise VersionTakenError(version=release.version, state="published") from error


def _expose(built: Built, now: Any) -> None:
    """From now on the grades of public splits are known; those of hidden ones must never be.

    Raises
    ------
    ExposedQueriesError
        If grades that were public are about to be hidden: asked again, in the transaction.
    HiddenMeanwhileError
        If grades are about to be public that were hidden since the files were written.
    """
    contents = built.contents
    hidden = [contents.keys[qid] for qid in contents.split_of if not contents.is_public(qid)]
    refuse_hiding(benchmark=contents.benchmark, hidden=hidden)
    graded = [
        contents.keys[qid]
        for qid in contents.split_of
        if contents.is_public(qid) and contents.grades_of(qid).n
    ]
    _refuse_hidden_meanwhile(contents, graded)
    mark_exposed(benchmark=contents.benchmark, queries=graded, at=now)


def _refuse_hidden_meanwhile(contents: Contents, public: Collection[int]) -> None:
    # Who hides queries has the benchmark's row as well, and sees what is exposed by then.
    locked = Benchmark.objects.select_for_update().get(pk=contents.benchmark.pk)
    splits = set(locked.hidden_splits)
    if DEFAULT_SPLIT in splits:
        splits.add(QueryFamily.Split.NONE)
    queries = Query.objects.filter(benchmark=locked, family__split__in=splits)
    hidden = dict(queries.values_list("pk", "qid"))
    if qids := sorted((hidden[key] for key in public if key in hidden), key=str.encode):
        raise HiddenMeanwhileError(named=", ".join(qids[:NAMED_AT_MOST]), n=len(qids))


@transaction.atomic
def deprecate_release(
    *, user: User, release: Release, reason: str, successor: Release | None = None
) -> Release:
    """Mark a published release as deprecated; it can still be read and scored on.

    Raises
    ------
    DeprecationError
        If it is not published, no reason is given, or the successor is none that can be used.
    """
    row = Release.objects.select_for_update().get(pk=release.pk)
    if row.state != Release.State.PUBLISHED:
        text = f"Release {row.version} is {row.get_state_display()}; only a published one can "
        raise DeprecationError(reason=text + "be deprecated.")
    if not reason.strip():
        raise DeprecationError(reason="Say why: whoever has used the release will ask.")
    if successor is not None:
        _refuse_successor(row, successor)
    row.state = Release.State.DEPRECATED
    row.deprecated_at = timezone.now()
    row.deprecated_reason = reason.strip()
    row.successor = successor
    row.save(update_fields=["state", "deprecated_at", "deprecated_reason", "successor"])
    audit.record(
        actor=user,
        action="deprecate-release",
        benchmark=row.benchmark,
        target=row.version,
        reason=reason.strip(),
        successor=successor.version if successor else None,
    )
    return row


def _refuse_successor(release: Release, successor: Release) -> None:
    usable = Release.objects.filter(benchmark=release.benchmark_id, state=Release.State.PUBLISHED)
    if not usable.exclude(pk=release.pk).filter(pk=successor.pk).exists():
        raise DeprecationError(
            reason=f"{successor.version} can not be used instead of {release.version}: choose "
            "another published release of this benchmark."
        )
