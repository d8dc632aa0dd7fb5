"""Files in an S3-compatible object store, by django-storages and boto3."""

import io
import logging
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import Any

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.utils import timezone
from storages.backends.s3 import S3Storage
from urllib3.exceptions import HTTPError

from benchmarks_app.store.cache import FileCache
from benchmarks_app.store.digests import digest_at, remember
from benchmarks_app.store.errors import AlteredError, StoreAwayError
from benchmarks_app.store.interface import Store
from benchwright.files.sources import sha256_of

log = logging.getLogger(__name__)

# Files are sent and fetched in parts of so many bytes, a few at a time; a smaller one is one part.
PART = 8 << 20
TRANSFER = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=4)
# A download that breaks, or whose bytes are others than were stored, is tried so often.
DOWNLOADS = 3
# What is sent in parts, and was not ended after so long, is nobody's any more.
TORN_AFTER = timedelta(days=1)
SWEEPS_EVERY = 3600.0
DIGEST = "sha256"
CONNECT_SECONDS, READ_SECONDS, ATTEMPTS = 3, 30, 3
# Of whoever only wants to know whether the store is there.
PROBE_SECONDS = 2


def _config(connect: int, read: int, attempts: int, **more: Any) -> Config:
    return Config(
        connect_timeout=connect,
        read_timeout=read,
        retries={"mode": "standard", "total_max_attempts": attempts},
        # Other makers' stores know no checksums after the body; digests are checked here.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        **more,
    )


class ObjectStorage(S3Storage):
    """`S3Storage` with limits of time, that a process which was forked connects to anew."""

    def __init__(self, **options: Any) -> None:
        style = {"s3": {"addressing_style": options.get("addressing_style", "auto")}}
        config = _config(CONNECT_SECONDS, READ_SECONDS, ATTEMPTS, **style)
        super().__init__(client_config=config, transfer_config=TRANSFER, **options)
        os.register_at_fork(after_in_child=self.connect_anew)

    def connect_anew(self) -> None:
        self.__setstate__(self.__getstate__())

    def probe(self) -> Any:
        """A client that waits for two seconds, and asks once."""
        config = self.client_config.merge(_config(PROBE_SECONDS, PROBE_SECONDS, 1))
        return self._create_session().client(
            "s3", region_name=self.region_name, endpoint_url=self.endpoint_url, config=config
        )

    def key(self, name: str) -> str:
        return str(self._normalize_name(name))


