"""Reading the JSON object that a judge was asked for, or what is wrong with it, in words."""

import json
import re
from collections.abc import Mapping
from typing import Any

SHOWN = 60
FENCED = re.compile(r"```[a-zA-Z]*\n(.*?)\n?```", re.DOTALL)


class UnusableAnswerError(ValueError):
    """What is wrong with an answer, in words for the judge and for people."""


def object_of(answer: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON object of an answer, also from inside a block of Markdown.

    Raises
    ------
    UnusableAnswerError
        If it is none, or has a key twice.
    """
    loaded = answer if isinstance(answer, Mapping) else _loaded(answer)
    if not isinstance(loaded, Mapping):
        msg = f"it is {kind_of(loaded)}; expected a JSON object"
        raise UnusableAnswerError(msg)
    return loaded


def kind_of(value: Any) -> str:
    """What a value of JSON is called."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def shown(value: Any) -> str:
    """A text in quotes, cut where it is long; of anything else its kind."""
    if not isinstance(value, str):
        return kind_of(value)
    return repr(value if len(value) <= SHOWN else f"{value[:SHOWN]}…")


def _loaded(text: str) -> Any:
    try:
        return _parsed(text)
    except json.JSONDecodeError as error:
        # Models that are not held to a schema like to put the object into a block of Markdown.
        if fenced := FENCED.search(text):
            return _loaded(fenced[1])
        msg = f"it is not JSON ({error.msg} at character {error.pos + 1})"
        raise UnusableAnswerError(msg) from None


def _parsed(text: str) -> Any:
    try:
        return DECODER.decode(text)
    except RecursionError:
        msg = "it is nested too deeply; expected the JSON object that was asked for"
        raise UnusableAnswerError(msg) from None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; `json` alone would keep the last of equal keys and say nothing."""
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        msg = f"{shown(double)} comes more than once; expected every key once"
        raise UnusableAnswerError(msg)
    return members


DECODER = json.JSONDecoder(object_pairs_hook=_without_doubles)
