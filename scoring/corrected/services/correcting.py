"""Corrected means of runs on a release: people's labels of drawn queries, a machine's of all.

The machine is a set of grades, or where there is none the estimate from the judged documents.

A machine's values are kept for a day by the content that they follow from; what is lacking is
computed while a page may wait.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from django.core.cache import cache
from django.utils.translation import gettext, gettext_noop

from benchmarks_app.common.selectors.qrel_sets import machine_sets
from benchmarks_app.models import QueryDraw, Release, Run
from benchmarks_app.releases.selectors import hidden_queries, release_splits
from benchwright.calibration.favouring import SystemTrust, trusted
from benchwright.errors import BenchmarkError, ScoringError
from benchwright.estimation.corrected import Corrected, corrected_slices
from benchwright.estimation.errors import TooFewFamiliesError
from benchwright.evaluation.uncertainty import span_of
from benchwright.formats.numbers import row_key
from benchwright.releases.machines import is_machine_judged
from scoring.boards.services.boards import Board
from scoring.corrected.selectors import (
    as_draw,
    draw_for,
    family_of_queries,
    is_of_judges_family,
    labelled_queries,
)
from scoring.corrected.services.machines import LEARNED, Grader, Machine, Values, learner
from scoring.models import ScoreSet
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.services.measuring import SECONDS, per_query_values

JUDGED = "Judged"
KEPT_SECONDS = 24 * 3600
# Runs of a board that are looked at, the best by people's labels: values of each are kept.
MOST_RUNS = 100

NO_MACHINE = gettext_noop(
    "There is no such set of a machine's grades. Choose another, or publish those of a campaign on "
    "all queries."
)
BY_MACHINE = gettext_noop(
    "A machine gave the grades of this release: there is nothing of people's to rest on."
)
NO_DRAW = gettext_noop(
    "No queries were drawn for people. Where somebody chose which queries are labelled, a "
    "corrected mean would be wrong, however narrow: draw queries, and label those."
)
WITHHELD = gettext_noop(
    "Grades of these queries are hidden, and a corrected mean would tell of them."
)
NOT_OF_DOCUMENTS = gettext_noop(
    "{measure} counts labels: there is nothing in it that a machine could sharpen."
)


class NotCorrectedError(ScoringError, code="not-corrected", status=409):
    message = "{why}"


@dataclass(frozen=True)
class CorrectedRow:
    """A run with its corrected estimate, and whether the judge favours it."""

    row: BoardRow
    estimate: Corrected
    trust: SystemTrust | None
    rank: int | None = None

    @property
    def run(self) -> Run:
        return self.row.run

    @property
    def is_favoured(self) -> bool:
        """Whether the machine's own view of the run is not to be shown."""
        return self.trust is not None and self.trust.is_favoured

    @property
    def machine_mean(self) -> float | None:
        """The machine's own mean; None where it favours the run."""
        return None if self.is_favoured else self.estimate.machine_mean


@dataclass(frozen=True)
class CorrectedBoard:
    """Runs on the corrected board; `error` is why there are none.

    `helped` are ranked by their corrected means; for the `others` the machine does not help, and
    people's own means stand without a rank. `n_waiting` lack the machine's values so far.
    """

    machine: Machine | None = None
    draw: QueryDraw | None = None
    helped: tuple[CorrectedRow, ...] = ()
    others: tuple[CorrectedRow, ...] = ()
    n_waiting: int = 0
    error: BenchmarkError | None = None
    # Why it is not tested whether the judge favours a run; "" where it is.
    untested: str = ""

    @property
    def refusal(self) -> str:
        return str(self.error or "")

    @property
    def rows(self) -> tuple[CorrectedRow, ...]:
        return (*self.helped, *self.others)

    @property
    def first(self) -> Corrected | None:
        """Any of the estimates: they share their numbers of queries and families."""
        return self.rows[0].estimate if self.rows else None

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.first.warnings if self.first else ()


@dataclass(frozen=True)
class Sample:
    """The queries that estimates rest on, the same for every run."""

    release: Release
    machine: Machine
    draw: QueryDraw
    # {query: family} of all queries, and those of the split that is asked for.
    families: dict[str, str]
    members: frozenset[str]
    labelled: frozenset[str]

    @property
    def drawn(self) -> frozenset[str]:
        """The labelled queries of the split that chance chose.

        Raises
        ------
        NotDrawnError
            If it did not.
        """
        return self.members & drawn_queries(self.draw, self.families, self.labelled)


