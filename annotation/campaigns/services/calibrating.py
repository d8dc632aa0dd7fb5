"""How far a campaign's grades can be trusted: held against those of people, on the same pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Max

from annotation.campaigns.selectors import contents_by_docid
from annotation.campaigns.services.errors import CalibrationChoiceError
from annotation.models import Campaign, Judgment
from benchmarks_app.splits.selectors import fingerprint, hash_of

if TYPE_CHECKING:
    from benchwright.calibration.calibrating import Calibration

KEPT_SECONDS = 3600
Grades = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Calibrated:
    """What came of it, in words and numbers; `calibration` is None where no pair is shared.

    `n_drawn` pairs were drawn and graded by the machine, `n_shared` of them by people too.
    """

    verdict: str
    calibration: "Calibration | None"
    n_drawn: int
    n_shared: int

    @property
    def is_partly_judged(self) -> bool:
        return self.n_shared < self.n_drawn


def calibration_of(campaign: Campaign) -> Calibrated:
    """The machine's grades beside the first that a person gave; kept until something is other.

    Raises
    ------
    CalibrationChoiceError
        If its documents were chosen by what was judged, and not drawn.
    """
    if campaign.choice == Campaign.Choice.UNJUDGED:
        raise CalibrationChoiceError(campaign=campaign.name)
    kept_as = f"calibration-{state_of(campaign)}"
    calibrated: Calibrated | None = cache.get(kept_as)
    if calibrated is None:
        calibrated = _calibrated(campaign)
        cache.set(kept_as, calibrated, KEPT_SECONDS)
    return calibrated


def state_of(campaign: Campaign) -> str:
    """A text that is another whenever labels, texts, families or slices are."""
    benchmark = campaign.benchmark
    newest = Judgment.events.filter(benchmark=benchmark).aggregate(Max("pk"))
    version = benchmark.current_corpus_version
    n_failed = campaign.pairs.failed().count()
    parts = [newest, n_failed, version and version.pk, fingerprint(benchmark)]
    return f"{campaign.pk}-{campaign.created_at.timestamp()}-{hash_of(parts)}"


def _calibrated(campaign: Campaign) -> Calibrated:
    # Numbers are loaded with the first page that needs them.
    from benchwright.calibration.calibrating import calibrated
    from benchwright.calibration.words import verdict

    machine = machines_grades(campaign)
    people, others = peoples_grades_beside(campaign, machine)
    n_drawn, n_shared = (sum(map(len, grades.values())) for grades in (machine, people))
    if not n_shared:
        words = "People have graded none of these documents, so nothing can be said of the judge."
        return Calibrated(words, None, n_drawn, 0)
    benchmark = campaign.benchmark
    relevant = benchmark.grades.filter(is_relevant=True).values_list("value", flat=True)
    docids = {docid for of in people.values() for docid in of}
    contents = contents_by_docid(benchmark, docids)
    refused = campaign.pairs.failed().values_list("query__qid", "docid")
    calibration = calibrated(
        people,
        machine,
        scale=benchmark.grades.values_list("value", flat=True),
        relevant_from=min(relevant, default=1),
        families=families_of(campaign),
        slices=_slices(campaign),
        lengths={docid: len(row.title) + len(row.text) for docid, row in contents.items()},
        languages={docid: row.lang for docid, row in contents.items() if row.lang},
        others=others,
        refused=refused,
    )
    return Calibrated(verdict(calibration), calibration, n_drawn, n_shared)


def machines_grades(campaign: Campaign) -> Grades:
    rows = Judgment.machines.filter(machine__campaign=campaign)
    grades: Grades = {}
    for qid, docid, grade in rows.values_list("query__qid", "docid", "grade"):
        if grade is not None:
            grades.setdefault(qid, {})[docid] = grade
    return grades


def peoples_grades_beside(
    campaign: Campaign, among: Mapping[str, Mapping[str, int]]
) -> tuple[Grades, Grades]:
    """What the first person says of each pair, and the second where there is another."""
    kinds = [Judgment.Kind.GRADE, Judgment.Kind.IMPORT]
    labels = (
        Judgment.objects.current()
        .wanted()
        .filter(benchmark=campaign.benchmark_id, kind__in=kinds, grade__isnull=False)
    )
    queries = campaign.pairs.order_by().values("query").distinct()
    rows = labels.filter(query__in=queries).order_by("pk")
    firsts: Grades = {}
    seconds: Grades = {}
    people: dict[tuple[str, str], tuple[int, str]] = {}
    columns = ("query__qid", "docid", "grade", "actor", "rater")
    for qid, docid, grade, actor, rater in rows.values_list(*columns):
        if grade is None or docid not in among.get(qid, {}):
            continue
        first = firsts.setdefault(qid, {})
        if docid not in first:
            first[docid], people[qid, docid] = grade, (actor, rater)
        # In another pool somebody may be asked again: that is no second person.
        elif people[qid, docid] != (actor, rater):
            seconds.setdefault(qid, {}).setdefault(docid, grade)
    return firsts, seconds


def families_of(campaign: Campaign) -> dict[str, str]:
    rows = campaign.benchmark.queries.committed().values_list("qid", "family_id")
    return {qid: str(family) for qid, family in rows}


def _slices(campaign: Campaign) -> dict[str, list[str]]:
    from benchmarks_app.slices.selectors import slices_of  # it loads arrays

    return slices_of(campaign.benchmark, is_registered=True)
