"""Values that somebody reports of a system: kept with their source, never ranked."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.models import Benchmark, Release, Run, User
from benchwright.errors import ScoringError
from benchwright.gates.small_files import MAIN, MtebValue, mteb_values_in
from scoring.models import ReportedScore
from scoring.scores.shown import any_measure

LARGEST_FILE = 20 * 1024 * 1024


class SystemNeededError(ScoringError):
    code = "reported-system"
    message = "{file} does not name its model. Say which system these values are of."


class TaskChoiceError(ScoringError):
    code = "reported-task"
    message = "{file} holds {n} tasks and {wanted}. Name one of them: {tasks}."


class ReportedDiffersError(ScoringError):
    code = "reported-differs"
    status = 409
    message = (
        "{source} was entered before with {measure} = {before:g} for {system} on {split}, and now "
        "says {after:g}. Remove the earlier value first, or name another source."
    )


class ReportedValueError(ScoringError):
    code = "reported-value"
    message = "The value of {measure} is {value}; expected a number."


class SourceNeededError(ScoringError):
    code = "reported-source"
    message = (
        "The value of {measure} for {system} has no source; expected an address, a DOI or a paper "
        "with its table. Say where it is from."
    )


class ReportedTwiceError(ScoringError):
    code = "reported-twice"
    status = 409
    message = (
        "{source} has a value of {measure} for {system} on {split} already. Change or remove that "
        "one."
    )


class ReportedFileError(ScoringError):
    code = "reported-file"
    message = (
        "{file} has {size:,} bytes; at most {limit:,} are read. A result file has a few 10,000."
    )


@dataclass(frozen=True)
class Imported:
    """What an import came to: values entered, and how many were there already."""

    n_new: int
    n_known: int
    systems: list[str]
    task: str


def import_mteb(
    *,
    benchmark: Benchmark,
    user: User,
    content: bytes,
    file: str,
    system: str = "",
    source: str = "",
    task: str = "",
    release: Release | None = None,
) -> Imported:
    """Enter every value of a result file of MTEB; all of them or none.

    `system` says whose values they are where the file does not; `task` which one is this
    benchmark's where it holds several. `source` is where the file is from, its name by default.

    Raises
    ------
    MtebFormatError
        If it is no such file.
    SystemNeededError, TaskChoiceError, ReportedDiffersError, ReportedFileError
        If something else is missing or wrong.
    UnreadableFileError, ReadersBusyError
        If reading it took too much, or nobody could read it.
    """
    if len(content) > LARGEST_FILE:
        raise ReportedFileError(file=file, size=len(content), limit=LARGEST_FILE)
    parsed = reading_apart.call(mteb_values_in, content, file, file=file)
    values = _of_task(parsed, task, file)
    if not system and any(not value.model for value in values):
        raise SystemNeededError(file=file)
    names = dict.fromkeys((system or value.model)[:200] for value in values)
    several = len({value.subset for value in values}) > 1
    place = source or file
    digest = sha256(content).hexdigest()
    with transaction.atomic():
        n_new = sum(
            _enter(
                ReportedScore(
                    benchmark=benchmark,
                    release=release,
                    system=(system or value.model)[:200],
                    measure=value.measure,
                    value=value.value,
                    split=value.split[:16],
                    kind=ReportedScore.Kind.MTEB,
                    source=(f"{place} [{value.subset}]" if several else place)[:500],
                    sha256=digest,
                    metadata={"task": value.task, "subset": value.subset, **value.facts},
                    reported_by=user,
                )
            )
            for value in values
        )
        audit.record(actor=user, action="report-scores", benchmark=benchmark, target=file, n=n_new)
    return Imported(n_new, len(values) - n_new, list(names), values[0].task)


def _of_task(values: list[MtebValue], task: str, file: str) -> list[MtebValue]:
    tasks = list(dict.fromkeys(value.task for value in values))
    if not task and len(tasks) == 1:
        return values
    of_task = [value for value in values if value.task.casefold() == task.casefold()]
    if not of_task:
        wanted = f"none is called '{task}'" if task else "one is wanted"
        listed = ", ".join(tasks[:20]) + (" …" if len(tasks) > 20 else "")
        raise TaskChoiceError(file=file, n=len(tasks), wanted=wanted, tasks=listed)
    return of_task


@transaction.atomic
def enter_reported(
    *,
    benchmark: Benchmark,
    user: User,
    system: str,
    measure: str,
    value: float,
    source: str,
    split: str = "",
    release: Release | None = None,
    run: Run | None = None,
    note: str = "",
) -> bool:
    """Enter one value by hand; False where the same was there.

    `run` is one of the same system, whose own values stand beside it.

    Raises
    ------
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If the measure is none.
    ReportedValueError, SourceNeededError, ReportedDiffersError
        If the value is no number, has no source, or the same source said another.
    """
    score = ReportedScore(
        benchmark=benchmark,
        release=release,
        run=run,
        system=system.strip(),
        measure=_measure_of(measure),
        value=value,
        split=split.strip(),
        kind=ReportedScore.Kind.ENTERED,
        source=source.strip(),
        note=note.strip(),
        reported_by=user,
    )
    _refuse_wrong(score)
    is_new = _enter(score)
    n_new = int(is_new)
    audit.record(actor=user, action="report-scores", benchmark=benchmark, target=system, n=n_new)
    return is_new


def _measure_of(text: str) -> str:
    return MAIN if text.strip() == MAIN else any_measure(text, 1).name


def _refuse_wrong(score: ReportedScore) -> None:
    if not isfinite(score.value):
        raise ReportedValueError(measure=score.measure, value=score.value)
    if not score.source:
        raise SourceNeededError(measure=score.measure, system=score.system)


@transaction.atomic
def change_reported(*, score: ReportedScore, actor: User, **changes: Any) -> ReportedScore:
    """Correct a value, or what is said of it; `changes` are fields of `enter_reported`.

    Raises
    ------
    As `enter_reported`, and
    ReportedTwiceError
        If its source has another value of this measure, system and split.
    """
    before = score.value
    if "measure" in changes:
        changes["measure"] = _measure_of(changes["measure"])
    for name, value in changes.items():
        setattr(score, name, value.strip() if isinstance(value, str) else value)
    _refuse_wrong(score)
    refusal = ReportedTwiceError(
        source=score.source,
        measure=score.measure,
        system=score.system,
        split=score.split or "no split",
    )
    if _same_place(score).exclude(pk=score.pk).exists():
        raise refusal
    try:
        with transaction.atomic():
            score.save()
    except IntegrityError as error:  # another was moved there at this moment
        raise refusal from error
    audit.record(
        actor=actor,
        action="change-reported",
        benchmark=score.benchmark,
        target=f"{score.system} {score.measure}",
        before=before,
        after=score.value,
    )
    return score


def _enter(score: ReportedScore) -> bool:
    """Save a value, unless the same source said the same before."""
    before = _same_place(score).first()
    if before is None:
        try:
            with transaction.atomic():
                score.save(force_insert=True)
        except IntegrityError:  # entered at this moment
            before = _same_place(score).get()
        else:
            return True
    if before.value != score.value:
        raise ReportedDiffersError(
            source=score.source,
            measure=score.measure,
            system=score.system,
            split=score.split or "no split",
            before=before.value,
            after=score.value,
        )
    return False


def _same_place(score: ReportedScore) -> QuerySet[ReportedScore]:
    """What the same source says of the same measure, system and split."""
    return ReportedScore.objects.filter(
        benchmark=score.benchmark,
        system=score.system,
        measure=score.measure,
        split=score.split,
        source=score.source,
    )


def _place_of(score: ReportedScore) -> str:
    """What tells a value from the others of its benchmark."""
    split = f" on {score.split}" if score.split else ""
    return f"{score.system} {score.measure}{split} ({score.source})"


@transaction.atomic
def remove_reported(*, scores: Iterable[ReportedScore], actor: User) -> int:
    """Take values away; returns how many."""
    wanted = [score.pk for score in scores]
    locked = ReportedScore.objects.select_for_update(of=("self",)).select_related("benchmark")
    rows = list(locked.filter(pk__in=wanted).order_by("pk"))
    for benchmark in {row.benchmark for row in rows}:
        of_it = [row for row in rows if row.benchmark == benchmark]
        target = ", ".join(sorted({row.system for row in of_it}))
        audit.record(
            actor=actor,
            action="remove-reported",
            benchmark=benchmark,
            target=target,
            values={_place_of(row): row.value for row in of_it},
        )
    ReportedScore.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return len(rows)
