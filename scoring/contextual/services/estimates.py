"""What an evaluation would take, roughly, before anybody pays for it."""

from dataclasses import dataclass

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce

from benchmarks_app.models import JudgeEndpoint
from benchwright.contextual import prompts
from benchwright.judges.fencing import DATA_RULE
from scoring.contextual.selectors import cases_chosen
from scoring.contextual.services.errors import CasesChosenTwiceError
from scoring.models import CaseSet

# Of English and of most others in UTF-8; models differ by a third.
BYTES_PER_TOKEN = 4
# Models count images by their size, from some 85 tokens to 1,600.
TOKENS_PER_IMAGE = 1_000
# Around a node: its two marker lines, and its part of the schema.
TOKENS_PER_NODE = 50
# One sentence and a word on a node; one to three sentences on a score.
VERDICT_TOKENS, REASON_TOKENS = 40, 90
VERDICTS_FRAME = len(prompts.VERDICTS_TASK + DATA_RULE + prompts.VERDICTS_FORM)
REASON_FRAME = len(prompts.REASON_TASK + DATA_RULE + prompts.REASON_FORM)
TOKENS_IN_MILLION = 1_000_000


@dataclass(frozen=True)
class Estimate:
    """Cases, calls and tokens; `cost` is None where the judge has no prices."""

    n_cases: int
    n_nodes: int
    n_calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def estimate(
    case_set: CaseSet,
    judge: JudgeEndpoint | None,
    *,
    has_reasons: bool = True,
    only_slice: str = "",
    only_first: int | None = None,
) -> Estimate:
    """Reckoned from the bytes of all texts, and how many nodes and images there are.

    Raises
    ------
    CasesChosenTwiceError
        If both a slice and the first are chosen.
    """
    CasesChosenTwiceError.refuse(only_slice, only_first)
    chosen = cases_chosen(case_set, only_slice=only_slice, only_first=only_first)
    # A case without nodes is 0 without a question.
    cases = chosen.filter(n_nodes__gt=0).order_by()
    facts = cases.aggregate(
        n=Count("pk"),
        size=Coalesce(Sum("n_bytes"), 0),
        nodes=Coalesce(Sum("n_nodes"), 0),
        images=Coalesce(Sum("n_images"), 0),
    )
    n, nodes = facts["n"], facts["nodes"]
    texts = facts["size"] // BYTES_PER_TOKEN + facts["images"] * TOKENS_PER_IMAGE
    tokens_in = texts + nodes * TOKENS_PER_NODE + n * VERDICTS_FRAME // BYTES_PER_TOKEN
    tokens_out = nodes * VERDICT_TOKENS
    if has_reasons:
        tokens_in += nodes * VERDICT_TOKENS + n * REASON_FRAME // BYTES_PER_TOKEN
        tokens_out += n * REASON_TOKENS
    return Estimate(
        n_cases=chosen.count(),
        n_nodes=nodes,
        n_calls=n * (2 if has_reasons else 1),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost_of(judge, tokens_in, tokens_out) if judge and judge.has_prices else None,
    )


def cost_of(judge: JudgeEndpoint, tokens_in: int, tokens_out: int) -> float:
    """What tokens cost by the prices of a judge that has them."""
    cost = tokens_in * (judge.price_in or 0) + tokens_out * (judge.price_out or 0)
    return cost / TOKENS_IN_MILLION
