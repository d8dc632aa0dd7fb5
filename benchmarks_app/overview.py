"""The overview's stepper: each app says how far its own part of a benchmark is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, may

# Steps from here on need somebody's work: without any of them done a benchmark is new.
FIRST_OF_WORK = 40


@dataclass(frozen=True)
class Step:
    """One step from corpus to leaderboard; `order` places it, `url` leads to its page.

    Who may not do `action` is not told of it.
    """

    order: int
    title: str
    is_done: bool
    detail: str
    url: str
    call: str  # what to do next, as a button says it
    action: Action = Action.VIEW
    # False where what it is for is there without it: it is never the next one.
    is_needed: bool = True


StepMaker = Callable[[Benchmark, Any], Step]
MAKERS: list[StepMaker] = []


def step(maker: StepMaker) -> StepMaker:
    """Register a function that describes one step of a benchmark."""
    MAKERS.append(maker)
    return maker


def steps_of(benchmark: Benchmark, user: Any) -> list[dict[str, Any]]:
    """Every step in order, each done, current (the first open one that is needed) or to do."""
    all_steps = (maker(benchmark, user) for maker in MAKERS)
    allowed = (step for step in all_steps if may(user, step.action, benchmark))
    steps = sorted(allowed, key=lambda step: step.order)
    first_open = next((step for step in steps if step.is_needed and not step.is_done), None)
    return [
        {
            "number": number,
            "title": step.title,
            "detail": step.detail,
            "url": step.url,
            "call": step.call,
            "is_work": step.order >= FIRST_OF_WORK,
            "is_count": step.order < FIRST_OF_WORK,
            "state": "done" if step.is_done else "current" if step is first_open else "todo",
        }
        for number, step in enumerate(steps, start=1)
    ]
