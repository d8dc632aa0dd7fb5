"""Endpoints of judgments: exported as they are, entered from outside, one pair's history."""

import hashlib
import json
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.serializers import (
    ExportQuerySerializer,
    LabelResultsSerializer,
    LabelSerializer,
    LabelsSerializer,
    PairQuerySerializer,
    PairSerializer,
    RawJudgmentSerializer,
    SentLabelsSerializer,
)
from annotation.labels.selectors import pairs
from annotation.labels.services import entering_labels
from annotation.labels.services.entering_labels import Origin
from annotation.labels.services.exporting_judgments import CONTENT_TYPES, export_judgments
from annotation.labels.services.importing_labels import (
    enter_rows,
    raters_among,
    scale_of,
    unknown_ids,
)
from annotation.models import Pool
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.errors import answer
from benchmarks_app.api.throttling import UPLOADS
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import is_withheld
from benchmarks_app.models import Benchmark, Scope
from benchmarks_app.permissions import Action, may
from benchwright.ids import id_problem
from benchwright.qrels.files import Label
from benchwright.texts.counting import counted


class JudgmentsExport(Endpoint):
    pagination_class = None

    @extend_schema(
        summary="Every judgment, streamed, people by pseudonym",
        tags=["judgments"],
        parameters=[ExportQuerySerializer],
        responses={
            (200, "application/x-ndjson"): RawJudgmentSerializer,
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR),
        },
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        benchmark = self.benchmark_for(Action.EDIT)
        serializer = ExportQuerySerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        chunks = export_judgments(
            benchmark=benchmark,
            actor=request.user,
            form=serializer.validated_data["form"],
            is_whole=serializer.validated_data["all"],
            as_of=serializer.validated_data["as_of"],
        )
        return StreamingHttpResponse(
            chunks, content_type=CONTENT_TYPES[serializer.validated_data["form"]]
        )


class JudgmentsImport(Endpoint):
    limits = {"POST": UPLOADS}
    scopes = {"POST": Scope.JUDGE}
    pagination_class = None

    @extend_schema(
        summary="Enter labels that were given elsewhere, all of them or none",
        tags=["judgments"],
        request=LabelsSerializer,
        responses={200: LabelResultsSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(SentLabelsSerializer)
        labels, refused = checked(benchmark, fields["labels"], is_for_pool=bool(fields["pool"]))
        if refused:
            return _refusal(request.path, len(fields["labels"]), refused)
        origin = Origin(
            benchmark=benchmark,
            actor=request.user,
            source=fields["source"],
            sha256=_digest(fields),
            pool=_pool(benchmark, fields["pool"]),
            raters=raters_among(
                benchmark,
                labels,
                importer=request.user,
                accounts=fields["accounts"],
                machines=fields["machines"],
            ),
        )
        done = enter_rows(origin=origin, labels=labels)
        items = [
            {"index": index, "state": state, "message": ""}
            for index, state in enumerate(done.states)
        ]
        body = {
            "n_saved": done.n(entering_labels.SAVED),
            "n_same": done.n(entering_labels.SAME),
            "n_outside": done.n(entering_labels.OUTSIDE),
            "n_judged_here": done.n(entering_labels.JUDGED_HERE),
            "n_extra": done.n_extra,
            "n_machine": done.n_machine,
            "items": items,
        }
        return Response(LabelResultsSerializer(body).data)


def checked(
    benchmark: Benchmark, items: list[Any], *, is_for_pool: bool
) -> tuple[list[Label], dict[int, str]]:
    """The labels that were sent, and by their place what is wrong with those that cannot be taken.

    A label's `line` is its place in the list. For a pool, what it does not hold is left out later.
    """
    scale = scale_of(benchmark)
    first_places: dict[tuple[str, str, str], int] = {}
    labels: list[Label] = []
    refused: dict[int, str] = {}
    for index, item in enumerate(items):
        label, reason = _label(index, item, scale)
        if label and not reason:
            key = (label.rater, label.qid, label.docid)
            first = first_places.setdefault(key, index)
            if first != index:
                reason = f"the same annotator says something of this pair at {first} already"
        if reason:
            refused[index] = reason
        elif label:
            labels.append(label)
    for label, reason in [] if is_for_pool else unknown_ids(benchmark, labels):
        refused.setdefault(label.line, reason)
    return labels, refused


def _label(index: int, item: Any, scale: list[int]) -> tuple[Label | None, str]:
    read = LabelSerializer(data=item)
    if not read.is_valid():
        name, errors = next(iter(read.errors.items()))
        return None, f"{name}: {errors[0]}"
    values = read.validated_data
    if values["grade"] not in scale:
        expected = ", ".join(map(str, scale))
        return None, f"grade is {values['grade']}; expected one of {expected}"
    for name in ("query", "document"):
        if reason := id_problem(values[name]):
            return None, f"{name}: {reason}"
    label = Label(
        index,
        values["query"],
        values["document"],
        values["grade"],
        values["annotator"],
        values["note"],
        values["text_hash"],
    )
    return label, ""


def _refusal(path: str, n_sent: int, refused: dict[int, str]) -> Response:
    items = [
        {"index": index, "state": "refused", "message": reason}
        for index, reason in sorted(refused.items())
    ]
    message = f"{len(refused)} of {counted(n_sent, 'label')} cannot be taken; nothing was entered."
    return answer(422, "labels-refused", message, path, facts={"items": items})


def _digest(fields: dict[str, Any]) -> str:
    content = json.dumps([fields["source"], fields["labels"]], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()


def _pool(benchmark: Benchmark, pk: int | None) -> Pool | None:
    return get_object_or_404(Pool.objects.built(), benchmark=benchmark, pk=pk) if pk else None


class PairDetail(Endpoint):
    serializer_class = PairSerializer
    pagination_class = None

    @extend_schema(
        summary="Everything that was said about a document of a query, and why its grade is so",
        tags=["judgments"],
        parameters=[PairQuerySerializer],
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_POOLS)
        serializer = PairQuerySerializer(data=request.query_params)
        serializer.is_valid(raise_exception=True)
        docid = serializer.validated_data["document"]
        queries = benchmark.queries.committed().select_related("family")
        query = get_object_or_404(queries, qid=serializer.validated_data["query"])
        has_names = may(request.user, Action.EDIT, benchmark)
        if not has_names and not pairs.may_adjudicate(benchmark, query, docid, request.user):
            raise PermissionDenied
        history = pairs.pair_history(benchmark, query, docid, has_names=has_names)
        grades = pairs.pair_grades(benchmark, query, docid, has_names=has_names)
        if not (history or grades):
            raise Http404
        if is_withheld(benchmark, query):
            target = f"{query.qid} {docid}"
            audit.record(
                actor=request.user, action="read-judgments", benchmark=benchmark, target=target
            )
        pair = {"query": query.qid, "document": docid, "grades": grades, "events": history}
        return Response(PairSerializer(pair).data)
