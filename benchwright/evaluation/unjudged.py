"""What the documents that nobody judged could still change.

A bracket holds the value whatever their grades turn out to be. It exists only for measures that a
higher grade never lowers (P, RR, Success, DCG, RBP): the low end takes every unjudged document as
not relevant, the high end as of the top grade. In nDCG, AP and R a newly relevant document also
raises what could have been found, so both ends would be wrong; for them there are scenarios, always
all of them together, because a condensed list alone overrates runs that the pool did not hold.

A measure looks at the results down to its cutoff; only their unjudged documents are given grades.
Where the qrels are complete nothing is unjudged, and every reading gives one value.
"""

import random
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from math import nan
from typing import NamedTuple

from benchwright.errors import NoBracketError
from benchwright.evaluation.evaluating import evaluate_hits, highest_grade
from benchwright.measures.columns import Columns
from benchwright.measures.families import Measure
from benchwright.measures.incomplete import condensed
from benchwright.measures.registry import parse_measure
from benchwright.reading.hits import Judged, Qid, QueryHits, hit_at, with_unlisted
from benchwright.statistics.descriptive import quantile

SMOOTHING = 5.0
"""How many judged documents at other ranks weigh as much as those at this one."""


class Bracket(NamedTuple):
    """Between which values the mean must be."""

    low: float
    high: float


class Scenarios(NamedTuple):
    """What the mean would be; none of these bounds it.

    `raw` takes unjudged documents as not relevant, `condensed` leaves them out, `all_relevant`
    gives them the top grade. When their grades are drawn, 9 in 10 means are from `drawn_low` to
    `drawn_high`; both are NaN where none were.
    """

    raw: float
    condensed: float
    all_relevant: float
    drawn_low: float
    drawn_high: float