class ObjectStore(Store):
    """Objects below a prefix of a bucket; their digests are kept with them, as metadata."""

    def __init__(self, storage: ObjectStorage) -> None:
        self._storage = storage
        self._sweeps_at = 0.0
        location = storage.location.strip("/")
        # What is below it alone is of this site: another may have "site2" beside "site".
        self._folder = f"{location}/" if location else ""
        self.place = f"s3://{storage.bucket_name}/{location}".rstrip("/")
        if storage.endpoint_url:
            self.place += f" at {storage.endpoint_url}"

    @cached_property
    def cache(self) -> FileCache:
        return FileCache(settings.DATA_DIR / "cache" / "store", settings.STORE_CACHE_BYTES)

    def put(self, path: Path, name: str, sha256: str) -> None:
        sha256, size = sha256 or sha256_of(path), path.stat().st_size
        with self._asked("put", name):
            target = self._storage.bucket.Object(self._storage.key(name))
            more = {"Metadata": {DIGEST: sha256}}
            target.upload_file(str(path), ExtraArgs=more, Config=TRANSFER)
            target.reload()
        if target.content_length != size:
            self.delete(name)
            log.error("%s has %s bytes of %s sent", name, target.content_length, size)
            raise StoreAwayError
        remember(self.cache.take(path, name), sha256)

    def put_first(self, name: str, content: bytes) -> bytes:
        key = {"Bucket": self._storage.bucket_name, "Key": self._storage.key(name)}
        with self._asked("put", name):
            probe = self._storage.probe()
            try:
                return bytes(probe.get_object(**key)["Body"].read())
            except ClientError as error:
                if _status(error) != 404:
                    raise
            try:
                probe.put_object(**key, Body=content, IfNoneMatch="*")
            except ClientError as error:
                if _status(error) == 501:  # a store that knows no condition
                    probe.put_object(**key, Body=content)
                elif _status(error) not in (409, 412):  # another was first
                    raise
            return bytes(probe.get_object(**key)["Body"].read())

    def copy(self, name: str, to: str) -> None:
        source = {"Bucket": self._storage.bucket_name, "Key": self._storage.key(name)}
        with self._asked("copy", name):
            self._storage.bucket.Object(self._storage.key(to)).copy(source, Config=TRANSFER)

    def local(self, name: str, sha256: str = "") -> Path:
        copy = self.cache.held(name)
        if copy and (not sha256 or digest_at(copy) == sha256):
            return copy
        if copy:
            log.error("the copy of %s on this host was altered; it is fetched anew", name)
            self.cache.drop(name)
        partial = self.cache.partial()
        try:
            digest = self._fetched(name, partial, sha256)
            path = self.cache.take(partial, name)
        finally:
            partial.unlink(missing_ok=True)
        remember(path, digest)
        return path

    def _fetched(self, name: str, path: Path, sha256: str) -> str:
        """Fetch a file, again where its bytes are not those that were stored; their digest."""
        for n_left in reversed(range(DOWNLOADS)):
            with self._asked("get", name):
                source = self._storage.bucket.Object(self._storage.key(name))
                source.load()
                try:
                    source.download_file(str(path), Config=TRANSFER)
                except (BotoCoreError, Boto3Error, HTTPError):
                    if not n_left:
                        raise
                    log.warning("the download of %s broke; it begins anew", name, exc_info=True)
                    continue
            recorded = sha256 or source.metadata.get(DIGEST, "")
            digest = sha256_of(path)
            if digest == (recorded or digest):
                return digest
            log.error("%s was fetched with SHA-256 %s, expected %s", name, digest, recorded)
        raise AlteredError(digest, source.last_modified)

    def opened(self, name: str) -> BufferedReader:
        return BufferedReader(_Object(self, name, self.size(name)), PART)

    def read(self, name: str, begin: int, end: int) -> bytes:
        """The bytes from one on, up to before another."""
        for n_left in reversed(range(DOWNLOADS)):
            with self._asked("get", name):
                source = self._storage.bucket.Object(self._storage.key(name))
                try:
                    return bytes(source.get(Range=f"bytes={begin}-{end - 1}")["Body"].read())
                except (BotoCoreError, HTTPError):
                    if not n_left:
                        raise
        raise StoreAwayError

    def exists(self, name: str) -> bool:
        with self._asked("look for", name):
            return bool(self._storage.exists(name))

    def size(self, name: str) -> int:
        with self._asked("look for", name):
            return int(self._storage.size(name))

    def changed_at(self, name: str) -> datetime:
        with self._asked("look for", name):
            return self._storage.get_modified_time(name)

    def delete(self, name: str) -> None:
        with self._asked("delete", name):
            self._storage.delete(name)
        self.cache.drop(name)

    def listed(self, folder: str) -> tuple[list[str], list[str]]:
        with self._asked("list", folder):
            folders, files = self._storage.listdir(folder)
            return folders, files

    def check(self) -> None:
        with self._asked("look at", self._storage.bucket_name):
            self._storage.probe().head_bucket(Bucket=self._storage.bucket_name)

    def cached(self) -> tuple[int, int]:
        return self.cache.size(), self.cache.limit

    def using(self) -> AbstractContextManager[None]:
        return self.cache.using()

    def release(self) -> None:
        self.cache.release()

    def sweep(self) -> None:
        """Give up uploads and downloads that killed processes have left, once an hour."""
        if time.monotonic() < self._sweeps_at:
            return
        self._sweeps_at = time.monotonic() + SWEEPS_EVERY
        oldest = timezone.now() - TORN_AFTER
        client, bucket = self._storage.connection.meta.client, self._storage.bucket_name
        with self._asked("list uploads of", bucket):
            pages = client.get_paginator("list_multipart_uploads").paginate(
                Bucket=bucket, Prefix=self._folder
            )
            try:
                uploads = [upload for page in pages for upload in page.get("Uploads", ())]
            except ClientError as error:
                if _status(error) != 501:
                    raise
                uploads = []  # a store that cannot tell them has to give them up itself
            for upload in uploads:
                if upload["Initiated"] < oldest:
                    client.abort_multipart_upload(
                        Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                    )
        self.cache.sweep(oldest.timestamp())

    @contextmanager
    def _asked(self, what: str, name: str) -> Iterator[None]:
        """The client's errors as two: there is no such file, or the store is away."""
        try:
            yield
        except ClientError as error:
            if _status(error) == 404 and error.response["Error"].get("Code") != "NoSuchBucket":
                raise FileNotFoundError(name) from error
            self._tell(what, name, error)
            raise StoreAwayError from error
        except (BotoCoreError, Boto3Error, HTTPError) as error:
            self._tell(what, name, error)
            raise StoreAwayError from error

    def _tell(self, what: str, name: str, error: Exception) -> None:
        log.error("%s: could not %s %s: %s", self.place, what, name, error)


class _Object(io.RawIOBase):
    """An object as a file that can be sought in; each reading asks for its own bytes."""

    def __init__(self, objects: ObjectStore, name: str, size: int) -> None:
        super().__init__()
        self._objects, self._name, self._size, self._at = objects, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        from_where = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}
        self._at = max(from_where[whence] + offset, 0)
        return self._at

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(PART) or b"", b""))

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        part = self._objects.read(self._name, self._at, end)
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def _status(error: ClientError) -> int:
    return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
