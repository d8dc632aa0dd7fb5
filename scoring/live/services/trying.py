"""Asking a live system one query while somebody waits, and telling all that can be told."""

import json
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, unquote

from django.utils import timezone

from benchmarks_app.common.selectors.reading import benchmark_documents, unknown_documents
from benchwright.corpora.store import StoredDocument
from benchwright.errors import ScoringError
from benchwright.live.asking import Answered, Endpoint, Failed, request_for, try_one
from benchwright.live.headers import Header, read_headers
from scoring.live.services.systems import endpoint_of
from scoring.models import LiveSystem

# Who waits for a page waits no longer, whatever the system's own patience.
LONGEST = 10.0
SHOWN = 10


@dataclass(frozen=True)
class TriedResult:
    """A document that came back; `is_known` where the corpus has it, `title` where it has one."""

    rank: int
    docid: str
    score: float
    is_known: bool
    title: str = ""


@dataclass(frozen=True)
class Trial:
    """What was sent and what came: `why` says in words what is wrong, empty where nothing is.

    Headers are as they were written, with the names of variables and not their values.
    """

    query: str
    method: str
    address: str
    body: str
    headers: tuple[Header, ...]
    why: str = ""
    status: int = 0
    milliseconds: float | None = None
    took: float = 0.0
    n_results: int = 0
    n_repeated: int = 0
    n_beyond: int = 0
    is_unordered: bool = False
    n_unknown: int = 0
    results: tuple[TriedResult, ...] = ()

    @property
    def is_good(self) -> bool:
        return not self.why


def try_system(*, system: LiveSystem, query: str) -> Trial:
    """The trial of one query: one attempt, within ten seconds.

    Raises
    ------
    LiveError
        If nothing can be asked: the address, a secret, the template or a path is wrong.
    """
    try:
        endpoint = _once(endpoint_of(system))
        trial = _sent(system, endpoint, query)
        outcome, took = try_one(endpoint, ("tried", query))
    except ScoringError:
        _remember(system, is_good=False)
        raise
    if isinstance(outcome, Failed):
        trial = replace(trial, why=outcome.why, status=outcome.status, took=took)
    else:
        trial = _answered(system, replace(trial, took=took), outcome)
    _remember(system, is_good=trial.is_good)
    return trial


def _once(endpoint: Endpoint) -> Endpoint:
    server = replace(endpoint.server, timeout=min(endpoint.server.timeout, LONGEST))
    return replace(endpoint, server=server, retries=0, concurrency=1)


def _sent(system: LiveSystem, endpoint: Endpoint, query: str) -> Trial:
    target, body = request_for(endpoint, ("tried", query))
    parts = endpoint.server.parts
    return Trial(
        query=query,
        method=system.method,
        address=f"{parts.scheme}://{parts.netloc}{target}" if body else _readable(parts, target),
        body=json.dumps(json.loads(body), indent=2, ensure_ascii=False) if body else "",
        headers=tuple(read_headers(system.headers)),
    )


def _readable(parts: SplitResult, target: str) -> str:
    return f"{parts.scheme}://{parts.netloc}{unquote(target)}"


def _answered(system: LiveSystem, trial: Trial, outcome: Answered) -> Trial:
    reading = outcome.reading
    docids = [docid for docid, _ in reading.results]
    unknown = unknown_documents(system.benchmark, docids)
    texts = benchmark_documents(system.benchmark, docids[:SHOWN])
    results = tuple(
        TriedResult(rank, docid, score, docid not in unknown, _title(texts.get(docid)))
        for rank, (docid, score) in enumerate(reading.results[:SHOWN], start=1)
    )
    return replace(
        trial,
        status=200,
        milliseconds=outcome.milliseconds,
        n_results=len(docids),
        n_repeated=reading.n_repeated,
        n_beyond=reading.n_beyond,
        is_unordered=reading.is_unordered,
        n_unknown=len(unknown),
        results=results,
    )


def _title(document: StoredDocument | None) -> str:
    if document is None:
        return ""
    return (document.title or document.text or "")[:120]


def _remember(system: LiveSystem, *, is_good: bool) -> None:
    system.tried_at, system.tried_well = timezone.now(), is_good
    LiveSystem.objects.filter(pk=system.pk).update(tried_at=system.tried_at, tried_well=is_good)
