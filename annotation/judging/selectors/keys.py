"""Which keys a person judges with."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from annotation.judging.protocol.keys import ACTIONS, KeyAction, bindings, caption, grade_action
from annotation.models import KeyMap
from benchmarks_app.models import Benchmark, Grade, Role, User
from benchmarks_app.permissions import ALLOWED, Action

USUAL_SCALE = (0, 1, 2, 3)


def key_map_of(annotator: User) -> KeyMap:
    """What the person chose; not saved where they chose nothing."""
    return KeyMap.objects.filter(annotator=annotator).first() or KeyMap(annotator=annotator)


def actions_on(grades: Iterable[Grade]) -> list[KeyAction]:
    """Everything a key does on a labeling page with these grades."""
    return [*(_grade(grade.value, grade.name) for grade in grades), *ACTIONS]


def _grade(value: int, name: str = "") -> KeyAction:
    """`grade_action`, called so in the page's language."""
    words = _("Grade {n}: {name}") if name else _("Grade {n}")
    return replace(grade_action(value, name), label=words.format(n=value, name=name))


def actions_of(annotator: User) -> list[KeyAction]:
    """Everything a key does for a person, with the grades of every benchmark they judge in."""
    mine = Benchmark.objects.filter(
        memberships__user=annotator, memberships__role__in=map(Role, ALLOWED[Action.JUDGE])
    )
    used = Grade.objects.filter(benchmark__in=mine).values_list("value", flat=True).distinct()
    values = sorted(set(used)) or USUAL_SCALE
    return [*(_grade(value) for value in values), *ACTIONS]


def keys_on_page(annotator: User, grades: Iterable[Grade]) -> dict[str, Any]:
    """For the page's script (`is_on`, `bindings`) and for its panel (`rows`)."""
    chosen = key_map_of(annotator)
    actions = actions_on(grades)
    bound = bindings(actions, chosen.bindings)
    rows = [
        (action, [(key, caption(key)) for key in bound[action.name]])
        for action in actions
        if bound[action.name]
    ]
    return {"is_on": chosen.is_on, "bindings": bound, "rows": rows}
