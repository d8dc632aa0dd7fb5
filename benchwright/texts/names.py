"""Finding what a person is called in texts, and writing a pseudonym there."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Within two letters nearly every text has a word that is a name somewhere.
SHORTEST_IN_A_TEXT = 3
ASCII_RUN = re.compile(r"[ !#-\[\]-~]+")  # what JSON writes as it is
KEY = re.compile(r"[a-z][a-z0-9_]*")
# Between a first and a last name: files have `Ada_Byron.tsv`, and lines of text break there.
BETWEEN = r"[\s_.,-]+"


@dataclass(frozen=True)
class Names:
    """What a person is called: user name, address, and first and last name together.

    A first or a last name alone is not looked for: it is a word, or somebody else's. A name is
    found as a whole word, however its letters are written, and whatever is between its words;
    `ada` is in `ada-bm25.run`, `ada_2.csv` and `@ada`, not in `adapter`, and not in the address of
    another.
    """

    called: tuple[str, ...]

    @classmethod
    def of(cls, *, username: str, email: str, first: str, last: str) -> "Names":
        names = [email, username]
        if first and last:
            names += [f"{first} {last}", f"{last}, {first}", f"{last} {first}"]
        forms = (unicodedata.normalize(form, name) for name in names for form in ("NFC", "NFD"))
        # The longest first: an address before the user name it begins with.
        return cls(
            tuple(sorted({form for form in forms if form}, key=lambda form: (-len(form), form)))
        )

    @cached_property
    def _words(self) -> re.Pattern[str] | None:
        parted = [_parts(name) for name in self.called]
        long = [
            BETWEEN.join(map(re.escape, parts))
            for parts in parted
            if len("".join(parts)) >= SHORTEST_IN_A_TEXT
        ]
        if not long:
            return None
        return re.compile(rf"(?<![^\W_])(?<!\w@)(?:{'|'.join(long)})(?![^\W_])(?!@)", re.IGNORECASE)

    @cached_property
    def _whole(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in self.called)

    def replaced(self, value: Any, pseudonym: str) -> Any:
        """The value with the pseudonym for each name: in a text, and in all texts of JSON.

        Keys of JSON that are a lower-case word stay: so the program calls things (`file`,
        `n_runs`), whatever somebody is called.

        Examples
        --------
        >>> names = Names.of(username="ada", email="ada@example.org", first="Ada", last="Byron")
        >>> names.replaced(["by Ada Byron (ada@example.org)", "Ada_Byron.run"], "person-7f3a")
        ['by person-7f3a (person-7f3a)', 'person-7f3a.run']
        >>> names.replaced("an adapter by ada@elsewhere.org", "person-7f3a")
        'an adapter by ada@elsewhere.org'
        """
        if isinstance(value, str):
            if value.casefold() in self._whole:
                return pseudonym
            return self._words.sub(pseudonym, value) if self._words else value
        if isinstance(value, list):
            return [self.replaced(part, pseudonym) for part in value]
        if isinstance(value, dict):
            return {
                key if KEY.fullmatch(key) else self.replaced(key, pseudonym): self.replaced(
                    part, pseudonym
                )
                for key, part in value.items()
            }
        return value

    def are_in(self, value: Any) -> bool:
        return bool(self.replaced(value, "") != value)

    @cached_property
    def fragments(self) -> list[str]:
        """Pieces to look for in a database, one of which is in every text that has a name.

        Databases fold letters beyond ASCII in ways of their own, and JSON may write them as
        escapes: a piece is the longest of ASCII alone in a part, and "" where a name has none.
        """
        runs = (
            [run for part in _parts(name) for run in ASCII_RUN.findall(part)]
            for name in self.called
        )
        return sorted({max(pieces, key=len, default="") for pieces in runs})


def _parts(name: str) -> list[str]:
    """The words of a first and a last name; a user name or an address is one."""
    words = [word for word in re.split(BETWEEN, name) if word]
    return words if " " in name and len(words) > 1 else [name]
