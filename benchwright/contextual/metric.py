"""`ContextualPrecision`, a metric to be asked case by case, and `evaluate` for many cases.

A metric keeps nothing of one case that could reach the next: what goes wrong is in the outcome.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from benchwright.contextual.judging import (
    CONCURRENCY,
    AnyJudge,
    Cache,
    closed,
    evaluate_cases,
    judge_case,
    judged,
    model_of,
)
from benchwright.contextual.summary import Summary, summarised
from benchwright.contextual.types import Case, Options, Outcome, Verdict
from benchwright.judges.client import OpenAIJudge
from benchwright.judges.endpoint import Endpoint, key_from_environment

MODEL = "gpt-4o"
Result = TypeVar("Result")


class ContextualPrecision:
    """Contextual precision of what was retrieved, by the verdicts of a judge.

    Parameters
    ----------
    threshold
        Score from which a case is a success; None for no such verdict.
    model
        Name of a model at OpenAI's address (key from BENCHWRIGHT_JUDGE_KEY or OPENAI_API_KEY), or
        any object with `generate(messages, schema)` or its async twin `a_generate`.
    include_reason
        Whether a second call asks for the score's reason in words.
    strict_mode
        Threshold 1, and every score below 1 is 0.
    async_mode
        Whether `evaluate` has several cases under way at once.
    verbose_mode
        Whether verdicts, score and reason of each case are printed.

    After `measure`, `score`, `reason`, `success`, `verdicts` and `error` are those of its outcome.
    """

    name = "Contextual precision"

    def __init__(
        self,
        threshold: float | None = 0.5,
        model: str | AnyJudge = MODEL,
        include_reason: bool = True,
        strict_mode: bool = False,
        async_mode: bool = True,
        verbose_mode: bool = False,
        *,
        remote_images: Literal["pass", "fetch", "refuse"] = "pass",
    ) -> None:
        self.options = Options(threshold, include_reason, strict_mode, remote_images)
        if isinstance(model, str):
            model = OpenAIJudge(Endpoint(model), key_from_environment())
        self.judge = model
        self.async_mode = async_mode
        self.verbose_mode = verbose_mode
        self.outcome: Outcome | None = None

    def __repr__(self) -> str:
        return f"ContextualPrecision(model={model_of(self.judge)!r}, {self.options})"

    @property
    def threshold(self) -> float | None:
        return 1.0 if self.options.strict_mode else self.options.threshold

    @property
    def score(self) -> float | None:
        return self.outcome.score if self.outcome else None

    @property
    def reason(self) -> str | None:
        return self.outcome.reason if self.outcome else None

    @property
    def success(self) -> bool | None:
        return self.outcome.is_success if self.outcome else None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.outcome.verdicts if self.outcome else ()

    @property
    def error(self) -> str | None:
        failure = self.outcome.error if self.outcome else None
        return failure.message if failure else None

    def measure(self, case: Case, *, cache: Cache | None = None) -> Outcome:
        """The outcome of a case; an error of the case is in it, not raised."""
        if hasattr(self.judge, "generate"):
            return self._told(judged(case, self.judge, self.options, cache))
        return self._told(_run(self._asked(case, cache)))

    async def a_measure(self, case: Case, *, cache: Cache | None = None) -> Outcome:
        """The same, awaited."""
        return self._told(await judge_case(case, self.judge, self.options, cache))

    async def _asked(self, case: Case, cache: Cache | None) -> Outcome:
        try:
            return await judge_case(case, self.judge, self.options, cache)
        finally:
            await closed(self.judge)

    def _told(self, outcome: Outcome) -> Outcome:
        self.outcome = outcome
        if self.verbose_mode:
            sys.stdout.write(f"{steps_of(outcome)}\n")
        return outcome


@dataclass(frozen=True)
class Evaluation:
    """Outcomes by metric and case, each in the order given."""

    metrics: tuple[ContextualPrecision, ...]
    outcomes: tuple[tuple[Outcome, ...], ...]

    def summary(self, metric: int = 0) -> Summary:
        """Means and counts of one of the metrics."""
        return summarised(self.outcomes[metric])


def evaluate(
    cases: Iterable[Case],
    metrics: Sequence[ContextualPrecision],
    *,
    concurrency: int = CONCURRENCY,
    on_outcome: Callable[[Outcome], object] | None = None,
    cache: Cache | None = None,
) -> Evaluation:
    """Outcomes of all cases by each metric; an error is in the outcome of its case alone.

    `concurrency` is how many cases are under way at once (one, for a metric without `async_mode`);
    `on_outcome` is told each outcome as it comes.
    """
    listed = tuple(cases)
    return _run(_evaluated(listed, tuple(metrics), concurrency, on_outcome, cache))


async def _evaluated(
    cases: tuple[Case, ...],
    metrics: tuple[ContextualPrecision, ...],
    concurrency: int,
    on_outcome: Callable[[Outcome], object] | None,
    cache: Cache | None,
) -> Evaluation:
    rows = []
    for metric in metrics:
        outcomes = await evaluate_cases(
            cases,
            metric.judge,
            metric.options,
            concurrency=concurrency if metric.async_mode else 1,
            on_outcome=on_outcome,
            cache=cache,
        )
        if metric.verbose_mode:
            sys.stdout.write("".join(f"{steps_of(outcome)}\n" for outcome in outcomes))
        rows.append(tuple(outcomes))
    return Evaluation(metrics, tuple(rows))


def steps_of(outcome: Outcome) -> str:
    """Verdicts, arithmetic and reason of an outcome, as lines for a person."""
    lines = [f"Case {outcome.case_id or '(without id)'}"]
    if outcome.error:
        return "\n".join([*lines, f"  error  {outcome.error.message}"])
    n_found, terms = 0, []
    for verdict in outcome.verdicts:
        n_found += verdict.is_relevant
        lines.append(
            f"  node {verdict.node}  {'yes' if verdict.is_relevant else 'no '}  {verdict.reason}"
        )
        if verdict.is_relevant:
            terms.append(f"{n_found}/{verdict.node}")
    sum_of = f"({' + '.join(terms)}) / {n_found} = " if terms else ""
    lines.append(f"  score  {sum_of}{outcome.score}")
    return "\n".join([*lines, f"  reason {outcome.reason}"] if outcome.reason else lines)


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end; in a thread where this one has a loop already, as notebooks do."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
