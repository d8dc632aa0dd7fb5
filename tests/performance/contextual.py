"""Contextual precision against deepeval, with a judge by script: what is left is our own work.

Every contender is a process of its own, in turns, so that memory and what one leaves behind do not
reach the next. Nobody waits for anything, so processor time is told. Ten nodes of one kilobyte a
case, verdicts and a reason for each.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.performance.timing import missing
from tests.performance.toy import size

ROOT = Path(__file__).parents[2]
N_CASES = size(1000, 20)
N_NODES = 10
N_PAIRS = size(10_000, 40)
N_NUMBERS = size(1_000_000, 1_000)
NODE_BYTES = 1000
ROUNDS = size(5, 1)
GROWING = size((100, 200, 400, 1000), (10,))
PEER_GROWING = (100, 200, 400)

MOST_MEASURE_MS = 0.1
MOST_BULK_MS = 0.15
MOST_CACHED_MS = 0.2
MOST_ARITHMETIC_US = 1.0
LEAST_OF_STUB = 0.9

AT_ONCE = 16
# As an endpoint is: few answers are worked on at once, each takes its time.
STUB = {"--delay": "0.1", "--places": "8"}

QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "NO",
    "ERROR_REPORTING": "NO",
    "DEEPEVAL_DISABLE_PROGRESS_BAR": "YES",
    "CONFIDENT_METRIC_LOGGING_ENABLED": "NO",
    "OPENAI_API_KEY": "none",
}

RELEVANT = [rank % 3 == 0 for rank in range(N_NODES)]
REASON = "It names what was asked for, in so many words, and that is what was wanted of it."
VERDICTS = {
    "verdicts": {
        str(rank): {"reason": REASON, "verdict": "yes" if is_relevant else "no"}
        for rank, is_relevant in enumerate(RELEVANT, start=1)
    }
}


def nodes(number: int) -> list[str]:
    return [f"node {rank} of case {number} ".ljust(NODE_BYTES, "x") for rank in range(N_NODES)]


# --- ours ----------------------------------------------------------------------------------------


class Judge:
    """Answers by script, as text that has to be read."""

    model = "script"

    def __init__(self) -> None:
        self.verdicts = json.dumps(VERDICTS)
        self.reason = json.dumps({"reason": REASON})

    def generate(self, messages: Any, schema: Any) -> str:
        return self.verdicts if schema["name"] == "verdicts" else self.reason

    async def a_generate(self, messages: Any, schema: Any) -> str:
        return self.generate(messages, schema)


def our_cases(n: int) -> list[Any]:
    from benchwright.contextual.types import Case

    return [Case(f"input {i}", f"expected {i}", nodes(i), id=str(i)) for i in range(n)]


def ours_measure(n: int) -> Callable[[], None]:
    from benchwright.contextual.metric import ContextualPrecision

    cases, metric = our_cases(n), ContextualPrecision(model=Judge())

    def work() -> None:
        for case in cases:
            assert metric.measure(case).score

    return work


def ours_bulk(n: int) -> Callable[[], None]:
    from benchwright.contextual.metric import ContextualPrecision, evaluate

    cases, metric = our_cases(n), ContextualPrecision(model=Judge())

    def work() -> None:
        scores = evaluate(cases, [metric], concurrency=AT_ONCE)
        assert len(scores.outcomes[0]) == n

    return work


def _ours_cached(n: int, *, is_full: bool) -> Callable[[], None]:
    from benchwright.contextual.metric import ContextualPrecision, evaluate
    from benchwright.contextual.serial import FileCache

    cases, metric = our_cases(n), ContextualPrecision(model=Judge())
    folder = TemporaryDirectory()
    path = Path(folder.name) / "cache"

    def work() -> None:
        if not is_full:
            path.unlink(missing_ok=True)
        with FileCache(path) as cache:
            scores = evaluate(cases, [metric], concurrency=AT_ONCE, cache=cache)
        assert len(scores.outcomes[0]) == n
        assert {outcome.is_cached for outcome in scores.outcomes[0]} == {is_full}
        assert folder.name

    if is_full:
        with FileCache(path) as cache:
            evaluate(cases, [metric], cache=cache)
    return work


def ours_cached(n: int) -> Callable[[], None]:
    return _ours_cached(n, is_full=False)


def ours_from_cache(n: int) -> Callable[[], None]:
    return _ours_cached(n, is_full=True)


def ours_arithmetic(n: int) -> Callable[[], None]:
    import numpy as np

    from benchwright.contextual.arithmetic import contextual_precisions

    matrix = np.random.default_rng(1).random((n, N_NODES)) < 0.3
    return lambda: contextual_precisions(matrix)


# --- the peer ------------------------------------------------------------------------------------


def _their_metric() -> Any:
    from deepeval.metrics import ContextualPrecisionMetric
    from deepeval.metrics.contextual_precision.schema import (
        ContextualPrecisionScoreReason,
        ContextualPrecisionVerdict,
        Verdicts,
    )
    from deepeval.models import DeepEvalBaseLLM

    verdicts = Verdicts(
        verdicts=[
            ContextualPrecisionVerdict(verdict="yes" if one else "no", reason=REASON)
            for one in RELEVANT
        ]
    )
    reason = ContextualPrecisionScoreReason(reason=REASON)

    class TheirJudge(DeepEvalBaseLLM):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__("script")

        def load_model(self) -> "TheirJudge":
            return self

        def get_model_name(self) -> str:
            return "script"

        def generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
            return verdicts if schema is Verdicts else reason

        async def a_generate(self, prompt: str, schema: Any = None, **_: Any) -> Any:
            return self.generate(prompt, schema)

    return ContextualPrecisionMetric(model=TheirJudge(), async_mode=False)


def _their_cases(n: int) -> list[Any]:
    from deepeval.test_case import LLMTestCase

    return [
        LLMTestCase(
            input=f"input {i}",
            actual_output=f"actual {i}",
            expected_output=f"expected {i}",
            retrieval_context=nodes(i),
        )
        for i in range(n)
    ]


def theirs_measure(n: int) -> Callable[[], None]:
    from benchwright.contextual.arithmetic import contextual_precision

    cases, metric = _their_cases(n), _their_metric()

    def work() -> None:
        for case in cases:
            metric.measure(case, _show_indicator=False)
        assert abs(metric.score - contextual_precision(RELEVANT)) < 1e-12

    return work


def _theirs_evaluated(n: int, *, has_cache: bool) -> Callable[[], None]:
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig

    metric, cases = _their_metric(), _their_cases(n)
    settings = {
        "async_config": AsyncConfig(run_async=False),
        "cache_config": CacheConfig(write_cache=has_cache, use_cache=has_cache),
        "display_config": DisplayConfig(show_indicator=False, print_results=False),
    }

    def work() -> None:
        with Path(os.devnull).open("w") as nowhere:  # it prints a page however it is asked
            kept, sys.stdout = sys.stdout, nowhere
            try:
                evaluate(cases, [metric], **settings)
            finally:
                sys.stdout = kept

    return work


def theirs_bulk(n: int) -> Callable[[], None]:
    return _theirs_evaluated(n, has_cache=False)


def theirs_cached(n: int) -> Callable[[], None]:
    return _theirs_evaluated(n, has_cache=True)


# --- processes -----------------------------------------------------------------------------------

ONCE = ("theirs_cached",)


def child(name: str, n: int) -> None:
    """Print the least of some rounds of one contender, and its peak beyond what the cases take."""
    work = globals()[name](n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = []
    for _ in range(1 if name in ONCE else ROUNDS):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"seconds": min(taken), "megabytes": peak / 1024}))


def run(name: str, n: int = N_CASES) -> dict[str, float]:
    """What a contender's own process tells; its working folder is thrown away."""
    code = f"from tests.performance.contextual import child; child({name!r}, {n})"
    with TemporaryDirectory() as folder:
        environment = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT), "HOME": folder}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    report: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return report