def drawn_queries(
    draw: QueryDraw, families: Mapping[str, str], labelled: frozenset[str]
) -> frozenset[str]:
    """The labelled queries that chance chose, of all splits.

    Raises
    ------
    NotDrawnError
        If it did not.
    """
    of: dict[str, list[str]] = {}
    for qid, family in families.items():
        of.setdefault(family, []).append(qid)
    whole = [family for family, qids in of.items() if labelled.issuperset(qids)]
    return frozenset(q for family in as_draw(draw).proved(whole, of) for q in of[family])


def corrected_board(board: Board, *, machine: str = "", computes: bool) -> CorrectedBoard:
    """The corrected board of a board's release, split and measure.

    `machine` is the key of a set, or `LEARNED`; the newest set unless named, else the estimate.

    With `computes` what is lacking of a machine's values is worked out, a few seconds at a time.
    """
    members = _members(board.release, board.split.name if board.split else "")
    measure = board.measure.name
    try:
        sample = sample_of(
            board.release, members, measure, machine=machine, is_clear=board.sight.is_clear
        )
        drawn = sample.drawn
        runs = [row.run for row in board.whole[:MOST_RUNS]]
        machine_values, n_waiting = values_by_machine(sample, runs, measure, computes=computes)
        rows = [row for row in board.whole if row.run.pk in machine_values]
        people = {row.run.pk: _people(row.score_set, measure) for row in rows}
        estimates = {
            key: corrected_of(sample, values, machine_values[key], span_of(measure))
            for key, values in people.items()
        }
    except BenchmarkError as error:
        return CorrectedBoard(error=error)
    judge = sample.machine.parameters
    of_family = [str(row.run.pk) for row in rows if is_of_judges_family(row.run, judge)]
    trust = trusted(
        {str(key): _only(values, drawn) for key, values in people.items()},
        {str(key): _only(machine_values[key], drawn) for key in people},
        families=sample.families,
        same_model=of_family,
    )
    by_run = {system_trust.system: system_trust for system_trust in trust.systems}
    helped, others = _ranked(
        [CorrectedRow(row, estimates[row.run.pk], by_run.get(str(row.run.pk))) for row in rows]
    )
    return CorrectedBoard(
        sample.machine, sample.draw, helped, others, n_waiting, untested=trust.too_few
    )


@dataclass(frozen=True)
class CorrectedPair:
    """A run less its reference, over the same queries; `estimate` is None while it is waiting."""

    run: Run
    reference: Run
    sample: Sample
    estimate: Corrected | None

    @property
    def is_waiting(self) -> bool:
        return self.estimate is None


def corrected_pair(
    run: ScoreSet,
    reference: ScoreSet,
    *,
    measure: str,
    machine: str = "",
    is_clear: bool,
    computes: bool,
) -> CorrectedPair:
    """The corrected difference of two runs on a release; `is_clear` where nothing is hidden.

    Raises
    ------
    NotCorrectedError, NotDrawnError, TooFewFamiliesError, ArraysError
        If there can be none, with the reason.
    """
    release = run.release
    members = _members(release)
    if not is_clear:
        members -= hidden_queries(release)
    sample = sample_of(release, members, measure, machine=machine, is_clear=is_clear)
    runs = [run.run, reference.run]
    machine_values, n_waiting = values_by_machine(sample, runs, measure, computes=computes)
    if n_waiting:
        return CorrectedPair(run.run, reference.run, sample, None)
    people = [_people(score_set, measure) for score_set in (run, reference)]
    low, high = span_of(measure)
    estimate = corrected_of(
        sample,
        _less(*people),
        _less(*[machine_values[score_set.pk] for score_set in runs]),
        (low - high, high - low),
    )
    return CorrectedPair(run.run, reference.run, sample, estimate)


def _less(values: Mapping[str, float], others: Mapping[str, float]) -> Values:
    return {qid: value - others[qid] for qid, value in values.items()}


def sample_of(
    release: Release,
    members: frozenset[str],
    measure: str,
    *,
    machine: str,
    is_clear: bool,
) -> Sample:
    """What estimates over these queries of a release rest on.

    Raises
    ------
    NotCorrectedError
        If a machine's values, a draw or the right to see is lacking.
    NotDrawnError, TooFewFamiliesError
        If the estimate from the judged documents has no labels to rest on.
    """
    families, draw = family_of_queries(release), draw_for(release)
    hidden = frozenset[str]() if is_clear else hidden_queries(release)
    if is_machine_judged(release.manifest):
        raise NotCorrectedError(why=gettext(BY_MACHINE))
    if not members.isdisjoint(hidden):
        raise NotCorrectedError(why=gettext(WITHHELD))
    if measure.startswith(JUDGED):
        raise NotCorrectedError(why=gettext(NOT_OF_DOCUMENTS).format(measure=measure))
    chosen = _grader(release, families, machine)
    if draw is None:
        raise NotCorrectedError(why=gettext(NO_DRAW))
    # The draw goes on over hidden queries: where it ended would tell that one has no labels.
    labelled = labelled_queries(release) | hidden
    if chosen is None:
        # Grades that this person may not see teach nothing that they are told.
        fitted = drawn_queries(draw, families, labelled) - hidden
        chosen = learner(release, families, fitted)
        _refuse_few(len({families[qid] for qid in fitted}), chosen.least_families)
    if why := chosen.refusal(measure):
        raise NotCorrectedError(why=why)
    return Sample(release, chosen, draw, families, members, labelled)


