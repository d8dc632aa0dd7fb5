"""My runs: what is left to send, and whether it got better, as one person may know it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks_app.common.selectors.naming import team_ids_of
from benchmarks_app.models import Benchmark, User
from scoring.boards.services.boards import Board, board_of
from scoring.comparisons.services.against import Ends, difference_interval
from scoring.models import Phase, Submission
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.selectors.phases import Scope, scope_of
from scoring.scores.selectors.releases import open_phases
from scoring.scores.services.firewall import Sight, measure_seen, sight_of
from scoring.scores.services.slice_scores import board_split
from scoring.scores.shown import Shown
from scoring.submissions.selectors.submissions import (
    WAITING,
    SubmissionRow,
    problems_of_submission,
    state_of,
    submission_rows,
    submissions_seen_by,
)
from scoring.submissions.services.resending import best_to_send_on, n_offered, was_sent_again
from scoring.submissions.services.sight import rows_as_seen
from scoring.submissions.services.submitting import n_left_in_all, n_left_today, why_closed

SCORED_SHOWN, REFUSED_SHOWN, WAITING_SHOWN = 12, 3, 5
# For so many of the newest the interval of a change is worked out; it is kept.
INTERVALS_SHOWN = 3
DIGITS = 3
DASH = "\N{EN DASH}"


# --- changes -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A difference to another run, with its interval where that may be told."""

    other: str
    difference: float
    low: float | None = None
    high: float | None = None

    @property
    def has_interval(self) -> bool:
        return self.low is not None and self.high is not None

    @property
    def kind(self) -> str:
        """ "up" or "down" where the interval leaves 0 out, else ""."""
        if self.low is not None and self.low > 0:
            return "up"
        return "down" if self.high is not None and self.high < 0 else ""

    @property
    def verdict(self) -> str:
        if not self.has_interval:
            return _("Whether that is shown is not told here: it would tell of hidden grades.")
        if self.kind:
            return _("Shown to be better.") if self.kind == "up" else _("Shown to be worse.")
        if self.difference > 0:
            return _("Not shown to be better.")
        return _("Not shown to be different.")


@dataclass(frozen=True)
class OwnRun:
    """A scored submission of one's own; `at` is where its value and interval stand on the axis."""

    submission: Submission | None
    mean: float | None
    low: float | None
    high: float | None
    row: BoardRow | None
    at: dict[str, str]
    to_last: Change | None = None
    to_baseline: Change | None = None

    @property
    def ranks(self) -> str:
        """Which ranks the data allow, from 2 to 4 say; the plain one where that is not known."""
        if self.row is None:
            return ""
        standing = self.row.standing
        if standing is None:
            return str(self.row.rank or "")
        best, worst = standing.best, standing.worst
        return str(best) if best == worst else f"{best}{DASH}{worst}"


@dataclass(frozen=True)
class _Entry:
    """The numbers of a submission, or of the baseline, before they are put beside others."""

    name: str
    submission: Submission | None
    mean: float | None
    low: float | None
    high: float | None
    row: BoardRow | None


# --- the page ------------------------------------------------------------------------------------


def home_context(benchmark: Benchmark, user: User, *, phase_key: str = "") -> dict[str, Any]:
    """What the page of one's own runs shows; of the phase that is asked for, or the newest."""
    phases = list(open_phases(benchmark))
    own = own_submissions(user, benchmark)
    phase = next((phase for phase in phases if str(phase.pk) == phase_key), None)
    phase = phase or (phases[0] if phases else _last_phase(own))
    is_open = phase in phases
    refused = own.filter(state__in=[Submission.State.INVALID, Submission.State.FAILED])
    return {
        "phases": phases,
        "phase": phase,
        "is_open": is_open,
        "closed": "" if is_open else why_closed(benchmark),
        "scope": scope_of(phase) if phase else None,
        "n_left": n_left_today(phase=phase, user=user) if phase and is_open else 0,
        "n_left_in_all": n_left_in_all(phase=phase, user=user) if phase and is_open else None,
        "coming": _coming(benchmark),
        "waiting": [
            (submission, state_of(submission))
            for submission in own.filter(state__in=WAITING)[:WAITING_SHOWN]
        ],
        "refused": _refused(refused, user),
        "to_send_on": best_to_send_on(benchmark, phase, user) if phase and is_open else None,
        **(_scored(own, phase, user) if phase else {"runs": [], "baseline": None}),
    }


def own_submissions(user: User, benchmark: Benchmark) -> QuerySet[Submission]:
    """One's own and one's teams', also of keepers, who see all; the newest first."""
    mine = Q(submitter=user) | Q(team__in=team_ids_of(user))
    return submissions_seen_by(user, benchmark).filter(mine)


def _last_phase(own: QuerySet[Submission]) -> Phase | None:
    newest = own.first()
    return newest.phase if newest else None


def _coming(benchmark: Benchmark) -> Phase | None:
    """The next phase that opens."""
    later = Phase.objects.filter(
        benchmark=benchmark, opens_at__gt=timezone.now(), daily_limit__gt=0
    )
    return later.select_related("release", "benchmark").order_by("opens_at", "pk").first()


def _refused(refused: QuerySet[Submission], user: User) -> list[tuple[Submission, Any, int]]:
    """The newest, with their first problem and how many lines they could be scored without."""
    listed = [upload for upload in refused[: 2 * REFUSED_SHOWN] if not was_sent_again(upload)]
    return [
        (upload, _first_problem(upload), n_offered(upload, user))
        for upload in listed[:REFUSED_SHOWN]
    ]


