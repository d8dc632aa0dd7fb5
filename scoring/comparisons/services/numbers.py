"""The numbers of a comparison, from the stored scores of its runs."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks_app.common.selectors.reading import run_path
from benchwright.comparison.comparing import compare
from benchwright.comparison.outcome import Comparison, slice_p_values
from benchwright.comparison.patterns import ALONE, IN_FAMILIES, family_slices
from benchwright.formats.unlisted import NOT_LISTED_GRADE, unlisted_of
from benchwright.measures import parse_measure
from benchwright.statistics.decisions import decision
from scoring.comparisons.services.errors import NoPublicQueryError
from scoring.comparisons.services.questions import Question
from scoring.models import ScoreSet
from scoring.scores.selectors.score_sets import score_files
from scoring.scores.services.measuring import evaluated
from scoring.scores.services.scoring import Target
from scoring.scores.services.slice_scores import slices_of_release

OWN_SLICES = (IN_FAMILIES, ALONE)
FIRST_CUTOFF = 10
Tell = Callable[[int, int, str], None]


def computed(question: Question, tell: Tell = lambda done, total, message: None) -> dict[str, Any]:
    """Everything a page of the comparison shows, runs by their keys as text.

    Raises
    ------
    NoPublicQueryError
        If the queries of hidden splits are left out, and there are no others.
    ScoringError
        If the runs cannot be compared.
    """
    if not question.n_queries:
        raise NoPublicQueryError(version=question.release.version)
    target = Target.of(question.release)
    judged = judged_measure(question.measure)
    condensed = [question.roles.condensed] if question.is_table else []
    names = list(dict.fromkeys([*question.measures, *condensed]))
    total = len(question.score_sets) + len(names)
    values, shares = {}, {}
    for place, score_set in enumerate(question.score_sets):
        tell(place, total, f"reading {score_set.run.name}")
        of_run = values_of(score_set, list(dict.fromkeys([*names, judged])), target)
        values[str(score_set.run_id)] = {
            qid: of for qid, of in of_run.items() if qid not in question.hidden
        }
        shares[str(score_set.run_id)] = _mean(values[str(score_set.run_id)], judged)
    comparison = _compared(question, names, values, target.families, tell)
    return {
        "comparison": _with_slice_p(comparison),
        "judged": {"measure": judged, "shares": shares},
        "answered": {
            str(each.run_id): _answered(each, question.hidden) for each in question.score_sets
        },
        "n_unjudged": n_unjudged(
            question.score_sets, target, judged_depth(question.measure), hidden=question.hidden
        ),
    }


def _compared(
    question: Question,
    names: Sequence[str],
    values: Mapping[str, Any],
    families: Mapping[str, str],
    tell: Tell,
) -> Comparison:
    """All measures in one comparison, worked out measure by measure to tell how far it is."""
    n_runs, parts = len(values), []
    members = slices_of_release(question.release)
    slices: dict[str, Any] = {name: members[name] - question.hidden for name in question.slices}
    if question.is_table:
        slices |= family_slices(next(iter(values.values())), families)
    for place, name in enumerate(names):
        tell(n_runs + place, n_runs + len(names), f"comparing by {name}")
        part = compare(
            values,
            baseline=str(question.baseline.pk) if question.baseline else None,
            measures=[name],
            slices=slices or None,
            families=families,
        )
        parts.append(part)
    return replace(
        parts[0],
        measures=tuple(name for part in parts for name in part.measures),
        summaries=tuple(summary for part in parts for summary in part.summaries),
        pairs=tuple(pair for part in parts for pair in part.pairs),
    )


def _with_slice_p(comparison: Comparison) -> dict[str, Any]:
    content = comparison.as_dict()
    p_of = slice_p_values(comparison.pairs, without=OWN_SLICES)
    for pair in content["pairs"]:
        place = (pair["measure"], pair["slice"], pair["run"], pair["reference"])
        pair["p_slices"] = _plain(p_of.get(place))
        if pair["p_slices"] is not None:
            ends = (pair["interval"]["low"], pair["interval"]["high"])
            found_in_slice = decision(pair["difference"], ends, pair["p"], pair["p_slices"])
            pair["decision"], pair["reason"] = found_in_slice
    return content


def values_of(
    score_set: ScoreSet, names: Sequence[str], target: Target
) -> dict[str, dict[str, float]]:
    """Values of measures by query: stored ones are read, others computed from the stored hits."""
    import polars as pl

    path = score_files(score_set).per_query
    stored = [name for name in names if name in pl.read_parquet_schema(path)]
    rows = pl.read_parquet(path, columns=["qid", *stored]).iter_rows()
    values = {qid: dict(zip(stored, of, strict=True)) for qid, *of in rows}
    lacking = [name for name in names if name not in stored]
    if lacking:
        added = evaluated(score_set, lacking, target=target).per_query
        for qid, of in values.items():
            of.update({name: added[qid][name] for name in lacking})
    return values


def _answered(score_set: ScoreSet, hidden: Collection[str]) -> float:
    """The share of the graded queries that a run answers, without those that are `hidden`."""
    import polars as pl

    rows = pl.read_parquet(score_files(score_set).per_query, columns=["qid", "is_missing"])
    is_missing = rows.filter(~pl.col("qid").is_in(list(hidden)))["is_missing"].to_list()
    return is_missing.count(False) / len(is_missing)


def judged_measure(measure: str) -> str:
    """`Judged` as deep as a measure looks, or down to 10.

    Examples
    --------
    >>> judged_measure("nDCG@20"), judged_measure("AP")
    ('Judged@20', 'Judged@10')
    """
    return f"Judged@{judged_depth(measure)}"


def judged_depth(measure: str) -> int:
    cutoff = parse_measure(measure).cutoff
    return cutoff if isinstance(cutoff, int) else FIRST_CUTOFF


def _mean(values: Mapping[str, Mapping[str, float]], name: str) -> float | None:
    defined = [of[name] for of in values.values() if of[name] == of[name]]
    return sum(defined) / len(defined) if defined else None


def n_unjudged(
    score_sets: Iterable[ScoreSet],
    target: Target,
    depth: int,
    *,
    hidden: Collection[str] = (),
) -> int:
    """How many documents, each once a query, are among the first results and judged by nobody.

    Those of `hidden` queries are not counted.
    """
    import polars as pl

    unjudged = set()
    unlisted = NOT_LISTED_GRADE[unlisted_of(target.release.manifest)]
    for score_set in score_sets:
        scan = pl.scan_parquet(run_path(score_set.run)).filter(pl.col("rank") <= depth)
        for qid, docid in scan.select("qid", "docid").collect().iter_rows():
            grades = target.qrels.get(qid)
            if grades is None or qid in hidden:
                continue
            if grades.get(docid, unlisted) < 0:
                unjudged.add((qid, docid))
    return len(unjudged)


def _plain(value: float | None) -> float | None:
    return value if value is not None and value == value else None