def of_cases(has_peer: bool) -> Iterator[str]:
    yield from row("one case after the other", "measure", MOST_MEASURE_MS, has_peer)
    yield from row("1,000 cases in bulk", "bulk", MOST_BULK_MS, has_peer)
    for n in GROWING:
        peer = has_peer and n in PEER_GROWING
        what = f"{n:,} cases in bulk, written to a new cache"
        yield from row(what, "cached", MOST_CACHED_MS, peer, n)
    yield from row("1,000 cases from the cache", "from_cache", MOST_CACHED_MS, False)


def row(what: str, name: str, most: float, has_peer: bool, n: int = N_CASES) -> Iterator[str]:
    ours = run(f"ours_{name}", n)
    theirs = run(f"theirs_{name}", n) if has_peer else None
    mine = 1000 * ours["seconds"] / n
    cells = [f"{mine:.3f} ms", f"{ours['megabytes']:.0f} MB"]
    if theirs:
        other = 1000 * theirs["seconds"] / n
        cells += [f"{other:.2f} ms", f"{theirs['megabytes']:.0f} MB", f"{other / mine:.0f}x"]
    else:
        cells += ["", "", ""]
    yield f"| {what} | {' | '.join(cells)} | {verdict(mine <= most)} ({most} ms) |"


def arithmetic() -> Iterator[str]:
    n = N_NUMBERS
    ours = run("ours_arithmetic", n)
    each = 1e6 * ours["seconds"] / n
    cells = f"{each:.3f} µs | {ours['megabytes']:.0f} MB | | |"
    met = verdict(each < MOST_ARITHMETIC_US)
    yield f"| the number alone, a million cases x {N_NODES} nodes | {cells} | {met} (1 µs) |"


