"""Endpoints of background work: how far it is, doing it again, ending it."""

import json
from collections.abc import Iterator
from threading import BoundedSemaphore
from time import monotonic, sleep

from django.core.exceptions import PermissionDenied
from django.db import close_old_connections
from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.errors import StreamsBusyError
from benchmarks_app.jobs.services.retry import cancel, may_cancel, may_retry, retry
from benchmarks_app.models import Job, User
from benchmarks_app.permissions import Action
from benchmarks_app.places import N_THREADS, DetachedResponse
from benchmarks_app.site.selectors import jobs_readable_by

# A stream holds a thread of the web process: a quarter of them at a time, none for long. Browsers
# ask again.
STREAMS = BoundedSemaphore(N_THREADS // 4)
STREAM_SECONDS = 25
LOOKED_EVERY_SECONDS = 1.0
UNDER_WAY = (Job.State.QUEUED, Job.State.RUNNING)


def readable_job(user: User, pk: int) -> Job:
    return get_object_or_404(_readable(user), pk=pk)


def _readable(user: User) -> QuerySet[Job]:
    return jobs_readable_by(user).select_related("benchmark", "created_by")


class JobList(Endpoint):
    serializer_class = JobSerializer

    @extend_schema(
        summary="The jobs of a benchmark, the newest first",
        tags=["jobs"],
        responses=JobSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        jobs = self.benchmark_for(Action.EDIT).jobs.select_related("benchmark")
        return self.page_of(jobs.order_by("-created_at", "-pk"), JobSerializer)


class JobDetail(Endpoint):
    serializer_class = JobSerializer
    pagination_class = None

    @extend_schema(summary="How far a job is, and what came of it", tags=["jobs"])
    def get(self, request: Request, pk: int) -> Response:
        return Response(JobSerializer(readable_job(self.caller(), pk)).data)


class EventStream(BaseRenderer):
    """What `EventSource` asks for; refusals are JSON all the same."""

    media_type = "text/event-stream"
    format = "events"

    def render(self, data: object, *_: object) -> bytes:
        return json.dumps(data).encode()


class JobEventSerializer(serializers.Serializer):
    """An event as it stands in the stream: `data` is the job, as JSON."""

    event = serializers.CharField()
    data = serializers.CharField()


class JobEvents(Endpoint):
    serializer_class = JobSerializer
    pagination_class = None
    renderer_classes = [EventStream, JSONRenderer]
    refusals = {"GET": (503,)}

    @extend_schema(
        summary="A job as it goes on, as server-sent events",
        description=(
            "An event `job` for each change, in the form of the job itself, until it has ended or "
            "25 seconds have passed; browsers then ask again by themselves."
        ),
        tags=["jobs"],
        responses={(200, "text/event-stream"): JobEventSerializer},
    )
    def get(self, request: Request, pk: int) -> StreamingHttpResponse:
        job = readable_job(self.caller(), pk)
        if not STREAMS.acquire(blocking=False):
            raise StreamsBusyError
        response = _Streamed(_events(job, self.caller()), content_type=EventStream.media_type)
        response["Cache-Control"] = "no-cache"
        return response


class _Streamed(DetachedResponse):
    """Gives its place to the next stream when it is closed, read to its end or not; once."""

    has_place = True

    def close(self) -> None:
        super().close()
        if self.has_place:
            self.has_place = False
            STREAMS.release()


def _events(job: Job | None, user: User) -> Iterator[str]:
    """The job each time that it has changed; nothing more once it is gone, or not to be seen."""
    ends, last = monotonic() + STREAM_SECONDS, ""
    while job:
        state = json.dumps(JobSerializer(job).data)
        if state != last:
            yield f"event: job\ndata: {state}\n\n"
            last = state
        if job.state not in UNDER_WAY or monotonic() >= ends:
            return
        close_old_connections()  # others need it meanwhile
        sleep(LOOKED_EVERY_SECONDS)
        job = _readable(user).filter(pk=job.pk).first()


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
        job = readable_job(self.caller(), pk)
        if not may_retry(request.user, job):
            raise PermissionDenied
        return Response(JobSerializer(retry(job=job, user=request.user)).data, status=202)


class JobCancel(Endpoint):
    serializer_class = JobSerializer
    pagination_class = None

    @extend_schema(summary="End a job; nothing of it is kept", tags=["jobs"], request=None)
    def post(self, request: Request, pk: int) -> Response:
        job = readable_job(self.caller(), pk)
        if not may_cancel(request.user, job):
            raise PermissionDenied
        return Response(JobSerializer(cancel(job=job, user=request.user)).data)


of_benchmark = [path("jobs/", JobList.as_view(), name="job-list")]
urlpatterns = [
    path("jobs/<int:pk>/", JobDetail.as_view(), name="job-detail"),
    path("jobs/<int:pk>/events/", JobEvents.as_view(), name="job-events"),
    path("jobs/<int:pk>/retry/", JobRetry.as_view(), name="job-retry"),
    path("jobs/<int:pk>/cancel/", JobCancel.as_view(), name="job-cancel"),
]
