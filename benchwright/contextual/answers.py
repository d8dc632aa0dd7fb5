"""Reading what a judge has answered: every verdict by its node, or what is wrong, in words."""

from collections.abc import Mapping
from typing import Any

from benchwright.contextual.prompts import NO, YES
from benchwright.contextual.types import Verdict
from benchwright.judges.answers import SHOWN, UnusableAnswerError, kind_of, object_of, shown

# The usual case first: asking for any mapping is slow.
OBJECT = (dict, Mapping)
MOST_NAMED = 10


def verdicts_of(answer: str | Mapping[str, Any], n: int) -> tuple[Verdict, ...]:
    """Verdicts of `n` nodes in rank order; a list of exactly `n` has them in that order.

    Raises
    ------
    UnusableAnswerError
        If a node has none, or more than one, or a word other than yes and no; if there are nodes
        that were not asked for; if it is no such object at all.
    """
    by_node = object_of(answer).get("verdicts")
    if isinstance(by_node, list):
        by_node = _in_order(by_node, n)
    if not isinstance(by_node, Mapping):
        what = "it has no 'verdicts'" if by_node is None else f"'verdicts' is {kind_of(by_node)}"
        msg = f"{what}; expected an object with an entry for each node, under its number"
        raise UnusableAnswerError(msg)
    keys = [str(number) for number in range(1, n + 1)]
    _check_nodes(by_node, keys)
    return tuple(_verdict(number, by_node[key]) for number, key in enumerate(keys, start=1))


def reason_of(answer: str | Mapping[str, Any]) -> str:
    """The explanation of a score.

    Raises
    ------
    UnusableAnswerError
        If there is none.
    """
    reason = object_of(answer).get("reason")
    if not isinstance(reason, str) or not reason.strip():
        msg = "it has no 'reason'; expected an object with a text under 'reason'"
        raise UnusableAnswerError(msg)
    return reason.strip()


def _in_order(verdicts: list[Any], n: int) -> dict[str, Any]:
    if len(verdicts) != n:
        msg = f"'verdicts' is a list of {len(verdicts)}; expected one for each of the {n} nodes"
        raise UnusableAnswerError(msg)
    return {str(number): verdict for number, verdict in enumerate(verdicts, start=1)}


def _check_nodes(by_node: Mapping[str, Any], keys: list[str]) -> None:
    problems = []
    if missing := [key for key in keys if key not in by_node]:
        problems.append(f"no verdict on {_nodes(missing)}")
    if len(by_node) > len(keys) - len(missing):
        nodes = set(keys)
        strange = [key for key in by_node if key not in nodes]
        problems.append(f"verdicts on {_nodes(strange)}, which there is not")
    if problems:
        msg = f"{' and '.join(problems)}; expected exactly the nodes 1 to {len(keys)}"
        raise UnusableAnswerError(msg)


def _nodes(keys: list[str]) -> str:
    named = ", ".join(str(key)[:SHOWN] for key in keys[:MOST_NAMED])
    return f"node {named}{' …' if len(keys) > MOST_NAMED else ''}"


def _verdict(number: int, node: Any) -> Verdict:
    if not isinstance(node, OBJECT):
        msg = f"node {number}: {kind_of(node)}; expected an object with 'reason' and 'verdict'"
        raise UnusableAnswerError(msg)
    word = node.get("verdict")
    plain = word.strip().lower() if isinstance(word, str) else None
    if plain not in (YES, NO):
        msg = f"node {number}: the verdict is {shown(word)}; expected 'yes' or 'no'"
        raise UnusableAnswerError(msg)
    reason = node.get("reason", "")
    if not isinstance(reason, str):
        msg = f"node {number}: the reason is {kind_of(reason)}; expected a text"
        raise UnusableAnswerError(msg)
    return Verdict(number, plain == YES, reason)
