"""The first documents of runs, and the runs that an address names."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet

from benchmarks_app.common.selectors.learning import runs_all_see
from benchmarks_app.common.selectors.naming import is_anonymous_to, names_in
from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.models import Benchmark, Run
from benchwright.formats.numbers import row_key
from benchwright.retrieval.ann import Ranked
from benchwright.runs.facts import IR_METADATA
from benchwright.runs.store import top_k


def ranking_of(run: Run, depth: int) -> dict[str, list[str]]:
    """{query: its first `depth` documents, best first}."""
    rows = top_k(run_path(run), depth)
    return {qid: [row.docid for row in of] for qid, of in groupby(rows, key=attrgetter("qid"))}


def teams_of(runs: Iterable[Run], viewer: Any) -> dict[str, str]:
    """{run: whose system it is}; without those that nobody has said it of, or not to this person.

    A submission is its team's, or its owner's. Whoever imports runs has not made them: there the
    team counts that the run names, in its row or in its ir_metadata. Select `team` and `benchmark`
    beforehand.
    """
    teams = {}
    for run in runs:
        if is_anonymous_to(run, viewer):
            continue
        described = run.metadata.get(IR_METADATA)
        actor = described.get("actor") if isinstance(described, dict) else None
        named = actor.get("team") if isinstance(actor, dict) else None
        if run.team:
            teams[run.name] = run.team.name
        elif run.kind == Run.Kind.SUBMITTED:
            teams[run.name] = f"account {run.owner_id}"
        elif isinstance(named, str):
            teams[run.name] = named
    return teams


def scored_ranking_of(run: Run, depth: int) -> dict[str, list[Ranked]]:
    """{query: its first `depth` documents with their scores, best first}."""
    import polars as pl

    scan = pl.scan_parquet(run_path(run)).filter(pl.col("rank") <= depth)
    rankings: dict[str, list[Ranked]] = {}
    for qid, docid, score in scan.select("qid", "docid", "score").collect().iter_rows():
        rankings.setdefault(qid, []).append(Ranked(docid, score))
    return rankings


def runs_named(benchmark: Benchmark, user: Any, texts: Iterable[str]) -> list[Run]:
    """The runs of these keys or names, several with commas between, in that order, each once.

    What this person may not see is left out, as is what nobody knows.
    """
    visible = Run.objects.visible_to(user).filter(benchmark=benchmark)
    names = list(dict.fromkeys(name for text in texts for name in names_in(text, visible)))
    keys = [key for part in names if (key := row_key(part)) is not None]
    by_key = {str(run.pk): run for run in visible.filter(pk__in=keys)}
    by_name = {run.name: run for run in visible.filter(name__in=names)}
    runs = (by_key.get(part) or by_name.get(part) for part in names)
    return list({run.pk: run for run in runs if run}.values())


def runs_offered(benchmark: Benchmark, user: Any) -> QuerySet[Run]:
    """The runs that this person can choose from, by name."""
    return Run.objects.visible_to(user).standing().filter(benchmark=benchmark).order_by("name")


def public_runs(benchmark: Benchmark, besides: Iterable[Run], n: int) -> list[Run]:
    """The newest `n` standing runs that everybody who sees the benchmark sees, without these."""
    rows = runs_all_see(benchmark).exclude(pk__in=[run.pk for run in besides])
    return list(rows.order_by("-pk")[:n])