# --- against a stub ------------------------------------------------------------------------------


def of_contextual(n: int, judge: Any) -> tuple[list[bytes], Callable[[int], int]]:
    """What a plain client would send, and ours: it tells how many of the first so many came."""
    from benchwright.contextual.judging import outcomes_of
    from benchwright.contextual.types import Options

    cases, options = our_cases(n), Options(include_reason=False)

    def work(first: int) -> int:
        outcomes = outcomes_of(cases[:first], judge, options, concurrency=AT_ONCE)
        return sum(outcome.error is None for outcome in outcomes)

    return [body_of(case) for case in cases], work


def of_grading(n: int, judge: Any) -> tuple[list[bytes], Callable[[int], int]]:
    """The same of pairs to be graded."""
    from benchwright.grading import GradingPrompt, Pair, gradings_of
    from benchwright.grading.prompts import content_digest

    prompt = GradingPrompt()
    pairs = [Pair(str(at), str(at), f"query {at}", nodes(at)[0]) for at in range(n)]

    def work(first: int) -> int:
        gradings = gradings_of(pairs[:first], judge, prompt, concurrency=AT_ONCE)
        return sum(grading.error is None for grading in gradings)

    return [body_of_prompt(prompt.asked(pair, content_digest(pair))) for pair in pairs], work


def throughput(
    n: int = N_CASES,
    stub: dict[str, str] | None = None,
    made: Callable[[int, Any], tuple[list[bytes], Callable[[int], int]]] = of_contextual,
) -> tuple[float, float]:
    """Answers a second of a stub for a plain client, and cases or pairs a second for ours."""
    from benchwright.judges.client import OpenAIJudge
    from benchwright.judges.endpoint import Endpoint

    command = [sys.executable, "-m", "tests.judge_stub"]
    command += [word for pair in (stub or STUB).items() for word in pair]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            url = process.stdout.readline().strip()
            bodies, work = made(n, OpenAIJudge(Endpoint("m", url)))
            work(AT_ONCE)  # the library is imported by then
            started = time.perf_counter()
            asyncio.run(plainly(url, bodies))
            plain = n / (time.perf_counter() - started)
            started = time.perf_counter()
            n_good = work(n)
            ours = n / (time.perf_counter() - started)
            assert n_good == n
        finally:
            process.stdin.close()
    return plain, ours


def body_of(case: Any) -> bytes:
    """What the client would send for a case."""
    from benchwright.contextual.prompts import content_digest, verdicts_prompt

    return body_of_prompt(verdicts_prompt(case, content_digest(case)))


def body_of_prompt(prompt: Any) -> bytes:
    from benchwright.judges.completions import Form, request_body

    return json.dumps(request_body("m", prompt.messages, prompt.schema, Form())).encode()


async def plainly(url: str, bodies: list[bytes]) -> None:
    """Send the same requests, as many at once, and read no more than their length."""
    host, port = url.split("/")[2].split(":")
    waiting = iter(bodies)

    async def line() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        for body in waiting:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            await reader.readexactly(int(length))
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(line() for _ in range(AT_ONCE)))


def against_stub() -> Iterator[str]:
    yield ""
    yield "| 1,000 cases at a stub, 16 at once | a plain client | ours | share | |"
    yield "|---|---:|---:|---:|---|"
    plain, ours = throughput()
    kept = verdict(ours / plain >= LEAST_OF_STUB)
    what = "8 answers at once, 0.1 s each"
    yield f"| {what} | {plain:.0f}/s | {ours:.0f}/s | {ours / plain:.2f} | {kept} (0.9) |"
    plain, ours = throughput(stub={"--delay": "0"})
    what = "answers at once: our own limit"
    yield f"| {what} | {plain:.0f}/s | {ours:.0f}/s | {ours / plain:.2f} | |"
    plain, ours = throughput(N_PAIRS, made=of_grading)
    kept = verdict(ours / plain >= LEAST_OF_STUB)
    what = f"{N_PAIRS:,} pairs to be graded, 8 answers at once, 0.1 s each"
    yield f"| {what} | {plain:.0f}/s | {ours:.0f}/s | {ours / plain:.2f} | {kept} (0.9) |"


def verdict(is_met: bool) -> str:
    return "met" if is_met else "NOT met"


def main() -> list[str]:
    """Print and return the lines of the tables."""
    has_peer = find_spec("deepeval") is not None
    if not has_peer:
        missing("deepeval")
    lines = ["| a case | ours | memory | deepeval | memory | faster | goal |"]
    lines += ["|---|---:|---:|---:|---:|---:|---|"]
    print("\n".join(lines))
    for part in (of_cases(has_peer), arithmetic(), against_stub()):
        for line in part:
            print(line, flush=True)
            lines.append(line)
    return lines


if __name__ == "__main__":
    main()
