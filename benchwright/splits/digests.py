"""SHA-256 of what went into a split and of what came out: equal means the same split."""

import hashlib
import json
from collections.abc import Iterable, Mapping

from benchwright.splits.types import SplitQuery


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
