"""From cases to outcomes, by judges that answer at once and by those that are awaited.

What is asked and how an answer is read stands in `asking`; here the questions are carried.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any, Protocol

from benchwright.contextual import asking
from benchwright.contextual.prompts import TEMPLATE, content_digest
from benchwright.contextual.types import OPTIONS, Case, Options, Outcome
from benchwright.judges.errors import CaseError, RemoteImageError
from benchwright.judges.images import fetched
from benchwright.judges.messages import Content, Image
from benchwright.judges.pumping import (
    ASKED,
    CONCURRENCY,
    AnyJudge,
    AsyncJudge,
    Judge,
    Pump,
    a_walked,
    awaited,
    closed,
    model_of,
    no_method,
    results_of,
    walked,
)

__all__ = [
    "CONCURRENCY",
    "OPTIONS",
    "AnyJudge",
    "AsyncJudge",
    "Cache",
    "Judge",
    "Options",
    "closed",
    "evaluate_cases",
    "judge_case",
    "judged",
    "model_of",
    "outcomes_of",
]


class Cache(Protocol):
    """Keeps outcomes by the content of case, prompt and model; see `caching.FileCache`."""

    def get(self, key: str) -> Outcome | None: ...

    def put(self, key: str, outcome: Outcome) -> None: ...


def cache_key(digest: str, judge: AnyJudge, options: Options) -> str:
    """What an answer depends on: content, wording, model with its settings, reason or none.

    A judge tells by `fingerprint` what else decides its answers, such as its address.
    """
    facts = (TEMPLATE, digest, model_of(judge), str(getattr(judge, "fingerprint", "")))
    return sha256("\x00".join((*facts, str(options.include_reason))).encode()).hexdigest()


def judged(
    case: Case, judge: AnyJudge, options: Options = OPTIONS, cache: Cache | None = None
) -> Outcome:
    """What a judge finds of one case, by its `generate`; what goes wrong is in the outcome.

    Raises
    ------
    JudgeSettingError
        If the judge has no `generate`.
    """
    if not hasattr(judge, "generate"):
        raise no_method(ASKED)
    try:
        case = _settled(case, options)
    except CaseError as error:
        return asking.failed(case, error)
    return walked(_steps(case, judge, options, cache), judge)


async def judge_case(
    case: Case, judge: AnyJudge, options: Options = OPTIONS, cache: Cache | None = None
) -> Outcome:
    """What a judge finds of one case, by its `a_generate`, or by `generate` in a thread.

    Raises
    ------
    JudgeSettingError
        If the judge has neither.
    """
    judge = awaited(judge, None)
    try:
        if _must_settle(case, options):
            case = await asyncio.to_thread(_settled, case, options)
    except CaseError as error:
        return asking.failed(case, error)
    return await a_walked(_steps(case, judge, options, cache), judge)


async def evaluate_cases(
    cases: Iterable[Case],
    judge: AnyJudge,
    options: Options = OPTIONS,
    *,
    concurrency: int = CONCURRENCY,
    on_outcome: Callable[[Outcome], object] | None = None,
    cache: Cache | None = None,
    cancel: Callable[[], bool] | None = None,
) -> list[Outcome]:
    """Outcomes in the order of the cases, with so many under way at once.

    `on_outcome` is told each as it comes (inside the event loop: no database there). Once `cancel`
    says yes no further case is begun; those under way are finished, the others are left out.

    Raises
    ------
    JudgeSettingError
        If the judge has no method to ask, or `concurrency` is below 1.
    """
    pump = _pump(cases, judge, options, concurrency, cache, cancel)
    outcomes: dict[int, Outcome] = {}
    try:
        while ready := await pump.ready():
            for place, outcome in ready:
                outcomes[place] = outcome
                if on_outcome:
                    on_outcome(outcome)
    finally:
        await pump.close()
    return [outcomes[place] for place in sorted(outcomes)]


def outcomes_of(
    cases: Iterable[Case],
    judge: AnyJudge,
    options: Options = OPTIONS,
    *,
    concurrency: int = CONCURRENCY,
    cache: Cache | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Iterator[Outcome]:
    """Outcomes as they come, for code that is not async: a job may write each to its database.

    What is under way goes on while the caller works, and no further case is begun until what came
    is done with; `cases` are taken and `cancel` is asked in the thread that asks, where Django's
    database is out of reach: give a list, and let `cancel` look at a variable. Closing the iterator
    drops what is under way. Errors as in `evaluate_cases`; where a loop is running already,
    RuntimeError.
    """
    return results_of(lambda: _pump(cases, judge, options, concurrency, cache, cancel))


def _pump(
    cases: Iterable[Case],
    judge: AnyJudge,
    options: Options,
    concurrency: int,
    cache: Cache | None,
    cancel: Callable[[], bool] | None,
) -> Pump[Case, Outcome]:
    def work(case: Case, judge: AsyncJudge) -> Coroutine[Any, Any, Outcome]:
        return judge_case(case, judge, options, cache)

    return Pump(cases, work, judge, concurrency=concurrency, cancel=cancel)


def _steps(case: Case, judge: AnyJudge, options: Options, cache: Cache | None) -> asking.Steps:
    """The steps of a case whose outcome may be known; a whole one that was paid for is kept."""
    digest = content_digest(case)
    key = cache_key(digest, judge, options) if cache is not None else ""
    cached = cache.get(key) if cache is not None else None
    if cached is not None:
        ours = replace(cached, case_id=case.id, slices=case.slices, is_cached=True, seconds=0.0)
        return asking.scored(ours, options)
    outcome = yield from asking.steps(case, digest, options, model_of(judge))
    is_whole = outcome.error is None and outcome.reason_error is None
    if cache is not None and is_whole and outcome.answers:
        cache.put(key, outcome)
    return outcome


def _must_settle(case: Case, options: Options) -> bool:
    return options.remote_images != "pass" and any(not image.data for image in case.images())


def _settled(case: Case, options: Options) -> Case:
    """The case with every image as bytes, where the options want that."""
    if not _must_settle(case, options):
        return case
    by_url = {image: _brought(image, options) for image in case.images() if not image.data}

    def changed(content: Content) -> Content:
        return tuple(
            by_url.get(part, part) if isinstance(part, Image) else part for part in content
        )

    return replace(
        case,
        input=changed(case.input),
        expected_output=changed(case.expected_output),
        retrieval_context=tuple(map(changed, case.retrieval_context)),
    )


def _brought(image: Image, options: Options) -> Image:
    if options.remote_images == "refuse":
        why = "images given by address are not sent here. Give it as a file."
        raise RemoteImageError(url=image.url, why=why)
    return fetched(image, may_be_private=options.may_fetch_private)
