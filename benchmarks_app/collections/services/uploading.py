"""Taking in a file: streamed to the storage, hashed on the way, kept byte for byte."""

import hashlib
import re
import uuid
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError, transaction
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.models import Benchmark, Upload, User
from benchwright.errors import BenchmarkError
from benchwright.ids import storable
from benchwright.sandbox import FileTooCostlyError, ReaderEndedError, UnreadableFileError

CHUNK = 1 << 20
# So long a file is not read again whose reader was ended from outside.
KEPT_ENDED = timedelta(minutes=10)
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class UploadTooLargeError(BenchmarkError):
    code = "upload-too-large"
    status = 413
    message = "{file} has more than {limit} MB, which this site does not take (UPLOAD_LIMIT_MB)."


class EmptyUploadError(BenchmarkError):
    code = "upload-empty"
    message = "{file} is empty; choose the file again."


class SameNameError(BenchmarkError):
    code = "upload-same-name"
    message = "{folder} holds two files called {file}. Zip the folder and choose the zip."


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


def forget(upload: Upload) -> None:
    """Forget an uploaded file; its bytes go with the transaction, if nothing else is of them."""
    stored = upload.stored
    upload.delete()
    transaction.on_commit(lambda: _delete_bytes(stored))


def take_back(upload: Upload) -> None:
    """As `forget`, at once: of a file that was refused, whatever becomes of the transaction."""
    upload.delete()
    _delete_bytes(upload.stored)


def _delete_bytes(stored: str) -> None:
    if not Upload.objects.filter(stored=stored).exists():
        files.remove(stored)


def put_down(
    *, benchmark: Benchmark, owner: User, files: Sequence[UploadedFile], paths: Sequence[str] = ()
) -> Iterator[Upload]:
    """Store files that wait to be looked at and imported; the files of one folder are one zip.

    `paths` are the names of the files with the folders they lay in, where a folder was dropped.

    Raises
    ------
    EmptyUploadError, UploadTooLargeError
        If a file is empty or larger than the site takes.
    AlreadyImportedError
        If the same bytes were imported here before.
    SameNameError
        If two files of a folder have one name, and the browser did not tell their folders.
    """
    folders: dict[str, dict[str, UploadedFile]] = {}
    names = paths if len(paths) == len(files) else [file.name or "" for file in files]
    for file, path in zip(files, storable(names), strict=True):
        top, slash, rest = path.lstrip("/").partition("/")
        if not slash:
            yield _waiting(receive_upload(benchmark=benchmark, owner=owner, file=file))
            continue
        inside = folders.setdefault(top, {})
        if rest in inside:
            raise SameNameError(folder=top, file=rest)
        inside[rest] = file
    for top, inside in folders.items():
        yield _waiting(_receive_folder(benchmark, owner, top, inside))


def _receive_folder(
    benchmark: Benchmark, owner: User, top: str, inside: dict[str, UploadedFile]
) -> Upload:
    packed = settings.STAGING_DIR / f"folder-{uuid.uuid4().hex}.zip"
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            # Equal folders are equal bytes: they are recognised when they come again.
            for name in sorted(inside):
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                with archive.open(info, "w", force_zip64=True) as out:
                    for chunk in inside[name].chunks(CHUNK):
                        out.write(chunk)
        with packed.open("rb") as stream:
            pieces = iter(lambda: stream.read(CHUNK), b"")
            return _store(benchmark, owner, f"{top}.zip", pieces)
    finally:
        packed.unlink(missing_ok=True)


def _waiting(upload: Upload) -> Upload:
    """The upload, waiting; the one of the same bytes that waits already, if there is one."""
    try:
        with transaction.atomic():
            refuse_imported_meanwhile(upload.benchmark, [upload])
            twins = Upload.objects.filter(benchmark=upload.benchmark, is_waiting=True)
            twin = twins.filter(sha256=upload.sha256).first()
            if twin is None:
                upload.is_waiting = True
                upload.save(update_fields=["is_waiting"])
                return upload
    except AlreadyImportedError:
        forget(upload)
        raise
    forget(upload)
    return twin


def replace(upload: Upload, *, owner: User, file: UploadedFile) -> Upload:
    """The file that waits in the place of another, which waits no longer; raises as `put_down`."""
    (mended,) = put_down(benchmark=upload.benchmark, owner=owner, files=[file])
    if mended.pk != upload.pk:
        Upload.objects.filter(pk=mended.pk).update(created_at=upload.created_at)
        take_away(upload)
    return mended


