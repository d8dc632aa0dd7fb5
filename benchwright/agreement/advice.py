"""What is worth a second look in how somebody judges: hints for a talk, never a verdict."""

from dataclasses import dataclass

import numpy as np

from benchwright.agreement.labels import Floats, Ints

LENGTH_GROUPS = 4
# Fewer labels say nothing of somebody's pace.
ENOUGH_TIMED = 30
FAST, SLOW = 0.5, 2.5
SHORTEST_STREAK = 15
# A streak is told where one as long was to be expected once in so many sessions like this.
ONCE_IN = 1000
ENOUGH_LONG = 20


@dataclass(frozen=True, slots=True)
class Pace:
    """How long somebody takes beside others: 0.5 is half the time for documents of one kind."""

    ratio: float
    n_labels: int

    @property
    def is_unusual(self) -> bool:
        return self.n_labels >= ENOUGH_TIMED and not FAST <= self.ratio <= SLOW


def paces(raters: Ints, seconds: Floats, chars: Ints, grades: Ints, n_raters: int) -> list[Pace]:
    """Each rater's pace, next to what others take for documents of the same length and grade.

    Documents are grouped by quarters of length and by grade; a label's time is divided by the
    median of the *other* raters' labels in its group, and a rater's pace is the median of these
    ratios. Labels whose group nobody else has a label in are left out; so are times of zero.
    """
    has_time = seconds > 0
    raters, seconds, grades = raters[has_time], seconds[has_time], grades[has_time]
    groups = _length_groups(chars[has_time]) * (int(grades.max(initial=0)) + 1) + grades
    ratios = np.full(len(seconds), np.nan)
    for group in np.unique(groups):
        inside = np.flatnonzero(groups == group)
        for rater in np.unique(raters[inside]):
            own = inside[raters[inside] == rater]
            others = inside[raters[inside] != rater]
            if len(others):
                ratios[own] = seconds[own] / np.median(seconds[others])
    paces = []
    for rater in range(n_raters):
        own_ratios = ratios[(raters == rater) & ~np.isnan(ratios)]
        ratio = float(np.median(own_ratios)) if len(own_ratios) else 1.0
        paces.append(Pace(ratio, len(own_ratios)))
    return paces


def _length_groups(chars: Ints) -> Ints:
    if not len(chars):
        return chars
    bounds = np.quantile(chars, np.linspace(0, 1, LENGTH_GROUPS + 1)[1:-1])
    return np.searchsorted(bounds, chars, side="left").astype(np.int64)


@dataclass(frozen=True, slots=True)
class Streak:
    """The longest run of one grade in a row; `start` is the position of its first label.

    `expected` is how many runs as long a person with the same shares of grades would have by
    chance.
    """

    grade: int
    length: int
    start: int
    expected: float

    @property
    def is_unusual(self) -> bool:
        return self.length >= SHORTEST_STREAK and self.expected < 1 / ONCE_IN


def longest_streak(grades: Ints) -> Streak | None:
    """Of somebody's grades in the order in which they gave them."""
    n = len(grades)
    if not n:
        return None
    starts = np.flatnonzero(np.r_[True, grades[1:] != grades[:-1]])
    lengths = np.diff(np.r_[starts, n])
    longest = int(lengths.argmax())
    start, length = int(starts[longest]), int(lengths[longest])
    grade = int(grades[start])
    # The run itself does not say how common the grade is.
    rest = np.delete(grades, slice(start, start + length))
    share = (float((rest == grade).sum()) + 1) / (len(rest) + 2)
    return Streak(grade, length, start, n * share**length)


def never_opens(n_excerpt: int, n_full: int) -> bool:
    """Whether somebody judged many long documents and never opened one of them."""
    return n_full == 0 and n_excerpt >= ENOUGH_LONG
