"""Signs that nobody read for a grade: what to ask a person about, before their labels are used.

Each is meant to stay silent on honest work, quick as it may be, and to speak of grades that were
given without looking. docs/agreement.md tells how often each is wrong on made-up honest work.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchwright.agreement.qualification import at_most
from benchwright.statistics.descriptive import wilson

# --- Pace: a title and a sentence at 1,500 words a minute (twice as fast as people skim), and the
# half second that it takes to see a page and press a key. More of a text nobody needs to have seen.
REACTION_SECONDS = 0.5
CHARS_PER_SECOND, CHARS_SEEN = 150.0, 200
# Anybody is that quick at times: at a title that tells all. Not at most of so many in a row.
WINDOW, HASTY_SHARE = 40, 0.6

# --- One grade: whole queries in a row, since the documents of one query are alike.
FEWEST_OF_QUERY, FEWEST_QUERIES, FEWEST_IN_A_ROW = 3, 3, 30
ONCE_IN = 1000

# --- Hidden checks: a careful person gives six in ten their own grade, or more.
FEWEST_CHECKS, CAREFUL_SHARE, CHECKS_BY_CHANCE = 8, 0.6, 0.005

# --- Others: agreement on relevance that is hardly above that of two people who toss a coin.
FEWEST_SHARED, KAPPA_OF_CHANCE, ALL_ALIKE = 30, 0.2, 0.95


@dataclass(frozen=True, slots=True)
class Read:
    """A label and what it took: seconds before the document, of how many characters (if known)."""

    query: int
    grade: int
    seconds: float | None
    chars: int | None


def least_seconds(chars: int | None) -> float:
    """The time below which nobody can have seen what a document is about.

    >>> round(least_seconds(1000), 2), least_seconds(0)
    (1.83, 0.5)
    """
    chars_seen = CHARS_SEEN if chars is None else min(chars, CHARS_SEEN)
    return REACTION_SECONDS + chars_seen / CHARS_PER_SECOND


@dataclass(frozen=True, slots=True)
class Haste:
    """Labels in stretches that were too quick to be read, the median seconds they took, and of
    how many labels they are."""

    n_labels: int
    seconds: float
    of: int


def haste(labels: Sequence[Read]) -> Haste | None:
    """The hasty stretches of a person's labels, in the order they gave them; None without any.

    A stretch is `WINDOW` timed labels in a row of which `HASTY_SHARE` were too quick.
    """
    timed = [(label.seconds, label.chars) for label in labels if label.seconds is not None]
    is_hasty = [seconds < least_seconds(chars) for seconds, chars in timed]
    in_stretch = [False] * len(timed)
    n_hasty = sum(is_hasty[: WINDOW - 1])
    for end in range(WINDOW, len(timed) + 1):
        n_hasty += is_hasty[end - 1]
        if n_hasty >= HASTY_SHARE * WINDOW:
            in_stretch[end - WINDOW : end] = [True] * WINDOW
        n_hasty -= is_hasty[end - WINDOW]
    stretch = [seconds for (seconds, _), is_in in zip(timed, in_stretch, strict=True) if is_in]
    return Haste(len(stretch), median(stretch), len(timed)) if stretch else None


@dataclass(frozen=True, slots=True)
class OneGrade:
    """Whole queries in a row with one grade; `expected`: how many such rows chance would give."""

    grade: int
    n_queries: int
    n_labels: int
    expected: float


def one_grade(labels: Sequence[Read], others: Iterable[Sequence[int]] = ()) -> OneGrade | None:
    """The longest row of queries that a person gave one grade throughout, if it is improbable.

    Parameters
    ----------
    labels
        The person's, in the order they gave them; queries of fewer than `FEWEST_OF_QUERY` labels
        tell nothing and are passed over.
    others
        The grades of a query that somebody else gave, for each of their queries: with the person's
        own other queries they say how common it is that a query has this grade alone.
    """
    grades_of: dict[int, list[int]] = defaultdict(list)
    for label in labels:
        grades_of[label.query].append(label.grade)
    own = [grades for grades in grades_of.values() if len(grades) >= FEWEST_OF_QUERY]
    start, end = _longest_row(own)
    row = own[start:end]
    n_labels = sum(map(len, row))
    if len(row) < FEWEST_QUERIES or n_labels < FEWEST_IN_A_ROW:
        return None
    grade = row[0][0]
    rest = [*own[:start], *own[end:], *(each for each in others if len(each) >= FEWEST_OF_QUERY)]
    share = (sum(set(each) == {grade} for each in rest) + 1) / (len(rest) + 2)
    expected = len(own) * share ** len(row)
    return OneGrade(grade, len(row), n_labels, expected) if expected < 1 / ONCE_IN else None


def _longest_row(queries: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Where the longest row of queries with one and the same grade begins and ends."""
    longest, start = (0, 0), 0
    for end in range(1, len(queries) + 1):
        if len({*queries[end - 1], *queries[start]}) > 1:
            start = end - 1 if len(set(queries[end - 1])) == 1 else end
        if end - start > longest[1] - longest[0]:
            longest = (start, end)
    return longest


def fails_checks(n_right: int, n: int) -> bool:
    """Whether so few of the hidden checks are right as a careful person hardly ever has.

    >>> fails_checks(5, 20), fails_checks(12, 20), fails_checks(0, 5)
    (True, False, False)
    """
    return n >= FEWEST_CHECKS and at_most(n_right, n, CAREFUL_SHARE) < CHECKS_BY_CHANCE


@dataclass(frozen=True, slots=True)
class Beside:
    """Labels that others gave, too: of `n`, `n_same` are as (not) relevant as theirs; `chance` is
    the share that two people reach who have the same shares of relevant ones and toss coins."""

    n_same: int
    n: int
    chance: float

    @property
    def kappa_high(self) -> float:
        """The upper end of the interval of Cohen's kappa, the shares taken as given."""
        return (wilson(self.n_same, self.n)[1] - self.chance) / (1 - self.chance)

    @property
    def is_chance(self) -> bool:
        is_enough = self.n >= FEWEST_SHARED and self.chance < ALL_ALIKE
        return is_enough and self.kappa_high < KAPPA_OF_CHANCE


def beside_others(
    own: Mapping[tuple[int, str], bool], others: Mapping[tuple[int, str], Sequence[bool]]
) -> Beside:
    """A person's relevance by document, beside the lower median of the others' of it."""
    shared = [pair for pair in own if others.get(pair)]
    theirs = [sorted(others[pair])[(len(others[pair]) - 1) // 2] for pair in shared]
    n = len(shared)
    n_same = sum(own[pair] == other for pair, other in zip(shared, theirs, strict=True))
    a, b = (sum(side) / n if n else 0.0 for side in ([own[pair] for pair in shared], theirs))
    return Beside(n_same, n, a * b + (1 - a) * (1 - b))
