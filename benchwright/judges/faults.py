"""What went wrong with a request: whether it may pass, how long to wait, and in which words."""

import logging
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from benchwright.errors import BenchmarkError
from benchwright.fetching.errors import UnreachableError
from benchwright.judges.completions import NoCompletionError
from benchwright.judges.errors import (
    CaseError,
    JudgeAccessError,
    JudgeBusyError,
    JudgeConnectionError,
    JudgeRequestError,
    JudgeServerError,
    JudgeTimeoutError,
)

log = logging.getLogger(__name__)

BUSY = 429
NO_ACCESS = (401, 402, 403, 404)
PASSING = (408, 409, 425)
FORM = (400, 415, 422)
"""Statuses by which endpoints refuse a field that they do not know."""

# How the library's carrier names what happens before a connection stands.
NOT_CONNECTED = ("ConnectError", "ConnectTimeout")
ALLOWING = "whoever runs the site can allow others: JUDGE_PRIVATE_ADDRESSES"
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
SHOWN = 300


@dataclass(frozen=True, slots=True)
class Fault:
    """`error` makes the case's error of the number of attempts made.

    `is_passing`: another attempt may do. `wait`: seconds that the endpoint wants. `words`: what it
    said. `is_form`: it may be the form of the request that it does not take.
    """

    error: Callable[[int], CaseError]
    words: str = ""
    is_passing: bool = False
    is_form: bool = False
    wait: float | None = None


def fault_of(error: Exception, *, timeout: float, is_cause_told: bool = True) -> Fault:
    """What an exception of a request means.

    Without `is_cause_told` whatever keeps a connection from coming about is one and the same.
    """
    import openai

    if isinstance(error, openai.APIStatusError):
        return _of_status(error.status_code, error.response.headers, _said(error))
    if unreachable := _unreachable(error, is_cause_told):
        return _not_connected(f"{unreachable.why} ({ALLOWING})")
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return Fault(lambda n: JudgeTimeoutError(seconds=timeout, attempts=n), is_passing=True)
    if isinstance(error, NoCompletionError):
        words = str(error)
        return Fault(lambda n: JudgeServerError(status=words, attempts=n), is_passing=True)
    if refused := _refused(error):
        return _not_taken("not sent", str(refused))
    if isinstance(error, openai.APIConnectionError | OSError):
        return _not_connected(_why(error))
    return _not_taken("not sent", f"{type(error).__name__}: {error}")


def _unreachable(error: Exception, is_cause_told: bool) -> UnreachableError | None:
    """Why nothing came about, of an error before anything was sent; None of any other."""
    chain = _chain(error)
    if unreachable := next((cause for cause in chain if isinstance(cause, UnreachableError)), None):
        return unreachable
    # Of a machine that is asked for its certificate it is known that it is public.
    is_known = is_cause_told or any(isinstance(cause, ssl.SSLError) for cause in chain)
    if not is_known and any(type(cause).__name__ in NOT_CONNECTED for cause in chain):
        log.info("a judge could not be asked: %s", _why(error))
        return UnreachableError(address="")
    return None


def _not_connected(why: str) -> Fault:
    return Fault(lambda n: JudgeConnectionError(why=why, attempts=n), is_passing=True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response wants to pass before the next request; None where it does not say.

    Examples
    --------
    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "50"}), retry_after({})
    (2.0, 0.05, None)
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        return max(seconds, 0.0) if isfinite(seconds) else None
    try:
        until = parsedate_to_datetime(headers["retry-after"]).timestamp()
    except (KeyError, ValueError):
        return None
    return max(until - time.time(), 0.0)


def _of_status(status: int, headers: Mapping[str, str], words: str) -> Fault:
    has_no_credit = any(code in words for code in NO_CREDIT)
    if status in NO_ACCESS or (status == BUSY and has_no_credit):
        return Fault(lambda _: JudgeAccessError(status=status, why=words), words)
    if status == BUSY:
        wait = retry_after(headers)
        return Fault(lambda n: JudgeBusyError(attempts=n), words, is_passing=True, wait=wait)
    if status in PASSING or status >= 500:
        return Fault(
            lambda n: JudgeServerError(status=status, attempts=n),
            words,
            is_passing=True,
            wait=retry_after(headers),
        )
    if 300 <= status < 400:
        return _not_taken(status, "It leads to another address; give that one.")
    return _not_taken(status, words, is_form=status in FORM)


def _not_taken(status: object, words: str, *, is_form: bool = False) -> Fault:
    excerpt = words[:SHOWN] or "it does not say why."
    return Fault(lambda _: JudgeRequestError(status=status, why=excerpt), words, is_form=is_form)


def _said(error: Any) -> str:
    """The endpoint's own words and code, where it says any."""
    body = error.body if isinstance(error.body, dict) else {}
    message, code = body.get("message"), body.get("code")
    words = message if isinstance(message, str) else str(error.message)
    return f"{words[:SHOWN]} ({code})" if isinstance(code, str) else words[:SHOWN]


def _chain(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in chain:
        chain.append(at)
        at = at.__cause__ or at.__context__
    return chain


def _refused(error: Exception) -> BenchmarkError | None:
    """What of ours forbade the request, behind what the library made of it."""
    return next((cause for cause in _chain(error) if isinstance(cause, BenchmarkError)), None)


def _why(error: Exception) -> str:
    """The deepest reason that says anything."""
    reasons = [str(cause) for cause in _chain(error) if str(cause)]
    return (reasons[-1] if reasons else type(error).__name__)[:SHOWN].rstrip(".")
