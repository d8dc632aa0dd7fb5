"""What a slice may be called: a word of a file, of an address and of a board."""

from benchwright.ids import LONGEST_NAME
from benchwright.slices.errors import SliceNameError

# "all" is every query wherever slices are listed; the others are addresses beside slices' own.
RESERVED = frozenset({"all", "new", "import", "preview", "plan"})


def checked_name(name: str) -> str:
    """The name without blanks around it.

    Raises
    ------
    SliceNameError
        If it is empty, too long, reserved, or has characters that files or addresses lack.
    """
    name = name.strip()
    why = _why_not(name)
    if why:
        raise SliceNameError(name=name, why=why)
    return name


def _why_not(name: str) -> str:
    if not name:
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it has {len(name)} characters and may have {LONGEST_NAME}"
    if name.casefold() in RESERVED:
        return "the word has a meaning of its own; add another to it"
    if name.startswith(("#", ".")):
        return "it begins with # or a dot"
    wrong = next(
        (character for character in name if not character.isprintable() or character in '/\\"?%&'),
        "",
    )
    if wrong:
        return f"it holds {wrong!r}; letters, digits, blanks, hyphens and the like are fine"
    return ""
