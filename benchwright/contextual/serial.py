"""Outcomes as JSON objects, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from benchwright.contextual.types import Outcome, Verdict
from benchwright.judges.course import Answer, Failure
from benchwright.judges.keeping import LineCache

ANSWER_FIELDS = tuple(field.name for field in fields(Answer))


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as an object that JSON can hold, with every digit."""
    return {
        "id": outcome.case_id,
        "score": outcome.score,
        "is_success": outcome.is_success,
        "verdicts": [
            {
                "node": verdict.node,
                "verdict": "yes" if verdict.is_relevant else "no",
                "reason": verdict.reason,
            }
            for verdict in outcome.verdicts
        ],
        "reason": outcome.reason,
        "error": _failure_as_json(outcome.error),
        "reason_error": _failure_as_json(outcome.reason_error),
        "slices": list(outcome.slices),
        "is_cached": outcome.is_cached,
        "seconds": outcome.seconds,
        "tokens_in": outcome.tokens_in,
        "tokens_out": outcome.tokens_out,
        "cost": outcome.cost,
        "answers": [
            {name: getattr(answer, name) for name in ANSWER_FIELDS} for answer in outcome.answers
        ],
    }


def outcome_from_json(facts: Mapping[str, Any]) -> Outcome:
    """The outcome that `outcome_as_json` has told of.

    Raises
    ------
    KeyError, TypeError, ValueError
        If it is none.
    """
    return Outcome(
        case_id=facts["id"],
        score=facts["score"],
        is_success=facts["is_success"],
        verdicts=tuple(
            Verdict(verdict["node"], verdict["verdict"] == "yes", verdict["reason"])
            for verdict in facts["verdicts"]
        ),
        reason=facts["reason"],
        error=_failure_from_json(facts["error"]),
        reason_error=_failure_from_json(facts["reason_error"]),
        answers=tuple(Answer(**answer) for answer in facts["answers"]),
        slices=tuple(facts["slices"]),
        is_cached=facts["is_cached"],
        seconds=facts["seconds"],
    )


def _failure_as_json(failure: Failure | None) -> dict[str, str] | None:
    return None if failure is None else {"code": failure.code, "message": failure.message}


def _failure_from_json(facts: Mapping[str, str] | None) -> Failure | None:
    return None if facts is None else Failure(facts["code"], facts["message"])


class FileCache(LineCache[Outcome]):
    """A cache in one file, made where there is none; close it, or use it in `with`.

    Texts of cases are not in it, but answers of judges are, who may quote them.

    Raises
    ------
    CacheFileError
        If the file is something else.
    """

    mark = b'{"benchwright_contextual_cache": 1}\n'
    command = "benchwright contextual"

    def as_json(self, outcome: Outcome) -> Mapping[str, Any]:
        return outcome_as_json(outcome)

    def from_json(self, facts: Mapping[str, Any]) -> Outcome:
        return outcome_from_json(facts)
