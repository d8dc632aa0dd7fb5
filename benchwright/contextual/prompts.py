"""What a judge is asked, word for word.

Everything that comes from a case is data and stands between markers (`judges.fencing`).
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from typing import Any

from benchwright.contextual.types import Case, Verdict
from benchwright.judges.course import AGAIN, Prompt
from benchwright.judges.fencing import (
    DATA_RULE,
    digest_of,
    enclose,
    nonce_for,
    texts_of,
    user_content,
)
from benchwright.judges.messages import Image, Schema

YES, NO = "yes", "no"

VERDICTS_TASK = """\
You judge what a retrieval system has found. You are given a question or request (INPUT), the \
answer that is wanted (EXPECTED OUTPUT), and {n} numbered nodes in the order in which the system \
ranked them (NODE 1 to NODE {n}). A node holds text, images, or both.

For each node on its own, decide whether it helps to reach the expected output for this input: \
'yes' if information in it supports, contains or leads to some part of the expected output, 'no' \
if it does not, even if it is about the same subject. The place of a node is no reason.

"""

VERDICTS_FORM = """

Answer with one JSON object and nothing else:
{{"verdicts": {{"1": {{"reason": "<one sentence that names what in the node decides>", "verdict": \
"yes" or "no"}}, …}}}}
with exactly one entry for each node, under its number as a key: {keys}."""

REASON_TASK = """\
A retrieval system has ranked {n} nodes for an input. A judge has found for each node whether it \
helps to reach the expected output (VERDICTS), and from the verdicts contextual precision was \
computed: {score:.2f} of 1. It is 1 if every helpful node stands before every other, and falls \
with each unhelpful node that stands before a helpful one.

"""

REASON_FORM = """

Explain the score in one to three sentences for the person who builds the system: name the nodes \
by number, say which unhelpful ones stand before helpful ones and why they do not help. Do not \
question the score. Answer with one JSON object and nothing else:
{"reason": "<your explanation>"}"""

TEMPLATE = hashlib.sha256(
    "\x00".join([DATA_RULE, VERDICTS_TASK, VERDICTS_FORM, REASON_TASK, REASON_FORM, AGAIN]).encode()
).hexdigest()
"""Changes with every word above: what was judged under other words is not the same judgment."""


def content_digest(case: Case) -> str:
    """Hex digest of all that a judge is shown of a case."""
    return digest_of((case.input, case.expected_output, *case.retrieval_context))


def verdicts_prompt(case: Case, digest: str) -> Prompt:
    """Ask for a verdict on each node of a case, by number."""
    n = len(case.retrieval_context)
    contents = (case.input, case.expected_output, *case.retrieval_context)
    nonce = nonce_for(digest, texts_of(contents))
    parts: list[str | Image] = []
    enclose(parts, nonce, "INPUT", case.input)
    enclose(parts, nonce, "EXPECTED OUTPUT", case.expected_output)
    for number, node in enumerate(case.retrieval_context, start=1):
        enclose(parts, nonce, f"NODE {number}", node)
    task, form = _verdicts_words(n)
    system = task + DATA_RULE.format(nonce=nonce) + form
    return _prompt("verdicts", system, parts, verdicts_schema(n), digest)


@lru_cache(maxsize=256)
def _verdicts_words(n: int) -> tuple[str, str]:
    keys = ", ".join(f'"{number}"' for number in range(1, n + 1))
    return VERDICTS_TASK.format(n=n), VERDICTS_FORM.format(keys=keys)


def reason_prompt(case: Case, digest: str, verdicts: Sequence[Verdict], score: float) -> Prompt:
    """Ask why the verdicts come to this score."""
    # What a judge wrote may quote what it read: it is data like the rest.
    listed = "\n".join(
        f"{verdict.node}. {YES if verdict.is_relevant else NO} {quoted(verdict.reason)}"
        for verdict in verdicts
    )
    nonce = nonce_for(digest, [listed, *texts_of([case.input])])
    parts: list[str | Image] = []
    enclose(parts, nonce, "INPUT", case.input)
    enclose(parts, nonce, "VERDICTS", (listed,))
    system = REASON_TASK.format(n=len(verdicts), score=score)
    system += DATA_RULE.format(nonce=nonce) + REASON_FORM
    return _prompt("reason", system, parts, REASON_SCHEMA, digest + listed)


@lru_cache(maxsize=256)
def verdicts_schema(n: int) -> Schema:
    """The JSON schema of verdicts on `n` nodes: each node a key that must be there."""
    verdict = {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "verdict": {"type": "string", "enum": [YES, NO]},
        },
        "required": ["reason", "verdict"],
        "additionalProperties": False,
    }
    nodes = [str(number) for number in range(1, n + 1)]
    by_node = {
        "type": "object",
        "properties": dict.fromkeys(nodes, verdict),
        "required": nodes,
        "additionalProperties": False,
    }
    return _schema("verdicts", {"verdicts": by_node})


def _schema(name: str, properties: dict[str, Any]) -> Schema:
    return {
        "name": name,
        "schema": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
    }


REASON_SCHEMA = _schema("reason", {"reason": {"type": "string"}})


def _prompt(
    kind: str, system: str, parts: list[str | Image], schema: Schema, content: str
) -> Prompt:
    messages = (
        {"role": "system", "content": system},
        {"role": "user", "content": user_content(parts)},
    )
    hashed = hashlib.sha256(f"{TEMPLATE}{kind}{content}".encode("utf-8", "replace")).hexdigest()
    return Prompt(kind, messages, schema, hashed)
