"""Endpoints that find pages by a few letters, as the palette does."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.permissions import Action
from benchmarks_app.search.selectors import Hit, asked_words, hits_of, site_hits_of

TAG = ["benchmarks"]
WORDS = OpenApiParameter("q", description="A few letters of what is looked for.")


class HitSerializer(serializers.Serializer):
    """A page that was found; `kind` is what it is of, `url` its address on this site."""

    kind = serializers.CharField()
    label = serializers.CharField()
    where = serializers.CharField()
    url = serializers.CharField()


class SiteSearch(Endpoint):
    serializer_class = HitSerializer
    pagination_class = None

    @extend_schema(
        operation_id="search_site",
        summary="Benchmarks, pages of the site and chapters of its documentation by their names",
        tags=TAG,
        parameters=[WORDS],
        responses=HitSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        words = asked_words(request.query_params.get("q", ""))
        return _answer(site_hits_of(self.caller(), words))


class Search(Endpoint):
    serializer_class = HitSerializer
    pagination_class = None

    @extend_schema(
        operation_id="search_benchmark",
        summary="What of a benchmark you may open, by a few letters: a few of each kind",
        tags=TAG,
        parameters=[WORDS],
        responses=HitSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        words = asked_words(request.query_params.get("q", ""))
        return _answer(hits_of(benchmark, request.user, words))


def _answer(groups: dict[str, list[Hit]]) -> Response:
    rows: list[dict[str, Any]] = [
        {"kind": kind, "label": hit.label, "where": hit.where, "url": hit.url}
        for kind, hits in groups.items()
        for hit in hits
    ]
    return Response(HitSerializer(rows, many=True).data)


of_benchmark = [path("search/", Search.as_view(), name="search")]
urlpatterns = [path("search/", SiteSearch.as_view(), name="site-search")]
