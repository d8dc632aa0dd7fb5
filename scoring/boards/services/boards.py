"""A board as one person sees it: ranked, with what is known of its ranks, filtered, sorted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from benchmarks_app.models import Release, Run
from benchwright.comparison.selection import selection_gain
from benchwright.evaluation.uncertainty import Standing
from benchwright.measures import parse_measure
from benchwright.measures.families import FAMILIES
from benchwright.releases.machines import machine_sentence, machine_title
from scoring.boards.selectors.scenarios import stored_scenarios
from scoring.boards.services.scenarios import add_scenarios
from scoring.models import Score
from scoring.scores.selectors.attempts import attempts_on
from scoring.scores.selectors.boards import (
    BoardRow,
    added_measures,
    leaderboard,
    score_sets_seen_by,
    weighted_scores,
)
from scoring.scores.selectors.filters import BoardFilter, filtered, sorted_rows
from scoring.scores.selectors.releases import declared_measures, has_weights, relevance_threshold
from scoring.scores.services import measuring, ranking
from scoring.scores.services.firewall import Sight, sight_of
from scoring.scores.services.held import ELSEWHERE, held_rows, ladder_said, rows_of_sources
from scoring.scores.services.ranking import BoardFacts
from scoring.scores.services.slice_scores import (
    BoardSplit,
    graded_queries,
    members_of,
    n_families_of,
)
from scoring.scores.shown import BOARD, FIRST_MEASURE, Shown, measures_on

NOTHING_ASKED = BoardFilter()


@dataclass(frozen=True)
class Board:
    """The rows of a release by one measure, over all queries or a slice.

    `whole` are all rows this person may see, best first; `rows` those asked for, in the order asked
    for. `n_waiting` of them lack the measure so far. Where it `is_narrow` rows may be left out.
    """

    release: Release
    measure: Shown
    slice_name: str
    threshold: int
    sight: Sight
    whole: list[BoardRow]
    rows: list[BoardRow]
    n_waiting: int = 0
    has_ranks: bool = False
    notes: tuple[str, ...] = ()
    split: BoardSplit | None = None
    is_narrow: bool = False

    @property
    def machine_judged(self) -> str:
        """That a machine gave the grades, and which one; "" where people did."""
        return machine_sentence(self.release.manifest)

    @property
    def machine_title(self) -> str:
        """What stands above `machine_judged`: whether a machine or clicks."""
        return machine_title(self.release.manifest)

    @property
    def over(self) -> str:
        """Over which queries, in words: a slice by its name."""
        return self.split.said if self.split else self.slice_name

    @property
    def asked_split(self) -> str:
        """How an address asks for its split, whichever phase is open then; "" without a choice."""
        return self.split.asked if self.split else ""

    @cached_property
    def held(self) -> str:
        """In a sentence that nothing is told here, or the Ladder where a submission stands here."""
        if any(row.held and row.held.is_told_elsewhere for row in self.whole):
            return _(ELSEWHERE)
        has_climber = any(row.run.kind == Run.Kind.SUBMITTED for row in self.whole)
        return ladder_said(self.sight) if has_climber else ""

    @cached_property
    def columns(self) -> tuple[Shown, ...]:
        """The scores that are shown; a measure that is none of them goes first."""
        first = self._standard[: len(BOARD)]
        return tuple(first if self.measure in first else [self.measure, *first])

    @cached_property
    def all_measures(self) -> list[Shown]:
        """What files hold: the standard measures, and the one that is asked for."""
        return list(dict.fromkeys([*self._standard, self.measure]))

    @cached_property
    def choices(self) -> list[Shown]:
        """What can be chosen: the standard measures, those added, and the one that is shown."""
        added = added_measures(self.whole, self.threshold)
        measures = [measure for measure in added if self.sight.tells(measure.name)]
        return list(dict.fromkeys([*self._standard, *measures, self.measure]))

    @cached_property
    def _standard(self) -> list[Shown]:
        """Those of every board, and those declared: to who keeps no hidden grades these alone."""
        declared = declared_measures(self.release)
        if not self.sight.is_clear:
            return declared
        return list(dict.fromkeys([*measures_on(self.threshold), *declared]))


def board_of(
    *,
    release: Release,
    user: Any,
    measure: Shown = FIRST_MEASURE,
    slice_name: str = "",
    split: BoardSplit | None = None,
    asked: BoardFilter = NOTHING_ASKED,
    is_alone: bool = False,
) -> Board:
    """The board of a release as this person may see it; what is lacking is computed, and stored.

    Over a slice where one is named, else over the `split`; without either over all queries. Ranks
    are those among all rows the person may see, whatever is filtered. Where the measure `is_alone`
    no other is read.
    """
    split = None if slice_name else split
    slice_name = slice_name or (split.slice_name if split else "")
    threshold = relevance_threshold(release)
    measure = measure.on(threshold)
    sight = sight_of(user, release)
    n_waiting = _computed(release, user, measure, slice_name, threshold)
    rows = leaderboard(
        release=release,
        user=user,
        measure=measure,
        slice_name=slice_name,
        sight=sight,
        is_alone=is_alone,
    )
    rows = held_rows(rows, sight, user, measure.name, slice_name)
    facts = ranking.board_facts(
        release=release,
        rows=rows_of_sources(rows),
        name=measure.name,
        slice_name=slice_name,
    )
    standings = _standings(rows, facts, measure.name, slice_name, sight)
    whole = _with_attempts(rows, standings, facts, release, user, measure.name, sight)
    shown_rows = sorted_rows(filtered(whole, asked), asked.sort, is_reversed=asked.is_reversed)
    return Board(
        release=release,
        measure=measure,
        slice_name=slice_name,
        threshold=threshold,
        sight=sight,
        whole=whole,
        rows=shown_rows,
        n_waiting=n_waiting,
        has_ranks=facts is not None,
        notes=(
            *_measure_notes(measure),
            *_rank_notes(facts, sight, slice_name),
            *_interval_notes(release, rows, slice_name),
        ),
        split=split,
        is_narrow=asked.is_narrow,
    )


def _measure_notes(measure: Shown) -> Iterable[str]:
    if FAMILIES[parse_measure(measure.name).family].is_cost:
        yield f"Of {measure.label} less is better: the runs that stand first have the most of it."


def _rank_notes(facts: BoardFacts | None, sight: Sight, slice_name: str) -> Iterable[str]:
    """What is to be said of ranks: of hidden queries not how many lack a value, or runs are close.

    Those without a value are the graded ones that a run does not answer.
    """
    is_told = sight.is_clear or sight.is_public(slice_name)
    return facts.notes if facts and is_told else ()


def _interval_notes(release: Release, rows: list[BoardRow], slice_name: str) -> list[str]:
    """What is to be said of the intervals of a board, where it has any."""
    from benchwright.statistics.intervals import warnings

    if not any(row.intervals for row in rows):
        return []
    qids = members_of(release, slice_name) if slice_name else graded_queries(release)
    return list(warnings(n_families_of(release, qids)))


# --- what is lacking -----------------------------------------------------------------------


def _computed(release: Release, user: Any, measure: Shown, slice_name: str, threshold: int) -> int:
    """Compute what scoring has not stored: a measure that was added, a run scored long ago.

    Returns how many runs still lack it. For whom nobody knows nothing is computed.
    """
    n_waiting = 0
    is_known = user.is_authenticated
    if not measure.is_standard and is_known:
        score_sets = score_sets_seen_by(user, release)
        n_waiting = measuring.add_measure(release=release, score_sets=score_sets, name=measure.name)
    if slice_name:
        names = [each.on(threshold).name for each in BOARD]
        if measure.is_standard or is_known:
            names = list(dict.fromkeys([measure.name, *names]))
        n_waiting = measuring.add_slice_scores(
            release=release,
            # Of a thousand runs neither people nor stored scores are needed to see what lacks.
            score_sets=score_sets_seen_by(user, release)
            .prefetch_related(None)
            .select_related(None),
            slice_name=slice_name,
            names=names,
        )
    return n_waiting


def may_show_scenarios(board: Board) -> bool:
    """Not over a slice, and not where something is withheld.

    They would tell more of the hidden grades than a rounded mean.
    """
    return not board.slice_name and board.sight.is_clear


def with_scenarios(board: Board, rows: Sequence[BoardRow]) -> tuple[list[BoardRow], int]:
    """These rows with their scenarios of the measure, and how many lack them so far."""
    if not may_show_scenarios(board):
        return list(rows), 0
    sets = [row.score_set for row in rows]
    n_waiting = add_scenarios(release=board.release, score_sets=sets, name=board.measure.name)
    scenarios = stored_scenarios(sets, board.measure.name)
    return [replace(row, unjudged=scenarios.get(row.score_set.pk)) for row in rows], n_waiting


def with_stored_scenarios(board: Board) -> Board:
    """The board with the scenarios that are there; nothing is computed."""
    if not may_show_scenarios(board):
        return board
    scenarios = stored_scenarios([row.score_set for row in board.rows], board.measure.name)
    rows = [replace(row, unjudged=scenarios.get(row.score_set.pk)) for row in board.rows]
    return replace(board, rows=rows)


def weighted_of(
    board: Board, rows: Iterable[BoardRow], shown: Iterable[Shown]
) -> dict[int, dict[str, Score]]:
    """The weighted means of rows, by the keys of their score sets; of a slice there are none."""
    if board.slice_name or not has_weights(board.release):
        return {}
    sets = [row.score_set for row in rows]
    means = weighted_scores(sets, [measure.name for measure in shown])
    weighted: dict[int, dict[str, Score]] = {}
    for score in board.sight.means(score for of in means.values() for score in of.values()):
        weighted.setdefault(score.score_set_id, {})[score.measure] = score
    return weighted


# --- ranks and attempts --------------------------------------------------------------------


def _standings(
    rows: list[BoardRow], facts: BoardFacts | None, name: str, slice_name: str, sight: Sight
) -> Mapping[int, Standing]:
    """The ranks that rows may have, by their sources.

    Over all splits together these move with single hidden grades, although no rounded mean does:
    who keeps none of them sees a range on the board of a split, where the phase is scored.
    """
    if facts is None or not (slice_name or sight.is_clear):
        return {}
    if sight.is_clear:
        return facts.standings
    return {**facts.standings, **_shared(rows, facts.standings, name)}


def _shared(
    rows: Iterable[BoardRow], standings: Mapping[int, Standing], name: str
) -> dict[int, Standing]:
    """One standing for runs whose rounded means are equal: theirs would tell which is better."""
    alike: dict[float | None, list[int]] = {}
    for row in rows:
        if row.source is not None and row.source in standings:
            alike.setdefault(row.scores.get(name), []).append(row.source)
    shared: dict[int, Standing] = {}
    for keys in alike.values():
        of = [standings[key] for key in keys]
        widest = Standing(
            min(standing.best for standing in of),
            max(standing.worst for standing in of),
            min(standing.tie_group for standing in of),
        )
        shared |= dict.fromkeys(keys, widest)
    return shared


def _with_attempts(
    rows: list[BoardRow],
    standings: Mapping[int, Standing],
    facts: BoardFacts | None,
    release: Release,
    user: Any,
    name: str,
    sight: Sight,
) -> list[BoardRow]:
    """Rows with the ranks they may have, and how many tries they are of; the best of each team
    with its mean as expected.

    Of whom the run is must be known for that: attempts would tell who an anonymous run is by.
    """
    n_attempts, seen, adjusted_rows = attempts_on(release, user), set[str](), []
    for row in rows:
        k = n_attempts.get(row.run.pk, 1) if row.team else 1
        adjusted, mean = None, row.scores.get(name)
        is_best = row.team and row.team not in seen and k > 1
        if is_best and facts and facts.errors and mean is not None:
            adjusted = sight.rounded(mean - selection_gain(facts.error_of(row.team), k))
        seen.add(row.team)
        standing = None if row.source is None else standings.get(row.source)
        adjusted_rows.append(replace(row, standing=standing, n_attempts=k, adjusted=adjusted))
    return adjusted_rows
