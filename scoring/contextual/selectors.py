"""Case sets, evaluations and outcomes, as pages, endpoints and jobs read them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Avg, Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from benchmarks_app.files import local_path
from benchmarks_app.judges.selectors import USES, Use
from benchmarks_app.models import Benchmark, JudgeEndpoint
from benchwright.contextual.cases import case_of
from benchwright.contextual.types import Case
from benchwright.judges.messages import Image
from scoring.models import (
    CaseImage,
    CaseOutcome,
    CaseSet,
    ContextualCase,
    ContextualEvaluation,
)

STATES = CaseOutcome.State


def case_sets_of(benchmark: Benchmark) -> QuerySet[CaseSet]:
    """Newest first, each with the number of its evaluations."""
    sets = CaseSet.objects.ready().filter(benchmark=benchmark).select_related("benchmark")
    return sets.annotate(n_evaluations=Count("evaluations")).order_by("-pk")


def evaluations_of(benchmark: Benchmark) -> QuerySet[ContextualEvaluation]:
    """Newest first."""
    rows = ContextualEvaluation.objects.filter(case_set__benchmark=benchmark)
    return rows.listed()


@dataclass(frozen=True)
class Counts:
    """What has become of an evaluation's cases, and what they cost so far."""

    n: int
    n_scored: int
    n_failed: int
    n_waiting: int
    n_success: int
    mean: float | None
    cost: float
    tokens_in: int
    tokens_out: int

    @property
    def n_done(self) -> int:
        return self.n_scored + self.n_failed


def counts_of(evaluation: ContextualEvaluation) -> Counts:
    """Counted in one query."""
    counts = evaluation.outcomes.aggregate(
        n=Count("pk"),
        n_scored=Count("pk", filter=Q(state=STATES.SCORED)),
        n_failed=Count("pk", filter=Q(state=STATES.FAILED)),
        n_waiting=Count("pk", filter=Q(state=STATES.WAITING)),
        n_success=Count("pk", filter=Q(is_success=True)),
        mean=Avg("score"),
        cost=Coalesce(Sum("cost"), 0.0),
        tokens_in=Coalesce(Sum("tokens_in"), 0),
        tokens_out=Coalesce(Sum("tokens_out"), 0),
    )
    return Counts(**counts)


def outcome_rows(evaluation: ContextualEvaluation) -> QuerySet[CaseOutcome]:
    """Lowest score first, then those that failed and those that wait; equal scores by place."""
    rows = evaluation.outcomes.select_related("case").defer("answers", "case__content")
    return rows.order_by(F("score").asc(nulls_last=True), "-state", "case__number")


def cases_chosen(
    case_set: CaseSet, *, only_slice: str = "", only_first: int | None = None
) -> QuerySet[ContextualCase]:
    """Cases of a set in their order: those of a slice, the first of them, or all."""
    cases = case_set.cases.order_by("number")
    if only_slice:
        # A list within JSON: the databases differ in what they can ask of one.
        pairs = cases.values_list("pk", "slices")
        return cases.filter(pk__in=[pk for pk, slices in pairs if only_slice in slices])
    return cases.filter(number__lte=only_first) if only_first else cases


class StoredImages(Mapping[str, Image]):
    """The images of a set by name; the bytes of one are read when it is asked for."""

    def __init__(self, case_set: CaseSet) -> None:
        self.rows: dict[str, CaseImage] = {row.name: row for row in case_set.images.all()}

    def __getitem__(self, name: str) -> Image:
        row = self.rows[name]
        return Image(
            data=local_path(row.stored).read_bytes(),
            media_type=row.media_type,
            name=name,
            width=row.width,
            height=row.height,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def core_case(row: ContextualCase, images: Mapping[str, Image]) -> Case:
    """A case as the library judges it."""
    return case_of(row.content, images)


def parts_shown(content: Any, images: Mapping[str, CaseImage]) -> list[dict[str, Any]]:
    """The parts of a content for a template: a text, an image of ours, or an address elsewhere."""
    return [_shown(part, images) for part in content or ()]


def _shown(part: Any, images: Mapping[str, CaseImage]) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if "image" in part:
        return {"image": images.get(part["image"]), "name": part["image"]}
    return {"address": part["url"]}


def images_by_name(case_set: CaseSet) -> dict[str, CaseImage]:
    """The images of a set, which know their set without asking for it."""
    rows = {row.name: row for row in case_set.images.all()}
    for row in rows.values():
        row.case_set = case_set
    return rows


def _evaluations_by(judge: JudgeEndpoint) -> Use:
    active = [ContextualEvaluation.State.QUEUED, ContextualEvaluation.State.RUNNING]
    counts = judge.evaluations.aggregate(
        n=Count("pk"), n_active=Count("pk", filter=Q(state__in=active))
    )
    return Use(counts["n"], "evaluation", "evaluations", counts["n_active"] > 0)


USES.append(_evaluations_by)
