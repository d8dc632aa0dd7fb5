"""The course of one case, whoever carries the questions: what is asked next, and what comes of it.

`steps` is a generator of prompts. It is sent what the judge returned, or has what the judge raised
thrown into it, and returns the outcome. So judges that answer at once and judges that are awaited
share every rule.
"""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from benchwright.contextual.answers import UnusableAnswerError, reason_of, verdicts_of
from benchwright.contextual.arithmetic import contextual_precision, final_score, is_success
from benchwright.contextual.options import Options
from benchwright.contextual.prompts import Prompt, asked_again, reason_prompt, verdicts_prompt
from benchwright.contextual.types import Answer, Case, Failure, Outcome, Verdict
from benchwright.judges.errors import CaseError, EmptyPartError, JudgeAnswerError, JudgeObjectError
from benchwright.judges.messages import JudgeFailedError, Reply, is_empty

Read = TypeVar("Read")
Steps: TypeAlias = Generator[Prompt, Any, Outcome]
NOTHING_RETRIEVED = "Nothing was retrieved, so nothing helps: the score is 0."


@dataclass(slots=True)
class _Course:
    """What has come of a case so far."""

    model: str
    answers: list[Answer] = field(default_factory=list)


def refused(case: Case) -> CaseError | None:
    """Why a case is not worth a question; None where it is."""
    for part, content in (("input", case.input), ("expected output", case.expected_output)):
        if is_empty(content):
            return EmptyPartError(part=part)
    return None


def steps(case: Case, digest: str, options: Options, model: str) -> Steps:
    """Ask for verdicts, then for the reason; every error ends in the outcome.

    `digest` is that of the case's content, `model` what the judge is called where it does not say.
    """
    course = _Course(model)
    started = perf_counter()
    if error := refused(case):
        return failed(case, error)
    if not case.retrieval_context:
        reason = NOTHING_RETRIEVED if options.include_reason else None
        return scored(Outcome(case.id, reason=reason, slices=case.slices), options)
    try:
        verdicts = yield from _verdicts(case, digest, course)
    except CaseError as error:
        ended = failed(case, error)
        return replace(ended, answers=tuple(course.answers), seconds=perf_counter() - started)
    reason, reason_error = None, None
    if options.include_reason:
        try:
            reason = yield from _reason(case, digest, verdicts, course)
        except CaseError as error:
            reason_error = failure_of(error)
    return Outcome(
        case.id,
        *_score(verdicts, options),
        verdicts=verdicts,
        reason=reason,
        reason_error=reason_error,
        answers=tuple(course.answers),
        slices=case.slices,
        seconds=perf_counter() - started,
    )


def scored(outcome: Outcome, options: Options) -> Outcome:
    """The outcome with what its verdicts come to under these options."""
    score, success = _score(outcome.verdicts, options)
    return replace(outcome, score=score, is_success=success)


def _score(verdicts: Sequence[Verdict], options: Options) -> tuple[float, bool | None]:
    raw = contextual_precision([verdict.is_relevant for verdict in verdicts])
    strict = options.strict_mode
    success = is_success(raw, options.threshold, strict_mode=strict)
    return final_score(raw, strict_mode=strict), success


def failed(case: Case, error: CaseError) -> Outcome:
    """The outcome of a case that cannot be scored."""
    return Outcome(case.id, error=failure_of(error), slices=case.slices)


def failure_of(error: CaseError) -> Failure:
    return Failure(error.code, str(error))


def _verdicts(
    case: Case, digest: str, course: _Course
) -> Generator[Prompt, Any, tuple[Verdict, ...]]:
    n = len(case.retrieval_context)
    return (yield from _asked(verdicts_prompt(case, digest), lambda of: verdicts_of(of, n), course))


def _reason(
    case: Case, digest: str, verdicts: Sequence[Verdict], course: _Course
) -> Generator[Prompt, Any, str]:
    # Strict mode and threshold are left out: the same verdicts have the same explanation.
    score = contextual_precision([verdict.is_relevant for verdict in verdicts])
    prompt = reason_prompt(case, digest, verdicts, score)
    return (yield from _asked(prompt, reason_of, course))


def _asked(
    prompt: Prompt, read: Callable[[str | Mapping[str, Any]], Read], course: _Course
) -> Generator[Prompt, Any, Read]:
    """What is read from the answer to a prompt; one that is no use is asked for once again."""
    answer, text = yield from _answered(prompt, course)
    try:
        return read(answer)
    except UnusableAnswerError as problem:
        words = _noted(course, problem)
    answer, _ = yield from _answered(asked_again(prompt, text, words), course)
    try:
        return read(answer)
    except UnusableAnswerError as problem:
        raise JudgeAnswerError(problem=_noted(course, problem)) from problem


def _noted(course: _Course, problem: UnusableAnswerError) -> str:
    """What is wrong with the last answer, kept beside it."""
    course.answers[-1] = replace(course.answers[-1], problem=str(problem))
    return str(problem)


def _answered(
    prompt: Prompt, course: _Course
) -> Generator[Prompt, Any, tuple[str | Mapping[str, Any], str]]:
    """What came (text or object), and the same as text; the answer is kept in the course."""
    started = perf_counter()
    try:
        answer = yield prompt
    except JudgeFailedError as error:
        if error.reply is not None:
            _keep(course, prompt, error.reply, started)
        raise error.error from error
    reply = _reply_of(answer)
    _keep(course, prompt, reply, started)
    return (answer if isinstance(answer, Mapping) else reply.text), reply.text


def _reply_of(answer: Any) -> Reply:
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(answer)
    if isinstance(answer, Mapping):
        return Reply(json.dumps(answer, ensure_ascii=False, default=repr))
    why = f"returned a {type(answer).__name__}; expected a text, a mapping or a Reply"
    raise JudgeObjectError(why=why)


def _keep(course: _Course, prompt: Prompt, reply: Reply, started: float) -> None:
    course.answers.append(
        Answer(
            kind=prompt.kind,
            text=reply.text,
            prompt_hash=prompt.hash,
            model=reply.model or course.model,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=reply.cost,
            seconds=perf_counter() - started,
            attempts=reply.attempts,
        )
    )
