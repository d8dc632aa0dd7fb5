"""From a log's file and a design to the queries that are drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from benchwright.logs.sampling import Design, Drawn, Plan, drawn_families, planned, weight_of
from benchwright.logs.strata import read_families
from benchwright.recipes.sampling import Wordings


@dataclass(frozen=True, slots=True)
class SampledQuery:
    """A query that was drawn, with what the log says of it and what it stands for."""

    qid: str
    key: str
    text: str
    family: str
    stratum: str
    count: int
    first_seen: date | None
    last_seen: date | None
    lang: str
    inclusion_probability: float
    weight: float
    clicks: dict[str, int] = field(default_factory=dict)

    def as_beir(self) -> dict[str, Any]:
        """A line of queries.jsonl; what BEIR has no place for is metadata."""
        return {
            "_id": self.qid,
            "text": self.text,
            "metadata": {
                "family": self.family,
                "frequency": self.count,
                "first_seen": self.first_seen.isoformat() if self.first_seen else "",
                "last_seen": self.last_seen.isoformat() if self.last_seen else "",
                "stratum": self.stratum,
                "inclusion_probability": self.inclusion_probability,
                "weight": self.weight,
            },
        }


def sampled(log: Path, design: Design, *, seed: int) -> tuple[Plan, list[SampledQuery]]:
    """Draw the families of a log's file by a design; queries in the order of their counts.

    Raises
    ------
    FrequencyError, SamplingError
        If it cannot be drawn so.
    """
    families = read_families(log)
    plan, strata = planned(families, design)
    drawn = {family.family: family for family in drawn_families(families, plan, strata, seed=seed)}
    rows = _rows(log, list(drawn))
    of: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of.setdefault(row["family"], []).append(row)
    sampled_rows = [row for row in rows if _is_taken(row, of[row["family"]], design)]
    return plan, [
        _query(row, of[row["family"]], drawn[row["family"]], design) for row in sampled_rows
    ]


def _rows(log: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    import polars as pl

    rows = pl.scan_parquet(log).filter(pl.col("family").is_in(list(names)))
    return rows.collect().to_dicts()


def _is_taken(row: dict[str, Any], members: Sequence[dict[str, Any]], design: Design) -> bool:
    """Whether a member becomes a query; the first of a family is the one asked most."""
    return design.wordings is Wordings.ALL or row is members[0]


def _query(
    row: dict[str, Any], members: Sequence[dict[str, Any]], drawn: Drawn, design: Design
) -> SampledQuery:
    weight = weight_of(
        design,
        count=row["count"],
        family_traffic=sum(member["count"] for member in members),
        family_queries=len(members),
        probability=drawn.inclusion_probability,
    )
    return SampledQuery(
        qid=row["qid"],
        key=row["key"],
        text=row["text"],
        family=row["family"],
        stratum=drawn.stratum,
        count=row["count"],
        first_seen=row["first_seen"],
        last_seen=row["last_seen"],
        lang=row["lang"],
        inclusion_probability=drawn.inclusion_probability,
        weight=weight,
        clicks=json.loads(row["clicks"]) if row["clicks"] else {},
    )
