"""What an approximate index loses against exact search, from two runs of one model."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from django.core.cache import cache

from benchmarks_app.models import Release, Run
from benchmarks_app.releases.selectors import release_slices
from benchwright.evaluation.uncertainty import interval_of
from benchwright.retrieval.ann import TOLERANCE, AnnRecall, ann_recall
from scoring.models import ScoreSet
from scoring.scores.selectors.rankings import scored_ranking_of
from scoring.scores.selectors.releases import SCORER_VERSION, release_families
from scoring.scores.selectors.runs import per_query_values
from scoring.scores.services.slice_scores import slices_on_board
from scoring.scores.shown import FIRST_MEASURE

CUTOFF, DEEPEST = 10, 1000
# Documents below rank k of the exact run are looked at for ties with it, this many more.
BEYOND = 100
N_WORST = 25


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval; the ends are None where there are too few families."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AnnRow:
    """All queries (`name` empty) or a slice: recall, and what it costs in nDCG@10 if both runs
    were scored.
    """

    name: str
    n: int
    recall: Estimate | None
    loss: Estimate | None
    n_scored: int = 0


@dataclass(frozen=True)
class AnnReport:
    recall: AnnRecall
    overall: AnnRow
    slices: tuple[AnnRow, ...]
    differences: Mapping[str, float]


def ann_report(
    *,
    exact: Run,
    approximate: Run,
    release: Release | None,
    k: int = CUTOFF,
    tolerance: float = TOLERANCE,
    hidden: frozenset[str] = frozenset(),
) -> AnnReport:
    """Recall of the approximate run, over all queries and by the release's shown slices.

    `differences` are approximate minus exact nDCG@10 by query; they and the losses, which are their
    means, leave `hidden` queries out.
    """
    facts = repr((SCORER_VERSION, exact.pk, approximate.pk, k, tolerance))
    facts += repr((release and release.pk, [part.name for part in _slices(release)]))
    facts += repr(sorted(hidden))
    facts += repr(
        [score_set.pk for score_set in _score_sets(release, [exact, approximate]).values()]
    )
    key = f"ann-2-{sha256(facts.encode()).hexdigest()}"
    report = cache.get(key)
    if report is None:
        report = _worked_out(exact, approximate, release, k, tolerance, hidden)
        cache.set(key, report, timeout=None)
    return report


def _worked_out(
    exact: Run,
    approximate: Run,
    release: Release | None,
    k: int,
    tolerance: float,
    hidden: frozenset[str],
) -> AnnReport:
    recall = ann_recall(
        scored_ranking_of(exact, k + BEYOND),
        scored_ranking_of(approximate, k),
        k=k,
        tolerance=tolerance,
    )
    whole = _differences(release, exact, approximate)
    differences = {qid: value for qid, value in whole.items() if qid not in hidden}
    families = release_families(release) if release else {}
    # Graded or not: recall needs no grades, and over graded queries it would tell which these are.
    members = release_slices(release) if release else {}
    return AnnReport(
        recall=recall,
        overall=_row("", None, recall, differences, families),
        slices=tuple(
            _row(part.name, members[part.name], recall, differences, families)
            for part in _slices(release)
        ),
        differences=differences,
    )


def _slices(release: Release | None) -> list:
    return slices_on_board(release) if release else []


def _row(
    name: str,
    only: Collection[str] | None,
    recall: AnnRecall,
    differences: Mapping[str, float],
    families: Mapping[str, str],
) -> AnnRow:
    inside = list(recall.queries) if only is None else recall.of(only)
    lost = {qid: value for qid, value in differences.items() if only is None or qid in only}
    return AnnRow(
        name=name,
        n=len(inside),
        recall=_estimate({query.qid: query.recall for query in inside}, families, (0, 1)),
        loss=_estimate(lost, families, (-1, 1)),
        n_scored=len(lost),
    )


def _estimate(
    values: Mapping[str, float], families: Mapping[str, str], span: tuple[float, float]
) -> Estimate | None:
    if not values:
        return None
    low, high = interval_of(values, families, span=span) or (None, None)
    return Estimate(sum(values.values()) / len(values), low, high)


# --- what it costs ---------------------------------------------------------------------------


def _score_sets(release: Release | None, runs: Iterable[Run]) -> dict[int, ScoreSet]:
    rows = ScoreSet.objects.filter(
        release=release, run__in=[run.pk for run in runs], scorer_version=SCORER_VERSION
    ).exclude(per_query="")
    return {score_set.run_id: score_set for score_set in rows} if release else {}


def _differences(release: Release | None, exact: Run, approximate: Run) -> dict[str, float]:
    """nDCG@10 of the approximate run minus that of the exact one, by query; empty if not scored."""
    scored = _score_sets(release, [exact, approximate])
    if len(scored) < 2:
        return {}
    before, after = (_values(scored[run.pk]) for run in (exact, approximate))
    return {qid: after[qid] - value for qid, value in before.items() if qid in after}


def _values(score_set: ScoreSet) -> dict[str, float]:
    name = FIRST_MEASURE.name
    return {row["qid"]: row[name] for row in per_query_values(score_set)}
