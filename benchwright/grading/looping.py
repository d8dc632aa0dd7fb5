"""From pairs to grades: what is asked of one, and many of them at once.

The same question (content, prompt, model and its parameters) is asked once: of a cache first, and
of two equal pairs under way at the same time the second waits for the first.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock
from time import perf_counter
from typing import Any, Protocol, TypeAlias

from benchwright.grading.prompts import GradingPrompt, content_digest, probabilities_of
from benchwright.grading.types import Graded, Pair
from benchwright.judges.course import Course, Prompt, asked, failure_of
from benchwright.judges.errors import CaseError, EmptyPartError, JudgeSettingError
from benchwright.judges.messages import is_empty
from benchwright.judges.pumping import (
    CONCURRENCY,
    AnyJudge,
    AsyncJudge,
    Pump,
    a_walked,
    model_of,
    results_of,
    walked,
)

Steps: TypeAlias = Generator[Prompt, Any, Graded]
NO_ACCESS = "judge-access"
"""The failure that every pair would meet: after the first one no further pair is begun."""


class Cache(Protocol):
    """Keeps gradings by their key; see `caching.GradeCache`."""

    def get(self, key: str) -> Graded | None: ...

    def put(self, key: str, kept: Graded) -> None: ...


class MemoryCache:
    """A cache for as long as it is held, of the last `most` gradings where that is said.

    Several threads may use it.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.kept: dict[str, Graded] = {}
        self.lock = Lock()

    def get(self, key: str) -> Graded | None:
        return self.kept.get(key)

    def put(self, key: str, kept: Graded) -> None:
        with self.lock:
            self.kept[key] = kept
            if self.most is not None and len(self.kept) > self.most:
                del self.kept[next(iter(self.kept))]


@dataclass
class Budget:
    """How much may be spent, and how much is; what an earlier attempt spent is given as `spent`.

    Once the limit is reached no further pair is begun; what is under way is finished, and paid.
    """

    limit: float | None = None
    spent: float = 0.0

    @property
    def is_spent(self) -> bool:
        return self.limit is not None and self.spent >= self.limit


def key_of(pair: Pair, judge: AnyJudge, prompt: GradingPrompt) -> str:
    """What an answer depends on: content, prompt, model with its parameters.

    A judge tells by `fingerprint` what else decides its answers, such as its address.
    """
    return _key(content_digest(pair), judge, prompt)


def _key(digest: str, judge: AnyJudge, prompt: GradingPrompt) -> str:
    facts = (prompt.hash, digest, model_of(judge), str(getattr(judge, "fingerprint", "")))
    return sha256("\x00".join(facts).encode()).hexdigest()


def graded(
    pair: Pair, judge: AnyJudge, prompt: GradingPrompt, *, cache: Cache | None = None
) -> Graded:
    """What a judge says of one pair, by its `generate`; what goes wrong is in it, not raised.

    Raises
    ------
    JudgeSettingError
        If the judge has no `generate`.
    """
    return walked(_steps(pair, judge, prompt, _kept_in(cache)), judge)


def gradings_of(
    pairs: Iterable[Pair],
    judge: AnyJudge,
    prompt: GradingPrompt,
    *,
    concurrency: int = CONCURRENCY,
    cache: Cache | None = None,
    cancel: Callable[[], bool] | None = None,
    budget: Budget | None = None,
    ahead: int = 0,
) -> Iterator[Graded]:
    """Gradings as they come, for code that is not async: a job may write each to its database.

    What is under way goes on while the caller works, and no further pair is begun as long as more
    than `ahead` gradings are not done with: as many more may be begun after `cancel` says yes.
    `pairs` are taken, `cache` and `cancel` are asked in the thread that asks, where Django's
    database is out of reach. Once `cancel` says yes, the budget is spent or the endpoint gives no
    access, no further pair is begun; those under way are finished. Closing the iterator drops them.

    To go on after a crash, leave out the pairs that are written, or give the cache of before.

    Raises
    ------
    JudgeSettingError
        If the judge has no method to ask, `concurrency` is below 1, or a limit is set for a judge
        without prices.
    """
    _check_prices(judge, budget)
    return results_of(
        lambda: _pump(pairs, judge, prompt, concurrency, cache, cancel, budget), ahead=ahead
    )


