"""Endpoints of lists of candidates: documents worth judging, in an order."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.serializers import NewCandidateListSerializer
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import CandidateListSerializer
from benchmarks_app.collections.services.candidates import make_candidate_list
from benchmarks_app.models import CandidateList
from benchmarks_app.permissions import Action


class CandidatesList(Endpoint):
    serializer_class = CandidateListSerializer

    @extend_schema(
        summary="Lists of documents worth judging, the newest first",
        tags=["pools"],
        responses=CandidateListSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_POOLS)
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
