"""Finding what a person is called in texts, and writing a pseudonym there."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Within two letters nearly every text has a word that is a name somewhere.
SHORTEST_IN_A_TEXT = 3
ASCII_RUN = re.compile(r"[ !#-\[\]-~]+")  # what JSON writes as it is


@dataclass(frozen=True)
class Names:
    """What a person is called: user name, address, and first and last name together.

    A first or a last name alone is not looked for: it is a word, or somebody else's. A name is
    found as a whole word, however its letters are written; `ada` is in `ada-bm25.run` and
    `ada_2.csv`, not in `adapter`, and not in the address of another.
    """

    called: tuple[str, ...]

    @classmethod
    def of(cls, *, username: str, email: str, first: str, last: str) -> "Names":
        said = [email, username]
        if first and last:
            said += [f"{first} {last}", f"{last}, {first}", f"{last} {first}"]
        forms = (unicodedata.normalize(form, name) for name in said for form in ("NFC", "NFD"))
        # The longest first: an address before the user name it begins with.
        return cls(tuple(sorted({one for one in forms if one}, key=lambda one: (-len(one), one))))

    @cached_property
    def _words(self) -> re.Pattern[str] | None:
        long = [re.escape(one) for one in self.called if len(one) >= SHORTEST_IN_A_TEXT]
        if not long:
            return None
        return re.compile(rf"(?<![^\W_])(?<!@)(?:{'|'.join(long)})(?![^\W_])(?!@)", re.IGNORECASE)

    @cached_property
    def _whole(self) -> frozenset[str]:
        return frozenset(one.casefold() for one in self.called)

    def replaced(self, value: Any, pseudonym: str) -> Any:
        """The value with the pseudonym for each name: in a text, and in all texts of JSON.

        Examples
        --------
        >>> names = Names.of(username="ada", email="ada@example.org", first="Ada", last="Byron")
        >>> names.replaced(["by Ada Byron (ada@example.org)", "ada-bm25.run"], "person-7f3a")
        ['by person-7f3a (person-7f3a)', 'person-7f3a-bm25.run']
        >>> names.replaced("an adapter by ada@elsewhere.org", "person-7f3a")
        'an adapter by ada@elsewhere.org'
        """
        if isinstance(value, str):
            if value.casefold() in self._whole:
                return pseudonym
            return self._words.sub(pseudonym, value) if self._words else value
        if isinstance(value, list):
            return [self.replaced(one, pseudonym) for one in value]
        if isinstance(value, dict):
            return {
                self.replaced(key, pseudonym): self.replaced(one, pseudonym)
                for key, one in value.items()
            }
        return value

    def are_in(self, value: Any) -> bool:
        return bool(self.replaced(value, "") != value)

    @cached_property
    def fragments(self) -> list[str]:
        """Pieces to look for in a database, one of which is in every text that has a name.

        Databases fold letters beyond ASCII in ways of their own, and JSON may write them as
        escapes: a piece is the longest of ASCII alone, and "" where a name has none.
        """
        return sorted({max(ASCII_RUN.findall(one), key=len, default="") for one in self.called})
