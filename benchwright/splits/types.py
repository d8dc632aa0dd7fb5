"""What goes into a split, and what comes out."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

EXCLUDED = "split: "
"""How every reason begins that a split gives for leaving a query out."""

STRADDLES = f"{EXCLUDED}asked after the cut, its family was asked before it"
DROPPED = f"{EXCLUDED}its family was asked on both sides of the cut"
IN_GAP = f"{EXCLUDED}asked in the gap after the cut"
LEFT_OUT = f"{EXCLUDED}left out by the imported file"


@dataclass(frozen=True, slots=True)
class SplitQuery:
    """What a split looks at: a query's family, slices, number of relevant documents and date."""

    qid: str
    family: str
    slices: tuple[str, ...] = ()
    n_relevant: int = 0
    first_seen: datetime | None = None


@dataclass(frozen=True)
class Assignment:
    """Where every family is, and which single queries are in no split, with the reason.

    A family of which every query is left out has the split "".
    """

    families: Mapping[str, str]
    splits: Mapping[str, str]
    excluded: Mapping[str, str] = field(default_factory=dict)
    cuts: tuple[tuple[str, datetime], ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        """Queries of each split."""
        return dict(Counter(self.splits.values()))


# --- SHA-256 of both: equal means the same split -------------------------------------------------


def inputs_sha256(queries: Iterable[SplitQuery]) -> str:
    """Of each query's id, family and date, in the order of the bytes of the ids.

    A family is known by the smallest id in it, so the digest does not hang on how a database
    numbers its rows.
    """
    listed = sorted(queries, key=lambda query: query.qid.encode())
    named = family_names(listed)
    return _digest(
        [
            query.qid,
            named[query.family],
            query.first_seen.isoformat() if query.first_seen else None,
        ]
        for query in listed
    )


def strata_sha256(queries: Iterable[SplitQuery]) -> str:
    """Of each query's id, slices and number of relevant documents."""
    listed = sorted(queries, key=lambda query: query.qid.encode())
    return _digest([query.qid, sorted(query.slices), query.n_relevant] for query in listed)


def assignment_sha256(splits: Mapping[str, str]) -> str:
    """Of each query's id and split, in the order of the bytes of the ids."""
    listed = sorted(splits.items(), key=lambda pair: pair[0].encode())
    return _digest([qid, split] for qid, split in listed)


def family_names(queries: Iterable[SplitQuery]) -> dict[str, str]:
    """{family: the smallest query id in it, by bytes}."""
    named: dict[str, str] = {}
    for query in queries:
        name = named.get(query.family)
        if name is None or query.qid.encode() < name.encode():
            named[query.family] = query.qid
    return named


def _digest(rows: Iterable[list[object]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return digest.hexdigest()
