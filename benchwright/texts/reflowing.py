"""Hard line breaks of old collections as spaces, so that a text fills the column it is read in.

Cranfield, the collections of SMART and of TREC end a line where a terminal did. There a single line
break means a space; empty lines, lists, indentation, columns and code mean what they show.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from benchwright.texts.excerpts import IDEOGRAPHIC

# A line of a text that was broken by hand is no longer; longer ones are paragraphs of their own.
WIDEST = 120
# Lines of verse, of a list or of an address are mostly shorter.
SHORT = 25
# In a text of so few breaks, each has to tell.
FEW_BREAKS = 3
# So many lines go on in the middle of a sentence, in small letters; or so many leave no room for
# the next word, give or take a part of the width, and not all of them begin with a capital (names
# and German nouns do; of verse every line).
MOSTLY_GO_ON, MOSTLY_FULL, SLACK, CAPITALS = 0.5, 0.6, 0.15, 0.8

FENCE = re.compile(r"\s*(```|~~~)")
LIST_ITEM = re.compile(
    r"""\s*(?:[-*+•·‣▪\N{EN DASH}\N{EM DASH}]\s
        |\(?\d{1,3}[.):]\s|\(?[A-Za-z][.)]\s|\(?[ivxIVX]{1,5}[.)]\s
        |\#{1,6}\s|>\s?|\|
        |\w[\w\ /-]{0,24}:\s)""",
    re.VERBOSE,
)
COLUMNS = re.compile(r"\t|\S {3,}\S")
RULE = re.compile(r"\W{3,}$")
SENTENCE_END = re.compile(rf"[.!?:;…{IDEOGRAPHIC}][\"'”\N{{RIGHT SINGLE QUOTATION MARK}}»)\]]*\s*$")
# A hyphen at the end of a line is the word's own, or the line's: nothing is put after it.
HYPHENATED = re.compile(r"\w[-\N{HYPHEN}]$")
ELLIPTIC = re.compile(r"(?:and|or|und|oder|bis|et|ou|y|o)\b")
IDEOGRAPH = (
    "\N{HIRAGANA LETTER SMALL A}-\N{KATAKANA LETTER SMALL RE}"
    "\N{CJK UNIFIED IDEOGRAPH-3400}-\N{CJK UNIFIED IDEOGRAPH-9FFF}"
    "\N{IDEOGRAPHIC COMMA}\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH COMMA}"
)
BETWEEN_IDEOGRAPHS = re.compile(rf"[{IDEOGRAPH}]\n[{IDEOGRAPH}]")


def reflowed(text: str, line_breaks: str = "auto") -> str:
    """The text with the line breaks inside its paragraphs as spaces; all other signs as they were.

    `auto` does so where `is_hard_wrapped`, `join` always, `keep` never. Empty lines, lists,
    indented lines, columns, fenced code and rules keep their lines. No space is put between two
    ideographs, nor after a hyphen inside a word. Lines end in one newline each (`normal_text`).

    >>> reflowed("the lift\\nincrease due to thermo-\\nelastic effects", "join")
    'the lift increase due to thermo-elastic effects'
    >>> reflowed("To do:\\n- read\\n- grade", "join")
    'To do:\\n- read\\n- grade'
    """
    if line_breaks == "keep" or "\n" not in text:
        return text
    if line_breaks == "auto" and not is_hard_wrapped(text):
        return text
    lines = text.split("\n")
    pieces = [lines[0]]
    for (before, line), is_soft in zip(_pairs(lines), _soft_breaks(lines), strict=True):
        pieces.append(_joint(before, line) + line.lstrip() if is_soft else "\n" + line)
    return "".join(pieces)


def is_hard_wrapped(text: str) -> bool:
    """Whether the lines of a text end where a terminal did, not where its author meant them to.

    Such lines are no longer than a terminal, and go on in the middle of a sentence, in small
    letters, or leave no room for the word that follows. Those of verse, lists and addresses do not.
    Of one or two breaks none may speak against it.
    """
    lines = text.split("\n")
    breaks = [
        (before.rstrip(), line)
        for (before, line), is_soft in zip(_pairs(lines), _soft_breaks(lines), strict=True)
        if is_soft
    ]
    if not breaks:
        return False
    width = max(len(part.rstrip()) for pair in breaks for part in pair)
    n, n_short = len(breaks), sum(len(before) < SHORT for before, _ in breaks)
    if width > WIDEST or n_short * 2 > n:
        return False
    n_going_on = sum(_goes_on(before, line) for before, line in breaks)
    if n < FEW_BREAKS:
        n_anew = sum(
            line[:1].isupper() and not SENTENCE_END.search(before) for before, line in breaks
        )
        return n_going_on > 0 and n_anew == n_short == 0
    n_capitals = sum(line[:1].isupper() for _, line in breaks)
    n_full = sum(_is_full(before, line, width) for before, line in breaks)
    is_full = n_full >= MOSTLY_FULL * n and n_capitals <= CAPITALS * n
    return is_full or n_going_on >= MOSTLY_GO_ON * n


def is_set_in_lines(paragraph: str) -> bool:
    """Whether a paragraph is code or a table: most of its lines are indented, or in columns.

    >>> is_set_in_lines("    for n in range(3):\\n        print(n)"), is_set_in_lines("a\\nb")
    (True, False)
    """
    lines = paragraph.split("\n")
    n_set = sum(line[:2].isspace() or bool(COLUMNS.search(line)) for line in lines)
    return len(lines) > 1 and n_set * 2 > len(lines) and any(line.strip() for line in lines)


def _pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    return pairwise(lines)


def _soft_breaks(lines: list[str]) -> Iterator[bool]:
    """For each break between two lines, whether it may be one that a terminal made."""
    is_code = bool(FENCE.match(lines[0]))
    for before, line in _pairs(lines):
        is_fence = bool(FENCE.match(line))
        yield not (is_code or is_fence) and not _keeps_its_line(before, line)
        is_code ^= is_fence


def _keeps_its_line(before: str, line: str) -> bool:
    if not before.strip() or not line.strip():
        return True
    return (
        line[0].isspace()
        or bool(LIST_ITEM.match(line) or LIST_ITEM.match(before))
        or bool(COLUMNS.search(line) or COLUMNS.search(before))
        or bool(RULE.match(line) or RULE.match(before))
    )


def _is_full(before: str, line: str, width: int) -> bool:
    """Whether the first word of the line had no room at the end of the one before."""
    word = line.split(maxsplit=1)[0]
    return len(before) + 1 + len(word) > width * (1 - SLACK)


def _goes_on(before: str, line: str) -> bool:
    first = line.lstrip()[:1]
    return not SENTENCE_END.search(before) and first.islower()


def _joint(before: str, line: str) -> str:
    """What stands where a line break was: a space, or nothing where a word or a text has none."""
    line = line.lstrip()
    if before[-1:].isspace():
        return ""
    if HYPHENATED.search(before) and line[:1].islower() and not ELLIPTIC.match(line):
        return ""
    return "" if BETWEEN_IDEOGRAPHS.match(f"{before[-1:]}\n{line[:1]}") else " "
