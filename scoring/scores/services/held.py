"""What is said of values that the Ladder holds: of a submission, those of an earlier one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchmarks_app.common.selectors.naming import team_ids_of
from benchmarks_app.models import Run
from scoring.models import ScoreSet
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.selectors.releases import declared_measures
from scoring.scores.selectors.runs import ScoreSheet
from scoring.scores.selectors.score_sets import Answered
from scoring.scores.services.firewall import Sight, sight_of

LADDER = gettext_noop(
    "The value of a submission moves only where it is significantly better than the best so far "
    "of its team and its sender; exact values are shown {when}."
)
ELSEWHERE = gettext_noop(
    "Not told on this release: its hidden grades differ from those of another one in fewer than "
    "30 families, and means on both would tell of these."
)
UNDECIDED = gettext_noop("It is not decided yet whether it is better than what was sent before it.")


@dataclass(frozen=True)
class Held:
    """Measures by which others are told the values of an earlier submission, in one sentence.

    `name` is that of the earlier one, empty where the viewer may not know it; `is_clear` where the
    viewer sees the exact values all the same.
    """

    name: str
    labels: tuple[str, ...]
    is_clear: bool
    is_undecided: bool = False
    is_told_elsewhere: bool = False

    @property
    def said(self) -> str:
        if self.is_told_elsewhere:
            return _(ELSEWHERE)
        if self.is_undecided:
            return _(UNDECIDED)
        of = f"“{self.name}”" if self.name else _("an earlier submission")
        by = ", ".join(self.labels)
        if self.is_clear and by:
            text = _("No significant improvement by {by}: others are shown the value of {of}.")
        elif self.is_clear:
            text = _("No significant improvement: others are shown the value of {of}.")
        elif by:
            text = _(
                "Not a significant improvement on {of} by {by}: the value shown is still its value."
            )
        else:
            text = _("Not a significant improvement on {of}: the value shown is still its value.")
        return text.format(of=of, by=by)


def ladder_said(sight: Sight) -> str:
    """The Ladder of a release in a sentence; empty where it is not in force."""
    if sight.ladder is None:
        return ""
    until = sight.ladder.until
    when = (
        _("on {when} UTC").format(when=f"{until:%Y-%m-%d %H:%M}")
        if until
        else _("when the phase ends")
    )
    return _(LADDER).format(when=when)


def held_rows(
    rows: Sequence[BoardRow], sight: Sight, user: Any, measure: str, slice_name: str
) -> list[BoardRow]:
    """Rows of a board with what is held of them by its measure."""
    if sight.ladder is None and not sight.is_told_elsewhere:
        return list(rows)
    facts = {
        row.score_set.pk: sight.told_source(row.score_set.pk, measure, slice_name) for row in rows
    }
    names = _names({of for key, of in facts.items() if of != key}, user, sight)
    results = []
    for row in rows:
        of = facts[row.score_set.pk]
        if of == row.score_set.pk:
            results.append(row)
            continue
        name = names.get(of, "") if _is_concerned(user, row.run, sight) else ""
        held = _held(sight, of, name)
        results.append(replace(row, held=held))
    return results


def held_of(sight: Sight, user: Any, score_set: ScoreSet, labels: dict[str, str]) -> list[Held]:
    """What is held of one submission: a sentence for each earlier one whose values are told.

    `labels` are those of the measures that are shown, by their whole names.
    """
    sight.expect([score_set.pk])
    by_source: dict[int | None, list[str]] = {}
    for name, label in labels.items():
        of = sight.told_source(score_set.pk, name, sight.over(score_set))
        if of != score_set.pk:
            by_source.setdefault(of, []).append(label)
    names = _names(by_source, user, sight) if _is_concerned(user, score_set.run, sight) else {}
    return [
        _held(sight, of, names.get(of, ""), tuple(of_labels)) for of, of_labels in by_source.items()
    ]


@dataclass(frozen=True)
class ScoresSeen(ScoreSheet):
    """Scores as one person may see them, with what is `held` of them."""

    sight: Sight
    held: list[Held]

    @property
    def digits(self) -> int:
        return self.sight.digits

    @property
    def answered(self) -> Answered | None:
        return self.sight.answered(self.score_set)


def scores_seen(sheet: ScoreSheet, user: Any) -> ScoresSeen:
    """The scores as this person may see them; nothing of it is saved."""
    sight = sight_of(user, sheet.release)
    labels = {measure.name: measure.label for measure in declared_measures(sheet.release)}
    return ScoresSeen(
        sheet.score_set,
        held=held_of(sight, user, sheet.score_set, labels),
        sight=sight,
        overall=sight.means(sheet.overall),
        by_weight=sight.means(sheet.by_weight),
        of_part=sight.means(sheet.of_part),
    )


def _held(sight: Sight, source: int | None, name: str, labels: tuple[str, ...] = ()) -> Held:
    return Held(
        name,
        labels,
        sight.is_clear,
        is_undecided=source is None and not sight.is_told_elsewhere,
        is_told_elsewhere=source is None and sight.is_told_elsewhere,
    )


def _names(keys: Collection[int | None], user: Any, sight: Sight) -> dict[int | None, str]:
    """Names of runs by their score sets, of those that somebody is concerned with."""
    wanted = [key for key in keys if key is not None]
    if not wanted:
        return {}
    sets = ScoreSet.objects.filter(pk__in=wanted).select_related("run")
    return {
        score_set.pk: score_set.run.name
        for score_set in sets
        if _is_concerned(user, score_set.run, sight)
    }


def _is_concerned(user: Any, run: Run, sight: Sight) -> bool:
    """Whether somebody may know which submission stands: its sender, the team and the keepers."""
    if not user.is_authenticated:
        return False
    return sight.is_clear or run.owner_id == user.pk or run.team_id in team_ids_of(user)


def rows_of_sources(rows: Iterable[BoardRow]) -> list[BoardRow]:
    """The rows with the score sets that their means are from: ranks are those of what is told."""
    listed = list(rows)
    there = {row.score_set.pk: row.score_set for row in listed}
    lacking = {row.source for row in listed} - there.keys() - {None}
    if lacking:
        there |= ScoreSet.objects.select_related("run").in_bulk(lacking)
    return [
        row if row.source in (None, row.score_set.pk) else replace(row, score_set=there[row.source])
        for row in listed
    ]
