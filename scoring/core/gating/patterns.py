"""What differences together look like: a reading with its evidence, never a verdict.

A measure went up or down if its difference is beyond `LEAST` or half the width of its interval,
whichever is larger; else it stayed.
"""

from collections.abc import Mapping
from typing import Any

from scoring.core.gating.findings import Check, signed

LEAST = 0.005
UP, SAME, DOWN = "up", "same", "down"

# What the measure itself, the first recall and the first reciprocal rank did, and what that means.
TOGETHER = {
    (UP, UP, SAME): "more complete sets, first hit unchanged",
    (SAME, SAME, UP): "first-hit only",
    (UP, SAME, SAME): "re-ordering within the top ranks",
    (SAME, SAME, SAME): "nothing moved beyond its uncertainty",
}
# A slice that went up, another that went down.
OPPOSED = (
    (("head",), ("tail",), "head over-fit"),
    (("semantic",), ("exact", "lexical"), "lexical loss; try hybrid"),
)


def patterns(checks: Mapping[str, Check]) -> list[dict[str, Any]]:
    """Readings, each with the numbers that it is read from."""
    measure = checks["overall"].findings[0]
    rows = {measure.name: measure.numbers}
    rows |= {one.name: one.numbers for one in checks["guard_rails"].findings if "p" in one.numbers}
    recall = next((name for name in rows if name.startswith(("R@", "R("))), None)
    first = next((name for name in rows if name.startswith("RR")), None)
    found = []
    if recall and first:
        names = (measure.name, recall, first)
        moves = tuple(move(rows[name]) for name in names)
        if text := _together(moves):
            found.append(_reading(text, {name: rows[name] for name in names}))
    return [*found, *_opposed(checks["slices"])]


def _together(moves: tuple[str, ...]) -> str:
    if moves[:2] == (DOWN, UP):
        return "coverage bought with ranking"
    return TOGETHER.get((moves[0], moves[1], moves[2]), "")


def _opposed(slices: Check) -> list[dict[str, Any]]:
    rows = {one.name: one.numbers for one in slices.findings}
    found = []
    for risen, fallen, text in OPPOSED:
        up = [name for name in rows if _is_called(name, risen) and move(rows[name]) == UP]
        down = [name for name in rows if _is_called(name, fallen) and move(rows[name]) == DOWN]
        if up and down:
            found.append(_reading(text, {name: rows[name] for name in (up[0], down[0])}))
    return found


def _is_called(name: str, words: tuple[str, ...]) -> bool:
    return any(word in name.casefold() for word in words)


def move(numbers: Mapping[str, Any]) -> str:
    """Whether a difference is up, down or the same.

    Examples
    --------
    >>> move({"difference": 0.02, "lower": 0.01, "upper": 0.03})
    'up'
    >>> move({"difference": 0.004, "lower": 0.003, "upper": 0.005})
    'same'
    """
    difference = numbers["difference"]
    beyond = max(LEAST, (numbers["upper"] - numbers["lower"]) / 2)
    if difference > beyond:
        return UP
    return DOWN if difference < -beyond else SAME


def _reading(text: str, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    evidence = [
        f"{name} {signed(row['difference'])} ({signed(row['lower'])} to {signed(row['upper'])}, "
        f"n = {row['n']:,})"
        for name, row in rows.items()
    ]
    return {"text": text, "evidence": evidence}
