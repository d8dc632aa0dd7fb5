"""Reading what a judge has answered: every verdict by its node, or what is wrong, in words."""

import json
import re
from collections.abc import Mapping
from typing import Any

from benchwright.contextual.prompts import NO, YES
from benchwright.contextual.types import Verdict

SHOWN = 60
# The usual case first: asking for any mapping is slow.
OBJECT = (dict, Mapping)
MOST_NAMED = 10
FENCED = re.compile(r"```[a-zA-Z]*\n(.*?)\n?```", re.DOTALL)


class UnusableAnswerError(ValueError):
    """What is wrong with an answer, in words for the judge and for people."""


def verdicts_of(answer: str | Mapping[str, Any], n: int) -> tuple[Verdict, ...]:
    """Verdicts of `n` nodes in rank order; a list of exactly `n` has them in that order.

    Raises
    ------
    UnusableAnswerError
        If a node has none, or more than one, or a word other than yes and no; if there are nodes
        that were not asked for; if it is no such object at all.
    """
    by_node = _object_of(answer).get("verdicts")
    if isinstance(by_node, list):
        by_node = _in_order(by_node, n)
    if not isinstance(by_node, Mapping):
        what = "it has no 'verdicts'" if by_node is None else f"'verdicts' is {_kind(by_node)}"
        msg = f"{what}; expected an object with an entry for each node, under its number"
        raise UnusableAnswerError(msg)
    wanted = [str(number) for number in range(1, n + 1)]
    _check_nodes(by_node, wanted)
    return tuple(_verdict(number, by_node[key]) for number, key in enumerate(wanted, start=1))


def reason_of(answer: str | Mapping[str, Any]) -> str:
    """The explanation of a score.

    Raises
    ------
    UnusableAnswerError
        If there is none.
    """
    reason = _object_of(answer).get("reason")
    if not isinstance(reason, str) or not reason.strip():
        msg = "it has no 'reason'; expected an object with a text under 'reason'"
        raise UnusableAnswerError(msg)
    return reason.strip()


def _in_order(verdicts: list[Any], n: int) -> dict[str, Any]:
    if len(verdicts) != n:
        msg = f"'verdicts' is a list of {len(verdicts)}; expected one for each of the {n} nodes"
        raise UnusableAnswerError(msg)
    return {str(number): verdict for number, verdict in enumerate(verdicts, start=1)}


def _check_nodes(by_node: Mapping[str, Any], wanted: list[str]) -> None:
    problems = []
    if missing := [key for key in wanted if key not in by_node]:
        problems.append(f"no verdict on {_nodes(missing)}")
    if len(by_node) > len(wanted) - len(missing):
        nodes = set(wanted)
        strange = [key for key in by_node if key not in nodes]
        problems.append(f"verdicts on {_nodes(strange)}, which there is not")
    if problems:
        msg = f"{' and '.join(problems)}; expected exactly the nodes 1 to {len(wanted)}"
        raise UnusableAnswerError(msg)


def _nodes(keys: list[str]) -> str:
    named = ", ".join(str(key)[:SHOWN] for key in keys[:MOST_NAMED])
    return f"node {named}{' …' if len(keys) > MOST_NAMED else ''}"


def _verdict(number: int, node: Any) -> Verdict:
    if not isinstance(node, OBJECT):
        msg = f"node {number}: {_kind(node)}; expected an object with 'reason' and 'verdict'"
        raise UnusableAnswerError(msg)
    word = node.get("verdict")
    plain = word.strip().lower() if isinstance(word, str) else None
    if plain not in (YES, NO):
        msg = f"node {number}: the verdict is {_shown(word)}; expected 'yes' or 'no'"
        raise UnusableAnswerError(msg)
    reason = node.get("reason", "")
    if not isinstance(reason, str):
        msg = f"node {number}: the reason is {_kind(reason)}; expected a text"
        raise UnusableAnswerError(msg)
    return Verdict(number, plain == YES, reason)


def _object_of(answer: str | Mapping[str, Any]) -> Mapping[str, Any]:
    loaded = answer if isinstance(answer, Mapping) else _loaded(answer)
    if not isinstance(loaded, Mapping):
        msg = f"it is {_kind(loaded)}; expected a JSON object"
        raise UnusableAnswerError(msg)
    return loaded


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
        msg = f"{_shown(double)} comes more than once; expected every key once"
        raise UnusableAnswerError(msg)
    return members


DECODER = json.JSONDecoder(object_pairs_hook=_without_doubles)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def _shown(value: Any) -> str:
    if not isinstance(value, str):
        return _kind(value)
    return repr(value if len(value) <= SHOWN else f"{value[:SHOWN]}…")
