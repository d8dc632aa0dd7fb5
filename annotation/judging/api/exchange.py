"""Endpoints of judging: what there is to judge, what comes before it, claims and grades."""

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.pools import pools_to_judge
from annotation.judging.protocol.errors import StepBeforeJudgingError
from annotation.judging.protocol.exchange import CONFIDENCES, MAX_WANT, VIEWS, Do, request_of
from annotation.judging.selectors.queue import queue_rows
from annotation.judging.selectors.starting import reading_of, step_before_judging
from annotation.judging.services.claiming import release_slots
from annotation.judging.services.exchanging import exchange
from annotation.judging.services.starting import mark_read
from annotation.models import Pool
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import GradeValue, Whole
from benchmarks_app.models import Scope
from benchmarks_app.permissions import Action

TAG = ["judging"]


class PoolToJudgeSerializer(serializers.Serializer):
    """An open or paused pool, and what it has for you: `n_left` labels you could still give."""

    id = serializers.IntegerField(source="pool.pk")
    benchmark = serializers.SlugField(source="pool.benchmark.slug")
    name = serializers.CharField(source="pool.name")
    work = serializers.CharField(source="state.work", help_text="`ready` where there is some.")
    n_done = serializers.IntegerField()
    n_own = serializers.IntegerField()
    n_left = serializers.IntegerField()
    due_on = serializers.DateField(source="pool.due_on", allow_null=True)


