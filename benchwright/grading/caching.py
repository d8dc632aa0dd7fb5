"""Gradings in a file of lines: as JSON objects and back, and `GradeCache`."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from benchwright.grading.types import Graded
from benchwright.judges.course import Answer, Failure
from benchwright.judges.keeping import LineCache


def grading_as_json(grading: Graded) -> dict[str, Any]:
    """A grading as an object that JSON can hold, with every digit."""
    return {
        "query": grading.query_id,
        "document": grading.document_id,
        "grade": grading.grade,
        "reason": grading.reason,
        "probabilities": {str(grade): p for grade, p in grading.probabilities.items()},
        "error": asdict(grading.error) if grading.error else None,
        "model": grading.model,
        "prompt_hash": grading.prompt_hash,
        "key": grading.key,
        "at": grading.at,
        "seconds": grading.seconds,
        "cost": grading.cost,
        "tokens_in": grading.tokens_in,
        "tokens_out": grading.tokens_out,
        "is_cached": grading.is_cached,
        "answers": [asdict(answer) for answer in grading.answers],
    }


def grading_from_json(facts: Mapping[str, Any]) -> Graded:
    """The grading that `grading_as_json` has told of.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is none.
    """
    return Graded(
        query_id=facts["query"],
        document_id=facts["document"],
        grade=facts["grade"],
        reason=facts["reason"],
        probabilities={int(grade): p for grade, p in facts["probabilities"].items()},
        error=Failure(**facts["error"]) if facts["error"] else None,
        answers=tuple(Answer(**answer) for answer in facts["answers"]),
        key=facts["key"],
        prompt_hash=facts["prompt_hash"],
        at=facts["at"],
        seconds=facts["seconds"],
        is_cached=facts["is_cached"],
    )


class GradeCache(LineCache[Graded]):
    """A cache in one file, made where there is none; close it, or use it in `with`.

    Texts of pairs are not in it, but answers of judges are, who may quote them.

    Raises
    ------
    CacheFileError
        If the file is something else.
    """

    mark = b'{"benchwright_grade_cache": 1}\n'
    command = "benchwright judge"

    def as_json(self, grading: Graded) -> Mapping[str, Any]:
        return grading_as_json(grading)

    def from_json(self, facts: Mapping[str, Any]) -> Graded:
        return grading_from_json(facts)