def take_away(upload: Upload) -> None:
    """Let a waiting file wait no longer; its bytes stay where others of them are in use."""
    Upload.objects.filter(pk=upload.pk).update(is_waiting=False)


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
        stored = files.publish(staged, f"uploads/{digest.hexdigest()}/{safe_name(name)}")
    finally:
        staged.unlink(missing_ok=True)
    try:
        return Upload.objects.create(
            benchmark=benchmark,
            owner=owner,
            name=name[-255:],
            stored=stored,
            sha256=digest.hexdigest(),
            size=size,
        )
    except DatabaseError:  # the benchmark was deleted while the file was on its way, for instance
        with suppress(DatabaseError):
            _delete_bytes(stored)
        raise


def safe_name(name: str) -> str:
    """What a file is called in the storage."""
    return UNSAFE.sub("_", name)[-100:]


def _refuse_too_large(name: str, size: int) -> None:
    if size > settings.UPLOAD_LIMIT_BYTES:
        raise UploadTooLargeError(file=name, limit=settings.UPLOAD_LIMIT_BYTES >> 20)


def local(upload: Upload) -> Path:
    """Where the bytes can be read on this machine."""
    return files.local_path(upload.stored)


@transaction.atomic
def keep_said(upload: Upload, **decisions: Any) -> None:
    """Remember what somebody has said of a waiting file, beside what was said before."""
    reading = _latest(upload)
    _write(upload, {**reading, "said": {**reading.get("said", {}), **decisions}})


@transaction.atomic
def forget_said(upload: Upload) -> None:
    """Forget what was said of a waiting file, but not which refusals were answered."""
    reading = _latest(upload)
    settled = reading.get("said", {}).get("settled", 0)
    _write(upload, {**reading, "said": {"settled": settled} if settled else {}})


def _latest(upload: Upload) -> dict[str, Any]:
    """What is kept of a file by now: others wait with theirs for the end of the transaction."""
    rows = Upload.objects.select_for_update(no_key=True).filter(pk=upload.pk)
    reading: dict[str, Any] | None = rows.values_list("reading", flat=True).first()
    return upload.reading if reading is None else reading


# --- what was found by reading it ----------------------------------------------------------


@transaction.atomic
def keep_reading(upload: Upload, reading: dict[str, Any]) -> None:
    """Remember what reading a file has found, beside what is said of it by now."""
    decisions = _latest(upload).get("said")
    _write(upload, {**reading, "said": decisions} if decisions else reading)


def _write(upload: Upload, reading: dict[str, Any]) -> None:
    """Keep it; a file that was deleted meanwhile is no matter."""
    upload.reading = reading
    Upload.objects.filter(pk=upload.pk).update(reading=reading)


def keep_broken(upload: Upload, error: UnreadableFileError, *, is_job: bool) -> None:
    """Remember that a reader broke on a file, so that no page tries again; `forget_over` ends it.

    Where a limit ended it, for as long as that holds; where the machine did, for a while.
    """
    reading = {"rows": 0, "problems": [], "broken": str(error), "is_job": is_job}
    if isinstance(error, FileTooCostlyError):
        reading |= {"limit": error.limit, "limits": _limits()}
    elif isinstance(error, ReaderEndedError):
        reading["until"] = (timezone.now() + KEPT_ENDED).isoformat()
    keep_reading(upload, reading)


def forget_over(upload: Upload, *, is_job: bool) -> None:
    """Forget that a file could not be read, if it is to be tried again."""
    reading = upload.reading
    is_over = "until" in reading and timezone.now().isoformat() >= reading["until"]
    if "limits" in reading:
        is_over = reading["limits"] != _limits() or (is_job and not reading["is_job"])
    if is_over:
        keep_reading(upload, {})


def _limits() -> list[int]:
    return [
        settings.READ_MEMORY_MB,
        settings.READ_SECONDS,
        settings.READ_JOB_SECONDS,
        settings.READ_JOB_CPU_SECONDS,
    ]


# --- what became of it ---------------------------------------------------------------------


def mark_imported(upload: Upload, became: str) -> None:
    """Remember what a file became, so that the same bytes are recognised."""
    Upload.objects.filter(pk=upload.pk).update(imported_as=became[:255], is_waiting=False)


def refuse_imported_meanwhile(benchmark: Benchmark, uploads: Iterable[Upload]) -> None:
    """As `refuse_imported` in the transaction that imports; others of the benchmark wait for it."""
    # Not a key: who refers to the benchmark, as a judgment does, need not wait.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    for upload in uploads:
        refuse_imported(upload)


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
