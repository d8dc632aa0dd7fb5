"""Runs scored on qrels by subtopic, under the rules, slices, families and weights of any other.

What a document is for each subtopic is one whole number, the place of these grades among all there
are: so runs are scanned, aggregated and cut as they are for grades.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast

from benchwright.diversity.measures import (
    DiversityMeasure,
    Subtopics,
    parse_diversity,
    read_subtopic_qrels,
)
from benchwright.evaluation.evaluating import Evaluation, evaluate_hits
from benchwright.evaluation.scorecards import Files, Hits, Rules, Scorer
from benchwright.files.encodings import as_bytes, as_text
from benchwright.measures.families import Measure
from benchwright.measures.registry import BY_SUBTOPIC, options_said
from benchwright.reading.hits import Judged, QueryHits
from benchwright.reading.scanning import GradeTable

Kind = frozenset[tuple[str, int]]
"""The grade of a document for each subtopic it is relevant to."""


def scorer_for(files: Files, rules: Rules) -> Scorer:
    """What scores by these rules: by subtopic where their measures are."""
    heads = {name.partition("@")[0].partition("(")[0].lower() for name in rules.measures}
    return (SubtopicScorer if heads and heads <= BY_SUBTOPIC else Scorer)(files, rules)


class SubtopicScorer(Scorer):
    """Scores over the queries that have a relevant document; a judged share is of any subtopic."""

    @cached_property
    def table(self) -> GradeTable:
        """Of each document the place of its grades in `kinds`, as a grade."""
        places: dict[Kind, int] = {frozenset(): 0}
        grades: dict[bytes, dict[bytes, int]] = {}
        for qid, of_subtopic in read_subtopic_qrels(self.files.qrels).items():
            pairs: dict[str, set[tuple[str, int]]] = {}
            for subtopic, documents in of_subtopic.items():
                for docid, grade in documents.items():
                    pairs.setdefault(docid, set()).update([(subtopic, grade)] if grade > 0 else [])
            if any(pairs.values()):
                grades[as_bytes(qid)] = {
                    as_bytes(docid): places.setdefault(frozenset(of), len(places))
                    for docid, of in pairs.items()
                }
        self.kinds = tuple(places)
        return GradeTable(grades)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Those of the rules, with `rel` where their names leave it open."""
        parsed = {name: parse_diversity(name) for name in self.rules.measures}
        measures = dict.fromkeys(
            measure
            if self.rules.rel is None or "rel" in options_said(name)
            else replace(measure, rel=self.rules.rel)
            for name, measure in parsed.items()
        )
        # They answer to what is asked of a measure here.
        return cast("tuple[Measure, ...]", tuple(measures))

    def _evaluate(self, judged: Mapping[bytes, Judged], hits: Hits) -> Evaluation[bytes]:
        measures = cast("tuple[DiversityMeasure, ...]", self.measures)
        shares = {str(measure): str(Measure("Judged", measure.cutoff)) for measure in measures}
        counted = evaluate_hits(
            judged,
            hits,
            list(dict.fromkeys(shares.values())),
            missing=self.rules.missing,
            allow_empty=self.rules.allow_empty or judged is not self.judged,
        )
        serving = {
            measure.rel: [_served(kind, measure.rel) for kind in self.kinds] for measure in measures
        }
        values = {
            qid: {
                str(measure): self._value(measure, qid, hits.get(qid), serving[measure.rel])
                for measure in measures
            }
            for qid in counted.per_query
        }
        columns = {name: [of[name] for of in values.values()] for name in shares}
        return counted.replaced(
            measures=self.measures,
            per_query=values,
            means={str(measure): measure.over_all(columns[str(measure)]) for measure in measures},
            judged_shares={name: counted.means[share] for name, share in shares.items()},
            n_undefined=dict.fromkeys(shares, 0),
        )

    def _value(
        self,
        measure: DiversityMeasure,
        qid: bytes,
        query: QueryHits[bytes] | None,
        serving: Sequence[Subtopics],
    ) -> float:
        ranking: list[Subtopics] = [frozenset()] * (query.n_retrieved if query else 0)
        for hit in query.hits if query else ():
            ranking[hit.rank - 1] = serving[hit.grade]
        documents = {
            as_text(docid): serving[place]
            for docid, place in self.table.grades[qid].items()
            if serving[place]
        }
        return measure.value(ranking, documents)


def _served(kind: Kind, rel: int) -> Subtopics:
    return frozenset(subtopic for subtopic, grade in kind if grade >= rel)
