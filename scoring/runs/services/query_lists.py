"""The queries of a scored run that somebody asks for and may see."""

from collections.abc import Collection
from typing import Any

from scoring.models import ScoreSet
from scoring.scores.selectors.releases import release_query_texts
from scoring.scores.selectors.runs import sorted_queries
from scoring.scores.services import measuring
from scoring.scores.services.firewall import Sight


def chosen_queries(
    score_set: ScoreSet,
    *,
    measure: str,
    sight: Sight,
    search: str = "",
    inside: Collection[str] | None = None,
    is_best_first: bool = False,
) -> tuple[list[dict[str, Any]], int]:
    """Values by query, sorted by a measure, and of how many queries they are withheld.

    `search` is looked for in ids and texts, in any case of letters; `inside` are those of a slice.
    """
    rows = measuring.per_query_values(score_set, measure)
    visible = [row for row in rows if row["qid"] not in sight.hidden]
    chosen = visible if inside is None else [row for row in visible if row["qid"] in inside]
    if search:
        texts, wanted = release_query_texts(score_set.release), search.casefold()
        chosen = [
            row
            for row in chosen
            if wanted in row["qid"].casefold() or wanted in texts.get(row["qid"], "").casefold()
        ]
    ordered = sorted_queries(chosen, column=measure, is_descending=is_best_first)
    return ordered, len(rows) - len(visible)
