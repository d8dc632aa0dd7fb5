"""A person's own keys for judging."""

from collections.abc import Mapping

from annotation.judging.protocol.errors import KeysClashError
from annotation.judging.protocol.keys import KeyAction, bindings, caption, clashes
from annotation.models import KeyMap
from benchmarks_app.models import User


def save_key_map(
    *,
    annotator: User,
    actions: list[KeyAction],
    chosen: Mapping[str, list[str]],
    is_on: bool = True,
) -> KeyMap:
    """Keep the keys of these actions that differ from the usual ones.

    Raises
    ------
    KeysClashError
        If two actions want one key.
    """
    bound = bindings(actions, chosen)
    labels = {action.name: action.label for action in actions}
    for clash in clashes(bound):
        raise KeysClashError(
            key=caption(clash.key), first=labels[clash.first], second=labels[clash.second]
        )
    own = {
        action.name: bound[action.name]
        for action in actions
        if tuple(bound[action.name]) != action.usual
    }
    return KeyMap.objects.update_or_create(
        annotator=annotator, defaults={"bindings": own, "is_on": is_on}
    )[0]
