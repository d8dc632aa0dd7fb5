"""The course of one question, whoever carries it: asked, read, and asked once more if of no use.

`asked` is a generator of prompts. It is sent what the judge returned, or has what the judge raised
thrown into it. So judges that answer at once and judges that are awaited share every rule.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

from benchwright.judges.answers import UnusableAnswerError
from benchwright.judges.errors import CaseError, JudgeAnswerError, JudgeObjectError
from benchwright.judges.messages import JudgeFailedError, Message, Reply, Schema

Read = TypeVar("Read")

AGAIN = """\
That answer cannot be used: {problem}. Answer once more, with the complete JSON object in the form \
that was asked for and nothing else."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: `hash` names what is asked, of whatever model."""

    kind: str
    messages: tuple[Message, ...]
    schema: Schema
    hash: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of a judge as it came, and what it took.

    `kind` is that of its prompt. `attempts` counts requests, those that failed included; `cost` is
    None where prices or tokens are not known; `seconds` include waiting and trying again.
    """

    kind: str
    text: str
    prompt_hash: str
    model: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 1
    problem: str = ""


class Answered:
    """What comes of answers, and what these took together, those of no use included."""

    __slots__ = ()
    answers: tuple[Answer, ...]

    @property
    def cost(self) -> float | None:
        """None where no answer has a price."""
        costs = [answer.cost for answer in self.answers if answer.cost is not None]
        return sum(costs) if costs else None

    @property
    def tokens_in(self) -> int | None:
        numbers = [answer.tokens_in for answer in self.answers if answer.tokens_in is not None]
        return sum(numbers) if numbers else None

    @property
    def tokens_out(self) -> int | None:
        numbers = [answer.tokens_out for answer in self.answers if answer.tokens_out is not None]
        return sum(numbers) if numbers else None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something could not be had of a judge: a stable code and words for a person."""

    code: str
    message: str


@dataclass(slots=True)
class Course:
    """What has come of a case so far; `model` is what the judge is called where it does not say."""

    model: str
    answers: list[Answer] = field(default_factory=list)
    reply: Reply | None = None


def failure_of(error: CaseError) -> Failure:
    return Failure(error.code, str(error))


def asked(
    prompt: Prompt, read: Callable[[str | Mapping[str, Any]], Read], course: Course
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


def asked_again(prompt: Prompt, answer: str, problem: str) -> Prompt:
    """The same request once more, with the answer that was no use and what is wrong with it."""
    more = (
        {"role": "assistant", "content": answer},
        {"role": "user", "content": AGAIN.format(problem=problem)},
    )
    hashed = hashlib.sha256(f"{prompt.hash}{answer}".encode("utf-8", "replace")).hexdigest()
    return Prompt(prompt.kind, (*prompt.messages, *more), prompt.schema, hashed)


def _noted(course: Course, problem: UnusableAnswerError) -> str:
    """What is wrong with the last answer, kept beside it."""
    course.answers[-1] = replace(course.answers[-1], problem=str(problem))
    return str(problem)


def _answered(
    prompt: Prompt, course: Course
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


def _keep(course: Course, prompt: Prompt, reply: Reply, started: float) -> None:
    course.reply = reply
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
