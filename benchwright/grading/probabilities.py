"""How sure a judge was of its grade, from the probabilities of the tokens of its answer."""

import re
from collections.abc import Mapping, Sequence
from math import exp

from benchwright.judges.messages import Reply

GRADE = re.compile(r'"grade"\s*:\s*"?(\d+)')


def probabilities_of(reply: Reply | None, grade: int, grades: Sequence[int]) -> Mapping[int, float]:
    """The probability of each grade of the scale, summing to 1; empty where nothing tells.

    Looked at is the one token that holds the grade, with what the endpoint says might have stood
    there; what is no grade of the scale is left out.
    """
    if reply is None or not reply.tokens:
        return {}
    match = None
    for match in GRADE.finditer(reply.text):  # noqa: B007 the last one counts
        pass
    if match is None or match[1] != str(grade):
        return {}
    at = 0
    for token in reply.tokens:
        if at <= match.start(1) < at + len(token.text):
            return _of_token(token.alternatives, grades)
        at += len(token.text)
    return {}


def _of_token(alternatives: Mapping[str, float], grades: Sequence[int]) -> Mapping[int, float]:
    shares = dict.fromkeys(grades, 0.0)
    for text, log_probability in alternatives.items():
        word = text.strip(' ":')
        if word.isdecimal() and int(word) in shares:
            shares[int(word)] += exp(min(log_probability, 0.0))
    total = sum(shares.values())
    return {grade: share / total for grade, share in shares.items()} if total else {}