async def grade_pairs(
    pairs: Iterable[Pair],
    judge: AnyJudge,
    prompt: GradingPrompt,
    *,
    concurrency: int = CONCURRENCY,
    cache: Cache | None = None,
    cancel: Callable[[], bool] | None = None,
    budget: Budget | None = None,
    on_graded: Callable[[Graded], object] | None = None,
) -> list[Graded]:
    """The same, awaited: gradings in the order of the pairs; `on_graded` is told each as it comes.

    Raises as `gradings_of` does.
    """
    _check_prices(judge, budget)
    pump = _pump(pairs, judge, prompt, concurrency, cache, cancel, budget)
    gradings: dict[int, Graded] = {}
    try:
        while ready := await pump.ready():
            for place, grading in ready:
                gradings[place] = grading
                if on_graded:
                    on_graded(grading)
    finally:
        await pump.close()
    return [gradings[place] for place in sorted(gradings)]


def _kept_in(cache: Cache | None) -> Cache:
    return MemoryCache() if cache is None else cache  # an empty one may be false


def _check_prices(judge: AnyJudge, budget: Budget | None) -> None:
    endpoint = getattr(judge, "endpoint", None)
    if budget is None or budget.limit is None or endpoint is None:
        return
    if endpoint.price_in is None or endpoint.price_out is None:
        value = f"{budget.limit:g}, but the judge has no prices"
        expected = "both prices of a million tokens, or no limit"
        raise JudgeSettingError(name="the cost limit", value=value, expected=expected)


def _pump(
    pairs: Iterable[Pair],
    judge: AnyJudge,
    prompt: GradingPrompt,
    concurrency: int,
    cache: Cache | None,
    cancel: Callable[[], bool] | None,
    budget: Budget | None,
) -> Pump[Pair, Graded]:
    loop = _Loop(prompt, _kept_in(cache), cancel, budget or Budget())
    return Pump(pairs, loop.grading, judge, concurrency=concurrency, cancel=loop.is_over)


class _Loop:
    """Many pairs under way: equal questions wait for the first of them; money and access end it."""

    def __init__(
        self,
        prompt: GradingPrompt,
        cache: Cache,
        cancel: Callable[[], bool] | None,
        budget: Budget,
    ) -> None:
        self.prompt = prompt
        self.cache = cache
        self.cancel = cancel
        self.budget = budget
        self.has_access = True
        self.under_way: dict[str, asyncio.Future[None]] = {}

    def is_over(self) -> bool:
        is_cancelled = self.cancel is not None and self.cancel()
        return is_cancelled or self.budget.is_spent or not self.has_access

    def grading(self, pair: Pair, judge: AsyncJudge) -> Coroutine[Any, Any, Graded]:
        return self._grading(pair, judge)

    async def _grading(self, pair: Pair, judge: AsyncJudge) -> Graded:
        key = key_of(pair, judge, self.prompt)
        while (first := self.under_way.get(key)) is not None:
            await asyncio.shield(first)
        mine = self.under_way[key] = asyncio.get_running_loop().create_future()
        try:
            grading = await a_walked(_steps(pair, judge, self.prompt, self.cache), judge)
        finally:
            del self.under_way[key]
            mine.set_result(None)
        self.budget.spent += grading.paid
        if grading.error is not None and grading.error.code == NO_ACCESS:
            self.has_access = False
        return grading


def _steps(pair: Pair, judge: AnyJudge, prompt: GradingPrompt, cache: Cache) -> Steps:
    """Ask for a grade, if it is not known; every error ends in the grading."""
    digest = content_digest(pair)
    key = _key(digest, judge, prompt)
    grading = cache.get(key)
    if grading is not None:
        return replace(
            grading,
            query_id=pair.query_id,
            document_id=pair.document_id,
            is_cached=True,
            seconds=0.0,
        )
    started = perf_counter()
    course = Course(model_of(judge))
    begun = Graded(pair.query_id, pair.document_id, key=key, prompt_hash=prompt.hash)
    try:
        _refuse_empty(pair)
        asking = asked(prompt.asked(pair, digest), prompt.grade_of, course)
        grade, reason = yield from asking
    except CaseError as error:
        ended = replace(begun, error=failure_of(error))
    else:
        probabilities = probabilities_of(course.reply, grade, prompt.grades)
        ended = replace(begun, grade=grade, reason=reason, probabilities=probabilities)
    ended = replace(
        ended, answers=tuple(course.answers), at=_now(), seconds=perf_counter() - started
    )
    if ended.error is None:
        cache.put(key, ended)
    return ended


def _refuse_empty(pair: Pair) -> None:
    for part, content in (("query", pair.query), ("document", pair.document)):
        if is_empty(content):
            raise EmptyPartError(part=part)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
