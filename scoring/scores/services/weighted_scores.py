"""Means in which the queries of a release count by their weights, beside the plain ones."""

from collections.abc import Mapping

from benchmarks_app.models import Release
from benchmarks_app.releases.selectors import release_weights
from benchwright import Evaluation
from benchwright.errors import NoWeightError
from benchwright.evaluation.uncertainty import Families
from benchwright.evaluation.weighting import SUFFIX, weighted_means
from scoring.models import Score, ScoreSet

FILE = "weights.tsv"


def has_weights(release: Release) -> bool:
    """Whether a release says what its queries weigh."""
    return FILE in release.manifest["files"]


def weights_of(release: Release) -> Mapping[str, float]:
    """{qid: weight} as the release froze them, empty without."""
    return release_weights(release) if has_weights(release) else {}


def weighted_scores_of(
    score_set: ScoreSet,
    evaluation: Evaluation[str],
    *,
    weights: Mapping[str, float],
    families: Families,
) -> list[Score]:
    """A row for each weighted mean, not saved yet; none where no scored query has a weight."""
    if not weights:
        return []
    try:
        found = weighted_means(evaluation, weights, families=families, has_intervals=True)
    except NoWeightError:
        return []
    return [
        Score(
            score_set=score_set,
            measure=named.removesuffix(SUFFIX),
            slice_name=Score.WEIGHTED,
            mean=None if mean != mean else mean,
            ci_low=found.intervals[named][0] if named in found.intervals else None,
            ci_high=found.intervals[named][1] if named in found.intervals else None,
            n=found.n_queries - found.n_undefined[named],
            judged_share=None,
        )
        for named, mean in found.means.items()
    ]
