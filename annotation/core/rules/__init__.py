"""From a ledger of events to one grade for each document of a query, by named, versioned rules.

A rule never changes once it is here: a better one is a new version, so that a published set says
for ever how its grades came about.
"""

import hashlib
from collections.abc import Iterable

from annotation.core.rules.deciding import (
    DEFAULT_RULE,
    RULES,
    Decision,
    Derivation,
    How,
    NamedRule,
    Settings,
    Unresolved,
    Verdict,
    decisions,
    rule_named,
    verdict_on,
)
from annotation.core.rules.events import (
    Event,
    Label,
    Pair,
    grades_of_pair,
    labels_of_pair,
    pair_of,
    pairs_of,
)
from annotation.core.rules.medians import lower_median, majority, upper_median

__all__ = [
    "DEFAULT_RULE",
    "RULES",
    "Decision",
    "Derivation",
    "Event",
    "How",
    "Label",
    "NamedRule",
    "Pair",
    "Settings",
    "Unresolved",
    "Verdict",
    "decisions",
    "grades_of_pair",
    "labels_of_pair",
    "lower_median",
    "majority",
    "pair_of",
    "pairs_of",
    "qrels_digest",
    "rule_named",
    "upper_median",
    "verdict_on",
]


def qrels_digest(rows: Iterable[Decision]) -> str:
    """The SHA-256 of `query TAB docid TAB grade` lines, sorted by their bytes."""
    lines = sorted(f"{row.query}\t{row.docid}\t{row.grade}\n".encode() for row in rows)
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    return digest.hexdigest()
