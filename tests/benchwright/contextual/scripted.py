"""Judges that answer by script, and cases to ask them about."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.contextual.types import Case

YES_NO = {True: "yes", False: "no"}


def answer(*relevant: bool) -> dict[str, Any]:
    """A well-formed answer of these verdicts."""
    return {
        "verdicts": {
            str(node): {"reason": f"because {node}", "verdict": YES_NO[is_relevant]}
            for node, is_relevant in enumerate(relevant, start=1)
        }
    }


def case(n_nodes: int = 2, **fields: Any) -> Case:
    nodes = [f"node text {number}" for number in range(1, n_nodes + 1)]
    parts = {"input": "Who?", "expected_output": "Ada.", "retrieval_context": nodes, "id": "c"}
    return Case(**{**parts, **fields})


class Scripted:
    """Returns (or raises) one thing after the other, and keeps what it was asked."""

    model = "scripted"

    def __init__(self, *arguments: Any, reason: str = "It is so.") -> None:
        self.given = list(arguments)
        self.reason = reason
        self.asked: list[Sequence[Mapping[str, Any]]] = []

    def generate(self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> Any:
        self.asked.append(messages)
        if schema["name"] == "reason" and not self.given:
            return json.dumps({"reason": self.reason})
        result = self.given.pop(0)
        if isinstance(result, BaseException):
            raise result
        return json.dumps(result) if isinstance(result, dict | list) else result

    @property
    def users(self) -> list[str]:
        """What the first user message of each request says."""
        return [messages[1]["content"] for messages in self.asked]


class AsyncScripted(Scripted):
    """The same, awaited only."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.a_generate = self._a_generate
        self.ask, self.generate = super().generate, None

    def __getattribute__(self, name: str) -> Any:
        result = super().__getattribute__(name)
        if name == "generate" and result is None:
            raise AttributeError(name)
        return result

    async def _a_generate(self, messages: Any, schema: Any) -> Any:
        return self.ask(messages, schema)