def _grader(release: Release, families: Mapping[str, str], machine: str) -> Machine | None:
    """The set of a machine's grades that is asked for; None for the estimate of people's."""
    sets = machine_sets(release.benchmark)
    if machine == LEARNED:
        return None
    chosen = sets.filter(pk=row_key(machine) or 0).first() if machine else sets.first()
    if chosen is not None:
        return Grader(chosen, release, families)
    if machine:
        raise NotCorrectedError(why=gettext(NO_MACHINE))
    return None


def _refuse_few(n: int, least: int) -> None:
    if n < least:
        raise TooFewFamiliesError(n=n, least=least, missing=least - n)


def _members(release: Release, split: str = "") -> frozenset[str]:
    """Every query of a split or of the release, graded or not."""
    splits = release_splits(release)
    return frozenset(splits[split]) if split else frozenset[str]().union(*splits.values())


def corrected_of(
    sample: Sample,
    people: Mapping[str, float],
    machine: Mapping[str, float],
    span: tuple[float, float],
) -> Corrected:
    """The estimate of one run, or of a difference, over the queries of a sample's split.

    Raises
    ------
    NotDrawnError, TooFewFamiliesError, ArraysError
    """
    estimates = corrected_slices(
        {qid: people.get(qid, 0.0) for qid in sample.labelled},
        machine,
        {"": sorted(sample.members)},
        draw=as_draw(sample.draw),
        families=sample.families,
        span=span,
        least_families=sample.machine.least_families,
    )
    estimate = estimates[""]
    if isinstance(estimate, TooFewFamiliesError):
        raise estimate
    return estimate


def _ranked(
    rows: Sequence[CorrectedRow],
) -> tuple[tuple[CorrectedRow, ...], tuple[CorrectedRow, ...]]:
    """Those whom the machine helps, ranked; the others by people's means."""

    def best_first(row: CorrectedRow) -> tuple[float, str]:
        return -row.estimate.mean, row.run.name

    helped = sorted((row for row in rows if row.estimate.is_helped), key=best_first)
    others = sorted((row for row in rows if not row.estimate.is_helped), key=best_first)
    labels = [f"{row.estimate.mean:.4f}" for row in helped]
    ranks = [labels.index(label) + 1 for label in labels]
    ranked = [replace(row, rank=rank) for row, rank in zip(helped, ranks, strict=True)]
    return tuple(ranked), tuple(others)


def _only(values: Mapping[str, float], queries: frozenset[str]) -> Values:
    return {qid: value for qid, value in values.items() if qid in queries}


def _people(score_set: ScoreSet, measure: str) -> Values:
    return {row["qid"]: row[measure] for row in per_query_values(score_set, measure)}


# --- a machine's values --------------------------------------------------------------------


def values_by_machine(
    sample: Sample, runs: Sequence[Run], measure: str, *, computes: bool
) -> tuple[dict[int, Values], int]:
    """{run: {query: value by the machine}}, and how many runs lack theirs so far."""
    keys = {run.pk: _key(sample, run, measure) for run in runs}
    values_of_key = cache.get_many(keys.values())
    values = {run: values_of_key[key] for run, key in keys.items() if key in values_of_key}
    lacking = [run for run in runs if run.pk not in values]
    if lacking and computes:
        deadline = monotonic() + SECONDS
        for run in lacking:
            if monotonic() > deadline:
                break
            values[run.pk] = sample.machine.values(run, measure)
            cache.set(keys[run.pk], values[run.pk], KEPT_SECONDS)
    return values, len(runs) - len(values)


def _key(sample: Sample, run: Run, measure: str) -> str:
    """Named for all that the values follow from."""
    release = sample.release
    of = f"{release.pk}-{release.content_sha256[:16]}-{run.pk}-{run.sha256[:16]}"
    name = "".join(letter if letter.isalnum() else f"_{ord(letter)}" for letter in measure)
    return f"by-machine-{SCORER_VERSION}-{sample.machine.digest}-{of}-{name}"
