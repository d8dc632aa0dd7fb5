"""Endpoints of pools and of lists of candidates: what is to be judged, and how far it is."""

from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors import pools as selectors
from annotation.common.selectors.holding import judges_of
from annotation.common.selectors.stale import stale_labels
from annotation.common.serializers import (
    NewCandidateListSerializer,
    NewPoolSerializer,
    PoolChangeSerializer,
    PoolDetailSerializer,
    PoolPersonSerializer,
    PoolReportSerializer,
    PoolSummarySerializer,
)
from annotation.judging.services.claiming import release_slots_of, waive_double_labels
from annotation.labels.services.known_grades import set_gold_share, set_practice_mark
from annotation.models import Pool
from annotation.pools.selectors import contributions_to, pool_report
from annotation.pools.services.planning import Sharing
from annotation.pools.services.pooling import pool_arguments, set_pool_state
from annotation.pools.services.settings import (
    set_pool_due,
    set_pool_machine,
    set_pool_people,
    set_pool_search,
)
from annotation.pools.services.simulating import simulation_arguments
from annotation.pools.services.watching import signals_of
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import CandidateListSerializer, Id, JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, CandidateList, Run, User
from benchmarks_app.permissions import Action
from benchwright.pools.adaptive import BURN_IN
from benchwright.pools.recipe import DEPTH_K, LAYERED, LISTED, TOP_UP, Recipe
from benchwright.recipes import pools as recipes


