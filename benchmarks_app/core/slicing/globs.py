"""Patterns with `*` (anything) and `?` (one character), not as regular expressions."""


def glob_matches(pattern: str, text: str) -> bool:
    """Whether the whole text is what the pattern says.

    Examples
    --------
    >>> glob_matches("how * file?", "how to read files"), glob_matches("how", "how to")
    (True, False)
    """
    at = place = 0
    star = resume = -1
    while place < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, resume = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("?", text[place]):
            at += 1
            place += 1
        elif star >= 0:
            # What the last star stands for is one character longer than was thought.
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return set(pattern[at:]) <= {"*"}
