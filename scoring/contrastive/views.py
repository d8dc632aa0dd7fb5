"""Pairs of embeddings: sending them in, following the measuring, and what came of it."""

import csv
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.language import told
from benchmarks_app.models import Benchmark
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.files.cells import Echo, safe_cell
from scoring.contrastive.charts import accuracy_chart, contrastive_slices_chart
from scoring.contrastive.forms import EmbeddingPairForm
from scoring.contrastive.selectors import (
    means_of_pair,
    pairs_seen_by,
    queries_by_id,
    ranks_of_pair,
    state_of_pair,
)
from scoring.contrastive.services.contrastive import delete_pair, may_delete, submit_pair
from scoring.contrastive.services.errors import PairNameTakenError
from scoring.contrastive.services.files import limits
from scoring.models import EmbeddingPair

PAGE_SIZE = 25
COLUMNS = ("accuracy@1", "accuracy@5", "accuracy@10", "MRR")
CHARTS = {"accuracy": accuracy_chart, "slices": contrastive_slices_chart}


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contrastive_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, pairs_seen_by(request.user, benchmark), PAGE_SIZE)
    rows = [(pair, state_of_pair(pair), means_of_pair(pair)) for pair in page.object_list]
    context = {"page": page, "rows": rows, "columns": COLUMNS}
    return render(request, "scoring/contrastive/contrastive_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def contrastive_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = EmbeddingPairForm(
        request.POST or None,
        request.FILES or None,
        teams=list(request.user.teams.order_by("name")),
        initial={"takes_own_slices": False},
    )
    if request.method == "POST" and form.is_valid():
        pair = _submitted(request, benchmark, form)
        if pair is not None:
            messages.success(request, gettext("“{name}” is received.").format(name=pair.name))
            return redirect(pair)
    context = {
        "form": form,
        "limits": limits(),
        "has_slices": benchmark.slices.exists(),
    }
    status = 422 if form.errors else 200
    return render(request, "scoring/contrastive/contrastive_new.html", context, status=status)


def _submitted(
    request: PersonRequest, benchmark: Benchmark, form: EmbeddingPairForm
) -> EmbeddingPair | None:
    """The pair, or None with the reason on the form."""
    try:
        return submit_pair(
            benchmark=benchmark,
            user=request.user,
            uploads=form.given_files(),
            team=form.chosen_team,
            **form.choices(),
        )
    except PairNameTakenError as error:
        form.add_error("name", told(error))
    except BenchmarkError as error:
        form.add_error(None, told(error))
    return None


@never_cache
@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contrastive_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    context = _shown(request, benchmark, pk)
    return render(request, "scoring/contrastive/contrastive_detail.html", context)


@never_cache
@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contrastive_state(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The part of the page that changes while the pair is measured."""
    context = _shown(request, benchmark, pk)
    return render(request, "scoring/contrastive/_contrastive_state.html", context)


def _shown(request: HttpRequest, benchmark: Benchmark, pk: int) -> dict[str, Any]:
    pair = _seen(request, benchmark, pk)
    context = {
        "pair": pair,
        "state": state_of_pair(pair),
        "job": pair.job,
        "may_delete": may_delete(request.user, pair),
    }
    return {**context, **_result(benchmark, pair)} if pair.is_measured else context


def _result(benchmark: Benchmark, pair: EmbeddingPair) -> dict[str, Any]:
    report = pair.report
    worst = report["worst"] if report["has_ids"] else []
    named = {row[name] for row in worst for name in ("id", "forward_nearest", "backward_nearest")}
    whole, *slices = report["parts"]
    return {
        "whole": whole,
        "slices": slices,
        "worst": worst,
        "queries": queries_by_id(benchmark, named),
        "notes": report["notes"],
        "chance": [
            {"k": of["k"], "mean": min(1, of["k"] / pair.n_pairs)} for of in whole["accuracy"]
        ],
    }


@require_POST
@benchmark_view(Action.SUBMIT)
def contrastive_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    pair = _seen(request, benchmark, pk)
    delete_pair(pair=pair, user=request.user)
    messages.success(
        request, gettext("“{name}” is deleted, with its files.").format(name=pair.name)
    )
    return redirect("scoring:contrastive-list", benchmark.slug)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contrastive_ranks_csv(
    request: HttpRequest, benchmark: Benchmark, pk: int
) -> StreamingHttpResponse:
    """The ranks of every pair."""
    pair = _measured(request, benchmark, pk)
    response = StreamingHttpResponse(_csv(pair), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="contrastive-{pair.pk}.csv"'
    return response


def _csv(pair: EmbeddingPair) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield writer.writerow(("id", "rank_in_z2", "rank_in_z1"))
    for row in ranks_of_pair(pair):
        ranks = (f"{rank:g}" for rank in (row.forward_rank, row.backward_rank))
        yield writer.writerow((safe_cell(row.id), *ranks))


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def contrastive_chart(
    request: HttpRequest, benchmark: Benchmark, pk: int, contrastive_chart: str, format: str
) -> HttpResponse:
    """One of `CHARTS`, by its name."""
    pair = _measured(request, benchmark, pk)
    if contrastive_chart not in CHARTS:
        raise Http404
    return chart_response(request, CHARTS[contrastive_chart](pair.report), format)


def _seen(request: HttpRequest, benchmark: Benchmark, pk: int) -> EmbeddingPair:
    return get_object_or_404(pairs_seen_by(request.user, benchmark), pk=pk)


def _measured(request: HttpRequest, benchmark: Benchmark, pk: int) -> EmbeddingPair:
    pair = _seen(request, benchmark, pk)
    if not pair.is_measured:
        raise Http404
    return pair
