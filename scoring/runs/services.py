"""What the numbers of one run suggest; its queries that somebody asks for and may see."""

from collections.abc import Collection, Hashable, Mapping
from hashlib import sha256
from typing import Any, cast

from django.core.cache import cache

from benchmarks_app.models import Release
from benchwright.errors import NoBracketError
from benchwright.evaluation.profiles import GradeRanks, Pattern, Profile, grade_ranks, patterns
from benchwright.evaluation.stored_hits import read_hits
from benchwright.evaluation.unjudged import Bracket, Scenarios, bracket, scenarios
from scoring.models import ScoreSet
from scoring.scores.selectors.releases import release_query_texts, relevance_threshold
from scoring.scores.selectors.runs import sorted_queries
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services import measuring
from scoring.scores.services.firewall import Sight
from scoring.scores.services.measuring import evaluated
from scoring.scores.services.scoring import Target
from scoring.scores.shown import with_threshold

# Drawing grades goes through all queries: fewer draws of more queries, none of very many.
MOST_DRAWS, FEWEST_DRAWS, DRAWN_VALUES = 200, 40, 40_000
MOST_QUERIES = 2_000
SCENARIO, JUDGED = "nDCG@10", "Judged@10"
BRACKETED = ("P@10", "RR@10")


def n_draws_for(n_queries: int) -> int:
    """How often grades are drawn for so many queries; 0 where there are too many."""
    if n_queries > MOST_QUERIES:
        return 0
    return max(FEWEST_DRAWS, min(MOST_DRAWS, DRAWN_VALUES // max(n_queries, 1)))


def patterns_of(score_set: ScoreSet, sight: Sight) -> list[Pattern]:
    """What a run's values suggest, over the queries whose values this person may see."""
    return _kept("patterns", score_set, sight.hidden, lambda: _patterns(score_set, sight))


def _patterns(score_set: ScoreSet, sight: Sight) -> list[Pattern]:
    threshold = relevance_threshold(score_set.release)
    names = {
        "ndcg": "nDCG@10",
        "reciprocal_rank": with_threshold("RR@10", threshold),
        "recall": with_threshold("R@100", threshold),
        "condensed_ndcg": "nDCG(judged_only=True)@10",
        "judged": JUDGED,
    }
    target = Target.of(score_set.release)
    values = evaluated(score_set, names.values(), target=target).per_query
    qids = sight.seen(values)
    relevant = {qid: sum(grade >= threshold for grade in target.judged[qid].grades) for qid in qids}
    columns = {field: [values[qid][name] for qid in qids] for field, name in names.items()}
    # Keys of mappings are invariant to mypy; these are read alone.
    families = cast(Mapping[Hashable, Hashable], target.families)
    profile = Profile(
        qids=qids, families=families, n_relevant=[relevant[q] for q in qids], **columns
    )
    return patterns(profile)


def judged_share_of(score_set: ScoreSet, sight: Sight) -> float:
    """How many of the first ten documents are judged, over the queries that this person may see."""

    def read() -> float:
        target = Target.of(score_set.release)
        visible = set(sight.seen(target.judged))
        return evaluated(score_set, [JUDGED], target=target, only=visible).means[JUDGED]

    return _kept("judged", score_set, sight.hidden, read)


def grade_names(release: Release) -> dict[int, str]:
    """What the grades of a release's scale are called."""
    return {grade["value"]: grade["name"] for grade in release.manifest.get("grades") or ()}


def grade_ranks_of(score_set: ScoreSet, sight: Sight) -> list[GradeRanks]:
    """At which ranks documents of each grade were found, in queries that this person may see."""

    def counted() -> list[GradeRanks]:
        judged = Target.of(score_set.release).judged
        hits = read_hits(score_files(score_set))
        return grade_ranks({qid: judged[qid] for qid in sight.seen(judged)}, hits)

    return _kept("grade-ranks", score_set, sight.hidden, counted)


def scenarios_of(score_set: ScoreSet, sight: Sight) -> tuple[Scenarios, int]:
    """nDCG@10 under each reading of the unjudged documents, and how often was drawn.

    Over the queries whose values this person may see.
    """
    n_draws = n_draws_for(score_set.n_queries)

    def read() -> Scenarios:
        target = Target.of(score_set.release)
        return scenarios(
            SCENARIO,
            {qid: target.judged[qid] for qid in sight.seen(target.judged)},
            read_hits(score_files(score_set)),
            top_grade=target.top_grade,
            n_draws=n_draws,
        )

    return _kept("scenarios", score_set, sight.hidden, read), n_draws


def brackets_of(score_set: ScoreSet, sight: Sight) -> dict[str, Bracket]:
    """Between which values the means of measures must be that have such bounds.

    Over the queries whose values this person may see.
    """

    def read() -> dict[str, Bracket]:
        threshold = relevance_threshold(score_set.release)
        target = Target.of(score_set.release)
        judged = {qid: target.judged[qid] for qid in sight.seen(target.judged)}
        hits = read_hits(score_files(score_set))
        brackets = {}
        for name in (with_threshold(measure, threshold) for measure in BRACKETED):
            try:
                brackets[name] = bracket(name, judged, hits, top_grade=target.top_grade)
            except NoBracketError:
                continue
        return brackets

    return _kept("brackets", score_set, sight.hidden, read)


def _kept(what: str, score_set: ScoreSet, hidden: Any, compute: Any) -> Any:
    """A score set never changes, so what is worked out of it is kept."""
    facts = repr((what, score_set.pk, score_set.hits, sorted(hidden)))
    key = f"run-profile-{sha256(facts.encode()).hexdigest()}"
    value = cache.get(key)
    if value is None:
        value = compute()
        cache.set(key, value, timeout=None)
    return value


def chosen_queries(
    score_set: ScoreSet,
    *,
    measure: str,
    sight: Sight,
    search: str = "",
    inside: Collection[str] | None = None,
    is_best_first: bool = False,
) -> tuple[list[dict[str, Any]], int]:
    """Values by query, sorted by a measure, and of how many queries they are withheld.

    `search` is looked for in ids and texts, in any case of letters; `inside` are those of a slice.
    """
    rows = measuring.per_query_values(score_set, measure)
    visible = [row for row in rows if row["qid"] not in sight.hidden]
    chosen = visible if inside is None else [row for row in visible if row["qid"] in inside]
    if search:
        texts, wanted = release_query_texts(score_set.release), search.casefold()
        chosen = [
            row
            for row in chosen
            if wanted in row["qid"].casefold() or wanted in texts.get(row["qid"], "").casefold()
        ]
    ordered = sorted_queries(chosen, column=measure, is_descending=is_best_first)
    return ordered, len(rows) - len(visible)
