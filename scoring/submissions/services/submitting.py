"""Taking in a submission: who may send how much, and nothing twice.

A submission is received (its file is here, its job waits), validated (the file was found right),
scoring, and scored. It is queued when a worker was lost and another attempt is to come, invalid
when the file or its name is wrong, failed when the fault is ours.

Limits count what a person has sent, for whichever team, and what the team has sent, whoever sent
it: neither a second team nor a second member gives another place. What was withdrawn stays counted.
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeAlias

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import CharField, Count, F, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks_app.collections.services.uploading import CHUNK, receive_upload, take_back
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Run, Team, Upload, User
from benchmarks_app.permissions import Action, may
from benchmarks_app.prepared import prepared
from benchwright.errors import BenchmarkError
from scoring.models import Phase, Submission
from scoring.scores.selectors.phases import UNCOUNTED, state_of_phase
from scoring.scores.selectors.releases import phases_open_at
from scoring.scores.services.errors import (
    NO_RELEASE,
    DailyLimitError,
    NameInUseError,
    NoOpenPhaseError,
    NotInTeamError,
    PhaseChoiceError,
    SubmittedBeforeError,
    TotalLimitError,
)

JOB_KIND = "score-submission"
# By which column of a submission its sender is known, and the key there.
Sender: TypeAlias = tuple[str, int]
COLUMNS = ("submitter", "team")
LONG_AGO = datetime.min.replace(tzinfo=UTC)
DAY = timedelta(hours=24)
# What somebody may have changed while a file was sent.
TERMS_OF_PHASE = ("opens_at", "closes_at", "daily_limit", "total_limit")


@dataclass(frozen=True)
class Terms:
    """What is said of a run that is sent in, beside its name: what it is, and who may see what.

    `aggregation` says how a run of passages becomes one of documents, where these are measured.
    """

    description: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    visibility: str = Run.Visibility.BENCHMARK
    public_from: datetime | None = None
    anonymous_until: datetime | None = None
    aggregation: str = ""

    def as_json(self) -> dict[str, Any]:
        fields = asdict(self)
        for name in ("public_from", "anonymous_until"):
            fields[name] = fields[name].isoformat() if fields[name] else None
        return fields


# --- which phase ---------------------------------------------------------------------------


def phase_open_in(benchmark: Benchmark, number: int | None = None) -> Phase:
    """The phase that takes submissions now; the one of this number, where it is given.

    Raises
    ------
    NoOpenPhaseError
        If none does; it says why.
    PhaseChoiceError
        If phases are open, and that one is none of them.
    """
    there = _open_phases(benchmark.pk, timezone.now())
    for phase in there:
        phase.benchmark = phase.release.benchmark = benchmark
    if not there:
        raise NoOpenPhaseError(benchmark=benchmark.name, reason=why_closed(benchmark))
    if number is None:
        return there[0]
    match = next((phase for phase in there if phase.pk == number), None)
    if match is None:
        listed = ", ".join(f"{phase.pk} ({phase.name})" for phase in there)
        raise PhaseChoiceError(reason=f"Phase {number} takes no runs.", phases=listed)
    return match


_open_phases = prepared(phases_open_at)


def why_closed(benchmark: Benchmark) -> str:
    """Why no phase of a benchmark takes runs, and what can be done."""
    now = timezone.now()
    phases = Phase.objects.filter(benchmark=benchmark)
    coming = phases.filter(opens_at__gt=now, daily_limit__gt=0).order_by("opens_at").first()
    if coming:
        return _("'{phase}' opens on {when} UTC.").format(
            phase=coming.name, when=f"{coming.opens_at:%Y-%m-%d %H:%M}"
        )
    over = phases.filter(closes_at__lte=now).order_by("-closes_at").first()
    if over:
        return _("'{phase}' closed on {when} UTC.").format(
            phase=over.name, when=f"{over.closes_at:%Y-%m-%d %H:%M}"
        )
    return _("its phases are switched off.") if phases.exists() else _(NO_RELEASE)


# --- accepting -----------------------------------------------------------------------------


def submit_file(
    *,
    phase: Phase,
    user: User,
    file: UploadedFile,
    name: str,
    team: Team | None = None,
    **terms: Any,
) -> Submission:
    """Store an uploaded file and accept it; what must be refused is refused before it is stored.

    Raises as `accept_submission`, and `UploadTooLargeError` or `EmptyUploadError`.
    """
    digest = hashlib.sha256()
    for chunk in file.chunks(CHUNK):
        digest.update(chunk)
    # Asked again, under a lock, when it is accepted.
    _refuse_foreign_team(user, team)
    refuse_same_bytes(phase=phase, user=user, team=team, sha256=digest.hexdigest())
    refuse_over_limit(phase=phase, user=user, team=team)
    upload = receive_upload(benchmark=phase.benchmark, owner=user, file=file)
    try:
        return accept_submission(
            phase=phase, user=user, upload=upload, name=name, team=team, **terms
        )
    except BenchmarkError:
        take_back(upload)
        raise


def accept_submission(
    *,
    phase: Phase,
    user: User,
    upload: Upload,
    name: str,
    team: Team | None = None,
    n_agreed: int = 0,
    **terms: Any,
) -> Submission:
    """Write the submission down and start the job that validates and scores it.

    `terms` are those of `Terms`; up to `n_agreed` bad lines of the file are left out.

    Raises
    ------
    NoOpenPhaseError
        If the phase is closed.
    NotInTeamError
        If it is for a team the person is not in.
    SubmittedBeforeError
        If this person or team sent the same bytes to this phase; `submission` is the earlier one.
    DailyLimitError, TotalLimitError
        If the valid submissions of the person or the team fill a limit of the phase.
    NameInUseError
        If another run, or a submission that waits, has the name.
    """
    with transaction.atomic():
        submission = _admit(phase, user, upload, name, team)
        submission.job = jobs.start(
            kind=JOB_KIND,
            title=f"Score {name}",
            benchmark=phase.benchmark,
            user=user,
            parameters={
                **_parameters(submission, upload, Terms(**terms)),
                "n_agreed": n_agreed,
            },
        )
        submission.save(update_fields=["job"])
    return submission


def submit_here(
    *,
    phase: Phase,
    user: User,
    upload: Upload,
    name: str,
    team: Team | None = None,
    on_progress: Callable[[int, int, str], None] | None = None,
    **terms: Any,
) -> tuple[Submission, Job]:
    """As `accept_submission`, scored in this process; for commands.

    Who keeps the benchmark sits at the machine itself: the limit of a day is for submitters.
    """
    is_keeper = may(user, Action.EDIT, phase.benchmark)
    with transaction.atomic():
        submission = _admit(phase, user, upload, name, team, is_limited_daily=not is_keeper)
    job = jobs.run_here(
        kind=JOB_KIND,
        title=f"Score {name}",
        benchmark=phase.benchmark,
        user=user,
        parameters=_parameters(submission, upload, Terms(**terms)),
        on_progress=on_progress,
    )
    submission.refresh_from_db()
    return submission, job


def _parameters(submission: Submission, upload: Upload, terms: Terms) -> dict[str, Any]:
    parameters = {"submission": submission.pk, "upload": upload.pk, "sha256": upload.sha256}
    return parameters | terms.as_json()


def _admit(
    phase: Phase,
    user: User,
    upload: Upload,
    name: str,
    team: Team | None,
    *,
    is_limited_daily: bool = True,
) -> Submission:
    _refuse(phase, user, upload.sha256, name, team, is_limited_daily=is_limited_daily)
    submission = Submission.objects.create(phase=phase, name=name, submitter=user, team=team)
    audit.record(
        actor=user,
        action="submit-run",
        benchmark=phase.benchmark,
        target=name,
        sha256=upload.sha256,
        phase=phase.pk,
    )
    return submission


def _refuse(
    phase: Phase,
    user: User,
    sha256: str,
    name: str,
    team: Team | None,
    *,
    is_limited_daily: bool = True,
) -> None:
    """Raise what stands against a submission; others of its phase wait for the transaction."""
    # One at a time in a phase: two uploads at once must not both take the last place of the day.
    locked = Phase.objects.select_for_update().values(*TERMS_OF_PHASE).get(pk=phase.pk)
    for name_of, value in locked.items():
        setattr(phase, name_of, value)
    _refuse_closed(phase)
    _refuse_foreign_team(user, team)
    refuse_same_bytes(phase=phase, user=user, team=team, sha256=sha256)
    refuse_over_limit(phase=phase, user=user, team=team, is_limited_daily=is_limited_daily)
    _refuse_taken_name(phase, user, name, sha256)


def readmit(job: Job, user: User) -> None:
    """Count a submission again whose job is started again: it had cost nothing any more.

    For who sent it that is as to send it now. Keepers start again what broke off, whatever the
    limits.

    Raises
    ------
    NoOpenPhaseError, NotInTeamError, SubmittedBeforeError, DailyLimitError, TotalLimitError,
    NameInUseError
        As `accept_submission`, to who sent it.
    """
    related = ("phase__benchmark", "phase__release", "team")
    uncounted = Submission.objects.filter(job=job, state__in=UNCOUNTED).select_related(*related)
    for submission in uncounted:
        phase, changes = submission.phase, {}
        if submission.submitter_id == user.pk and not may(user, Action.EDIT, phase.benchmark):
            _refuse(phase, user, job.parameters["sha256"], submission.name, submission.team)
            changes = {"created_at": timezone.now()}
        uncounted.filter(pk=submission.pk).update(state=Submission.State.RECEIVED, **changes)


def _refuse_closed(phase: Phase) -> None:
    if state_of_phase(phase) != "open":
        raise NoOpenPhaseError(benchmark=phase.benchmark.name, reason=why_closed(phase.benchmark))


def _refuse_foreign_team(user: User, team: Team | None) -> None:
    if team is not None and not team.members.filter(pk=user.pk).exists():
        raise NotInTeamError(team=team.name)


def refuse_same_bytes(*, phase: Phase, user: User, team: Team | None, sha256: str) -> None:
    """Raise `SubmittedBeforeError` where the person, or the team, sent these bytes to the phase."""
    for column, key in _senders(user, team).values():
        for pk in _SAME_BYTES[column](phase.pk, key, sha256):
            raise _submitted_before(
                Submission.objects.select_related("phase__benchmark").get(pk=pk), sha256
            )


def _submitted_before(earlier: Submission, sha256: str) -> SubmittedBeforeError:
    outcome = (
        "It was withdrawn, and stays so." if earlier.withdrawn_at else "It was not scored again."
    )
    return SubmittedBeforeError(
        name=earlier.name, digest=sha256[:12], submission=earlier, outcome=outcome
    )


def _same_bytes(column: str, phase: int, key: int, sha256: str) -> QuerySet:
    of_job = Cast(KeyTextTransform("sha256", F("job__parameters")), CharField(max_length=64))
    # Of one that has a run no job is looked into: that of thousands would take long.
    is_waiting = Q(run=None) & Q(sha256_of_job=sha256)
    theirs = _sent(column, phase, key).alias(sha256_of_job=of_job)
    return theirs.filter(Q(run__sha256=sha256) | is_waiting).values_list("pk", flat=True)[:1]


def _refuse_taken_name(phase: Phase, user: User, name: str, sha256: str) -> None:
    benchmark = phase.benchmark_id
    if _waiting_named(benchmark, name) or _runs_named(benchmark, name, user.pk, sha256):
        raise NameInUseError(name=name)


@prepared
def _waiting_named(benchmark: int, name: str) -> QuerySet:
    waiting = Submission.objects.filter(phase__benchmark=benchmark, name=name, run=None)
    return waiting.exclude(state__in=UNCOUNTED).values_list("pk")[:1]


@prepared
def _runs_named(benchmark: int, name: str, user: int, sha256: str) -> QuerySet:
    # The same bytes may go to another phase under their name: they are one run.
    others = Run.objects.filter(benchmark=benchmark, name=name).exclude(
        owner=user, sha256=sha256, kind=Run.Kind.SUBMITTED, withdrawn_at=None
    )
    return others.values_list("pk")[:1]


# --- limits --------------------------------------------------------------------------------


def _sent(column: str, phase: int, key: int) -> QuerySet[Submission]:
    """Valid submissions of a sender, and those of which it is not known yet."""
    return Submission.objects.filter(phase=phase, **{column: key}).exclude(state__in=UNCOUNTED)


def _numbers_sent(column: str, phase: int, key: int, since: datetime) -> QuerySet:
    since_then = _sent(column, phase, key).filter(created_at__gt=since).values("phase")
    return since_then.annotate(n=Count("pk")).values_list("n", flat=True)


_SAME_BYTES = {column: prepared(partial(_same_bytes, column)) for column in COLUMNS}
_NUMBERS_SENT = {column: prepared(partial(_numbers_sent, column)) for column in COLUMNS}


def _n_sent(phase: Phase, sender: Sender, since: datetime = LONG_AGO) -> int:
    column, key = sender
    return sum(_NUMBERS_SENT[column](phase.pk, key, since))


def _senders(user: User, team: Team | None) -> dict[str, Sender]:
    """Whose submissions are counted, in words."""
    senders = {"You have": ("submitter", user.pk)}
    return {**senders, f"The team {team.name} has": ("team", team.pk)} if team else senders


def n_left_today(*, phase: Phase, user: User, team: Team | None = None) -> int:
    """How many more the phase takes of this person, for this team, within 24 hours."""
    since = timezone.now() - DAY
    used = max(_n_sent(phase, sender, since) for sender in _senders(user, team).values())
    left = max(0, phase.daily_limit - used)
    in_all = n_left_in_all(phase=phase, user=user, team=team)
    return left if in_all is None else min(left, in_all)


def n_left_in_all(*, phase: Phase, user: User, team: Team | None = None) -> int | None:
    """How many more the phase takes of this person, for this team, at all; None: no limit."""
    if phase.total_limit is None:
        return None
    used = max(_n_sent(phase, sender) for sender in _senders(user, team).values())
    return max(0, phase.total_limit - used)


def refuse_over_limit(
    *, phase: Phase, user: User, team: Team | None = None, is_limited_daily: bool = True
) -> None:
    """Raise `DailyLimitError`, which says when the next is possible, or `TotalLimitError`."""
    for who, sender in _senders(user, team).items():
        _refuse_over_total(phase, who, sender)
        if is_limited_daily:
            _refuse_over_daily(phase, who, sender)


def _refuse_over_total(phase: Phase, who: str, sender: Sender) -> None:
    if phase.total_limit is None:
        return
    used = _n_sent(phase, sender)
    if used >= phase.total_limit:
        raise TotalLimitError(who=who, used=used, limit=phase.total_limit, phase=phase.name)


def _refuse_over_daily(phase: Phase, who: str, sender: Sender) -> None:
    since = timezone.now() - DAY
    limit = max(phase.daily_limit, 1)
    used = _n_sent(phase, sender, since)
    if used < limit:
        return
    # Where the limit was lowered meanwhile, more than one must pass out of the window first.
    newest = _sent(sender[0], phase.pk, sender[1]).order_by("-created_at")
    frees_a_place = newest.values_list("created_at", flat=True)[limit - 1]
    raise DailyLimitError(who=who, used=used, limit=phase.daily_limit, next_at=frees_a_place + DAY)
