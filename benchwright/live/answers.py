"""From the JSON of an answer to documents and scores."""

import json
from itertools import pairwise
from math import isfinite
from typing import Any

from benchwright.ids import id_problem
from benchwright.live.errors import AnswerError
from benchwright.live.paths import MissingError, Path, Reading, Shape, kind_of


def read_answer(content: bytes, shape: Shape, *, k: int) -> Reading:
    """The first `k` documents of an answer; none where its list of results is empty.

    Raises
    ------
    AnswerError
        If it is no JSON, or does not have the shape; the message says what it has instead.

    Examples
    --------
    >>> from benchwright.live.paths import read_shape
    >>> shape = read_shape(results="docs", id="id", score="s")
    >>> answer = b'{"docs": [{"id": 7, "s": "2.5"}, {"id": "b", "s": 1}, {"id": 7, "s": 0}]}'
    >>> read_answer(answer, shape, k=10)
    Reading(results=(('7', 2.5), ('b', 1.0)), n_repeated=1, n_beyond=0, is_unordered=False)
    """
    answer = _parsed(content)
    if shape.is_opensearch:
        _refuse_partial(answer)
    try:
        members = shape.results.many(answer)
    except MissingError as missing:
        raise AnswerError(
            why=f"its answer does not fit '{shape.results.text}': {missing}"
        ) from None
    scores: dict[str, float] = {}
    n_repeated = n_beyond = 0
    for place, member in enumerate(members, start=1):
        docid = _docid(member, shape.id, place)
        if docid in scores:
            n_repeated += 1
        elif len(scores) == k:
            n_beyond += 1
        else:
            scores[docid] = _score(member, shape.score, place, k - len(scores))
    is_unordered = any(later > earlier for earlier, later in pairwise(scores.values()))
    return Reading(tuple(scores.items()), n_repeated, n_beyond, is_unordered)


def _parsed(content: bytes) -> Any:
    if not content.strip():
        raise AnswerError(why="its answer is empty; expected JSON")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        begin = " ".join(content[:60].decode("utf-8", "replace").split())
        excerpt = "".join(letter if letter.isprintable() else "�" for letter in begin)
        raise AnswerError(why=f"its answer is no JSON; it begins with '{excerpt}'") from None


def _refuse_partial(answer: Any) -> None:
    """OpenSearch and Elasticsearch answer with what they have, and say that it is not all."""
    if not isinstance(answer, dict):
        return
    if answer.get("timed_out") is True:
        why = "it ran out of its own time, and gave what it had found by then (timed_out)"
        raise AnswerError(why=why, is_passing=True)
    shards = answer.get("_shards")
    shards = shards if isinstance(shards, dict) else {}
    failed = shards.get("failed")
    if isinstance(failed, int) and failed > 0:
        why = f"{failed} of its {shards.get('total', '?')} shards failed, and it gave the rest"
        raise AnswerError(why=why, is_passing=True)


def _docid(member: Any, path: Path, place: int) -> str:
    try:
        value = path.one(member)
    except MissingError as missing:
        raise AnswerError(why=f"result {place} does not fit '{path.text}': {missing}") from None
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise AnswerError(why=f"the id of result {place} is {kind_of(value)}; expected a text")
    problem = id_problem(value)
    if problem:
        raise AnswerError(why=f"result {place}: {problem}")
    return value


def _score(member: Any, path: Path | None, place: int, by_place: int) -> float:
    if path is None:
        return float(by_place)
    try:
        value = path.one(member)
    except MissingError as missing:
        raise AnswerError(why=f"result {place} does not fit '{path.text}': {missing}") from None
    if value is None:
        raise AnswerError(
            why=f"the score of result {place} is null, as where results are sorted by a field. "
            "Leave the path of the score empty: then their order counts"
        )
    number = _number(value)
    if number is None or not isfinite(number):
        excerpt = kind_of(value) if isinstance(value, dict | list | bool) else repr(value)[:40]
        raise AnswerError(
            why=f"the score of result {place} is {excerpt}; expected a number. Leave the path of "
            "the score empty where the order of the results is what counts"
        )
    return number


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
