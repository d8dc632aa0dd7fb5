"""The files of a pair of embeddings: stored for it alone, so that they can be deleted with it."""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from benchmarks_app import files
from benchmarks_app.collections.services.uploading import CHUNK
from benchwright.matrices.arrays import Limits
from scoring.contrastive.services.errors import EmptyPairFileError, PairFileTooLargeError

MATRICES = ("z1", "z2")


def limits() -> Limits:
    """How much embeddings may hold here, packed or unpacked."""
    return Limits(
        rows=settings.CONTRASTIVE_MAX_PAIRS, bytes=settings.CONTRASTIVE_LIMIT_MB * 1024 * 1024
    )


def keep_files(uploads: Mapping[str, UploadedFile]) -> dict[str, dict[str, Any]]:
    """Store what was uploaded: {what it is: name, SHA-256, size, where it is stored}.

    Raises
    ------
    PairFileTooLargeError, EmptyPairFileError
        Then nothing is kept.
    """
    folder = f"contrastive/{uuid.uuid4().hex}"
    stored_files: dict[str, dict[str, Any]] = {}
    try:
        for what, file in uploads.items():
            stored_files[what] = _kept(file, f"{folder}/{what}")
    except BaseException:
        remove_files(facts["stored"] for facts in stored_files.values())
        raise
    return stored_files


def _kept(file: UploadedFile, stored: str) -> dict[str, Any]:
    name = Path(file.name or "upload").name[-255:]
    staged = settings.STAGING_DIR / f"embeddings-{uuid.uuid4().hex}"
    digest, size = hashlib.sha256(), 0
    try:
        with staged.open("wb") as out:
            for chunk in file.chunks(CHUNK):
                size += len(chunk)
                if size > limits().bytes:
                    raise PairFileTooLargeError(file=name, limit=settings.CONTRASTIVE_LIMIT_MB)
                digest.update(chunk)
                out.write(chunk)
        if not size:
            raise EmptyPairFileError(file=name)
        stored = files.publish(staged, stored)
    finally:
        staged.unlink(missing_ok=True)
    return {"name": name, "sha256": digest.hexdigest(), "size": size, "stored": stored}


def remove_files(stored: Iterable[str]) -> None:
    """Delete files from the storage; one that is gone already is no matter."""
    for name in stored:
        files.remove(name)
