"""The endpoint of agreement: how far people agree, in one answer."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.agreement.selectors.agreement import Filters, agreement_report, is_quick
from annotation.agreement.services.measuring_agreement import JOB_KIND
from annotation.common.selectors.ledger import last_event_of
from annotation.common.serializers import AgreementQuerySerializer, AgreementSerializer
from annotation.judging.protocol.errors import NothingJudgedError
from benchmarks_app.api.base import Endpoint
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import Action
from benchwright.qrels.errors import NotMeasuredError

JOBS_LOOKED_AT = 20


class AgreementDetail(Endpoint):
    refusals = {"GET": (409, 422)}
    serializer_class = AgreementSerializer
    pagination_class = None

    @extend_schema(
        summary="How far people agree, over all labels or those of a pool",
        tags=["judgments"],
        parameters=[AgreementQuerySerializer],
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.ADJUDICATE)
        asked = AgreementQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        report = _report(benchmark, Filters(pool=asked.validated_data["pool"]))
        return Response(AgreementSerializer(report).data)


def _report(benchmark: Benchmark, filters: Filters) -> dict[str, Any]:
    """Measured now where that is quick, or else the newest that a job has measured.

    Raises
    ------
    NothingJudgedError
        If there is no judgment.
    NotMeasuredError
        If there are too many to wait for, and no job has measured them.
    """
    last = last_event_of(benchmark)
    if not last:
        raise NothingJudgedError
    if is_quick(benchmark, filters):
        return agreement_report(benchmark, filters, last)
    done = Job.objects.filter(benchmark=benchmark, kind=JOB_KIND, state=Job.State.DONE)
    for job in done.order_by("-pk")[:JOBS_LOOKED_AT]:
        if job.parameters == filters.as_json():
            return job.result["report"]
    raise NotMeasuredError
