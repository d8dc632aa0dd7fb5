"""The chat completions protocol: what is sent, and what an answer holds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchwright.judges.messages import Message, Schema, Token

FORMATS = ("schema", "json", "text")
"""How an answer can be asked for, the safest first; an endpoint may not know all of them."""

ALTERNATIVES = 10
"""How many tokens that might have stood in a place are asked for, with their probabilities."""


class NoCompletionError(ValueError):
    """The endpoint answered, but with something that is no completion."""


@dataclass(frozen=True, slots=True)
class Form:
    """What an endpoint has to be sent, as far as it is known."""

    answer_format: str = "schema"
    temperature: float | None = None
    max_tokens: int | None = None
    tokens_field: str = "max_tokens"
    seed: int | None = None
    has_probabilities: bool = False

    def easier(self, words: str) -> "Form | None":
        """What to try next with an endpoint that refused, going by its words; None at the end."""
        lowered = words.lower()
        if self.temperature is not None and "temperature" in lowered:
            return replace(self, temperature=None)
        if self.seed is not None and "seed" in lowered:
            return replace(self, seed=None)
        if self.has_probabilities and "logprobs" in lowered:
            return replace(self, has_probabilities=False)
        if self.max_tokens and self.tokens_field == "max_tokens" and "max_tokens" in lowered:
            return replace(self, tokens_field="max_completion_tokens")
        rest = FORMATS[FORMATS.index(self.answer_format) + 1 :]
        return replace(self, answer_format=rest[0]) if rest else None


def request_body(
    model: str, messages: Sequence[Message], schema: Schema, form: Form
) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = {"model": model, "messages": list(messages)}
    if form.temperature is not None:
        body["temperature"] = form.temperature
    if form.max_tokens:
        body[form.tokens_field] = form.max_tokens
    if form.seed is not None:
        body["seed"] = form.seed
    if form.has_probabilities:
        body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if form.answer_format == "schema":
        held_to = {"name": schema["name"], "schema": schema["schema"], "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": held_to}
    elif form.answer_format == "json":
        body["response_format"] = {"type": "json_object"}
    return body


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer: its text, or why there is none, and what it took."""

    text: str
    refusal: str
    finish_reason: str
    model: str
    tokens_in: int | None
    tokens_out: int | None
    tokens: tuple[Token, ...] = ()


def read_completion(body: str) -> Completion:
    """What the body of an answer holds.

    Raises
    ------
    NoCompletionError
        If it is none.
    """
    try:
        body_json = json.loads(body)
        choice = body_json["choices"][0]
        message = choice["message"]
        usage = body_json.get("usage") or {}
        return Completion(
            text=_text(message.get("content")),
            refusal=_text(message.get("refusal")),
            finish_reason=_text(choice.get("finish_reason")),
            model=_text(body_json.get("model")),
            tokens_in=_count(usage, "prompt_tokens"),
            tokens_out=_count(usage, "completion_tokens"),
            tokens=_tokens(choice.get("logprobs")),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        msg = "it answered with something that is no completion"
        raise NoCompletionError(msg) from error


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    number = usage.get(name)
    return number if isinstance(number, int) and number >= 0 else None


def _tokens(log_probabilities: Any) -> tuple[Token, ...]:
    """The tokens of an answer, where the endpoint tells of every one; a hint, so no error."""
    try:
        return tuple(
            Token(
                str(each["token"]),
                {
                    str(alternative["token"]): float(alternative["logprob"])
                    for alternative in each["top_logprobs"]
                },
            )
            for each in log_probabilities["content"]
        )
    except (KeyError, TypeError, ValueError):
        return ()
