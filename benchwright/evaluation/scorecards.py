"""From files to scores under written rules: what `score` prints and a result file keeps.

`Scorer` reads everything that all runs share once; each run is then a `Scorecard`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from benchwright.errors import Problems
from benchwright.evaluation.evaluating import (
    DEFAULT_MEASURES,
    Evaluation,
    evaluate_hits,
    highest_grade,
)
from benchwright.formats.unlisted import UNKNOWN
from benchwright.measures.families import Measure
from benchwright.measures.registry import options_said, parse_measures
from benchwright.reading.hits import Judged, QueryHits, find_hits, judged_by
from benchwright.reading.loading import read_run
from benchwright.reading.scanning import GradeTable, scan_qrels, scan_run

if TYPE_CHECKING:
    from benchwright.evaluation.weighting import WeightedMeans

Hits = Mapping[bytes, QueryHits[bytes]]
Interval = tuple[float, float]

ALL = "all"
"""Stands for every query where slices are named."""


class Rules(NamedTuple):
    """What decides a number beside the files; docs/metrics.md says what each does."""

    measures: tuple[str, ...] = DEFAULT_MEASURES
    ties: str = "trec"
    missing: str = "zero"
    depth: int | None = None
    rel: int | None = None
    top_grade: int | None = None
    judged_only: bool = False
    aggregate: str | None = None
    allow_empty: bool = False
    has_intervals: bool = False
    seed: int = 0
    unlisted: str = UNKNOWN


class Files(NamedTuple):
    """The files of one scoring, but for the runs."""

    qrels: Path
    slices: Path | None = None
    families: Path | None = None
    weights: Path | None = None
    parents: Path | None = None
    answered: Path | None = None

    def named(self) -> dict[str, Path]:
        """Those that there are, by what they hold."""
        return {name: path for name, path in self._asdict().items() if path is not None}


class Scorecard(NamedTuple):
    """One run: its values over all queries, and over each slice that has any.

    `intervals` holds by slice (`ALL` is one) and measure the 95 % interval of the mean, where they
    were asked for; counts and geometric means have none. `weighted` holds by slice the weighted
    means, where a file says what queries weigh; a slice none of whose queries does has none.
    """

    name: str
    path: Path
    overall: Evaluation[bytes]
    slices: Mapping[str, Evaluation[bytes]]
    intervals: Mapping[str, Mapping[str, Interval]]
    hits: Hits
    weighted: "Mapping[str, WeightedMeans]" = MappingProxyType({})

    def evaluations(self) -> Iterator[tuple[str, Evaluation[bytes]]]:
        """All queries first, then every slice."""
        yield ALL, self.overall
        yield from self.slices.items()


class Scorer:
    """Scores runs against the qrels of `files`; `warnings` grows as files are read."""

    def __init__(self, files: Files, rules: Rules) -> None:
        self.files = files
        self.rules = rules
        self.warnings = Problems()

    def score(self, path: Path, name: str | None = None) -> Scorecard:
        """The scores of one run file.

        Raises
        ------
        FileProblemsError, ArchiveError, MissingFileError
            If a file cannot be read.
        ScoringError
            If a rule is none, or run and qrels have nothing in common.
        """
        hits = self.hits_of(path)
        self._warn_if_strange(path, hits)
        overall = self._evaluate(self.judged, hits)
        slices = {
            slice_name: self._evaluate(judged, {qid: hits[qid] for qid in judged if qid in hits})
            for slice_name, judged in self.sliced.items()
        }
        intervals: dict[str, Mapping[str, Interval]] = {}
        if self.rules.has_intervals:
            intervals = dict(self._intervals({ALL: overall, **slices}))
        weighted = self._weighted([(ALL, overall), *slices.items()])
        return Scorecard(name or path.name, path, overall, slices, intervals, hits, weighted)

    def hits_of(self, path: Path) -> dict[bytes, QueryHits[bytes]]:
        """The hits of a run file, of documents where it holds passages; raises as `score` does."""
        rules = self.rules
        if rules.aggregate is not None:
            return self._hits_of_passages(path, rules.aggregate)
        return scan_run(
            path,
            self.table,
            ties=rules.ties,
            depth=rules.depth,
            problems=self.warnings,
            answered=self.files.answered,
        )

    @cached_property
    def table(self) -> GradeTable:
        """The grades."""
        return scan_qrels(self.files.qrels, problems=self.warnings)

    @cached_property
    def judged(self) -> Mapping[bytes, Judged]:
        """The grades of every query."""
        return judged_by(self.table.judged, self.rules.unlisted)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, with `rel` and `judged_only` where their names leave them open."""
        measures = (
            self._with_rules(measure, options_said(name))
            for name in self.rules.measures
            for measure in parse_measures([name])
        )
        return tuple(dict.fromkeys(measures))

    @cached_property
    def top_grade(self) -> int:
        """The highest grade of the scale: of the rules, or else of all the qrels."""
        return self.rules.top_grade or highest_grade(self.judged.values())

    @cached_property
    def sliced(self) -> dict[str, dict[bytes, Judged]]:
        """The grades of every slice that has a query with grades."""
        if self.files.slices is None:
            return {}
        from benchwright.formats.side_tables import read_slices

        slices = read_slices(self.files.slices, problems=self.warnings)
        self._warn_of_unknown(self.files.slices, [q for qids in slices.values() for q in qids])
        grades = {
            name: {qid: self.judged[qid] for qid in qids if qid in self.judged}
            for name, qids in slices.items()
        }
        return {name: judged for name, judged in grades.items() if judged}

    @cached_property
    def families(self) -> dict[bytes, str] | None:
        """The family of each query, where a file names them."""
        if self.files.families is None:
            return None
        from benchwright.formats.side_tables import read_families

        families = read_families(self.files.families, problems=self.warnings)
        self._warn_of_unknown(self.files.families, list(families))
        return families

    @cached_property
    def weights(self) -> dict[bytes, float] | None:
        """What each query weighs, where a file says so; who is not named has no weight."""
        if self.files.weights is None:
            return None
        from benchwright.formats.side_tables import read_weights

        weights = read_weights(self.files.weights, problems=self.warnings)
        self._warn_of_unknown(self.files.weights, list(weights))
        if lacking := [qid for qid in self.judged if qid not in weights]:
            problem = f"{len(lacking)} of {len(self.judged)} queries have no weight"
            advice = "They are not in the weighted means."
            self.warnings.warn(self.files.weights.name, 0, f"{problem}. {advice}")
        return weights

    @cached_property
    def parents(self) -> dict[bytes, bytes] | None:
        """The document of each passage, where a file names them."""
        if self.files.parents is None:
            return None
        from benchwright.formats.side_tables import read_parents

        return read_parents(self.files.parents, problems=self.warnings)

    def _hits_of_passages(self, path: Path, how: str) -> dict[bytes, QueryHits[bytes]]:
        from benchwright.runs.aggregation import aggregate

        ties, depth = self.rules.ties, self.rules.depth
        passages = read_run(path, problems=self.warnings, answered=self.files.answered)
        run = aggregate(passages, self.parents, how, file=path.name, ties=ties)
        hits = find_hits(self.table.grades, run, ties=ties, depth=depth)
        return {
            qid: hits.get(qid) or QueryHits(qid, (), min(len(rows), depth or len(rows)))
            for qid, rows in run.items()
        }

    def _with_rules(self, measure: Measure, said: Collection[str]) -> Measure:
        """The measure with the rules' options, but for those that are `said` in its name."""
        options = {"rel": self.rules.rel, "judged_only": self.rules.judged_only or None}
        # Names of trec_eval, such as `set_relative_P`, stand for options without saying them.
        named = dict(measure.options).keys() | said
        return measure.with_options(
            {name: of for name, of in options.items() if of is not None and name not in named}
        )

    def _evaluate(self, judged: Mapping[bytes, Judged], hits: Hits) -> Evaluation[bytes]:
        return evaluate_hits(
            judged,
            hits,
            self.measures,
            missing=self.rules.missing,
            top_grade=self.top_grade,
            # A slice may hold only queries that the run lacks.
            allow_empty=self.rules.allow_empty or judged is not self.judged,
        )

    def _intervals(
        self, evaluations: Mapping[str, Evaluation[bytes]]
    ) -> Iterator[tuple[str, Mapping[str, Interval]]]:
        """The intervals of each slice; warns of those over few families."""
        from benchwright.evaluation.uncertainty import mean_intervals, recipe
        from benchwright.statistics.intervals import warnings

        families = self.families or {}
        for name, evaluation in evaluations.items():
            intervals = mean_intervals(evaluation, families)
            yield name, intervals
            n_families = recipe(evaluation.per_query, families).n_families
            for warning in warnings(n_families) if intervals else ():
                of = name if name == ALL else f"slice {name}"
                self.warnings.warn(self.files.qrels.name, 0, f"{of}: {warning}")

    def _weighted(
        self, evaluations: Sequence[tuple[str, Evaluation[bytes]]]
    ) -> "dict[str, WeightedMeans]":
        weights = self.weights
        if weights is None:
            return {}
        from benchwright.evaluation.weighting import weighted_means

        return {
            name: weighted_means(
                evaluation,
                weights,
                families=self.families,
                has_intervals=self.rules.has_intervals,
            )
            for name, evaluation in evaluations
            if name == ALL or not weights.keys().isdisjoint(evaluation.per_query)
        }

    def _warn_if_strange(self, path: Path, hits: Hits) -> None:
        """Tell of a run whose ids have nothing to do with those of the qrels."""
        common = [query for qid, query in hits.items() if qid in self.judged]
        if common and not any(query.hits for query in common):
            advice = "Check their ids; if they are passages, see --aggregate."
            problem = f"no result is a document of the qrels, so every measure is 0. {advice}"
            self.warnings.warn(path.name, 0, problem)

    def _warn_of_unknown(self, path: Path, qids: list[bytes]) -> None:
        from benchwright.formats.side_tables import warn_of_unknown

        warn_of_unknown(path, qids, self.judged, problems=self.warnings)
