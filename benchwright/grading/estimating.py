"""What grading will take, before anybody is asked."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchwright.grading.looping import Cache, key_of
from benchwright.grading.prompts import GradingPrompt, content_digest
from benchwright.grading.types import Pair
from benchwright.judges.messages import Image
from benchwright.judges.pumping import AnyJudge

BYTES_A_TOKEN = 4
TOKENS_AN_IMAGE = 1000
TOKENS_ANSWERED = 80


@dataclass(frozen=True, slots=True)
class Estimate:
    """Pairs, how many of them are known (or come twice), and about what the others take.

    Four bytes a token, a thousand tokens an image, eighty an answer: models differ by a third and
    more. `cost` is None where the judge has no prices.
    """

    n_pairs: int
    n_known: int
    tokens_in: int
    tokens_out: int
    cost: float | None

    @property
    def n_asked(self) -> int:
        return self.n_pairs - self.n_known


def estimated(
    pairs: Iterable[Pair],
    judge: AnyJudge,
    prompt: GradingPrompt,
    *,
    cache: Cache | None = None,
) -> Estimate:
    """What grading the pairs will take; equal questions and those in the cache are free."""
    n_pairs = tokens_in = 0
    keys: set[str] = set()
    keys_known: set[str] = set()
    for pair in pairs:
        n_pairs += 1
        key = key_of(pair, judge, prompt)
        if key in keys:
            continue
        keys.add(key)
        if cache is not None and cache.get(key) is not None:
            keys_known.add(key)
        else:
            tokens_in += tokens_of(pair, prompt)
    n_asked = len(keys) - len(keys_known)
    tokens_out = n_asked * TOKENS_ANSWERED
    endpoint = getattr(judge, "endpoint", None)
    cost = endpoint.cost_of(tokens_in, tokens_out) if endpoint is not None else None
    return Estimate(n_pairs, n_pairs - n_asked, tokens_in, tokens_out, cost)


def tokens_of(pair: Pair, prompt: GradingPrompt) -> int:
    """About how many tokens the question about a pair has."""
    request = prompt.asked(pair, content_digest(pair))
    texts = [str(request.messages[0]["content"])]
    content = request.messages[1]["content"]
    if isinstance(content, str):
        texts.append(content)
    else:
        texts += [part["text"] for part in content if part["type"] == "text"]
    n_images = sum(isinstance(part, Image) for part in (*pair.query, *pair.document))
    n_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return n_bytes // BYTES_A_TOKEN + n_images * TOKENS_AN_IMAGE
