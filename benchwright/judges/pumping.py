"""Work that goes to a judge, so much at once, by judges that answer at once and those awaited."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from benchwright.judges.course import Prompt
from benchwright.judges.errors import JudgeObjectError, JudgeSettingError
from benchwright.judges.messages import JudgeFailedError, Message, Reply, Schema

CONCURRENCY = 16
ASKED = "generate(messages, schema)"
ASKED_EITHER_WAY = f"{ASKED} or its async twin a_generate"

END = object()
Item = TypeVar("Item")
Result = TypeVar("Result")

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


def model_of(judge: AnyJudge) -> str:
    """What a judge is called: its `model`, or the name of its class."""
    return str(getattr(judge, "model", "") or type(judge).__name__)


async def closed(judge: AnyJudge) -> None:
    """Have a judge close what it keeps open in this event loop: its `a_close`, where it has one."""
    close = getattr(judge, "a_close", None)
    if close is not None:
        await close()


class Walk(Generic[Result]):
    """A generator of prompts under way: the prompt that wants an answer now, or what came of it."""

    def __init__(self, steps: Generator[Prompt, Any, Result]) -> None:
        self.prompt: Prompt | None = None
        self.result: Result | None = None
        self.steps = steps
        self._advance(lambda: next(steps))

    def go_on(self, answer: Any) -> None:
        """Take what the judge returned."""
        self._advance(lambda: self.steps.send(answer))

    def fail(self, error: Exception) -> None:
        """Take what the judge raised."""
        if not isinstance(error, JudgeFailedError):
            why = f"raised {type(error).__name__}: {error}"
            error = JudgeFailedError(JudgeObjectError(why=why))
        self._advance(lambda: self.steps.throw(error))

    def ended(self) -> Result:
        """What came of it."""
        if self.prompt is not None:
            msg = "the case is still under way"
            raise RuntimeError(msg)
        return cast("Result", self.result)

    def _advance(self, step: Callable[[], Prompt]) -> None:
        try:
            self.prompt = step()
        except StopIteration as end:
            self.prompt, self.result = None, end.value


def walked(steps: Generator[Prompt, Any, Result], judge: AnyJudge) -> Result:
    """What comes of the steps, by a judge's `generate`.

    Raises
    ------
    JudgeSettingError
        If the judge has none.
    """
    generate = getattr(judge, "generate", None)
    if generate is None:
        raise no_method(ASKED)
    walk = Walk(steps)
    while (prompt := walk.prompt) is not None:
        try:
            answer = generate(prompt.messages, prompt.schema)
        except Exception as error:  # noqa: BLE001 whatever a judge raises belongs to its case
            walk.fail(error)
        else:
            walk.go_on(answer)
    return walk.ended()


async def a_walked(steps: Generator[Prompt, Any, Result], judge: AnyJudge) -> Result:
    """What comes of the steps, by a judge's `a_generate`, or by `generate` in a thread.

    Raises
    ------
    JudgeSettingError
        If the judge has neither.
    """
    generate = awaited(judge, None).a_generate
    walk = Walk(steps)
    while (prompt := walk.prompt) is not None:
        try:
            answer = await generate(prompt.messages, prompt.schema)
        except Exception as error:  # noqa: BLE001 whatever a judge raises belongs to its case
            walk.fail(error)
        else:
            walk.go_on(answer)
    return walk.ended()


class Pump(Generic[Item, Result]):
    """Items that go through a judge, so many at once, and the results that are ready.

    `work` makes an item's result with the judge (one with `a_generate`). Items are taken, and
    `cancel` is asked, inside the event loop.

    Raises
    ------
    JudgeSettingError
        If the judge has no method to ask, or `concurrency` is below 1.
    """

    def __init__(
        self,
        items: Iterable[Item],
        work: Callable[[Item, AsyncJudge], Awaitable[Result]],
        judge: AnyJudge,
        *,
        concurrency: int,
        cancel: Callable[[], bool] | None,
    ) -> None:
        if concurrency < 1:
            expected = "a whole number of at least 1"
            raise JudgeSettingError(name="concurrency", value=concurrency, expected=expected)
        self.waiting: Iterator[tuple[int, Item]] = enumerate(items)
        # Where the judge has no coroutine, as many threads as calls may be under way.
        self.executor = None if hasattr(judge, "a_generate") else ThreadPoolExecutor(concurrency)
        self.judge = awaited(judge, self.executor)
        self.work = work
        self.concurrency = concurrency
        self.cancel = cancel
        self.results: list[tuple[int, Result]] = []
        self.changed = asyncio.Event()
        self.seen = asyncio.Event()
        self.workers: list[asyncio.Task[None]] = []

    async def ready(self) -> list[tuple[int, Result]]:
        """What has come since the last time, as soon as there is any; nothing at the end.

        Nothing further is begun before all that has come was handed out.
        """
        if not self.results:
            self.seen.set()
            self.seen = asyncio.Event()
        if not self.workers:
            self.workers = [asyncio.create_task(self._work()) for _ in range(self.concurrency)]
        while not self.results and not all(worker.done() for worker in self.workers):
            self.changed.clear()
            await self.changed.wait()
        for worker in self.workers:
            if worker.done():
                worker.result()  # what is no fault of a case is raised here
        ready, self.results = self.results, []
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
                waiting = next(self.waiting, None)
                if waiting is None:
                    break
                place, item = waiting
                result = await self.work(item, self.judge)
                # Not in one line: the list of before the wait may have been handed out.
                self.results.append((place, result))
                self.changed.set()
                # Whoever cancels goes by what has come: the next case waits until this is seen.
                await self.seen.wait()
        finally:
            self.changed.set()


def results_of(make: Callable[[], Pump[Item, Result]], *, ahead: int = 0) -> Iterator[Result]:
    """Results of a pump as they come, for code that is not async.

    The pump goes on in a thread of its own while the caller works, and begins no further item as
    long as more than `ahead` results are not done with: a result is once the next one is asked for.
    Closing the iterator drops what is under way. Where a loop is running already, RuntimeError.
    """
    _refuse_running_loop()
    relay = _Relay(make, ahead)
    relay.thread.start()
    try:
        while (result := relay.handed.get()) is not END:
            yield result
            relay.took_one()
        if relay.error is not None:
            raise relay.error
    finally:
        relay.stop()


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    msg = "an event loop is running here: await the async twin instead"
    raise RuntimeError(msg)


class _Relay(Generic[Item, Result]):
    """A pump in a thread, and the results that another thread has not done with."""

    def __init__(self, make: Callable[[], Pump[Item, Result]], ahead: int) -> None:
        self.make = make
        self.ahead = ahead
        self.handed: SimpleQueue[Any] = SimpleQueue()
        self.error: BaseException | None = None
        self.loop = asyncio.new_event_loop()
        self.n_open = 0
        self.has_room = asyncio.Event()
        self.thread = threading.Thread(target=self._run, name="judging", daemon=True)

    def took_one(self) -> None:
        self._tell(self._count_down)

    def stop(self) -> None:
        self._tell(self._cancel)
        self.thread.join()

    def _tell(self, what: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self.loop.call_soon_threadsafe(what)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
                runner.run(self._pump())
        except BaseException as error:  # noqa: BLE001 - handed over to who takes the results
            self.error = error
        finally:
            self.handed.put(END)

    async def _pump(self) -> None:
        self.task = asyncio.current_task()
        pump = self.make()
        try:
            while ready := await pump.ready():
                for _, result in ready:
                    self.n_open += 1
                    self.handed.put(result)
                while self.n_open > self.ahead:
                    self.has_room.clear()
                    await self.has_room.wait()
        finally:
            await pump.close()

    def _count_down(self) -> None:
        self.n_open -= 1
        self.has_room.set()

    def _cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


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


def awaited(judge: AnyJudge, executor: Executor | None) -> AsyncJudge:
    """The judge itself, or one that asks it in threads.

    Raises
    ------
    JudgeSettingError
        If it has no method to ask.
    """
    if hasattr(judge, "a_generate"):
        return cast("AsyncJudge", judge)
    if not hasattr(judge, "generate"):
        raise no_method(ASKED_EITHER_WAY)
    return _Threaded(judge, executor)


def no_method(expected: str) -> JudgeSettingError:
    return JudgeSettingError(
        name="the judge", value="an object that cannot be asked", expected=f"one with {expected}"
    )
