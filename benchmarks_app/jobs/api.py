"""Endpoints of background work: doing a job again, and ending it."""

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.jobs.services.retry import cancel, may_cancel, may_retry, retry
from benchmarks_app.models import Job
from benchmarks_app.site.selectors import jobs_readable_by


def readable_job(request: Request, pk: int) -> Job:
    if not request.user.is_authenticated:
        raise exceptions.NotAuthenticated(code="not_authenticated")
    jobs = jobs_readable_by(request.user).select_related("benchmark", "created_by")
    return get_object_or_404(jobs, pk=pk)


class JobRetry(Endpoint):
    serializer_class = JobSerializer
    pagination_class = None

    @extend_schema(
        summary="Queue a failed or cancelled job again",
        tags=["jobs"],
        request=None,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        job = readable_job(request, pk)
        if not may_retry(request.user, job):
            raise PermissionDenied
        return Response(JobSerializer(retry(job=job, user=request.user)).data, status=202)


class JobCancel(Endpoint):
    serializer_class = JobSerializer
    pagination_class = None

    @extend_schema(summary="End a job; nothing of it is kept", tags=["jobs"], request=None)
    def post(self, request: Request, pk: int) -> Response:
        job = readable_job(request, pk)
        if not may_cancel(request.user, job):
            raise PermissionDenied
        return Response(JobSerializer(cancel(job=job, user=request.user)).data)


urlpatterns = [
    path("jobs/<int:pk>/retry/", JobRetry.as_view(), name="job-retry"),
    path("jobs/<int:pk>/cancel/", JobCancel.as_view(), name="job-cancel"),
]
