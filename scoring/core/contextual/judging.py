"""From a case to an outcome, by one call of a judge and a second one for the reason.

What is asked and how an answer is read stands in `asking`, once for both worlds: here it is driven
by judges that answer at once and by those that are awaited.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from scoring.core.contextual.types import Case, Message, Outcome, Reply, Schema

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

    def a_generate(
        self, messages: Sequence[Message], schema: Schema
    ) -> Awaitable[Generated]: ...


AnyJudge: TypeAlias = Judge | AsyncJudge


class Cache(Protocol):
    """Keeps outcomes by the content of case, prompt and model; see `caching.FileCache`."""

    def get(self, key: str) -> Outcome | None: ...

    def put(self, key: str, outcome: Outcome) -> None: ...


@dataclass(frozen=True, slots=True)
class Options:
    """How a case is judged and scored.

    `threshold` None gives no verdict on success; `strict_mode` makes it 1 and every lower score 0.
    `remote_images`: images given by address are passed on to the judge, fetched by us (public
    addresses only unless `may_fetch_private`), or refused.
    """

    threshold: float | None = 0.5
    include_reason: bool = True
    strict_mode: bool = False
    remote_images: Literal["pass", "fetch", "refuse"] = "pass"
    may_fetch_private: bool = False


OPTIONS = Options()


async def judge_case(
    case: Case, judge: AnyJudge, options: Options = OPTIONS, cache: Cache | None = None
) -> Outcome:
    """What a judge finds of one case; what goes wrong is in the outcome, never raised."""
    raise NotImplementedError


async def evaluate_cases(
    cases: Iterable[Case],
    judge: AnyJudge,
    options: Options = OPTIONS,
    *,
    concurrency: int = 16,
    on_outcome: Callable[[Outcome], object] | None = None,
    cache: Cache | None = None,
    cancel: Callable[[], bool] | None = None,
) -> list[Outcome]:
    """Outcomes in the order of the cases, with so many under way at once.

    `on_outcome` is told each as it comes (inside the event loop: no database there). Once `cancel`
    says yes no further case is begun; those under way are finished, the others are left out.
    """
    raise NotImplementedError


def outcomes_of(
    cases: Iterable[Case],
    judge: AnyJudge,
    options: Options = OPTIONS,
    *,
    concurrency: int = 16,
    cache: Cache | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Iterator[Outcome]:
    """Outcomes as they come, for code that is not async: a job may write each to its database.

    Between two of them no event loop is running. Closing the iterator drops what is under way.
    `cancel` as in `evaluate_cases`.
    """
    raise NotImplementedError
