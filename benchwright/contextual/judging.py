"""From cases to outcomes, by judges that answer at once and by those that are awaited.

What is asked and how an answer is read stands in `asking`; here the questions are carried.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from typing import Any, Protocol, TypeAlias, cast

from benchwright.contextual import asking
from benchwright.contextual.options import OPTIONS, Options
from benchwright.contextual.prompts import TEMPLATE, Prompt, content_digest
from benchwright.contextual.types import Case, Outcome
from benchwright.judges.errors import (
    CaseError,
    JudgeObjectError,
    JudgeSettingError,
    RemoteImageError,
)
from benchwright.judges.images import fetched
from benchwright.judges.messages import Content, Image, JudgeFailedError, Message, Reply, Schema

__all__ = [
    "OPTIONS",
    "AnyJudge",
    "AsyncJudge",
    "Cache",
    "Judge",
    "Options",
    "evaluate_cases",
    "judge_case",
    "judged",
    "outcomes_of",
]

CONCURRENCY = 16
ASKED = "generate(messages, schema)"
ASKED_EITHER_WAY = f"{ASKED} or its async twin a_generate"

Generated: TypeAlias = Reply | str | Mapping[str, Any]
"""What a judge returns: text that holds JSON, the object itself, or a Reply that tells more."""


class Judge(Protocol):
    """Anything that answers messages with JSON of a schema; `model` names it, where it has one.

    Raise `JudgeFailedError` for what should be told in its own words; any other exception fails the
    case as `judge-object`.
    """

    def generate(self, messages: Sequence[Message], schema: Schema) -> Generated: ...


class AsyncJudge(Protocol):
    """The same, awaited; an object may have both methods."""

    def a_generate(self, messages: Sequence[Message], schema: Schema) -> Awaitable[Generated]: ...


AnyJudge: TypeAlias = Judge | AsyncJudge


class Cache(Protocol):
    """Keeps outcomes by the content of case, prompt and model; see `caching.FileCache`."""

    def get(self, key: str) -> Outcome | None: ...

    def put(self, key: str, outcome: Outcome) -> None: ...


def model_of(judge: AnyJudge) -> str:
    """What a judge is called: its `model`, or the name of its class."""
    return str(getattr(judge, "model", "") or type(judge).__name__)


async def closed(judge: AnyJudge) -> None:
    """Have a judge close what it keeps open in this event loop: its `a_close`, where it has one."""
    close = getattr(judge, "a_close", None)
    if close is not None:
        await close()


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
    generate = getattr(judge, "generate", None)
    if generate is None:
        raise _no_method(ASKED)
    try:
        case = _settled(case, options)
    except CaseError as error:
        return asking.failed(case, error)
    work = _Work(case, judge, options, cache)
    while (prompt := work.prompt) is not None:
        try:
            answer = generate(prompt.messages, prompt.schema)
        except Exception as error:  # noqa: BLE001 whatever a judge raises belongs to its case
            work.fail(error)
        else:
            work.go_on(answer)
    return work.ended()


async def judge_case(
    case: Case, judge: AnyJudge, options: Options = OPTIONS, cache: Cache | None = None
) -> Outcome:
    """What a judge finds of one case, by its `a_generate`, or by `generate` in a thread.

    Raises
    ------
    JudgeSettingError
        If the judge has neither.
    """
    generate = getattr(_awaited(judge, None), "a_generate")  # noqa: B009 mypy knows no such field
    try:
        if _must_settle(case, options):
            case = await asyncio.to_thread(_settled, case, options)
    except CaseError as error:
        return asking.failed(case, error)
    work = _Work(case, judge, options, cache)
    while (prompt := work.prompt) is not None:
        try:
            answer = await generate(prompt.messages, prompt.schema)
        except Exception as error:  # noqa: BLE001 whatever a judge raises belongs to its case
            work.fail(error)
        else:
            work.go_on(answer)
    return work.ended()


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
    pump = _Pump(cases, judge, options, concurrency, cache, cancel)
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

    Between two of them no event loop is running, so what is under way waits while the caller works;
    `cases` are taken and `cancel` is asked inside the loop, where Django's database is out of
    reach: give a list, and let `cancel` look at a variable. Closing the iterator drops what is
    under way. Errors as in `evaluate_cases`; where a loop is running already, RuntimeError.
    """
    with asyncio.Runner() as runner:
        pump = _Pump(cases, judge, options, concurrency, cache, cancel)
        try:
            while ready := runner.run(pump.ready()):
                yield from (outcome for _, outcome in ready)
        finally:
            runner.run(pump.close())


