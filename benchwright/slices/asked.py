"""A query as the rules of slices see it, and what they know beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any


@dataclass(frozen=True, slots=True)
class RelevantDocument:
    """One document that was graded relevant for a query."""

    docid: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query with everything a rule may look at; what is not known is None or empty.

    `n_relevant` counts all relevant documents, `relevant` holds those whose texts are there.
    `is_lexical_hit` says whether a BM25 run has a relevant document first; None without such a run.
    """

    qid: str
    text: str
    lang: str = ""
    frequency: int | None = None
    clicks: Mapping[str, int] = field(default_factory=dict)
    first_seen: date | None = None
    last_seen: date | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    n_relevant: int | None = None
    relevant: tuple[RelevantDocument, ...] = ()
    is_lexical_hit: bool | None = None

    @property
    def n_clicks(self) -> int | None:
        return sum(self.clicks.values()) if self.clicks else None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a rule takes a query: a stable code, and words for a person."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"
