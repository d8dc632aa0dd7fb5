"""Endpoints of families."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint, qrels_asked
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.parsing import BoundedJSONParser
from benchmarks_app.api.serializers import Id, JobSerializer
from benchmarks_app.api.throttling import UPLOADS
from benchmarks_app.collections.services import uploading
from benchmarks_app.families import selectors
from benchmarks_app.families.services import changes as family_changes
from benchmarks_app.families.services.grouping import review_preview, start_grouping
from benchmarks_app.models import (
    Benchmark,
    FamilyChange,
    FamilyLink,
    Query,
    QueryFamily,
)
from benchmarks_app.permissions import Action, may
from benchwright.families import GroupingOptions
from benchwright.families.errors import FamilyMemberError, UnknownFamilyError
from benchwright.recipes import families as recipe
from benchwright.splits import SPLITS

TAG = ["families"]
# `none` is of those nobody has looked at.
VERDICTS = [verdict or "none" for verdict in FamilyLink.Verdict.values]
DEFAULTS = GroupingOptions()
SAME, DIFFERENT = FamilyLink.Verdict.SAME.value, FamilyLink.Verdict.DIFFERENT.value


class FamilySerializer(serializers.ModelSerializer):
    """A family with its size; `doubt` is 0 where no link is in question."""

    n_queries = serializers.IntegerField(read_only=True)
    reviewed_by = serializers.CharField(read_only=True, allow_null=True)

    class Meta:
        model = QueryFamily
        fields = ["id", "split", "n_queries", "doubt", "is_flagged", "reviewed_by", "reviewed_at"]


class FamilyLinkSerializer(serializers.ModelSerializer):
    """Why two queries may be one need, and what a person said of it."""

    query_a = serializers.CharField(source="query_a.qid", read_only=True)
    query_b = serializers.CharField(source="query_b.qid", read_only=True)
    decided_by = serializers.CharField(read_only=True, allow_null=True)

    class Meta:
        model = FamilyLink
        fields = [
            "query_a",
            "query_b",
            "reason",
            "similarity",
            "verdict",
            "decided_by",
            "decided_at",
        ]


class MemberSerializer(serializers.ModelSerializer):
    id = serializers.CharField(source="qid", read_only=True)

    class Meta:
        model = Query
        fields = ["id", "text", "frequency"]


class FamilyDetailSerializer(FamilySerializer):
    """A family with its queries and the links between them."""

    queries = MemberSerializer(many=True, read_only=True)
    links = FamilyLinkSerializer(many=True, read_only=True)

    class Meta(FamilySerializer.Meta):
        fields = [*FamilySerializer.Meta.fields, "queries", "links"]


class FamilyChangeSerializer(serializers.ModelSerializer):
    """A change: {family: [query, …]} before and after, by number; `undoes` is the change undone."""

    before = serializers.SerializerMethodField()
    after = serializers.SerializerMethodField()
    actor = serializers.CharField(read_only=True)

    class Meta:
        model = FamilyChange
        fields = ["id", "kind", "before", "after", "undoes", "actor", "created_at"]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get_before(self, change: FamilyChange) -> dict[str, list[str]]:
        return self._by_qid(change.before)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get_after(self, change: FamilyChange) -> dict[str, list[str]]:
        return self._by_qid(change.after)

    def _by_qid(self, written: dict[str, Any]) -> dict[str, list[str]]:
        families = {key: members for key, members in written.items() if key.isdecimal()}
        keys = {pk for members in families.values() for pk in members}
        qids = dict(Query.objects.filter(pk__in=keys).values_list("pk", "qid"))
        return {
            key: [qids[pk] for pk in members if pk in qids] for key, members in families.items()
        }


class GroupSerializer(serializers.Serializer):
    """How to group; what is left out has its default. `qrels` names a set, "" counts none.

    `preview` groups nothing, and tells how many reviews it would cost, embeddings left aside.
    Files of embeddings are sent as multipart/form-data.
    """

    merge_at = api_field(recipe.MERGE_AT)
    review_at = api_field(recipe.REVIEW_AT)
    embedding_at = api_field(recipe.EMBEDDING_AT)
    relevant_at = api_field(recipe.RELEVANT_AT)
    paraphrases = serializers.BooleanField(required=False, default=False)
    paraphrase_at = api_field(recipe.PARAPHRASE_AT)
    largest = api_field(recipe.LARGEST)
    least_similarity = api_field(recipe.LEAST_SIMILARITY)
    recut_at = api_field(recipe.RECUT_AT)
    recut_by = api_field(recipe.RECUT_BY)
    qrels = serializers.CharField(required=False, default="", allow_blank=True)
    embeddings = serializers.FileField(required=False)
    ids = serializers.FileField(required=False)
    preview = serializers.BooleanField(required=False, default=False)


class ReviewCostSerializer(serializers.Serializer):
    """Families that would wait where links from `merge_at` on join without a question.

    `n_pairs` are the answers of somebody who goes from pair to pair; a family that is one need
    takes one answer.
    """

    merge_at = serializers.FloatField()
    n_families = serializers.IntegerField()
    n_queries = serializers.IntegerField()
    n_pairs = serializers.IntegerField()


class ConfirmSeveralSerializer(serializers.Serializer):
    """Numbers of families, each of which is one need."""

    families = serializers.ListField(child=Id(), allow_empty=False, max_length=1000)


class SeenSerializer(serializers.Serializer):
    """`queries_seen`, if given, are the ids of the family as the caller saw it; a family that is
    another by now is refused.
    """

    queries_seen = serializers.ListField(child=serializers.CharField(), required=False)


class MergeSerializer(SeenSerializer):
    """`other` is the number of a family; `split` is needed where the two are on different ones."""

    other = Id()
    split = serializers.ChoiceField(
        [value for value in QueryFamily.Split.values if value], required=False
    )


class FamilyPartSerializer(SeenSerializer):
    queries = serializers.ListField(child=serializers.CharField())


class VerdictSerializer(SeenSerializer):
    query_a = serializers.CharField()
    query_b = serializers.CharField()
    verdict = serializers.ChoiceField([SAME, DIFFERENT])


class UndoSerializer(serializers.Serializer):
    """`change` is the number of a change; without it, the caller's last one is undone."""

    change = Id(required=False)


