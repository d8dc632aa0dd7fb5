"""Taking in a submission of embeddings: its files become one bundle, which is sent in as a run is.

So limits, phases, teams, visibility and the same bytes again are what they are of any submission;
what a bundle has more is read by `embedding_retrieving`, in the job.
"""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from benchmarks_app.collections.services.uploading import (
    CHUNK,
    EmptyUploadError,
    UploadTooLargeError,
    take_back,
)
from benchmarks_app.models import Job, Team, Upload, User
from benchwright.errors import BenchmarkError
from benchwright.retrieval.dense.bundles import (
    DOCUMENT_IDS,
    DOCUMENTS,
    QUERIES,
    QUERY_IDS,
    Settings,
    pack,
)
from benchwright.runs.facts import APPROXIMATE_RUN
from scoring.models import Phase, Submission
from scoring.scores.services.errors import SubmittedBeforeError
from scoring.submissions.services.submitting import submit_file

BUNDLE = "embeddings.zip"
APPROXIMATE = "{name} (approximate)"
LONGEST_NAME = 120


@dataclass(frozen=True)
class EmbeddingFiles:
    """The files of one submission, as they were given; ids where the vectors' file has none."""

    query_embeddings: UploadedFile
    document_embeddings: UploadedFile
    query_ids: UploadedFile | None = None
    document_ids: UploadedFile | None = None

    def by_member(self) -> Mapping[str, UploadedFile]:
        files = {
            QUERIES: self.query_embeddings,
            QUERY_IDS: self.query_ids,
            DOCUMENTS: self.document_embeddings,
            DOCUMENT_IDS: self.document_ids,
        }
        return {name: file for name, file in files.items() if file is not None}


def submit_embeddings(
    *,
    phase: Phase,
    user: User,
    files: EmbeddingFiles,
    name: str,
    how: Settings,
    approximate: UploadedFile | None = None,
    team: Team | None = None,
    **terms: Any,
) -> Submission:
    """Accept embeddings, which are searched exactly and scored by the job.

    `approximate` is the run of an approximate index with the same vectors: it is a submission of
    its own beside this one, both or neither, and takes a place of the day too.

    Raises as `submit_file`, and `EmptyUploadError` or `UploadTooLargeError` before anything is
    read.
    """
    _refuse_sizes(files)
    terms |= {"phase": phase, "user": user, "team": team}
    metadata = terms.pop("metadata", {})
    with _bundled(files, how) as bundle, transaction.atomic():
        if approximate is None:
            return submit_file(file=bundle, name=name, metadata=metadata, **terms)
        facts = {**metadata, "index": "ann"}
        beside, upload = _submit_approximate(approximate, name, metadata=facts, **terms)
        metadata = {**metadata, APPROXIMATE_RUN: beside.name}
        try:
            return submit_file(file=bundle, name=name, metadata=metadata, **terms)
        except BenchmarkError:
            if upload is not None:
                take_back(upload)
            raise


def _submit_approximate(
    file: UploadedFile, name: str, **terms: Any
) -> tuple[Submission, Upload | None]:
    """The submission of the approximate run, with its file; the earlier one, and no file, where
    its bytes were sent before."""
    room = LONGEST_NAME - len(APPROXIMATE.format(name=""))
    try:
        submission = submit_file(file=file, name=APPROXIMATE.format(name=name[:room]), **terms)
    except SubmittedBeforeError as error:
        return error.submission, None
    job = cast(Job, submission.job)  # it was just started
    return submission, Upload.objects.get(pk=job.parameters["upload"])


def _refuse_sizes(files: EmbeddingFiles) -> None:
    total = 0
    for file in files.by_member().values():
        if not file.size:
            raise EmptyUploadError(file=file.name)
        total += file.size
    if total > settings.UPLOAD_LIMIT_BYTES:
        limit = settings.UPLOAD_LIMIT_BYTES // (1 << 20)
        raise UploadTooLargeError(file="The files together", limit=limit)


@contextmanager
def _bundled(files: EmbeddingFiles, how: Settings) -> Iterator[Any]:
    path: Path = settings.STAGING_DIR / f"embeddings-{uuid.uuid4().hex}.zip"
    try:
        pack(path, how, {name: file.chunks(CHUNK) for name, file in files.by_member().items()})
        with path.open("rb") as stream:
            yield File(stream, name=BUNDLE)
    finally:
        path.unlink(missing_ok=True)
