"""A file by http: as a stream, never larger than allowed, going on where an attempt broke off."""

import hashlib
import http.client
import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from benchwright.fetching.addresses import connect, read_address
from benchwright.fetching.errors import ChecksumError, DownloadError
from benchwright.fetching.names import BEIR_URL

CHUNK = 1 << 20
REDIRECTS = (301, 302, 303, 307, 308)
MAX_REDIRECTS = 5
AGENT = "benchwright"
# Bytes done, of how many (0: not told), and what is being done.
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """How much may come from where; `n_tries` counts attempts that brought nothing new."""

    max_bytes: int
    may_be_private: bool = False
    hub_endpoint: str = "https://huggingface.co"
    beir_url: str = BEIR_URL
    timeout: float = 30.0
    n_tries: int = 5
    pause: float = 1.0


def download(
    address: str,
    into: Path,
    *,
    limits: FetchLimits,
    tell: Tell = lambda done, total, message: None,
    checksum: tuple[str, str] | None = None,
) -> Path:
    """Return `into` with the content of an address.

    What an earlier attempt has left beside it is gone on with, if the server says that it is still
    the same file. A cut connection is tried again; each try that brings something counts anew.

    Parameters
    ----------
    checksum
        Algorithm and hex digest that the whole file must have.

    Raises
    ------
    AddressRefusedError
        If the address, or one it leads to, may not be asked.
    DownloadError
        If the server does not give it, gives too much, or breaks off again and again.
    ChecksumError
        If it is not what was expected; what was downloaded is removed.
    """
    if not into.exists():
        _Partial(address, into, limits, tell).complete()
    if checksum:
        _check(into, address, *checksum)
    return into


class _Partial:
    """What of a file is there: its bytes so far, and what the server called this version of it."""

    def __init__(self, address: str, into: Path, limits: FetchLimits, tell: Tell) -> None:
        self.address = address
        self.into = into
        self.limits = limits
        self.tell = tell
        self.path = into.with_name(f"{into.name}.part")
        self.notes = into.with_name(f"{into.name}.part.json")
        self.total = 0

    @property
    def n_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def complete(self) -> None:
        """Bring the file whole, then give it its name."""
        n_failed = 0
        while True:
            before = self.n_bytes
            try:
                self._go_on()
                break
            except (OSError, http.client.HTTPException) as error:
                n_failed = 1 if self.n_bytes > before else n_failed + 1
                if n_failed >= self.limits.n_tries:
                    msg = f"the connection broke off ({error})"
                    raise self._broken(msg) from error
                time.sleep(self.limits.pause * n_failed)
        self.path.replace(self.into)
        self.notes.unlink(missing_ok=True)

    def _go_on(self) -> None:
        response = self._asked()
        with closing(response):
            if response.status == 416 and self._is_whole(response):
                return
            is_rest = response.status == 206 and self._begins_here(response)
            if response.status != 200 and not is_rest:
                self._refuse(response)
            if not is_rest:
                self._forget()
            length = response.headers.get("Content-Length", "")
            self.total = self.n_bytes + int(length) if length.isdigit() else 0
            self._refuse_too_large(self.total)
            self._note(response)
            self._take(response)
        if self.total and self.n_bytes < self.total:
            msg = b""
            raise http.client.IncompleteRead(msg, self.total - self.n_bytes)

    def _take(self, response: http.client.HTTPResponse) -> None:
        n_bytes = self.n_bytes
        with self.path.open("ab") as out:
            while piece := response.read1(CHUNK):
                n_bytes += len(piece)
                self._refuse_too_large(n_bytes)
                out.write(piece)
                self.tell(n_bytes, self.total, f"{n_bytes >> 20:,} MB of {self.into.name}")

    def _asked(self) -> http.client.HTTPResponse:
        """The answer to the request, after whatever it leads to."""
        address, headers = self.address, self._headers()
        for _ in range(MAX_REDIRECTS + 1):
            parts = read_address(address)
            connection = connect(
                parts, timeout=self.limits.timeout, may_be_private=self.limits.may_be_private
            )
            target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            if response.status not in REDIRECTS:
                return response
            following = urljoin(address, response.headers.get("Location", ""))
            response.close()
            connection.close()
            if parts.scheme == "https" and read_address(following).scheme != "https":
                msg = "it leads from https to http"
                raise self._broken(msg)
            address = following
        msg = f"it leads on more than {MAX_REDIRECTS} times"
        raise self._broken(msg)

    def _headers(self) -> dict[str, str]:
        headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
        version = self._noted().get("version")
        if self.n_bytes and version:
            headers |= {"Range": f"bytes={self.n_bytes}-", "If-Range": version}
        elif self.n_bytes:
            self._forget()  # nobody can say whether it is still the same file
        return headers

    def _noted(self) -> dict[str, Any]:
        try:
            notes = json.loads(self.notes.read_text())
        except (OSError, ValueError):
            return {}
        is_same = isinstance(notes, dict) and notes.get("address") == self.address
        return notes if is_same else {}

    def _note(self, response: http.client.HTTPResponse) -> None:
        etag = response.headers.get("ETag", "")
        # A weak one does not promise the same bytes.
        version = etag if etag and not etag.startswith("W/") else ""
        version = version or response.headers.get("Last-Modified", "")
        self.notes.write_text(json.dumps({"address": self.address, "version": version}))

    def _forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self.notes.unlink(missing_ok=True)

    def _begins_here(self, response: http.client.HTTPResponse) -> bool:
        return response.headers.get("Content-Range", "").startswith(f"bytes {self.n_bytes}-")

    def _is_whole(self, response: http.client.HTTPResponse) -> bool:
        """Whether there is nothing beyond what is here; otherwise it is not the same file."""
        if response.headers.get("Content-Range", "") == f"bytes */{self.n_bytes}":
            return True
        self._forget()
        msg = "the file has changed on the server"
        raise http.client.HTTPException(msg)

    def _refuse(self, response: http.client.HTTPResponse) -> None:
        if response.status >= 500 or response.status == 429:
            msg = f"the server says {response.status} {response.reason}"
            raise http.client.HTTPException(msg)
        why = f"the server says {response.status} {response.reason}"
        raise self._broken(why, "Check the name; it may have moved, or ask for a licence first.")

    def _refuse_too_large(self, n_bytes: int) -> None:
        if n_bytes > self.limits.max_bytes:
            self._forget()
            why = f"it has more than {self.limits.max_bytes >> 20:,} MB"
            raise self._broken(why, "The site takes no more (UPLOAD_LIMIT_MB).")

    def _broken(self, why: str, advice: str = "Start the job again: it goes on.") -> DownloadError:
        return DownloadError(address=self.address, why=why, advice=advice)


def _check(path: Path, address: str, algorithm: str, expected: str) -> None:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with path.open("rb") as stream:
        while piece := stream.read(CHUNK):
            digest.update(piece)
    if digest.hexdigest() != expected:
        path.unlink()
        raise ChecksumError(
            address=address, algorithm=algorithm, found=digest.hexdigest(), expected=expected
        )
