"""A plain `benchwright score` without click, which would take longer than scoring a small file.

Plain is a line of files that are there, `-m`, `--format` and `--per-query`, whose output nobody
watches on a terminal. Any other line, and whatever goes wrong, is left to
`benchwright.cli.scoring.score`: it has every option and finds the words.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright.cli.scored import measures_named, scored, scorer_of
from benchwright.cli.scoring import score_output
from benchwright.evaluation.evaluating import DEFAULT_MEASURES

FORMATS = ("table", "tsv", "json", "trec_eval")
WITH_VALUE = {"-m": "measures", "--measure": "measures", "--format": "form"}
# What `benchwright.cli.scoring.score` takes where nothing else is said; a test holds the two
# together.
UNSAID: dict[str, Any] = {
    "measures": (),
    "rel": None,
    "judged_only": False,
    "top_grade": None,
    "ties": "trec",
    "missing": "zero",
    "unlisted": "unknown",
    "depth": None,
    "answered": None,
    "allow_empty": False,
    "parents": None,
    "aggregate": None,
    "slices": None,
    "families": None,
    "weights": None,
    "has_intervals": False,
    "seed": 0,
    "subtopic_measures": (),
    "per_query": False,
    "unjudged": False,
    "form": "table",
    "result": None,
}


def run(words: Sequence[str]) -> bool:
    """Score and print; False, with nothing printed, where the line is for click to read."""
    chosen = None if sys.stdout.isatty() else plain_line(words)
    if chosen is None:
        return False
    qrels, *runs = chosen.pop("files")
    try:
        scorer = scorer_of(qrels, runs, chosen["measures"] or DEFAULT_MEASURES, chosen)
        cards = scored(scorer, runs)
    except Exception:  # noqa: BLE001 the same once more, by what explains it
        return False
    score_output.show(scorer, cards, chosen)
    return True


def plain_line(words: Sequence[str]) -> dict[str, Any] | None:
    """What is chosen, with `files`: qrels and runs; None if the line is not plain."""
    chosen: dict[str, Any] = {**UNSAID, "files": []}
    names: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word in WITH_VALUE:
            value = next(waiting, None)
            if value is None:
                return None
            if WITH_VALUE[word] == "measures":
                names.append(value)
            else:
                chosen["form"] = value
        elif word == "--per-query":
            chosen["per_query"] = True
        elif word.startswith("-") or not os.path.isfile(word):  # noqa: PTH113 starts quicker
            return None
        else:
            chosen["files"].append(Path(word))
    return _checked(chosen, names)


def _checked(chosen: dict[str, Any], names: Sequence[str]) -> dict[str, Any] | None:
    if len(chosen["files"]) < 2 or chosen["form"] not in FORMATS:
        return None
    try:
        chosen["measures"] = measures_named(names)
    except Exception:  # noqa: BLE001 a name that is none: click says so
        return None
    return chosen
