"""The keys of the labeling page: one table for its panel, for the page of keys and for the tests.

A key is named by its place on the keyboard (`KeyboardEvent.code`), whatever is printed on it, with
`Shift+` before it where that is meant. The number pad stands for the digits.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase, digits


@dataclass(frozen=True, slots=True)
class KeyAction:
    """What a key does, and the keys that do it unless a person chose others."""

    name: str
    label: str
    usual: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clash:
    """One key that two actions want."""

    key: str
    first: str
    second: str


ACTIONS = (
    KeyAction("full", "Show the full text, or the excerpt again", ("Space",)),
    KeyAction("find", "Find words in the text", ("Slash",)),
    KeyAction("evidence", "Mark the selected text as evidence", ("KeyE",)),
    KeyAction("note", "Write a note, or ask the owner", ("KeyN",)),
    KeyAction("later", "Put the document aside for later", ("KeyL",)),
    KeyAction("cant-judge", "Can't judge: then a number chooses the reason", ("KeyX",)),
    KeyAction("undo", "Undo my last judgment; again for the one before", ("KeyZ",)),
    KeyAction("guideline", "Open or close the guideline", ("KeyG",)),
    KeyAction("keys", "Show or hide these keys", ("Shift+Slash",)),
)
# Grades under the fingers at rest; the letters between are taken by the actions above.
HOME_ROW = ("KeyA", "KeyS", "KeyD", "KeyF", "KeyH", "KeyJ", "KeyK")
PUNCTUATION = {
    "Minus": "-",
    "Equal": "=",
    "BracketLeft": "[",
    "BracketRight": "]",
    "Semicolon": ";",
    "Quote": "'",
    "Backquote": "`",
    "Backslash": "\\",
    "Comma": ",",
    "Period": ".",
    "Slash": "/",
}
CAPTIONS = {
    **{f"Digit{digit}": digit for digit in digits},
    **{f"Key{letter}": letter.lower() for letter in ascii_uppercase},
    **PUNCTUATION,
    "Shift+Slash": "?",
    "Space": "Space",
}
SHIFT = "Shift+"


def grade_action(value: int, name: str = "") -> KeyAction:
    """The action that gives a grade: its digit, and a key of the home row."""
    keys = [f"Digit{value}"] if 0 <= value <= 9 else []
    if 0 <= value < len(HOME_ROW):
        keys.append(HOME_ROW[value])
    label = f"Grade {value}: {name}" if name else f"Grade {value}"
    return KeyAction(f"grade-{value}", label, tuple(keys))


def bindings(
    actions: Iterable[KeyAction], own: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """The keys of each action: a person's own where they chose, the usual ones elsewhere."""
    return {action.name: list(own.get(action.name, action.usual)) for action in actions}


def caption(key: str) -> str:
    """What the key is called where nothing else is known: as on a keyboard of the United States."""
    return CAPTIONS.get(key, key)


def clashes(bound: Mapping[str, Sequence[str]]) -> list[Clash]:
    """Every key that two actions want, in the order of the actions.

    A grade takes its key with Shift, too: that is the same grade, given with low confidence.

    Examples
    --------
    >>> clashes({"undo": ["KeyZ"], "note": ["KeyZ"]})
    [Clash(key='KeyZ', first='undo', second='note')]
    >>> clashes({"grade-1": ["Slash"], "keys": ["Shift+Slash"]})
    [Clash(key='Shift+Slash', first='grade-1', second='keys')]
    """
    owners: dict[str, str] = {}
    pairs = []
    for action, keys in bound.items():
        for key in dict.fromkeys(_taken(action, keys)):
            owner = owners.setdefault(key, action)
            if owner != action:
                pairs.append(Clash(key, owner, action))
    return pairs


def _taken(action: str, keys: Sequence[str]) -> Iterator[str]:
    for key in keys:
        yield key
        if action.startswith("grade-") and not key.startswith(SHIFT):
            yield SHIFT + key
