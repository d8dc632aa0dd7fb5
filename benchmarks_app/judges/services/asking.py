"""Speaking to a judge: for workers, which alone load what that needs and open the key."""

from typing import Any

from django.conf import settings

from benchmarks_app.judges.services.keys import checked_address, key_of
from benchmarks_app.models import JudgeEndpoint
from benchwright.contextual.judging import outcomes_of
from benchwright.contextual.types import Case, Options, Outcome
from benchwright.errors import BenchmarkError
from benchwright.ids import storable
from benchwright.judges.client import OpenAIJudge
from benchwright.judges.completions import FORMATS
from benchwright.judges.endpoint import Endpoint

# The first node answers, the second is of something else.
TINY = Case(
    id="trial",
    input=("What is the capital of France?",),
    expected_output=("Paris",),
    retrieval_context=(
        ("Paris is the capital of France.",),
        ("Bread is baked from flour and water.",),
    ),
)
EXPECTED = [True, False]


def client_of(judge: JudgeEndpoint, *, has_probabilities: bool = False) -> OpenAIJudge:
    """What asks the judge, with its key and its limits.

    Raises
    ------
    JudgeAddressError, JudgeKeyVariableError, JudgeKeySealError
        If it may not be asked any more, or its key cannot be had.
    """
    checked_address(judge.base_url)
    endpoint = Endpoint(
        model=judge.model,
        base_url=judge.base_url,
        timeout=judge.timeout_seconds,
        max_attempts=judge.max_attempts,
        concurrency=judge.concurrency,
        requests_per_minute=judge.requests_per_minute,
        price_in=judge.price_in,
        price_out=judge.price_out,
        answer_format=judge.answer_format or FORMATS[0],
        has_probabilities=has_probabilities,
        may_be_private=settings.JUDGE_PRIVATE_ADDRESSES,
    )
    return OpenAIJudge(endpoint, key_of(judge))


def remember_format(judge: JudgeEndpoint | None, client: Any) -> None:
    """Keep which way of asking worked, so that the next job need not find out."""
    answer_format = getattr(client, "answer_format", "")
    if judge is not None and answer_format and answer_format != judge.answer_format:
        JudgeEndpoint.objects.filter(pk=judge.pk).update(answer_format=answer_format)


def asked_once(judge: JudgeEndpoint) -> tuple[dict[str, Any], str]:
    """What came back of one tiny case, for people to read; and how answers were asked for."""
    try:
        client = client_of(judge)
        (outcome,) = outcomes_of([TINY], client, Options(), concurrency=1)
    except BenchmarkError as error:
        return {"is_good": False, "code": error.code, "message": storable(str(error))}, ""
    return storable(_told(outcome)), client.answer_format if outcome.error is None else ""


def _told(outcome: Outcome) -> dict[str, Any]:
    error = outcome.error or outcome.reason_error
    answer = outcome.answers[-1] if outcome.answers else None
    verdicts = [
        {"node": verdict.node, "is_relevant": verdict.is_relevant, "reason": verdict.reason}
        for verdict in outcome.verdicts
    ]
    return {
        "is_good": error is None,
        "is_as_expected": [verdict.is_relevant for verdict in outcome.verdicts] == EXPECTED,
        "code": error.code if error else "",
        "message": error.message if error else "",
        "verdicts": verdicts,
        "reason": outcome.reason or "",
        "model": answer.model if answer else "",
        "tokens_in": outcome.tokens_in,
        "tokens_out": outcome.tokens_out,
        "cost": outcome.cost,
        "seconds": round(outcome.seconds, 3),
        "raw": answer.text[:2000] if answer else "",
    }
