"""Evidence from scored files: what the command line puts before the gate."""

from collections.abc import Mapping, Sequence

import numpy as np

from benchwright.evaluation.scorecards import Scorecard, Scorer
from benchwright.files.encodings import as_shown
from benchwright.formats.unlisted import NOT_LISTED_GRADE
from benchwright.gates.evidence import Arm, Evidence, Process, Wanted, numbered
from benchwright.gates.policy import Policy
from benchwright.gates.wanted import wanted
from benchwright.reading.loading import read_qrels, read_run
from benchwright.reading.ranking import Scored, ranked
from benchwright.runs.aggregation import aggregate


def evidence_of(
    scorer: Scorer, policy: Policy, cards: Sequence[Scorecard], *, process: Process
) -> Evidence:
    """Of the cards of baseline, candidate and, if there is one, the lexical run."""
    queries = list(scorer.judged)
    names = [as_shown(query) for query in queries]
    arms = [_arm(card, queries) for card in cards]
    families = scorer.families or {}
    return Evidence(
        queries=names,
        baseline=arms[0],
        candidate=arms[1],
        lexical=arms[2] if len(arms) > 2 else None,
        slices={
            name: np.array([query in members for query in queries])
            for name, members in scorer.sliced.items()
        },
        families=numbered(names, {as_shown(query): name for query, name in families.items()}),
        process=process,
    )


def _arm(card: Scorecard, queries: Sequence[bytes]) -> Arm:
    rows = card.overall.per_query
    return Arm(
        name=card.name,
        values={
            str(measure): np.array([rows[query][str(measure)] for query in queries])
            for measure in card.overall.measures
        },
        depth=max((query_hits.n_retrieved for query_hits in card.hits.values()), default=0),
        missing=tuple(as_shown(query) for query in queries if query not in card.hits),
    )


def wanted_of(scorer: Scorer, policy: Policy, cards: Sequence[Scorecard]) -> Wanted:
    """Unjudged documents of the two runs; reads both again, so only where they are asked for."""
    grades = read_qrels(scorer.files.qrels)
    first, second = (_ranking(scorer, card, policy.cutoff) for card in cards[:2])
    of_text = {
        as_shown(query): {as_shown(docid): grade for docid, grade in of.items()}
        for query, of in grades.items()
    }
    is_sparse = policy.labels == "sparse"
    unlisted = NOT_LISTED_GRADE[scorer.rules.unlisted]
    return wanted(
        first, second, of_text, cutoff=policy.cutoff, is_sparse=is_sparse, unlisted=unlisted
    )


def _ranking(scorer: Scorer, card: Scorecard, cutoff: int) -> Mapping[str, list[str]]:
    rules, passages = scorer.rules, read_run(card.path)
    run: Mapping[bytes, Sequence[Scored]] = passages
    if rules.aggregate is not None:
        file = card.path.name
        run = aggregate(passages, scorer.parents, rules.aggregate, file=file, ties=rules.ties)
    return {
        as_shown(query): [as_shown(row.docid) for row in ranked(rows, rules.ties)[:cutoff]]
        for query, rows in run.items()
        if query in scorer.judged
    }
