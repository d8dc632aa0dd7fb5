"""Small files and answers from outside, each read whole in a process of its own.

Site and workers ask these readers, and import none of the parsers behind them.
"""

from collections.abc import Mapping
from typing import Any

from benchwright.evaluation.mteb_results import MAIN, MtebValue, parse_mteb
from benchwright.gates.policy import Policy, policy_from
from benchwright.live.answers import read_answer
from benchwright.live.paths import Reading, Shape
from benchwright.sandbox import reader

__all__ = ["MAIN", "MtebValue", "answer_in", "mteb_values_in", "policy_in"]


@reader
def mteb_values_in(content: bytes, file: str) -> list[MtebValue]:
    """The values of a result file of MTEB; raises as `parse_mteb` does."""
    return parse_mteb(content, file=file)


@reader
def policy_in(content: Mapping[str, Any]) -> Policy:
    """The policy of a gate that a JSON object means; raises as `policy_from` does."""
    return policy_from(content)


@reader
def answer_in(content: bytes, shape: Shape, k: int) -> Reading:
    """The first `k` documents of an answer of a search endpoint; raises as `read_answer` does."""
    return read_answer(content, shape, k=k)