class PoolsToJudge(Endpoint):
    serializer_class = PoolToJudgeSerializer

    @extend_schema(
        summary="Pools that you judge, those with documents for you first",
        tags=TAG,
        responses=PoolToJudgeSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        caller = self.caller()
        page = self.paginate_queryset(pools_to_judge(caller)) or []
        rows = queue_rows(list(page), caller)
        return self.get_paginated_response(PoolToJudgeSerializer(rows, many=True).data)


class StartSerializer(serializers.Serializer):
    """What comes before the first document: `step` is null where nothing does any more."""

    step = serializers.CharField(allow_null=True)
    version = serializers.IntegerField(help_text="Of the guideline; 0 where there is none.")
    guideline = serializers.CharField(help_text="In Markdown.")
    n_practice = serializers.IntegerField(help_text="Documents of practice, on the page.")


class ReadSerializer(serializers.Serializer):
    version = Whole(help_text="Of the guideline that was read.")


class JudgedPool(Endpoint):
    """An endpoint of a pool that the caller judges."""

    pagination_class = None
    scopes = {"POST": Scope.JUDGE}

    def pool(self) -> Pool:
        benchmark = self.benchmark_for(Action.JUDGE)
        pools = Pool.objects.built().filter(benchmark=benchmark)
        return get_object_or_404(pools.select_related("benchmark__corpus"), pk=self.kwargs["pk"])


class PoolStart(JudgedPool):
    serializer_class = StartSerializer

    @extend_schema(
        operation_id="judging_start",
        summary="What to read before judging a pool",
        tags=TAG,
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self._answer(self.pool())

    @extend_schema(
        operation_id="judging_start_read",
        summary="Say that you have read the notice and the guideline",
        description="The notice: what you judge is recorded with your name, time and duration.",
        tags=TAG,
        request=ReadSerializer,
        responses=StartSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool, fields = self.pool(), self.validated(ReadSerializer)
        mark_read(pool=pool, annotator=request.user, version=fields["version"])
        return self._answer(pool)

    def _answer(self, pool: Pool) -> Response:
        reading = reading_of(pool, self.request.user)
        guideline = reading.guideline
        answer = {
            "step": reading.step,
            "version": guideline.version if guideline else 0,
            "guideline": guideline.text if guideline else "",
            "n_practice": reading.n_practice,
        }
        return Response(StartSerializer(answer).data)


# --- claims and grades -------------------------------------------------------------------------


class SpanSerializer(serializers.Serializer):
    """Characters `start` up to `end` of a text, and the words."""

    start = Whole()
    end = Whole()
    text = serializers.CharField()


class EventSerializer(serializers.Serializer):
    """What you say of a document. `client_id` is yours to choose: one that comes again counts once.

    `token` is the document's; `undo` names the event that it `undoes` instead.
    """

    client_id = serializers.UUIDField()
    do = serializers.ChoiceField(Do)
    token = serializers.CharField(required=False)
    grade = GradeValue(required=False, help_text="With `grade`.")
    reason = serializers.CharField(required=False, help_text="With `cant_judge`.")
    question = serializers.CharField(required=False, help_text="With `ask`.")
    undoes = serializers.UUIDField(required=False)
    note = serializers.CharField(required=False)
    evidence = SpanSerializer(many=True, required=False)
    confidence = serializers.ChoiceField(CONFIDENCES, required=False)
    dwell_ms = Whole(required=False, allow_null=True)
    view = serializers.ChoiceField(VIEWS, required=False)


class ExchangeSerializer(serializers.Serializer):
    """Events to record, keys of documents that you hold already, and how many you want in all."""

    say = EventSerializer(many=True, required=False)
    have = serializers.ListField(child=serializers.CharField(), required=False)
    want = serializers.IntegerField(min_value=0, max_value=MAX_WANT, required=False)


class OutcomeSerializer(serializers.Serializer):
    """What became of an event: `saved`, `extra` (somebody else was asked meanwhile), `refused`."""

    client_id = serializers.CharField()
    state = serializers.ChoiceField(["saved", "extra", "refused"])
    code = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True)


class ItemSerializer(serializers.Serializer):
    """A document that is yours until its lease ends, with its query and the token to say with."""

    key = serializers.CharField()
    token = serializers.CharField()
    query = serializers.DictField()
    document = serializers.DictField()
    place = serializers.DictField(child=serializers.IntegerField())
    is_later = serializers.BooleanField()
    answer = serializers.DictField(allow_null=True)


class WorkSerializer(serializers.Serializer):
    """Why there is nothing more, where there is not; `until` is when a held document comes free."""

    state = serializers.CharField()
    n_left = serializers.IntegerField()
    until = serializers.DateTimeField(allow_null=True)


class ExchangedSerializer(serializers.Serializer):
    """`gone` are keys of documents that are no longer yours."""

    said = OutcomeSerializer(many=True)
    items = ItemSerializer(many=True)
    gone = serializers.ListField(child=serializers.CharField())
    work = WorkSerializer()
    progress = serializers.DictField()


class PoolExchange(JudgedPool):
    keeps_answers = False  # its events count once by themselves
    serializer_class = ExchangeSerializer
    refusals = {"POST": (409,)}

    @extend_schema(
        operation_id="judging_exchange",
        summary="Claim documents and grade them, in one exchange",
        description=(
            "What the judging page says and gets. A document is leased to you; each exchange "
            "renews the leases. An event that cannot be recorded is told and holds up no other; "
            "the same request again changes nothing."
        ),
        tags=TAG,
        responses=ExchangedSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        if step := step_before_judging(pool, request.user):
            raise StepBeforeJudgingError(step=step.value)
        answer = exchange(pool=pool, me=request.user.pk, request=request_of(request.data))
        return Response(answer)


class GivenBackSerializer(serializers.Serializer):
    n_documents = serializers.IntegerField()


class PoolStop(JudgedPool):
    serializer_class = GivenBackSerializer

    @extend_schema(
        operation_id="judging_stop",
        summary="Give the documents that you hold back to the others",
        tags=TAG,
        request=None,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        n = release_slots(pool=self.pool(), annotator=request.user)
        return Response({"n_documents": n})


of_benchmark = [
    path("pools/<int:pk>/start/", PoolStart.as_view(), name="pool-start"),
    path("pools/<int:pk>/exchange/", PoolExchange.as_view(), name="pool-exchange"),
    path("pools/<int:pk>/stop/", PoolStop.as_view(), name="pool-stop"),
]
urlpatterns = [path("me/pools/", PoolsToJudge.as_view(), name="pools-to-judge")]
