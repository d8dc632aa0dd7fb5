"""Taking in a file: streamed to the storage, hashed on the way, kept byte for byte."""

import hashlib
import re
import uuid
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from benchmarks_app import files
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.models import Benchmark, Upload, User

CHUNK = 1 << 20
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class UploadTooLargeError(BenchmarkError):
    code = "upload-too-large"
    status = 413
    message = "{file} has more than {limit} MB, which this site does not take (UPLOAD_LIMIT_MB)."


class EmptyUploadError(BenchmarkError):
    code = "upload-empty"
    message = "{file} is empty; choose the file again."


class AlreadyImportedError(BenchmarkError):
    code = "already-imported"
    status = 409
    message = "{file} was imported here before, as {imported_as}: same bytes (SHA-256 {digest})."


def receive_upload(*, benchmark: Benchmark, owner: User, file: UploadedFile) -> Upload:
    """Store an uploaded file. Raises if it is empty or larger than the site takes."""
    return _store(benchmark, owner, Path(file.name or "upload").name, file.chunks(CHUNK))


def receive_path(*, benchmark: Benchmark, owner: User, path: Path) -> Upload:
    """Store a file of this machine, as the commands do."""
    with path.open("rb") as stream:
        return _store(benchmark, owner, path.name, iter(lambda: stream.read(CHUNK), b""))


def _store(benchmark: Benchmark, owner: User, name: str, chunks: Iterable[bytes]) -> Upload:
    staged = settings.STAGING_DIR / f"upload-{uuid.uuid4().hex}"
    digest, size = hashlib.sha256(), 0
    try:
        with staged.open("wb") as out:
            for chunk in chunks:
                size += len(chunk)
                _refuse_too_large(name, size)
                digest.update(chunk)
                out.write(chunk)
        if not size:
            raise EmptyUploadError(file=name)
        safe = UNSAFE.sub("_", name)[-100:]
        stored = files.publish(staged, f"uploads/{digest.hexdigest()}/{safe}")
    finally:
        staged.unlink(missing_ok=True)
    return Upload.objects.create(
        benchmark=benchmark,
        owner=owner,
        name=name[-255:],
        stored=stored,
        sha256=digest.hexdigest(),
        size=size,
    )


def _refuse_too_large(name: str, size: int) -> None:
    if size > settings.UPLOAD_LIMIT_BYTES:
        raise UploadTooLargeError(file=name, limit=settings.UPLOAD_LIMIT_BYTES >> 20)


def local(upload: Upload) -> Path:
    """Where the bytes can be read on this machine."""
    return files.local_path(upload.stored)


def mark_imported(upload: Upload, became: str) -> None:
    """Remember what a file became, so that the same bytes are recognised."""
    Upload.objects.filter(pk=upload.pk).update(imported_as=became[:255])


def refuse_imported(upload: Upload) -> None:
    """Raise where the same bytes were imported into this benchmark before."""
    earlier = (
        Upload.objects.filter(benchmark=upload.benchmark, sha256=upload.sha256)
        .exclude(imported_as="")
        .first()
    )
    if earlier:
        raise AlreadyImportedError(
            file=upload.name, imported_as=earlier.imported_as, digest=upload.sha256[:12]
        )
