"""The result files of MTEB: which task, which split, which subset, which values.

One task a file (`task_name`, `scores` by split), all tasks of a model (`model_name`,
`task_results`), or the older layout (`mteb_dataset_name`, a split beside it). All are JSON.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from benchwright.errors import MtebFormatError
from benchwright.ids import is_storable

MAIN = "main_score"
# How MTEB writes a measure, and how we do; what is in neither column is passed over.
FAMILIES = {
    "ndcg": "nDCG",
    "map": "AP",
    "mrr": "RR",
    "recall": "R",
    "precision": "P",
    "hit_rate": "Success",
}
# Whole numbers may be longer than any float is.
LARGEST = 2**64
SPLITS = ("train", "validation", "dev", "test")
EXPECTED = (
    "an object with 'task_name' and 'scores', by split a list of objects with 'main_score' "
    "(as MTEB writes one file a task), or one with 'model_name' and 'task_results'"
)


@dataclass(frozen=True, slots=True)
class MtebValue:
    """One number of a file; `measure` is our name, or `main_score`."""

    task: str
    split: str
    subset: str
    measure: str
    value: float
    model: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)


def parse_mteb(content: bytes, *, file: str = "result.json") -> list[MtebValue]:
    """Every value of a result file, in its order.

    Raises
    ------
    MtebFormatError
        If it is no such file, has no value, or a value is no number.

    Examples
    --------
    >>> text = b'{"task_name": "SciFact", "scores": {"test": [{"main_score": 0.5}]}}'
    >>> [(one.task, one.split, one.measure, one.value) for one in parse_mteb(text)]
    [('SciFact', 'test', 'main_score', 0.5)]
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = str(error) if content.strip() else "it is empty"
        raise MtebFormatError(file=file, what=f"no JSON ({reason})", expected=EXPECTED) from error
    if not is_storable(document):
        what = "a text in it holds U+0000 or half a character"
        raise MtebFormatError(file=file, what=what, expected="texts that can be stored")
    values = list(_of_file(document, file))
    if not values:
        what = "no split has a value"
        raise MtebFormatError(file=file, what=what, expected=EXPECTED)
    return values


def _of_file(document: Any, file: str) -> Iterator[MtebValue]:
    if not isinstance(document, Mapping):
        raise MtebFormatError(file=file, what=f"a JSON {_kind(document)}", expected=EXPECTED)
    if "task_results" in document:
        model = str(document.get("model_name") or "")
        for place, task in enumerate(_list(document["task_results"], "task_results", file)):
            yield from _of_task(_object(task, f"task_results[{place}]", file), file, model)
    elif "model_results" in document:
        for place, of in enumerate(_list(document["model_results"], "model_results", file)):
            yield from _of_file(_object(of, f"model_results[{place}]", file), file)
    else:
        yield from _of_task(document, file, "")


def _of_task(result: Mapping[str, Any], file: str, model: str) -> Iterator[MtebValue]:
    name = result.get("task_name", result.get("mteb_dataset_name"))
    if not isinstance(name, str) or not name:
        raise MtebFormatError(file=file, what="no 'task_name'", expected=EXPECTED)
    facts = {
        key: str(result[key])
        for key in ("dataset_revision", "mteb_version")
        if isinstance(result.get(key), str)
    }
    for split, subset, scores, place in _splits(result, name, file):
        for measure, value in _values(scores, place, file):
            yield MtebValue(name, split, subset, measure, value, model, facts)


def _splits(
    result: Mapping[str, Any], task: str, file: str
) -> Iterator[tuple[str, str, Mapping[str, Any], str]]:
    """Split, subset, scores, and where they stand in the file."""
    if "scores" in result:
        for split, rows in _object(result["scores"], f"{task}: scores", file).items():
            place = f"{task}: scores.{split}"
            for number, row in enumerate(_list(rows, place, file)):
                at = f"{place}[{number}]"
                scores = _object(row, at, file)
                yield str(split), str(scores.get("hf_subset", "default")), scores, at
        return
    for split in SPLITS:
        of = result.get(split)
        if not isinstance(of, Mapping):
            continue
        # Older files of several languages hold an object for each; others the values themselves.
        inner = {key: value for key, value in of.items() if isinstance(value, Mapping)}
        is_split = any(set(map(_measure, value)) - {""} for value in inner.values())
        for subset, scores in (inner if is_split else {"default": of}).items():
            yield split, str(subset), scores, f"{task}: {split}"


def _values(scores: Mapping[str, Any], place: str, file: str) -> Iterator[tuple[str, float]]:
    n = 0
    for key, value in scores.items():
        measure = _measure(key)
        if not measure or value is None:
            continue
        if not _is_number(value):
            what = f"{place}.{key} is {json.dumps(value)[:40]}"
            raise MtebFormatError(file=file, what=what, expected="a number")
        n += 1
        yield measure, float(value)
    if not n:
        what = f"{place} has neither 'main_score' nor a measure such as 'ndcg_at_10'"
        raise MtebFormatError(file=file, what=what, expected=EXPECTED)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < LARGEST if isinstance(value, int) else isfinite(value)


def _measure(key: str) -> str:
    """Our name of a measure, or nothing.

    Examples
    --------
    >>> _measure("ndcg_at_10"), _measure("hit_rate_at_5"), _measure("nauc_ndcg_at_10_max")
    ('nDCG@10', 'Success@5', '')
    """
    if key == MAIN:
        return MAIN
    matched = re.fullmatch(r"([a-z_]+)_at_([1-9]\d{0,5})", key)
    if matched is None or matched[1] not in FAMILIES:
        return ""
    return f"{FAMILIES[matched[1]]}@{matched[2]}"


def _object(value: Any, place: str, file: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    what = f"{place} is a JSON {_kind(value)}"
    raise MtebFormatError(file=file, what=what, expected="an object")


def _list(value: Any, place: str, file: str) -> list[Any]:
    if isinstance(value, list):
        return value
    what = f"{place} is a JSON {_kind(value)}"
    raise MtebFormatError(file=file, what=what, expected="a list")


def _kind(value: Any) -> str:
    kinds = {list: "list", dict: "object", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")