def bracket(
    measure: str | Measure,
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
    *,
    top_grade: int | None = None,
    missing: str = "zero",
) -> Bracket:
    """The lowest and the highest mean that judging every result could give.

    `top_grade` is the highest grade of the scale, by default of these grades. For RBP without a
    cutoff, the high end counts it also below the last result: it is RBP plus its residual.

    Raises
    ------
    NoBracketError
        If a higher grade can lower the measure.
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If the measure is none.
    EmptyQrelsError, EmptyRunError, NoCommonQueryError, UnknownMissingRuleError
        As `evaluate_hits`.

    Examples
    --------
    >>> bracket("P@2", {"q": Judged((1,))}, {"q": QueryHits("q", (hit_at(1, 1),), 2)})
    Bracket(low=0.5, high=1.0)
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    top = highest_grade(judged.values()) if top_grade is None else top_grade
    if not measure.is_monotone or not measure.rises_to(top):
        raise NoBracketError(measure=str(measure))
    hits = _with_unlisted(hits, judged)
    low = _mean(measure, judged, hits, top, missing)
    if measure.family == "RBP" and measure.cutoff is None:
        residual = Measure("RBP_res").with_options({"p": measure.option("p")})
        # The top grade has the gain 1, unless even it is below `rel`.
        gain = float(top >= (measure.option("rel") or 0))
        return Bracket(low, low + gain * _mean(residual, judged, hits, top, missing))
    best = _all_of_grade(top, measure, judged, hits)
    return Bracket(low, _mean(measure, *best, top, missing))


def scenarios(
    measure: str | Measure,
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
    *,
    top_grade: int | None = None,
    missing: str = "zero",
    n_draws: int = 200,
    seed: int = 0,
) -> Scenarios:
    """The mean under four readings of the unjudged documents.

    Drawn grades are as those of the judged documents that this run has at like ranks (1, 2-3, 4-7,
    8-15, …), smoothed by those of all its ranks; how probable each grade is, is drawn as well,
    since few documents tell it. The same `seed` draws the same; `n_draws` may be 0. Ties stand as
    they are ranked.

    Raises
    ------
    UnknownMeasureError, MeasureParameterError, CutoffError, RelevanceThresholdError
        If the measure is none.
    EmptyQrelsError, EmptyRunError, NoCommonQueryError, UnknownMissingRuleError
        As `evaluate_hits`.
    """
    measure = parse_measure(measure) if isinstance(measure, str) else measure
    top = highest_grade(judged.values()) if top_grade is None else top_grade
    hits = _with_unlisted(hits, judged)
    raw = _mean(measure, judged, hits, top, missing)
    short = {qid: condensed(query) for qid, query in hits.items()}
    best = _all_of_grade(top, measure, judged, hits)
    scored = {
        q: hits.get(q) or QueryHits(q, (), 0) for q in judged if missing == "zero" or q in hits
    }
    drawn = sorted(_draws(measure, judged, scored, top, n_draws, random.Random(seed)))
    return Scenarios(
        raw=raw,
        # Nothing judged may be left of it.
        condensed=_mean(measure, judged, short, top, missing, allow_empty=True),
        all_relevant=_mean(measure, *best, top, missing),
        drawn_low=quantile(drawn, 0.05) if drawn else nan,
        drawn_high=quantile(drawn, 0.95) if drawn else nan,
    )


def _with_unlisted(
    hits: Mapping[Qid, QueryHits[Qid]], judged: Mapping[Qid, Judged]
) -> Mapping[Qid, QueryHits[Qid]]:
    return {q: with_unlisted(of, judged[q]) if q in judged else of for q, of in hits.items()}


def _mean(
    measure: Measure,
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
    top_grade: int,
    missing: str,
    *,
    allow_empty: bool = False,
) -> float:
    evaluation = evaluate_hits(
        judged, hits, [measure], missing=missing, top_grade=top_grade, allow_empty=allow_empty
    )
    return evaluation.means[str(measure)]


def unjudged_ranks(hits: QueryHits[Qid], cutoff: int | float | None) -> list[int]:
    """The ranks of documents without a grade, down to the cutoff if it is a rank.

    Examples
    --------
    >>> unjudged_ranks(QueryHits("q", (hit_at(2, 0), hit_at(3, -1)), 9), cutoff=4)
    [1, 3, 4]
    """
    depth = min(cutoff, hits.n_retrieved) if isinstance(cutoff, int) else hits.n_retrieved
    judged = {rank for rank, grade in hits.hits if grade >= 0}
    return [rank for rank in range(1, depth + 1) if rank not in judged]


def _all_of_grade(
    grade: int,
    measure: Measure,
    judged: Mapping[Qid, Judged],
    hits: Mapping[Qid, QueryHits[Qid]],
) -> tuple[dict[Qid, Judged], dict[Qid, QueryHits[Qid]]]:
    """Grades and hits as they would be, were every unjudged document of this grade."""
    filled = {
        qid: _filled(judged[qid], query, dict.fromkeys(_open(query, measure), grade))
        for qid, query in hits.items()
        if qid in judged
    }
    grades = {qid: filled[qid][0] if qid in filled else judged[qid] for qid in judged}
    return grades, {qid: query for qid, (_, query) in filled.items()}


def _open(hits: QueryHits[Qid], measure: Measure) -> list[int]:
    return unjudged_ranks(hits, measure.cutoff)


def _filled(
    judged: Judged, query: QueryHits[Qid], grade_of: Mapping[int, int]
) -> tuple[Judged, QueryHits[Qid]]:
    """The query with these grades at these ranks."""
    hits = {hit.rank: hit for hit in query.hits}
    hits |= {rank: hit_at(rank, grade) for rank, grade in grade_of.items()}
    by_rank = tuple(hits[rank] for rank in sorted(hits))
    filled = QueryHits(query.qid, by_rank, query.n_retrieved, query.ties)
    return judged._replace(grades=(*judged.grades, *grade_of.values())), filled


# --- drawing grades ------------------------------------------------------------------------------


def grade_weights(
    hits: Mapping[Qid, QueryHits[Qid]], top_grade: int
) -> tuple[list[int], dict[int, list[float]]]:
    """The grades there are, and how many documents speak for each, by the bit length of the rank.

    Counted are the judged documents retrieved, and `SMOOTHING` more as they are at all ranks. Key 0
    is for ranks where nothing was judged.
    """
    counts: dict[int, Counter[int]] = {}
    for query in hits.values():
        for rank, grade in query.hits:
            if grade >= 0:
                counts.setdefault(rank.bit_length(), Counter())[grade] += 1
    overall: Counter[int] = sum(counts.values(), Counter())
    levels = sorted({0, top_grade, *overall})
    n_all = overall.total() + len(levels) / 2
    prior = [SMOOTHING * (overall[grade] + 0.5) / n_all for grade in levels]
    weights = {
        length: [of[grade] + weight for grade, weight in zip(levels, prior, strict=True)]
        for length, of in counts.items()
    }
    return levels, {**weights, 0: prior}


def _draws(
    measure: Measure,
    judged: Mapping[Qid, Judged],
    scored: Mapping[Qid, QueryHits[Qid]],
    top_grade: int,
    n_draws: int,
    rng: random.Random,
) -> list[float]:
    """The mean under each draw of the grades of all unjudged documents."""
    levels, weights = grade_weights(scored, top_grade)
    # Ranks by how their grades are drawn, so that those of one kind are drawn at once.
    ranks = {
        qid: [
            (list(alike), length if length in weights else 0)
            for length, alike in groupby(_open(query, measure), key=int.bit_length)
        ]
        for qid, query in scored.items()
    }

    def one_draw() -> float:
        # Gamma variates: their shares are a draw of how probable each grade is (Dirichlet).
        odds = {key: [rng.gammavariate(w, 1.0) for w in of] for key, of in weights.items()}
        filled = []
        for qid, query in scored.items():
            drawn: dict[int, int] = {}
            for alike, key in ranks[qid]:
                grades = rng.choices(levels, odds[key], k=len(alike))
                drawn.update(zip(alike, grades, strict=True))
            filled.append(_filled(judged[qid], query, drawn))
        columns = Columns([query for _, query in filled], [of for of, _ in filled])
        return measure.over_all(measure.values(columns, top_grade=top_grade))

    return [one_draw() for _ in range(n_draws)]
