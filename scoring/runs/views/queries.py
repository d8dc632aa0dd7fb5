"""A run query by query: a table, a file, and one query with all that was retrieved for it."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from benchmarks_app.charts import Chart
from benchmarks_app.models import Benchmark, Query, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.releases.selectors import release_slices
from benchwright.files.cells import safe_cell
from benchwright.measures import parse_measure
from scoring.models import ScoreSet
from scoring.runs.charts import (
    SortedBars,
    cumulative_chart,
    distribution_chart,
    grades_chart,
    sorted_bars,
)
from scoring.runs.services import chosen_queries, grade_names, grade_ranks_of
from scoring.scores.selectors.releases import release_query_texts, relevance_threshold
from scoring.scores.selectors.retrieved import retrieved
from scoring.scores.selectors.runs import per_query_values, query_rows, sorted_queries
from scoring.scores.services.firewall import Sight, looked_at, sight_of, sight_written_down
from scoring.scores.shown import BOARD, FIRST_MEASURE, Shown, measures_on
from scoring.scores.views import Asked, asked_measure, run_of, score_set_of

MOST_BARS = 400
N_WORST = 5


@dataclass(frozen=True)
class QueryTable:
    """The queries of a run that somebody asks for and may see, in the order asked for."""

    run: Run
    score_set: ScoreSet
    sight: Sight
    asked: Asked
    threshold: int
    rows: list[dict[str, Any]]
    n_withheld: int
    search: str
    slice_name: str
    slices: list[str]
    is_best_first: bool

    @property
    def measure(self) -> Shown:
        return self.asked.measure

    @property
    def measures(self) -> list[Shown]:
        """All that can be chosen."""
        return list(dict.fromkeys([*measures_on(self.threshold), self.measure]))

    @property
    def columns(self) -> list[Shown]:
        """The measures beside the one that is sorted by."""
        standard = measures_on(self.threshold)[: len(BOARD)]
        return [measure for measure in standard if measure != self.measure]

    @property
    def values(self) -> list[float]:
        return [row[self.measure.name] for row in self.rows]

    @property
    def mean(self) -> float:
        return parse_measure(self.measure.name).over_all(self.values)


def query_table(request: HttpRequest, run: Run) -> QueryTable:
    """The table that an address asks for: release, measure, order, words, slice."""
    score_set = score_set_of(run, request.GET.get("release", ""))
    sight = sight_written_down(
        request.user, score_set.release, looked_at(score_set, "query by query")
    )
    threshold = relevance_threshold(score_set.release)
    choice = asked_measure(request, score_set.release, by_query=True)
    slices = release_slices(score_set.release)
    search, name = request.GET.get("q", "").strip(), request.GET.get("slice", "")
    is_best_first = request.GET.get("order") == "best"
    rows, n_withheld = chosen_queries(
        score_set,
        measure=choice.measure.name,
        sight=sight,
        search=search,
        inside=frozenset(slices[name]) if name in slices else None,
        is_best_first=is_best_first,
    )
    return QueryTable(
        run=run,
        score_set=score_set,
        sight=sight,
        asked=choice,
        threshold=threshold,
        rows=rows,
        n_withheld=n_withheld,
        search=search,
        slice_name=name if name in slices else "",
        slices=sorted(slices),
        is_best_first=is_best_first,
    )


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_queries(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    table = query_table(request, run_of(request, benchmark, pk))
    page = page_of(request, table.rows)
    context = {
        "table": table,
        "run": table.run,
        "score_set": table.score_set,
        "release": table.score_set.release,
        "measure": table.measure,
        "asked": table.asked,
        "measures": table.measures,
        "columns": table.columns,
        "is_best_first": table.is_best_first,
        "page": page,
        "rows": query_rows(table.score_set, page.object_list),
        "chart": bars_of(table.values),
        "mean": table.mean,
        "n_withheld": table.n_withheld,
        "answered": table.sight.answered(table.score_set),
        "charts": _charts(table),
    }
    status = 422 if table.asked.error else 200
    return render(request, "scoring/runs/run_queries.html", context, status=status)


def _charts(table: QueryTable) -> dict[str, Chart]:
    """The charts below a table of all queries: their words, which need no picture."""
    if table.search or table.slice_name:
        return {}
    ranks = grade_ranks_of(table.score_set, table.sight)
    return {
        "distribution": distribution_chart(table.measure.label, table.values),
        "cumulative": cumulative_chart(table.measure.label, table.values),
        "grades": grades_chart(ranks, grade_names(table.score_set.release)),
    }


def bars_of(values: Sequence[float]) -> SortedBars:
    """One bar a value; of many values evenly spaced ones, the counts being of all."""
    whole = sorted_bars(values)
    if whole.n <= MOST_BARS:
        return whole
    ordered = sorted((value for value in values if value == value), reverse=True)
    places = (place * (whole.n - 1) // (MOST_BARS - 1) for place in range(MOST_BARS))
    return replace(whole, path=sorted_bars([ordered[place] for place in places]).path)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_queries_csv(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The same queries as a file, with every measure in full."""
    table = query_table(request, run_of(request, benchmark, pk))
    measures = table.measures
    texts = release_query_texts(table.score_set.release)
    stem = f"{benchmark.slug}-{slugify(table.run.name) or 'run'}-{table.score_set.release.version}"
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{stem}-queries.csv"'
    writer = csv.writer(response)
    labels = [measure.label for measure in measures]
    writer.writerow(["query", "text", "is_missing", "n_retrieved", *labels])
    for row in table.rows:
        numbers = [row.get(measure.name) for measure in measures]
        writer.writerow(
            [
                safe_cell(row["qid"]),
                safe_cell(texts.get(row["qid"], "")),
                int(row["is_missing"]),
                row["n_retrieved"],
                *("" if value is None or value != value else repr(value) for value in numbers),
            ]
        )
    return response


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_query(request: HttpRequest, benchmark: Benchmark, pk: int, qid: str) -> HttpResponse:
    """One query: what was retrieved, beside what was to be found."""
    run = run_of(request, benchmark, pk)
    score_set = score_set_of(run, request.GET.get("release", ""))
    row = next((each for each in per_query_values(score_set) if each["qid"] == qid), None)
    release = score_set.release
    # Graded or not: which hidden queries are is not told.
    is_withheld = qid in sight_of(request.user, release).hidden
    if row is None and not is_withheld:
        raise Http404
    sight = sight_written_down(request.user, release, looked_at(score_set, f"query {qid}"))
    threshold = relevance_threshold(release)
    context = {
        "run": run,
        "score_set": score_set,
        "release": release,
        "sight": sight,
        "qid": qid,
        "text": release_query_texts(release).get(qid, ""),
        "query": Query.objects.filter(benchmark=benchmark, qid=qid).first(),
        "is_withheld": is_withheld,
        "row": None if is_withheld else row,
        "measures": []
        if is_withheld or row is None
        else [(measure, row[measure.name]) for measure in measures_on(threshold)],
        "found": None if is_withheld else retrieved(run=run, release=release, qid=qid),
    }
    return render(request, "scoring/runs/run_query.html", context)


def worst_queries(request: HttpRequest, run: Run, score_set: ScoreSet) -> dict[str, Any]:
    """The worst queries by the first measure, as far as this person may see them.

    They say of hidden queries that they are bad: that keepers see them is written down.
    """
    what = looked_at(score_set, "worst queries")
    sight = sight_written_down(request.user, score_set.release, what)
    rows = [row for row in per_query_values(score_set) if row["qid"] not in sight.hidden]
    name = FIRST_MEASURE.name
    first = sorted_queries(rows, column=name, is_descending=False)[:N_WORST]
    return {
        "rows": [(row, row.values[name]) for row in query_rows(score_set, first)],
        "why": sight.why,
    }
