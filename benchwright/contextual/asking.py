"""The course of one case, whoever carries the questions: what is asked next, and what comes of it.

`steps` is a generator of prompts. It is sent what the judge returned, or has what the judge raised
thrown into it, and returns the outcome. So judges that answer at once and judges that are awaited
share every rule.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeAlias

from benchwright.contextual.answers import reason_of, verdicts_of
from benchwright.contextual.arithmetic import contextual_precision, final_score, is_success
from benchwright.contextual.prompts import reason_prompt, verdicts_prompt
from benchwright.contextual.types import Case, Options, Outcome, Verdict
from benchwright.judges.course import Course, Prompt, asked, failure_of
from benchwright.judges.errors import CaseError, EmptyPartError
from benchwright.judges.messages import is_empty

Steps: TypeAlias = Generator[Prompt, Any, Outcome]
NOTHING_RETRIEVED = "Nothing was retrieved, so nothing helps: the score is 0."


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
    course = Course(model)
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


def _verdicts(
    case: Case, digest: str, course: Course
) -> Generator[Prompt, Any, tuple[Verdict, ...]]:
    n = len(case.retrieval_context)
    return (yield from asked(verdicts_prompt(case, digest), lambda of: verdicts_of(of, n), course))


def _reason(
    case: Case, digest: str, verdicts: Sequence[Verdict], course: Course
) -> Generator[Prompt, Any, str]:
    # Strict mode and threshold are left out: the same verdicts have the same explanation.
    score = contextual_precision([verdict.is_relevant for verdict in verdicts])
    prompt = reason_prompt(case, digest, verdicts, score)
    return (yield from asked(prompt, reason_of, course))
