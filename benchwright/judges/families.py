"""Which family a model is of, so that none judges its own work unnoticed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

FAMILIES: Mapping[str, Sequence[str]] = {
    "openai": ("gpt", "chatgpt", "davinci", "o1", "o3", "o4", "text-embedding-ada"),
    "anthropic": ("claude",),
    "google": ("gemini", "gemma"),
    "meta": ("llama",),
    "mistral": ("mistral", "mixtral", "ministral"),
    "qwen": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "cohere": ("command-r", "cohere"),
    "microsoft": ("phi-2", "phi-3", "phi-4"),
}
"""Words that name a family's models, as they stand in names of models and descriptions of runs."""


def families_in(text: str, families: Mapping[str, Sequence[str]] = FAMILIES) -> set[str]:
    """The families of which a text names a model.

    Versions are written right behind a word, never more letters. A word that ends in a digit must
    also begin as one.

    >>> sorted(families_in("BM25, then RankGPT4o and gte-Qwen2-7B"))
    ['openai', 'qwen']
    >>> families_in("a coherent model of delphi-2 and o10")
    set()
    """
    lowered = text.lower()
    return {
        name for name, words in families.items() if any(_is_in(lowered, word) for word in words)
    }


def _is_in(lowered: str, word: str) -> bool:
    escaped = re.escape(word.lower())
    # "o1" is a model, "o10" and "so1" are not; "gpt", "gpt4o" and "rankgpt" are.
    whole, begun = rf"(?<![a-z0-9]){escaped}(?![a-z0-9])", rf"{escaped}(?![a-z])"
    return re.search(whole if word[-1].isdigit() else begun, lowered) is not None


def texts_in(facts: Any) -> Iterator[str]:
    """Every text of nested facts, names of fields left out."""
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, Mapping):
        yield from _texts_of(facts.values())
    elif isinstance(facts, list | tuple):
        yield from _texts_of(facts)


def _texts_of(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from texts_in(value)
