"""A site's benchmarks from Python: read them, pull a release, submit a run, see what came of it."""

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import httpx

from benchwright.client import pulling
from benchwright.client.answers import (
    Benchmark,
    Leaderboard,
    Me,
    Phase,
    Pulled,
    Release,
    Submission,
)
from benchwright.client.errors import (
    BrokeOffError,
    NoPhaseError,
    NoReleaseError,
    NotAReleaseNameError,
    NotATokenError,
    ServerFaultError,
    TooManyRequestsError,
    UnreachableError,
    WaitedTooLongError,
)
from benchwright.client.sending import Sent, opened_files
from benchwright.client.servers import Servers, Token, insecurity_of, login_for, normal_url
from benchwright.client.transport import Patience, Transport
from benchwright.errors import BROKE_OFF

FIRST_LOOK, LONGEST_PAUSE, GROWTH = 0.25, 5.0, 1.5
# While one waits for minutes, a site may be started anew meanwhile.
GONE_FOR = 120.0
Tell = Callable[[Submission], None]


class InsecureServerWarning(UserWarning):
    """A token travels in the open."""


class Client:
    """A site, asked with a token.

    Parameters
    ----------
    url
        Address of the site, as a browser shows it.
    token
        Of your account page; without one only what is public is seen.
    patience
        How often a request is repeated that the site does not answer, and how long at most.
    transport, sleep
        What carries the requests and what waits; for tests.

    Raises
    ------
    ServerAddressError, NotATokenError
        If the address is none; if the token is none.

    Examples
    --------
    >>> Client("https://bench.example.org", "bw_secret")
    Client('https://bench.example.org')
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        patience: Patience | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.url, token = normal_url(url), Token(token)
        if not all("!" <= sign <= "~" for sign in token):
            raise NotATokenError(url=self.url)
        if token and (insecurity := insecurity_of(self.url)):
            warnings.warn(insecurity, InsecureServerWarning, stacklevel=2)
        self._transport = Transport(
            self.url, token, patience=patience, transport=transport, sleep=sleep
        )

    @classmethod
    def signed_in(cls, url: str | None = None, **settings: Any) -> Self:
        """Return a client of the site that `benchwright login` was run for, or that is named.

        `BENCHWRIGHT_SERVER` and `BENCHWRIGHT_TOKEN` come before what is kept.
        """
        import os

        login = login_for(url, servers=Servers(), environment=os.environ)
        return cls(login.url, login.token, **settings)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._transport.close()

    # --- what there is --------------------------------------------------------------------------

    def me(self) -> Me:
        """Return who the token is of, until when it is good, and the roles it has."""
        return Me.of(self._transport.json("GET", "me/"))

    def benchmarks(self) -> Iterator[Benchmark]:
        """Yield the benchmarks you may see, by name."""
        return map(Benchmark.of, self._transport.pages("benchmarks/"))

    def benchmark(self, slug: str) -> Benchmark:
        """Return one benchmark, with its grades and counts in `facts`."""
        return Benchmark.of(self._transport.json("GET", f"benchmarks/{_slug(slug)}/"))

    def releases(self, slug: str) -> Iterator[Release]:
        """Yield the published releases of a benchmark, the newest first."""
        rows = map(Release.of, self._transport.pages(f"benchmarks/{_slug(slug)}/releases/"))
        return (release for release in rows if release.is_published)

    def release(self, name: str) -> Release:
        """Return a release with its manifest.

        `name` is `SLUG@VERSION`, or `SLUG` for the newest that is not deprecated.

        Raises
        ------
        NoReleaseError
            If nothing was published.
        """
        slug, version = release_named(name)
        version = version or self._newest(slug)
        return Release.of(self._transport.json("GET", f"benchmarks/{slug}/releases/{version}/"))

    def _newest(self, slug: str) -> str:
        published = list(self.releases(slug))
        in_force = [release for release in published if release.deprecated_at is None]
        if not published:
            raise NoReleaseError(slug=slug)
        return (in_force or published)[0].version

    def pull(
        self,
        name: str,
        into: str | Path,
        *,
        form: str | None = None,
        tell: pulling.Tell = pulling.silent,
    ) -> Pulled:
        """Bring a release into a new or empty folder; every file is checked by its SHA-256.

        Parameters
        ----------
        name
            `SLUG@VERSION`, or `SLUG` for the newest release.
        form
            A format such as `beir` or `trec`; by default the release's own files.
        tell
            Called with the name of a file, its bytes so far, and of how many (0: not known).

        Raises
        ------
        FolderTakenError, DigestError
            If the folder holds something; if what came is not what the manifest says.
        """
        return pulling.pull(
            self._transport,
            self.release(name),
            slug=release_named(name)[0],
            into=Path(into),
            form=form,
            tell=tell,
        )

    # --- submissions ----------------------------------------------------------------------------

    def submit(
        self,
        slug: str,
        run: str | Path,
        *,
        name: str = "",
        phase: str | int = "",
        metadata: Mapping[str, Any] | None = None,
        tell: Sent | None = None,
        **more: Any,
    ) -> Submission:
        """Send a run; the same bytes again give the submission they made before.

        Parameters
        ----------
        run
            A run file, as it is: TREC's, MS MARCO's, JSON or Parquet, also gzip or zstd.
        name
            Of the run; by default that of the file.
        phase
            Name or number of the phase, where several are open; digits in a text are a name first.
        metadata
            What is known of the system, as `docs/submitting.md` names it.
        tell
            Called with the bytes sent so far, and of how many.
        more
            `description`, `visibility`, `team`, `public_from`, `anonymous_until`,
            `aggregation`.

        Raises
        ------
        OSError
            If the file cannot be read.
        NoPhaseError
            If no phase has the name.
        RefusedError
            If the site does not take it; says why.
        """
        path = Path(run)
        fields = {"name": name or _stem(path), "phase": self._phase(slug, phase), **more}
        where = f"benchmarks/{_slug(slug)}/submissions/"
        return self._sent(where, fields, metadata, {"file": path}, tell)

    def submit_embeddings(
        self,
        slug: str,
        query_embeddings: str | Path,
        document_embeddings: str | Path,
        *,
        query_ids: str | Path | None = None,
        document_ids: str | Path | None = None,
        approximate: str | Path | None = None,
        name: str = "",
        phase: str | int = "",
        metadata: Mapping[str, Any] | None = None,
        tell: Sent | None = None,
        **more: Any,
    ) -> Submission:
        """Send vectors, which the site searches exactly; the same again changes nothing.

        Parameters
        ----------
        query_embeddings, document_embeddings
            `.npy`, `.npz` with ids, or Parquet with ids, as `docs/embeddings.md` has them.
        query_ids, document_ids
            Where the vectors' file has none: one id a line.
        approximate
            The run of an approximate index with the same vectors, a submission of its own.
        name
            Of the run; by default that of the file of document embeddings.
        more
            `similarity` (cosine or dot), `depth`, and what `submit` takes.

        Raises
        ------
        OSError, NoPhaseError, RefusedError
            As `submit` does.
        """
        path = Path(document_embeddings)
        fields = {"name": name or path.stem, "phase": self._phase(slug, phase), **more}
        files = {
            "query_embeddings": query_embeddings,
            "query_ids": query_ids,
            "document_embeddings": path,
            "document_ids": document_ids,
            "approximate": approximate,
        }
        where = f"benchmarks/{_slug(slug)}/submissions/embeddings/"
        return self._sent(where, fields, metadata, files, tell)

    def _sent(
        self,
        where: str,
        fields: Mapping[str, Any],
        metadata: Mapping[str, Any] | None,
        files: Mapping[str, str | Path | None],
        tell: Sent | None,
    ) -> Submission:
        data = {key: str(value) for key, value in fields.items() if value not in (None, "")}
        if metadata:
            data["metadata"] = json.dumps(dict(metadata), ensure_ascii=False, default=str)
        with (
            opened_files(files, tell) as parts,
            # The same bytes are never taken twice.
            self._transport.opened(
                "POST", where, may_repeat=True, data=data, files=parts
            ) as response,
        ):
            answer = self._transport.body(response)
            is_earlier = response.status_code == 200
        return Submission.of({**(answer or {}), "is_earlier": is_earlier})

    def phases(self, slug: str) -> Iterator[Phase]:
        """Yield the phases of a benchmark, also those that are over or to come."""
        return map(Phase.of, self._transport.pages(f"benchmarks/{_slug(slug)}/phases/"))

    def _phase(self, slug: str, name_or_number: str | int) -> int | str:
        """The number of a phase; where several have had the name, of the one that is open."""
        if not name_or_number or isinstance(name_or_number, int):
            return name_or_number
        phases = list(self.phases(slug))
        named = sorted(
            (phase for phase in phases if phase.name == name_or_number),
            key=lambda phase: phase.is_open,
        )
        if not named and name_or_number.isdecimal():
            return name_or_number
        if not named:
            names = ", ".join(phase.name for phase in phases) or "none"
            raise NoPhaseError(slug=slug, given=name_or_number, known=names)
        return named[-1].id

    def submission(self, slug: str, number: int) -> Submission:
        """Return a submission as it is now."""
        return Submission.of(
            self._transport.json("GET", f"benchmarks/{_slug(slug)}/submissions/{number}/")
        )

    def submissions(self, slug: str) -> Iterator[Submission]:
        """Yield the submissions you may see, the newest first."""
        path = f"benchmarks/{_slug(slug)}/submissions/"
        return map(Submission.of, self._transport.pages(path))

    def withdraw(self, slug: str, number: int) -> Submission:
        """Take a submission off the boards, for good; it stays where it was compared."""
        path = f"benchmarks/{_slug(slug)}/submissions/{number}/withdraw/"
        return Submission.of(self._transport.json("POST", path, may_repeat=True))

    def wait(
        self, slug: str, number: int, *, seconds: float | None = None, tell: Tell | None = None
    ) -> Submission:
        """Return a submission once it is scored, invalid or failed.

        It is looked at ever less often, at least every 5 seconds; a site that is gone for less
        than two minutes is waited for.

        Parameters
        ----------
        seconds
            How long to wait at most; by default as long as it takes.
        tell
            Called with the submission whenever it was looked at.

        Raises
        ------
        WaitedTooLongError
            If it is not over in time.
        """
        ended: Submission = self._waited(
            lambda: self.submission(slug, number),
            is_ended=lambda submission: submission.is_ended,
            seconds=seconds,
            tell=tell,
        )
        return ended

    def _waited(
        self,
        look: Callable[[], Any],
        *,
        is_ended: Callable[[Any], bool],
        seconds: float | None,
        tell: Callable[[Any], None] | None,
    ) -> Any:
        start = answered = time.monotonic()
        pause, state = FIRST_LOOK, None
        while True:
            try:
                state = look()
                answered = time.monotonic()
            except (UnreachableError, ServerFaultError, TooManyRequestsError):
                if time.monotonic() - answered > GONE_FOR:
                    raise
            else:
                if tell:
                    tell(state)
                if is_ended(state):
                    return state
            waited = time.monotonic() - start
            if seconds is not None and waited + pause > seconds:
                raise WaitedTooLongError(
                    what=getattr(state, "name", "") or "what was asked for",
                    state=getattr(state, "state", "under way"),
                    seconds=waited,
                    url=getattr(state, "url", "") or self.url,
                )
            self._transport.sleep(pause)
            pause = min(pause * GROWTH, LONGEST_PAUSE)

    # --- every other operation -------------------------------------------------------------------

    def ask(
        self,
        how: str,
        path: str,
        *,
        json: Any = None,
        params: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return what an operation of the API answers (`docs/api.md`), by its path there.

        A `POST` carries a key by which the site does it once, however often it is sent.
        """
        body: dict[str, Any] = {} if json is None else {"json": json}
        return self._transport.json(how, path, may_repeat=True, params=params, **body)

    def rows(self, path: str, **params: Any) -> Iterator[Any]:
        """Yield the rows of a list of the API, its pages asked for as they are wanted."""
        return self._transport.pages(path, **params)

    def upload(self, slug: str, file: str | Path, *, tell: Sent | None = None) -> int:
        """Put a file down to be imported, and return the number by which it is.

        Raises
        ------
        OSError
            If the file cannot be read.
        """
        answer = self.send(f"benchmarks/{_slug(slug)}/uploads/", {"file": file}, tell=tell)
        return int(answer["id"])

    def send(
        self,
        path: str,
        files: Mapping[str, str | Path | None],
        fields: Mapping[str, Any] | None = None,
        *,
        tell: Sent | None = None,
    ) -> Any:
        """Return what an operation of the API answers that takes files, {field: file}.

        `fields` are sent beside them, `None` left out; `tell` hears the bytes sent, and all there
        are.

        Raises
        ------
        OSError
            If a file cannot be read.
        """
        data = {name: value for name, value in (fields or {}).items() if value is not None}
        with (
            opened_files(files, tell) as parts,
            self._transport.opened(
                "POST", path, may_repeat=True, data=data, files=parts
            ) as response,
        ):
            return self._transport.body(response)

    def fetch(
        self,
        path: str,
        stream: BinaryIO,
        *,
        params: Mapping[str, Any] | None = None,
        tell: Sent | None = None,
    ) -> int:
        """Write the file that an operation of the API answers, and return its bytes.

        `tell` hears the bytes so far, and of how many (0: not known).

        Raises
        ------
        BrokeOffError
            If the site failed meanwhile: what was written is not whole.
        """
        n_bytes, end = 0, b""
        with self._transport.opened("GET", path, params=params) as response:
            size = int(response.headers.get("Content-Length", 0))
            for piece in response.iter_bytes():
                n_bytes += stream.write(piece)
                end = (end + piece)[-len(BROKE_OFF) :]
                if tell:
                    tell(n_bytes, size)
        if end == BROKE_OFF:
            raise BrokeOffError(url=self.url)
        return n_bytes

    def finished(
        self,
        number: int,
        *,
        seconds: float | None = None,
        tell: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> Mapping[str, Any]:
        """Return a job once it is at its end: done, failed or cancelled.

        Raises
        ------
        WaitedTooLongError
            If it is not over in so many seconds.
        """
        ended: Mapping[str, Any] = self.until(
            lambda: self.job(number),
            is_ended=lambda job: job["state"] not in ("queued", "running"),
            seconds=seconds,
            tell=tell,
        )
        return ended

    def until(
        self,
        look: Callable[[], Any],
        *,
        is_ended: Callable[[Any], bool],
        seconds: float | None = None,
        tell: Callable[[Any], None] | None = None,
    ) -> Any:
        """Return what `look` sees once that is at its end; it looks ever less often, as `wait`."""
        return self._waited(look, is_ended=is_ended, seconds=seconds, tell=tell)

    # --- what came of them ------------------------------------------------------------------------

    def leaderboard(
        self,
        name: str,
        *,
        measure: str = "",
        slice: str = "",
        seconds: float | None = None,
        **filters: Any,
    ) -> Leaderboard:
        """Return the board of a release (`SLUG@VERSION`, or `SLUG`) by a measure, on a slice.

        A measure that was not asked for before is computed first, and waited for.

        Raises
        ------
        WaitedTooLongError
            If it is not there in so many seconds.
        """
        slug, version = release_named(name)
        version = version or self._newest(slug)
        path = f"benchmarks/{slug}/releases/{version}/leaderboard/"
        parameters = {"measure": measure, "slice": slice, **filters}
        board: Leaderboard = self._waited(
            lambda: Leaderboard.of(self._object(path, parameters)),
            is_ended=lambda board: not board.n_waiting,
            seconds=seconds,
            tell=None,
        )
        return board

    def scores(self, slug: str, run: int, **filters: Any) -> Mapping[str, Any]:
        """Return the scores of a run by measure and slice."""
        return self._object(f"benchmarks/{_slug(slug)}/runs/{run}/scores/", filters)

    def comparison(
        self, slug: str, runs: Sequence[int], *, release: str = "", **more: Any
    ) -> Mapping[str, Any]:
        """Return how two or more runs compare on a release: whether they can be, and how far."""
        parameters = {"runs": ",".join(map(str, runs)), "release": release, **more}
        return self._object(f"benchmarks/{_slug(slug)}/comparisons/", parameters)

    def gate(
        self,
        slug: str,
        *,
        seconds: float | None = None,
        tell: Callable[[Mapping[str, Any]], None] | None = None,
        **asked: Any,
    ) -> Mapping[str, Any]:
        """Ask a policy for its verdict on a candidate, and return it once it is there.

        `asked` names what is to be decided: `policy`, `candidate`, and what else the site takes.

        Raises
        ------
        WaitedTooLongError
            If there is no verdict in time.
        """
        path = f"benchmarks/{_slug(slug)}/gates/"
        decision = self._transport.json("POST", path, json=asked)
        decided: Mapping[str, Any] = self._waited(
            lambda: self._object(f"{path}{decision['id']}/", {}),
            is_ended=lambda gate: bool(gate.get("verdict")),
            seconds=seconds,
            tell=tell,
        )
        return decided

    def job(self, number: int) -> Mapping[str, Any]:
        """Return how far a job is, and what came of it."""
        return self._object(f"jobs/{number}/", {})

    def _object(self, path: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        parameters = {name: value for name, value in options.items() if value not in (None, "")}
        body: Mapping[str, Any] = self._transport.json("GET", path, params=parameters or None)
        return body


def release_named(name: str) -> tuple[str, str]:
    """The slug and the version of `SLUG@VERSION`; the version is empty where none is given."""
    slug, at, version = name.partition("@")
    if not _is_plain(slug) or (at and not _is_plain(version)):
        raise NotAReleaseNameError(given=name)
    return slug, version


def _slug(slug: str) -> str:
    if not _is_plain(slug):
        raise NotAReleaseNameError(given=slug)
    return slug


def _is_plain(word: str) -> bool:
    """Whether it can stand in an address as it is, and names no other place there."""
    return bool(word.strip(".")) and all(
        character.isalnum() or character in "-_.+" for character in word
    )


def _stem(path: Path) -> str:
    return path.stem if path.suffix in (".gz", ".zst") else path.name
