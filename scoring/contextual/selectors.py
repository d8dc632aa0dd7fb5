"""Case sets, evaluations and outcomes, as pages, endpoints and jobs read them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    Avg,
    Case,
    CharField,
    Count,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat
from django.utils.translation import gettext

from benchmarks_app.files import local_path
from benchmarks_app.judges.selectors import USES, Use
from benchmarks_app.models import Benchmark, CorpusVersion, JudgeEndpoint, Query, Run, User
from benchmarks_app.queries.selectors import sliceable_queries
from benchwright.contextual.cases import case_of
from benchwright.contextual.types import Case as JudgedCase
from benchwright.judges.messages import Image
from scoring.models import (
    CaseImage,
    CaseOutcome,
    CaseSet,
    CaseSource,
    ContextualCase,
    ContextualEvaluation,
    PersonVerdict,
)

STATES = CaseOutcome.State
QUERY_FIELDS = ("description", "narrative")
USUAL_ANSWERS = ("answer", "answers", "expected_answer", "expected_output")
# Queries whose columns are looked at for answers.
LOOKED_INTO = 200


def case_sets_of(benchmark: Benchmark, user: User | AnonymousUser) -> QuerySet[CaseSet]:
    """Those that the user sees, newest first, each with the number of its evaluations."""
    sets = CaseSet.objects.ready().visible_to(user).filter(benchmark=benchmark)
    related = ("benchmark__corpus", "source__run", "source__corpus_version")
    counted = sets.select_related(*related).annotate(n_evaluations=Count("evaluations"))
    return counted.annotate(current_corpus=_current_corpus("benchmark__corpus")).order_by("-pk")


def evaluations_of(
    benchmark: Benchmark, user: User | AnonymousUser
) -> QuerySet[ContextualEvaluation]:
    """Those that the user sees, newest first."""
    rows = ContextualEvaluation.objects.filter(case_set__benchmark=benchmark)
    return rows.visible_to(user).listed()


def _current_corpus(corpus: str) -> Subquery:
    """The digest of the newest version of a corpus."""
    versions = CorpusVersion.objects.ready().filter(corpus=OuterRef(corpus))
    return Subquery(versions.order_by("-number").values("sha256")[:1])


# --- verdicts of people ------------------------------------------------------------------------


def open_sets_of(benchmark: Benchmark) -> QuerySet[CaseSet]:
    """Sets that people are asked about, whoever sees the run they were made of."""
    sets = CaseSet.objects.ready().filter(benchmark=benchmark, takes_verdicts=True)
    return sets.select_related("benchmark").order_by("name")


def open_sets_for(benchmark: Benchmark, person: User) -> QuerySet[CaseSet]:
    """Those, each with `n_asked` cases and how many of them the person has judged (`n_judged`).

    `asked_name` is what it is called to them: most names are those of a run, which who judges is
    not told, unless they see it.
    """
    mine = Q(cases__people_verdicts__person=person, cases__people_verdicts__node=1)
    runs = Run.objects.visible_to(person).filter(benchmark=benchmark)
    noun = gettext("Case set")
    plain_name = Concat(Value(f"{noun} "), Cast("pk", CharField()))
    return open_sets_of(benchmark).annotate(
        asked_name=Case(
            When(Q(source=None) | Q(source__run__in=runs.values("pk")), then=F("name")),
            default=plain_name,
        ),
        n_asked=Count("cases", filter=Q(cases__n_nodes__gt=0), distinct=True),
        n_judged=Count("cases", filter=mine, distinct=True),
    )


def next_case(case_set: CaseSet, person: User) -> ContextualCase | None:
    """The case that a person is asked about next.

    In an order that is random and the same for all: what was judged so far is a random sample.
    """
    judged = PersonVerdict.objects.filter(person=person, case__case_set=case_set)
    cases = case_set.cases.filter(n_nodes__gt=0).exclude(pk__in=judged.values("case"))
    numbers = cases.values_list("number", flat=True)
    number = min(numbers, key=lambda number: _shuffled(case_set.pk, number), default=None)
    return None if number is None else case_set.cases.get(number=number)


def nodes_asked(case: ContextualCase, person: User) -> list[int]:
    """The ranks of its nodes in an order that does not tell them."""
    ranks = range(1, case.n_nodes + 1)
    return sorted(ranks, key=lambda rank: _shuffled(case.pk, person.pk, rank))


def _shuffled(*facts: int) -> bytes:
    return sha256(repr(facts).encode()).digest()


# --- of a run ----------------------------------------------------------------------------------


def source_of(case_set: CaseSet) -> CaseSource | None:
    """The run that the cases were made of, if they were made of one."""
    return getattr(case_set, "source", None)


def cases_digest(*, run: str, corpus: str, recipe: Sequence[Any]) -> str:
    """SHA-256 of what cases are made of: digests of run and corpus version, and the recipe."""
    return sha256(json.dumps([run, corpus, *recipe]).encode()).hexdigest()


@dataclass(frozen=True)
class Freshness:
    """Whether a set would be made of the same run and corpus again, and which of them changed."""

    is_run_changed: bool
    is_corpus_changed: bool

    @property
    def is_fresh(self) -> bool:
        return not (self.is_run_changed or self.is_corpus_changed)


def freshness_of(case_set: CaseSet) -> Freshness | None:
    """How run and corpus stand to what they were, for a set of `case_sets_of`; None of a file."""
    source = source_of(case_set)
    if source is None:
        return None
    return Freshness(
        is_run_changed=source.run.sha256 != source.run_sha256,
        is_corpus_changed=vars(case_set)["current_corpus"] != source.corpus_version.sha256,
    )


def answer_columns(benchmark: Benchmark) -> list[str]:
    """Where expected answers may come from: columns of the queries' metadata, then their fields.

    Of the first queries that have any.
    """
    queries = sliceable_queries(benchmark)
    rows = queries.exclude(metadata={}).order_by("pk").values_list("metadata", flat=True)
    columns = {key for row in rows[:LOOKED_INTO] for key, value in row.items() if answer_in(value)}
    named = sorted(columns, key=lambda key: (key not in USUAL_ANSWERS, key))
    fields = (field for field in QUERY_FIELDS if queries.exclude(**{field: ""}).exists())
    return [*named, *fields]


def answer_of(query: Query, expected: str) -> str:
    """What a query says under a column or field; "" where it says nothing."""
    if expected in QUERY_FIELDS:
        return str(getattr(query, expected)).strip()
    return answer_in(query.metadata.get(expected))


def answer_in(value: Any) -> str:
    """A text, a number, or several of them a line each; "" for anything else."""
    values = value if isinstance(value, list) else [value]
    is_plain = all(isinstance(part, str | int | float) for part in values)
    return "\n".join(str(part) for part in values).strip() if is_plain else ""


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


def core_case(row: ContextualCase, images: Mapping[str, Image]) -> JudgedCase:
    """A case as the library judges it."""
    return case_of(row.content, images)


def parts_shown(
    content: Any, images: Mapping[str, CaseImage], *, route: str = "contextual-image"
) -> list[dict[str, Any]]:
    """The parts of a content for a template: a text, an image of ours, or an address elsewhere.

    `route` names the page that gives the images.
    """
    return [_shown(part, images, route) for part in content or ()]


def _shown(part: Any, images: Mapping[str, CaseImage], route: str) -> dict[str, Any]:
    if isinstance(part, str):
        return {"text": part}
    if "image" in part:
        image = images.get(part["image"])
        src = image.address(route) if image else ""
        return {"image": image, "name": part["image"], "src": src}
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
