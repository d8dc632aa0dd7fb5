"""Numbers that were not stored, from what was: no run is read for any of them."""

from collections.abc import Collection, Iterable
from time import monotonic
from typing import Any, cast

from django.db.models import Min

from benchmarks_app.models import Release
from benchwright import Evaluation, evaluate_hits
from benchwright.errors import MeasureParameterError
from benchwright.evaluation.stored_hits import read_hits
from benchwright.evaluation.uncertainty import mean_intervals
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.runs import per_query_values as stored_values
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services.scoring import Target, scores_of, slice_scores_of
from scoring.scores.services.slice_scores import members_of

# A page waits this long for scores that are not there yet; the rest is computed by the next one.
SECONDS = 4.0
# What was added is a cache: beyond so many measures of a release, the oldest goes.
ADDED_KEPT = 40
LONGEST_NAME = cast(int, Score._meta.get_field("measure").max_length)  # a CharField has one


def add_measure(*, release: Release, score_sets: Iterable[ScoreSet], name: str) -> int:
    """Store a measure for the score sets of a release that lack it; returns how many still do.

    Stops when a page has waited long enough.

    Raises
    ------
    MeasureParameterError
        If the name is too long to be stored.
    """
    if len(name) > LONGEST_NAME:
        reason = f"has {len(name)} characters; at most {LONGEST_NAME} are kept. Shorten it."
        raise MeasureParameterError(name=f"{name[:40]}…", reason=reason)
    sets = [each for each in score_sets if each.hits]
    stored = Score.objects.filter(
        score_set__in=[each.pk for each in sets], measure=name, slice_name=""
    )
    there = set(stored.values_list("score_set", flat=True))
    lacking = [each for each in sets if each.pk not in there]
    if not lacking:
        return 0
    scores, deadline, target = [], monotonic() + SECONDS, Target.of(release)
    weighted: list[Score] = []
    for score_set in lacking:
        if monotonic() > deadline:
            break
        evaluation = evaluated(score_set, [name], target=target)
        intervals = mean_intervals(evaluation, target.families)
        scores += scores_of(score_set, evaluation, intervals)
        weighted += target.weighted_scores_of(score_set, evaluation)
    # Another page may have added the same meanwhile: its numbers are the same.
    Score.objects.bulk_create([*scores, *weighted], ignore_conflicts=True)
    _drop_oldest(release)
    return len(lacking) - len(scores)


def _drop_oldest(release: Release) -> None:
    standard = set(Target.of(release).names)
    added = (
        Score.objects.filter(score_set__release=release, slice_name="")
        .exclude(measure__in=standard)
        .values_list("measure")
        .annotate(first=Min("pk"))
        .order_by("-first")
    )
    beyond = [measure for measure, _ in added[ADDED_KEPT:]]
    if beyond:
        Score.objects.filter(score_set__release=release, measure__in=beyond).delete()


def add_slice_scores(
    *, release: Release, score_sets: Iterable[ScoreSet], slice_name: str, names: Iterable[str]
) -> int:
    """Store means over a slice for the score sets that lack them; returns how many still do.

    Scoring stores the standard measures; others come here. Stops when a page waited long enough.
    """
    sets, wanted = [each for each in score_sets if each.hits], list(dict.fromkeys(names))
    keys = [each.pk for each in sets]
    rows = Score.objects.filter(score_set__in=keys, slice_name=slice_name, measure__in=wanted)
    if rows.count() == len(keys) * len(wanted):  # each is there once at most
        return 0
    there = set(rows.values_list("score_set", "measure"))
    lacking = {
        each: [name for name in wanted if (each.pk, name) not in there]
        for each in sets
        if any((each.pk, name) not in there for name in wanted)
    }
    deadline, target, n_done = monotonic() + SECONDS, Target.of(release), 0
    members = {slice_name: members_of(release, slice_name)}
    for score_set, measures in lacking.items():
        if monotonic() > deadline:
            break
        hits = read_hits(score_files(score_set))
        scores = slice_scores_of(
            score_set, target.slice_evaluations(hits, measures, members=members)
        )
        # Another page may have added the same meanwhile: its numbers are the same.
        Score.objects.bulk_create(scores, ignore_conflicts=True)
        n_done += 1
    return len(lacking) - n_done


# --- query by query ------------------------------------------------------------------------


def per_query_values(score_set: ScoreSet, name: str) -> list[dict[str, Any]]:
    """A dict per query of the release, with the values of every stored measure and of this one."""
    rows = stored_values(score_set)
    if rows and name not in rows[0]:
        values = evaluated(score_set, [name]).per_query
        for row in rows:
            row[name] = values[row["qid"]][name]
    return rows


def evaluated(
    score_set: ScoreSet,
    names: Iterable[str],
    *,
    target: Target | None = None,
    only: Collection[str] | None = None,
) -> Evaluation[str]:
    """Any measures of a scored run, over all queries of the release or `only` those of a slice.

    Raises
    ------
    EmptyQrelsError
        If the release grades none of the queries.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If a measure is none.
    """
    target = target or Target.of(score_set.release)
    judged = {qid: of for qid, of in target.judged.items() if only is None or qid in only}
    hits = read_hits(score_files(score_set))
    return evaluate_hits(judged, hits, names, allow_empty=True, top_grade=target.top_grade)