class _Work:
    """One case under way: the prompt that wants an answer now, or the outcome."""

    def __init__(self, case: Case, judge: AnyJudge, options: Options, cache: Cache | None) -> None:
        self.prompt: Prompt | None = None
        self.outcome: Outcome | None = None
        self.cache = cache
        digest = content_digest(case)
        self.key = cache_key(digest, judge, options) if cache is not None else ""
        cached = cache.get(self.key) if cache is not None else None
        if cached is not None:
            ours = replace(cached, case_id=case.id, slices=case.slices, is_cached=True, seconds=0.0)
            self.outcome = asking.scored(ours, options)
            return
        self.steps = asking.steps(case, digest, options, model_of(judge))
        self._advance(lambda: next(self.steps))

    def go_on(self, answer: Any) -> None:
        """Take what the judge returned."""
        self._advance(lambda: self.steps.send(answer))

    def fail(self, error: Exception) -> None:
        """Take what the judge raised."""
        if not isinstance(error, JudgeFailedError):
            why = f"raised {type(error).__name__}: {error}"
            error = JudgeFailedError(JudgeObjectError(why=why))
        self._advance(lambda: self.steps.throw(error))

    def ended(self) -> Outcome:
        """The outcome; a complete one that was paid for is kept in the cache."""
        outcome = self.outcome
        if outcome is None:
            msg = "the case is still under way"
            raise RuntimeError(msg)
        is_whole = outcome.error is None and outcome.reason_error is None
        if self.cache is not None and is_whole and outcome.answers and not outcome.is_cached:
            self.cache.put(self.key, outcome)
        return outcome

    def _advance(self, step: Callable[[], Prompt]) -> None:
        try:
            self.prompt = step()
        except StopIteration as end:
            self.prompt, self.outcome = None, end.value


class _Pump:
    """Cases that go through a judge, so many at once, and the outcomes that are ready."""

    def __init__(
        self,
        cases: Iterable[Case],
        judge: AnyJudge,
        options: Options,
        concurrency: int,
        cache: Cache | None,
        cancel: Callable[[], bool] | None,
    ) -> None:
        if concurrency < 1:
            expected = "a whole number of at least 1"
            raise JudgeSettingError(name="concurrency", value=concurrency, expected=expected)
        self.waiting = enumerate(cases)
        # Where the judge has no coroutine, as many threads as calls may be under way.
        self.executor = None if hasattr(judge, "a_generate") else ThreadPoolExecutor(concurrency)
        self.judge = _awaited(judge, self.executor)
        self.options = options
        self.concurrency = concurrency
        self.cache = cache
        self.cancel = cancel
        self.outcomes: list[tuple[int, Outcome]] = []
        self.changed = asyncio.Event()
        self.seen = asyncio.Event()
        self.workers: list[asyncio.Task[None]] = []

    async def ready(self) -> list[tuple[int, Outcome]]:
        """What has come since the last time, as soon as there is any; nothing at the end."""
        self.seen.set()
        self.seen = asyncio.Event()
        if not self.workers:
            self.workers = [asyncio.create_task(self._work()) for _ in range(self.concurrency)]
        while not self.outcomes and not all(worker.done() for worker in self.workers):
            self.changed.clear()
            await self.changed.wait()
        for worker in self.workers:
            if worker.done():
                worker.result()  # what is no fault of a case is raised here
        ready, self.outcomes = self.outcomes, []
        return ready

    async def close(self) -> None:
        """Drop what is under way."""
        for worker in self.workers:
            worker.cancel()
        await asyncio.gather(*self.workers, return_exceptions=True)
        await closed(self.judge)
        if self.executor:
            self.executor.shutdown(wait=False, cancel_futures=True)

    async def _work(self) -> None:
        try:
            while not (self.cancel and self.cancel()):
                place, case = next(self.waiting, (0, None))
                if case is None:
                    break
                outcome = await judge_case(case, self.judge, self.options, self.cache)
                self.outcomes.append((place, outcome))
                self.changed.set()
                # Whoever cancels goes by what has come: the next case waits until this is seen.
                await self.seen.wait()
        finally:
            self.changed.set()


class _Threaded:
    """A judge without a coroutine, asked in threads."""

    def __init__(self, judge: AnyJudge, executor: Executor | None) -> None:
        self.ask = judge.generate  # type: ignore[union-attr] # looked at before
        self.executor = executor
        self.model = model_of(judge)
        self.fingerprint = getattr(judge, "fingerprint", "")

    async def a_generate(self, messages: Sequence[Message], schema: Schema) -> Generated:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, self.ask, messages, schema)


def _awaited(judge: AnyJudge, executor: Executor | None) -> AsyncJudge:
    if hasattr(judge, "a_generate"):
        return cast("AsyncJudge", judge)
    if not hasattr(judge, "generate"):
        raise _no_method(ASKED_EITHER_WAY)
    return _Threaded(judge, executor)


def _no_method(expected: str) -> JudgeSettingError:
    return JudgeSettingError(
        name="the judge", value="an object that cannot be asked", expected=f"one with {expected}"
    )


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
