"""The C extension; `_mappings.c` says how it works. Each answers None to what is not as usual."""

from typing import Any

def score(
    qrels: Any,
    run: Any,
    asked: tuple[tuple[str | None, int, int, int], ...],
    ties: int,
    is_zero: bool,
    is_compensated: bool,
    /,
) -> tuple[dict[Any, dict[str, float]], list[tuple[list[float], int]], int, int] | None: ...
def nested(
    queries: list[Any], documents: list[Any], values: list[Any], /
) -> dict[Any, dict[Any, Any]] | None: ...
