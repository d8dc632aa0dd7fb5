"""Bringing a collection by its name: downloaded and checked, then imported like any file."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.services import audit
from benchmarks_app.importing.services.importing import import_arguments
from benchmarks_app.importing.services.importing_corpus import corpus_options
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, User
from benchwright.fetching.errors import ExtraMissingError
from benchwright.fetching.names import Collection, Kind, read_collection

JOB_KIND = "fetch-collection"
# Of each kind the library that reads it, and the extra that brings it.
EXTRAS = {Kind.HUB: ("huggingface_hub", "hub"), Kind.IRDS: ("ir_datasets", "catalog")}


def extras_there() -> dict[str, bool]:
    """For each kind of name whether it can be fetched here."""
    return {
        kind.value: kind not in EXTRAS or find_spec(EXTRAS[kind][0]) is not None for kind in Kind
    }


def fetch_arguments(*, collection: str, **corpus: Any) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to fetch a collection.

    `corpus` are arguments of `corpus_options`.

    Raises
    ------
    CollectionNameError
        If there is no collection of this name.
    ExtraMissingError
        If its library is not installed.
    CutError, SnapshotDateError
        As `corpus_options`.
    """
    wanted_collection = read_collection(collection)
    _refuse_missing_extra(wanted_collection)
    return {
        "kind": JOB_KIND,
        "title": f"Fetch {wanted_collection}",
        "parameters": {"collection": str(wanted_collection), "corpus": corpus_options(**corpus)},
    }


@transaction.atomic
def start_fetch(*, benchmark: Benchmark, user: User, collection: str, **corpus: Any) -> Job:
    """Start a job that fetches a collection, then imports it; raises as `fetch_arguments`."""
    arguments = fetch_arguments(collection=collection, **corpus)
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    target = arguments["parameters"]["collection"]
    audit.record(actor=user, action="fetch", benchmark=benchmark, target=target, job=job.pk)
    return job


def _refuse_missing_extra(collection: Collection) -> None:
    module, extra = EXTRAS.get(collection.kind, ("", ""))
    if module and find_spec(module) is None:
        raise ExtraMissingError(what=str(collection), extra=extra)


def downloads_of(job: Job) -> Path:
    """Where the downloads of a job are kept until it is done: a later attempt goes on with them."""
    folder: Path = settings.STAGING_DIR / "downloads" / str(job.pk)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch_collection(job: jobs.RunningJob) -> None:
    """The handler: bring the collection as one zip, then start its import."""
    from benchwright.fetching.bringing import bring

    collection = read_collection(job.parameters["collection"])
    _refuse_missing_extra(collection)
    downloads = downloads_of(job.row)
    path = bring(
        collection,
        downloads=downloads,
        work=job.folder,
        limits=limits(),
        tell=lambda done, total, message: job.progress(done, total, message),
    )
    benchmark, user = job.benchmark, job.user
    upload = uploading.receive_path(benchmark=benchmark, owner=user, path=path)
    arguments = import_arguments(upload=upload, kind="beir", corpus=job.parameters["corpus"])
    with job.commit() as result:
        following = jobs.start(benchmark=benchmark, user=user, **arguments)
        result.update(
            made=[f"{collection}, {upload.size:,} bytes"],
            notes=[f"SHA-256 {upload.sha256}; its import has started."],
            url=following.get_absolute_url(),
            job=following.pk,
        )
    shutil.rmtree(downloads, ignore_errors=True)


def limits() -> Any:
    from benchwright.fetching.download import FetchLimits

    return FetchLimits(
        max_bytes=settings.UPLOAD_LIMIT_BYTES,
        may_be_private=settings.FETCH_PRIVATE_ADDRESSES,
        hub_endpoint=settings.HUB_ENDPOINT,
        beir_url=settings.BEIR_URL,
    )