class PoolList(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = PoolSummarySerializer

    @extend_schema(
        summary="The pools of a benchmark, the newest first",
        tags=["pools"],
        responses=PoolSummarySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_POOLS)
        return self.page_of(selectors.pools_of(benchmark), PoolSummarySerializer)

    @extend_schema(
        summary="Build a pool, from runs or from a list of candidates",
        tags=["pools"],
        request=NewPoolSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewPoolSerializer)
        with transaction.atomic():
            arguments = _arguments(request.user, benchmark, fields)
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return Response(JobSerializer(job).data, status=202)


def _arguments(user: Any, benchmark: Benchmark, fields: dict[str, Any]) -> dict[str, Any]:
    """What the job needs; a list of candidates makes it a top-up in the list's order."""
    candidates = _candidates(benchmark, fields["candidates"])
    strategy = fields["strategy"] or (TOP_UP if candidates else DEPTH_K)
    recipe = Recipe(
        strategy=strategy,
        order=fields["order"] or (LISTED if strategy == TOP_UP else LAYERED),
        depth=fields["depth"],
        budget=fields["budget"],
        measure=fields["measure"],
        labels=fields["labels"],
        carry=fields["carry"],
    )
    shared = ("overlap", "double_share", "repeat_share", "gold_share")
    return pool_arguments(
        benchmark=benchmark,
        name=fields["name"],
        runs=runs_named(user, benchmark, fields["runs"]),
        seed=fields["seed"],
        seconds=fields["seconds"],
        recipe=recipe,
        sharing=Sharing(**{key: fields[key] for key in shared}),
        candidates=candidates,
        due_on=fields["due_on"],
        is_drawn=fields["is_drawn"],
    )


def _candidates(benchmark: Benchmark, name: str) -> CandidateList | None:
    if not name:
        return None
    candidates = CandidateList.objects.filter(benchmark=benchmark, name=name).first()
    if candidates is None:
        raise exceptions.ValidationError({"candidates": [f"There is no list '{name}'."]})
    return candidates


def runs_named(user: Any, benchmark: Benchmark, names: list[str]) -> list[Run]:
    """The runs of these names that the caller may see; 400 where one is not there."""
    runs = {
        run.name: run
        for run in Run.objects.visible_to(user).filter(benchmark=benchmark, name__in=names)
    }
    missing = sorted(set(names) - runs.keys())
    if missing:
        raise exceptions.ValidationError({"runs": [f"There is no run '{missing[0]}'."]})
    return list(runs.values())


class PoolDetail(Endpoint):
    serializer_class = PoolDetailSerializer
    pagination_class = None

    @extend_schema(summary="A pool, and how far it is", tags=["pools"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(_detail(_pool(self.benchmark_for(Action.SEE_POOLS), pk)))

    @extend_schema(
        summary="Open, pause or close a pool, say by when it is due, and what its people may see",
        tags=["pools"],
        request=PoolChangeSerializer,
        responses=PoolDetailSerializer,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        pool = _pool(self.benchmark_for(Action.EDIT), pk)
        changes = self.validated(PoolChangeSerializer)
        with transaction.atomic():
            # Before it is closed: what a closed pool shows is not taken back.
            if "shows_machine" in changes:
                shows_machine = changes["shows_machine"]
                set_pool_machine(pool=pool, shows_machine=shows_machine, actor=request.user)
            if "state" in changes:
                set_pool_state(pool=pool, state=changes["state"], actor=request.user)
            if "due_on" in changes:
                due_at = changes["due_on"]
                set_pool_due(pool=pool, due_on=due_at and due_at.date(), actor=request.user)
            if changes.keys() & {"annotators", "assignment"}:
                _set_people(pool, changes, request.user)
            if "gold_share" in changes:
                set_gold_share(pool=pool, share=changes["gold_share"], actor=request.user)
            if "practice_mark" in changes:
                set_practice_mark(pool=pool, mark=changes["practice_mark"], actor=request.user)
            if "may_search" in changes:
                set_pool_search(pool=pool, may_search=changes["may_search"], actor=request.user)
        return Response(_detail(_pool(pool.benchmark, pk)))


class PoolPeople(Endpoint):
    serializer_class = PoolPersonSerializer
    pagination_class = None

    @extend_schema(
        summary="Who judged how much in a pool",
        tags=["pools"],
        responses=PoolPersonSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pool = _pool(self.benchmark_for(Action.SEE_POOLS), pk)
        return Response(PoolPersonSerializer(contributions_to(pool, request.user), many=True).data)


class PoolReport(Endpoint):
    serializer_class = PoolReportSerializer
    pagination_class = None

    @extend_schema(summary="What a pool's labels tell, and whether to go on", tags=["pools"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        pool = _pool(self.benchmark_for(Action.SEE_POOLS), pk)
        signals = signals_of(pool, request.user)
        return Response(pool_report(pool, signals, timezone.now(), request.user))


class PersonSerializer(serializers.Serializer):
    annotator = serializers.CharField(help_text="The user name of who holds them.")


class NumberSerializer(serializers.Serializer):
    n = serializers.IntegerField()


class PoolRelease(Endpoint):
    serializer_class = PersonSerializer
    pagination_class = None

    @extend_schema(
        summary="Give the documents that somebody holds back to the others",
        tags=["pools"],
        responses=NumberSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = _pool(self.benchmark_for(Action.EDIT), pk)
        names = [self.validated(PersonSerializer)["annotator"]]
        [person] = _judges(pool, names, "annotator")
        n = release_slots_of(pool=pool, annotator=person, actor=request.user)
        return Response({"n": n})


class PoolWaive(Endpoint):
    serializer_class = NumberSerializer
    pagination_class = None

    @extend_schema(
        summary="No longer want second labels that nobody has begun",
        tags=["pools"],
        request=None,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = _pool(self.benchmark_for(Action.EDIT), pk)
        return Response({"n": waive_double_labels(pool=pool, actor=request.user)})


class SimulationSerializer(serializers.Serializer):
    """Orders are compared on grades that are known: how soon each finds what is relevant."""

    qrel_set = Id()
    runs = serializers.ListField(child=serializers.CharField(), min_length=2)
    depth = api_field(recipes.DEPTH, default=20)
    burn_in = serializers.IntegerField(min_value=0, max_value=1000, default=BURN_IN)


class PoolSimulations(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = SimulationSerializer
    pagination_class = None

    @extend_schema(
        operation_id="pools_simulate",
        summary="Compare orders of judging on known grades, as a job",
        description="The result of the job holds, by order, how many were found after n labels.",
        tags=["pools"],
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(SimulationSerializer)
        qrel_set = get_object_or_404(benchmark.qrel_sets.ready(), pk=fields.pop("qrel_set"))
        runs = runs_named(request.user, benchmark, fields.pop("runs"))
        with transaction.atomic():
            arguments = simulation_arguments(
                benchmark=benchmark, qrel_set=qrel_set, runs=runs, **fields
            )
            job = jobs.start(benchmark=benchmark, user=request.user, **arguments)
        return Response(JobSerializer(job).data, status=202)


def _set_people(pool: Pool, changes: dict[str, Any], actor: Any) -> None:
    named = changes.get("annotators")
    people = pool.annotators.all() if named is None else _judges(pool, named, "annotators")
    assignment = changes.get("assignment", pool.assignment)
    set_pool_people(pool=pool, annotators=list(people), assignment=assignment, actor=actor)


def _judges(pool: Pool, names: list[str], field: str) -> list[User]:
    """Those of these names who may judge a pool; 400 where one may not."""
    judges = {person.username: person for person in judges_of(pool).filter(username__in=names)}
    if missing := sorted(set(names) - judges.keys()):
        raise exceptions.ValidationError({field: [f"'{missing[0]}' does not judge here."]})
    return list(judges.values())


class CandidatesList(Endpoint):
    serializer_class = CandidateListSerializer

    @extend_schema(
        summary="Lists of documents worth judging, the newest first",
        tags=["pools"],
        responses=CandidateListSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        # Most are called after the runs that they came of, private ones among them.
        benchmark = self.benchmark_for(Action.EDIT)
        rows = CandidateList.objects.filter(benchmark=benchmark).order_by("-pk")
        return self.page_of(rows, CandidateListSerializer)

    @extend_schema(
        summary="Keep a list, of which a pool can be made",
        tags=["pools"],
        request=NewCandidateListSerializer,
        responses={201: CandidateListSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        listed = self.validated(NewCandidateListSerializer)
        candidates = make_candidate_list(
            benchmark=benchmark,
            rows=[
                (row["query"], row["document"], place)
                for place, row in enumerate(listed["rows"], start=1)
            ],
            name=listed["name"],
            origin=listed["origin"],
            user=request.user,
        )
        return Response(CandidateListSerializer(candidates).data, status=201)


def _pool(benchmark: Benchmark, pk: int) -> Pool:
    pools = selectors.pools_of(benchmark).select_related("benchmark")
    return get_object_or_404(pools, pk=pk)


def _detail(pool: Pool) -> dict[str, Any]:
    vars(pool).update(progress=selectors.pool_progress(pool), n_stale=stale_labels(pool).count())
    return PoolDetailSerializer(pool).data
