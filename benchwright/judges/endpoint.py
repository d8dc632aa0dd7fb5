"""Where a judge is, what it costs and how hard it may be asked: `Endpoint`; and its key."""

import os
from dataclasses import dataclass
from math import isfinite

from benchwright.fetching.addresses import read_address
from benchwright.fetching.errors import AddressRefusedError
from benchwright.judges.completions import FORMATS
from benchwright.judges.errors import JudgeSettingError

OPENAI = "https://api.openai.com/v1"
KEY_VARIABLE = "BENCHWRIGHT_JUDGE_KEY"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
MASK = "•••"
TOKENS_PRICED = 1_000_000
POSITIVE = ("timeout", "max_attempts", "concurrency", "requests_per_minute", "max_tokens")
FROM_ZERO = ("first_wait", "max_wait", "price_in", "price_out", "temperature")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a judge is, what it costs, and how hard it may be asked.

    Prices are those of a million tokens, in whatever currency; `timeout` is seconds for one whole
    answer. After a failure the first wait is about `first_wait` seconds, each further one twice as
    long, none longer than `max_wait`; an endpoint that wants a longer one is given up. The search
    for a form of answer that the endpoint takes begins with `answer_format`: "schema" (output held
    to one), "json" or "text"; `has_probabilities` asks for those of its tokens. With
    `may_be_private` off, only public machines are asked.

    Raises
    ------
    JudgeSettingError
        If a number is out of range, or the address is none.
    """

    model: str
    base_url: str = OPENAI
    timeout: float = 120.0
    max_attempts: int = 5
    first_wait: float = 0.5
    max_wait: float = 60.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    answer_format: str = "schema"
    max_tokens: int | None = None
    temperature: float | None = 0.0
    seed: int | None = None
    has_probabilities: bool = False
    may_be_private: bool = True

    def __post_init__(self) -> None:
        for name in (*POSITIVE, *FROM_ZERO):
            value = getattr(self, name)
            least = "above 0" if name in POSITIVE else "from 0 up"
            if value is not None and not _is_good(value, name in POSITIVE):
                raise JudgeSettingError(name=name, value=value, expected=f"a number {least}")
        if self.answer_format not in FORMATS:
            expected, value = f"one of {', '.join(FORMATS)}", self.answer_format
            raise JudgeSettingError(name="answer_format", value=value, expected=expected)
        if not self.model.strip():
            raise JudgeSettingError(name="model", value="empty", expected="the name of a model")
        try:
            read_address(self.base_url)
        except AddressRefusedError as error:
            raise JudgeSettingError(
                name="base_url",
                value=f"refused: {error.why}",
                expected="an http or https address such as https://api.openai.com/v1",
            ) from error

    def cost_of(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """The price of one answer; None where prices or tokens are not known."""
        if self.price_in is None or self.price_out is None:
            return None
        if tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / TOKENS_PRICED


def _is_good(value: float, must_be_positive: bool) -> bool:
    return isfinite(value) and (value > 0 if must_be_positive else value >= 0)


class Key:
    """A key that shows itself to nobody who prints it.

    Raises
    ------
    JudgeSettingError
        If it holds what a header cannot; the message does not hold the key.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()
        if not (self._text.isascii() and self._text.isprintable()):
            value = "refused: it holds a character that no header can"
            raise JudgeSettingError(name="key", value=value, expected="letters, digits and signs")

    def __repr__(self) -> str:
        return f"Key({MASK})"

    def reveal(self) -> str:
        return self._text

    def hidden_in(self, text: str) -> str:
        """The text without the key, which an endpoint may have repeated."""
        return text.replace(self._text, MASK) if self._text else text


def key_from_environment(base_url: str = OPENAI) -> str:
    """The judge's key: BENCHWRIGHT_JUDGE_KEY, or for OpenAI itself OPENAI_API_KEY; "" without.

    A key for OpenAI is not shown to another address because it happens to be there.
    """
    names = [KEY_VARIABLE, OPENAI_KEY_VARIABLE] if base_url == OPENAI else [KEY_VARIABLE]
    return next((os.environ[name] for name in names if os.environ.get(name)), "")
