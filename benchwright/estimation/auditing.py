"""May a machine's grade 0 spare people work? Only by an audit, and only as long as it holds.

Of documents of machine grade 0, m are drawn at random and judged blind; x of them are relevant. The
share of relevant ones is then below B(.95; x + 1, m - x) with 95 % confidence (Clopper and Pearson,
Biometrika 26, 1934). Afterwards 5 % of what is skipped goes to people all the same, and the bound
over the last 300 of them decides again, each time.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import ceil

import scipy

from benchwright.estimation.errors import ArraysError
from benchwright.recipes import campaigns as recipe

MOST_MISSED: float = recipe.MOST_MISSED.default
LEAST_AUDITED: int = recipe.AUDITED.least
WINDOW = 300
CHECKED_SHARE: float = recipe.CHECKED_SHARE.default
CONFIDENCE = 0.95
WHOLE = 2**56


def most_relevant(n_relevant: int, n_audited: int, confidence: float = CONFIDENCE) -> float:
    """The one-sided Clopper-Pearson upper bound of a share.

    >>> [round(most_relevant(x, m), 4) for x, m in ((0, 200), (1, 200), (1, 300), (2, 300))]
    [0.0149, 0.0235, 0.0157, 0.0208]

    Raises
    ------
    ArraysError
        If the counts are none.
    """
    if not 0 <= n_relevant <= n_audited:
        what = f"{n_relevant} relevant of {n_audited}"
        raise ArraysError(what=what, expected="counts from 0, the first not above the second")
    if n_relevant == n_audited:
        return 1.0
    return float(scipy.special.betaincinv(n_relevant + 1, n_audited - n_relevant, confidence))


def bound_in_words(bound: float) -> str:
    """The bound, rounded up: what is above a limit does not read as the limit.

    >>> bound_in_words(0.02004), bound_in_words(0.0149)
    ('0.0201', '0.0149')
    """
    return f"{ceil(10_000 * bound - 1e-9) / 10_000:.4f}"


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit says: whether grade 0 may be skipped, by which bound, and why not."""

    n_audited: int
    n_relevant: int
    bound: float
    is_allowed: bool
    why: str


def audited(n_audited: int, n_relevant: int, *, most_missed: float = MOST_MISSED) -> Audit:
    """Whether documents of machine grade 0 need not be shown to people.

    Raises
    ------
    ArraysError
        If the counts are none.
    """
    bound = most_relevant(n_relevant, n_audited)
    share = f"a share of up to {bound_in_words(bound)}"
    summary = f"{n_relevant} of {n_audited} were relevant, so {share} may be"
    if n_audited < LEAST_AUDITED:
        lacking = LEAST_AUDITED - n_audited
        why = f"{summary}; {LEAST_AUDITED} must be audited. Judge {lacking} more, drawn at random."
        return Audit(n_audited, n_relevant, bound, is_allowed=False, why=why)
    if bound > most_missed:
        why = f"{summary}, more than {most_missed:g}: this judge's 0 spares no work here."
        return Audit(n_audited, n_relevant, bound, is_allowed=False, why=why)
    why = f"{summary}, not more than {most_missed:g}."
    return Audit(n_audited, n_relevant, bound, is_allowed=True, why=why)


def least_audited(n_relevant: int, *, most_missed: float = MOST_MISSED) -> int:
    """How many must be audited at least, if so many of them are relevant.

    >>> least_audited(0), least_audited(1), least_audited(2)
    (200, 236, 313)
    """
    n = max(LEAST_AUDITED, n_relevant + 1)
    while most_relevant(n_relevant, n) > most_missed:
        n += 1
    return n


def audit_order(
    groups: Sequence[str], documents: Sequence[tuple[str, str]], *, seed: int
) -> list[int]:
    """Places in the order in which an audit takes them, whatever the number that it takes.

    Parameters
    ----------
    groups
        The group of each place, of which the first of the order have each their share.
    documents
        Query and document of each place: where it stands hangs on them, and not on its place.
    seed
        The same seed gives the same order.

    Notes
    -----
    The n-th (from 0) of a group's N documents, by the digests of their ids, stands at (n + u) / N,
    with u in [0, 1) by the digest of the group. So the first m of M documents hold every group's
    share within a document or two, each document with the probability m / M, also those of groups
    too small for a place of their own, and fewer are a part of more.

    Examples
    --------
    >>> ids = [("q", f"d{number}") for number in range(9)]
    >>> order = audit_order("aaaaaabbb", ids, seed=7)
    >>> sorted("aaaaaabbb"[place] for place in order[:3])
    ['a', 'a', 'b']
    """
    members: dict[str, list[int]] = {}
    for place in sorted(range(len(documents)), key=lambda p: _digest(seed, "audit", *documents[p])):
        members.setdefault(groups[place], []).append(place)
    stands: list[tuple[float, str, int]] = []
    for group, places in members.items():
        begin = _digest(seed, "group", group) / WHOLE
        stands += [((n + begin) / len(places), group, place) for n, place in enumerate(places)]
    return [place for _, _, place in sorted(stands)]


def is_checked(query: str, document: str, *, seed: int, share: float = CHECKED_SHARE) -> bool:
    """Whether a skipped document goes to people all the same: by the digest of seed and ids."""
    return _digest(seed, "check", query, document) < share * WHOLE


def _digest(seed: int, *words: str) -> int:
    listed = "\x00".join([str(seed), *words]).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(listed, digest_size=7).digest(), "big")


@dataclass
class RunningAudit:
    """An audit that goes on: `is_allowed` until the bound over the last 300 is above the limit.

    It begins with the outcomes of the audit (True: relevant), in the order in which they were
    judged, and stays off once it is off: a new audit is a new one.
    """

    most_missed: float = MOST_MISSED
    window: int = WINDOW
    last: deque[bool] = field(default_factory=deque)
    is_off: bool = False

    @classmethod
    def begun(cls, outcomes: Iterable[bool], *, most_missed: float = MOST_MISSED) -> "RunningAudit":
        """From an audit's outcomes; off at once where the audit does not allow it."""
        audit = cls(most_missed)
        listed = list(outcomes)
        audit.last.extend(listed[-audit.window :])
        audit.is_off = not audited(len(listed), sum(listed), most_missed=most_missed).is_allowed
        return audit

    @property
    def is_allowed(self) -> bool:
        return not self.is_off

    @property
    def bound(self) -> float:
        """The bound over the outcomes that count now."""
        return most_relevant(sum(self.last), len(self.last))

    def add(self, is_relevant: bool) -> bool:
        """Take one more outcome; whether skipping is still allowed."""
        self.last.append(is_relevant)
        while len(self.last) > self.window:
            self.last.popleft()
        if not self.is_off and self.bound > self.most_missed:
            self.is_off = True
        return self.is_allowed