def _first_problem(submission: Submission) -> dict[str, Any]:
    """Its first problem, with how many there are in all; empty where none is known."""
    problems = problems_of_submission(submission)
    return {**problems[0], "n_more": len(problems) - 1} if problems else {}


# --- scored runs ---------------------------------------------------------------------------------


def _scored(own: QuerySet[Submission], phase: Phase, user: User) -> dict[str, Any]:
    listed = own.filter(state=Submission.State.SCORED, withdrawn_at=None, phase=phase)
    submissions = list(listed[:SCORED_SHOWN])
    release, scope = phase.release, scope_of(phase)
    sight, measure = sight_of(user, release), measure_seen(user, release)
    board = None if scope.is_apart else _board(phase, scope, user, measure)
    entries = (
        _entries_apart(submissions, measure, user)
        if board is None
        else _entries(submissions, board)
    )
    baseline = _best_baseline(board) if board else None
    return {
        "runs": _beside(entries, baseline, board, sight) if board else _beside_last(entries, sight),
        "board": board,
        "measure": measure,
        "digits": min(sight.digits, DIGITS),
        "baseline": baseline,
        "baseline_mean": baseline.scores.get(board.measure.name) if baseline and board else None,
        "baseline_at": _axis(entries, baseline, board)(_mean_of(baseline, board)),
        "n_scored": listed.count() if len(submissions) == SCORED_SHOWN else len(submissions),
    }


def _board(phase: Phase, scope: Scope, user: User, measure: Shown) -> Board:
    split = board_split(phase.release, phase.split if scope.slice_name else "")
    return board_of(release=phase.release, user=user, measure=measure, split=split)


def _entries(submissions: Iterable[Submission], board: Board) -> list[_Entry]:
    rows = {row.run.pk: row for row in board.whole}
    entries = []
    for submission in submissions:
        row = rows.get(submission.run_id or 0)
        low, high = row.intervals.get(board.measure.name, (None, None)) if row else (None, None)
        mean = row.scores.get(board.measure.name) if row else None
        entries.append(_Entry(submission.name, submission, mean, low, high, row))
    return entries


def _entries_apart(submissions: Sequence[Submission], measure: Shown, user: User) -> list[_Entry]:
    """Of a phase that stands on no board: the stored means of its own queries."""
    rows: list[SubmissionRow] = rows_as_seen(user, submission_rows(submissions))
    entries = []
    for row in rows:
        score = next((each for each in row.stored if each.measure == measure.name), None)
        ends = (score.ci_low, score.ci_high) if score else (None, None)
        mean = score.mean if score else None
        entries.append(_Entry(row.submission.name, row.submission, mean, *ends, None))
    return entries


def _best_baseline(board: Board) -> BoardRow | None:
    """The baseline with the highest mean: what a run has to beat."""
    name = board.measure.name
    return next((row for row in board.whole if row.is_baseline and row.rank is not None), None) or (
        next((row for row in board.whole if row.is_baseline and row.scores.get(name)), None)
    )


def _beside(
    entries: Sequence[_Entry], baseline: BoardRow | None, board: Board, sight: Sight
) -> list[OwnRun]:
    """Each run beside the one sent before it and beside the baseline."""
    axis = _axis(entries, baseline, board)
    against = baseline and _Entry(
        baseline.run.name, None, _mean_of(baseline, board), None, None, baseline
    )
    runs = []
    for place, entry in enumerate(entries):
        has_interval = sight.is_clear and place < INTERVALS_SHOWN
        before = entries[place + 1] if place + 1 < len(entries) else None
        to_last, to_baseline = (
            _change(entry, other, board, sight, has_interval) if other else None
            for other in (before, against)
        )
        at = {name: axis(getattr(entry, name)) for name in ("mean", "low", "high")}
        runs.append(
            OwnRun(
                *(entry.submission, entry.mean, entry.low, entry.high, entry.row),
                *(at, to_last, to_baseline),
            )
        )
    return runs


def _beside_last(entries: Sequence[_Entry], sight: Sight) -> list[OwnRun]:
    """As `_beside`, of runs that stand on no board: no ranks, no baseline, no intervals."""
    axis = _axis(entries, None, None)
    runs = []
    for place, entry in enumerate(entries):
        before = entries[place + 1] if place + 1 < len(entries) else None
        difference = sight.difference(entry.mean, before.mean) if before else None
        change = Change(before.name, difference) if before and difference is not None else None
        at = {name: axis(getattr(entry, name)) for name in ("mean", "low", "high")}
        runs.append(OwnRun(entry.submission, entry.mean, entry.low, entry.high, None, at, change))
    return runs


def _change(
    entry: _Entry, other: _Entry, board: Board, sight: Sight, has_interval: bool
) -> Change | None:
    difference = sight.difference(entry.mean, other.mean)
    if difference is None:
        return None
    ends: Ends = (None, None)
    if has_interval and entry.row and other.row:
        sets = entry.row.score_set, other.row.score_set
        ends = difference_interval(*sets, board.measure.name, board.slice_name)
    return Change(other.name, difference, *ends)


def _mean_of(row: BoardRow | None, board: Board | None) -> float | None:
    return row.scores.get(board.measure.name) if row and board else None


def _axis(entries: Sequence[_Entry], baseline: BoardRow | None, board: Board | None) -> Any:
    """A function from a value to its place on the axis that all rows share, "" for None."""
    values = [value for entry in entries for value in (entry.mean, entry.low, entry.high)]
    known = [value for value in [*values, _mean_of(baseline, board)] if value is not None]
    least, most = min(known, default=0.0), max(known, default=1.0)
    span = (most - least) or 1.0

    def place(value: float | None) -> str:
        return "" if value is None else f"{4 + 92 * (value - least) / span:.2f}%"

    return place
