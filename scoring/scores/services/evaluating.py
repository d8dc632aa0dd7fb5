"""Any measure of a scored run, from its stored hits."""

from collections.abc import Collection, Iterable

from benchwright import Evaluation, evaluate_hits
from benchwright.evaluation.stored_hits import read_hits
from scoring.models import ScoreSet
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services.scoring import Target


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