class FamilyList(Endpoint):
    serializer_class = FamilySerializer

    @extend_schema(
        summary="Families of queries",
        tags=TAG,
        parameters=[
            OpenApiParameter("state", enum=selectors.STATES, description="All unless given."),
            OpenApiParameter("split", enum=[*SPLITS, "none"]),
            OpenApiParameter("q", description="words of a query, or its id"),
            OpenApiParameter("order", enum=list(selectors.ORDERS), default="doubt"),
        ],
        responses=FamilySerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        split = self.choice("split", (*SPLITS, "none"))
        rows = selectors.listed_families(
            benchmark,
            state=self.choice("state", selectors.STATES),
            split="" if split == "none" else split or None,
            wanted=request.query_params.get("q", "").strip(),
            order=self.choice("order", selectors.ORDERS, default="doubt"),
        )
        return self.page_of(rows.select_related("reviewed_by"), FamilySerializer)


class FamilyLinks(Endpoint):
    serializer_class = FamilyLinkSerializer

    @extend_schema(
        summary="Links between queries, the strongest first",
        tags=TAG,
        parameters=[
            OpenApiParameter("verdict", enum=VERDICTS, description="`none`: not looked at."),
            OpenApiParameter("reason", enum=FamilyLink.Reason.values),
        ],
        responses=FamilyLinkSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        rows = FamilyLink.objects.filter(benchmark=benchmark)
        if not may(request.user, Action.EDIT, benchmark):
            rows = rows.exclude(reason=selectors.TELLS_OF_GRADES)
        if verdict := self.choice("verdict", VERDICTS):
            rows = rows.filter(verdict="" if verdict == "none" else verdict)
        if reason := self.choice("reason", FamilyLink.Reason.values):
            rows = rows.filter(reason=reason)
        rows = rows.select_related("query_a", "query_b", "decided_by")
        return self.page_of(rows.order_by("-similarity", "pk"), FamilyLinkSerializer)


class FamilyEndpoint(Endpoint):
    """One family of the address."""

    serializer_class = FamilyDetailSerializer
    pagination_class = None

    def found(self, action: Action) -> QueryFamily:
        benchmark = self.benchmark_for(action)
        return get_object_or_404(selectors.families_of(benchmark), pk=self.kwargs["pk"])

    def seen_of(self, family: QueryFamily, fields: dict[str, Any]) -> str:
        """The family as the caller saw it, as the services compare it; "" if nothing was said."""
        if "queries_seen" not in fields:
            return ""
        rows = family.benchmark.queries.filter(qid__in=fields["queries_seen"])
        return selectors.seen_as(rows.values_list("pk", flat=True))

    def query_of(self, family: QueryFamily, qid: str) -> Query:
        rows = family.queries.committed().select_related("family")
        query = rows.filter(qid=qid).first()
        if query is None:
            raise FamilyMemberError(query=qid, family=family.pk)
        return query

    def told(self, change: FamilyChange) -> Response:
        return Response(FamilyChangeSerializer(change).data)


class FamilyDetail(FamilyEndpoint):
    @extend_schema(summary="A family with its queries and links", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        family = self.found(Action.VIEW)
        sees_grades = may(request.user, Action.EDIT, family.benchmark)
        picture = selectors.family_picture(family, sees_grades=sees_grades)
        body = {
            **FamilySerializer(family).data,
            "queries": MemberSerializer(picture.members, many=True).data,
            "links": FamilyLinkSerializer(picture.links, many=True).data,
        }
        return Response(body)


class FamilyMerge(FamilyEndpoint):
    serializer_class = MergeSerializer

    @extend_schema(
        summary="Merge another family into this one, or this one into a larger one",
        tags=TAG,
        responses=FamilyChangeSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        family = self.found(Action.EDIT)
        data = self.validated(MergeSerializer)
        other = get_object_or_404(
            QueryFamily.objects.filter(benchmark__in=_editable(request)), pk=data["other"]
        )
        change = family_changes.merge_families(
            family=family,
            other=other,
            split=data.get("split"),
            actor=request.user,
            seen=self.seen_of(family, data),
        )
        return self.told(change)


def _editable(request: Request) -> Any:
    """Benchmarks that the caller may know of: of others not even a number is told."""
    return Benchmark.objects.visible_to(request.user)


class FamilySplit(FamilyEndpoint):
    serializer_class = FamilyPartSerializer

    @extend_schema(
        summary="Make a family of its own of some queries",
        tags=TAG,
        responses=FamilyChangeSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        family = self.found(Action.EDIT)
        data = self.validated(FamilyPartSerializer)
        pks = [self.query_of(family, qid).pk for qid in data["queries"]]
        seen = self.seen_of(family, data)
        change = family_changes.split_family(
            family=family, take_out=pks, actor=request.user, seen=seen
        )
        return self.told(change)


class FamilyVerdict(FamilyEndpoint):
    serializer_class = VerdictSerializer

    @extend_schema(
        summary="Say of two queries of a family whether they are one need",
        tags=TAG,
        responses=FamilyChangeSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        family = self.found(Action.EDIT)
        data = self.validated(VerdictSerializer)
        a, b = (self.query_of(family, data[name]) for name in ("query_a", "query_b"))
        change = family_changes.judge_pair(
            a=a,
            b=b,
            is_same=data["verdict"] == SAME,
            actor=request.user,
            seen=self.seen_of(family, data),
        )
        return self.told(change)


class FamilyConfirm(FamilyEndpoint):
    serializer_class = SeenSerializer

    @extend_schema(
        summary="Say that all queries of a family are one need",
        tags=TAG,
        responses=FamilyChangeSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        family = self.found(Action.EDIT)
        seen = self.seen_of(family, self.validated(SeenSerializer))
        change = family_changes.confirm_family(family=family, actor=request.user, seen=seen)
        return self.told(change)


class FamilyConfirmSeveral(Endpoint):
    serializer_class = ConfirmSeveralSerializer
    pagination_class = None

    @extend_schema(
        summary="Say of each of several families that its queries are one need",
        tags=TAG,
        responses=FamilyChangeSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        keys = self.validated(ConfirmSeveralSerializer)["families"]
        named = selectors.families_of(benchmark).in_bulk(keys)
        if unknown := [key for key in keys if key not in named]:
            raise UnknownFamilyError(told=str(unknown[0]), benchmark=benchmark.name)
        families = {named[key]: "" for key in dict.fromkeys(keys)}
        change = family_changes.confirm_families(families=families, actor=request.user)
        return Response(FamilyChangeSerializer(change).data)


class FamilyUndo(Endpoint):
    serializer_class = UndoSerializer
    pagination_class = None

    @extend_schema(summary="Undo a change of families", tags=TAG, responses=FamilyChangeSerializer)
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        data = self.validated(UndoSerializer)
        if "change" in data:
            changes = FamilyChange.objects.filter(benchmark=benchmark)
            change = get_object_or_404(changes, pk=data["change"])
            undone = family_changes.undo_change(change=change, actor=request.user)
        else:
            undone = family_changes.undo_last_change(benchmark=benchmark, actor=request.user)
        return Response(FamilyChangeSerializer(undone).data)


class FamilyGroup(Endpoint):
    limits = {"POST": UPLOADS}
    serializer_class = GroupSerializer
    pagination_class = None
    parser_classes = [BoundedJSONParser, MultiPartParser]

    @extend_schema(
        summary="Start grouping the queries, or tell how many reviews it would cost",
        tags=TAG,
        responses={202: JobSerializer, 200: ReviewCostSerializer(many=True)},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(GroupSerializer)
        qrels, is_preview = fields.pop("qrels"), fields.pop("preview")
        paraphrases = fields.pop("paraphrases")
        files = {
            name: uploading.receive_upload(
                benchmark=benchmark, owner=request.user, file=fields.pop(name)
            )
            for name in ("embeddings", "ids")
            if name in fields and not is_preview
        }
        fields["language"] = benchmark.corpus.lang or DEFAULTS.language
        options = GroupingOptions.from_json(fields)
        qrel_set = qrels_asked(benchmark, qrels) if qrels else None
        if is_preview:
            costs = review_preview(
                benchmark=benchmark,
                options=options,
                qrel_set=qrel_set,
                paraphrases=paraphrases,
            )
            return Response(ReviewCostSerializer(costs, many=True).data)
        job = start_grouping(
            benchmark=benchmark,
            user=request.user,
            options=options,
            qrel_set=qrel_set,
            paraphrases=paraphrases,
            **files,
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


of_benchmark = [
    path("families/", FamilyList.as_view(), name="family-list"),
    path("families/links/", FamilyLinks.as_view(), name="family-links"),
    path("families/group/", FamilyGroup.as_view(), name="family-group"),
    path("families/undo/", FamilyUndo.as_view(), name="family-undo"),
    path("families/confirm/", FamilyConfirmSeveral.as_view(), name="family-confirm-several"),
    path("families/<int:pk>/", FamilyDetail.as_view(), name="family-detail"),
    path("families/<int:pk>/merge/", FamilyMerge.as_view(), name="family-merge"),
    path("families/<int:pk>/split/", FamilySplit.as_view(), name="family-split"),
    path("families/<int:pk>/verdict/", FamilyVerdict.as_view(), name="family-verdict"),
    path("families/<int:pk>/confirm/", FamilyConfirm.as_view(), name="family-confirm"),
]
