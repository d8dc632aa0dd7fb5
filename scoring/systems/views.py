"""Systems that are run here, and what an approximate index loses against exact search."""

from typing import Any, cast

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, Job, Query, Release
from benchmarks_app.permissions import Action, benchmark_view, may, require
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchmarks_app.site.selectors import has_worker
from benchwright.errors import ScoringError
from benchwright.retrieval.ann import USUAL_BASELINE
from benchwright.retrieval.catalog import LEXICAL
from scoring.boards.selectors.reported import beside_ours, reported_on
from scoring.planning.charts import recall_chart
from scoring.scores.charts import latency_words
from scoring.scores.selectors.boards import BoardRow, leaderboard
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import newest_release, relevance_threshold
from scoring.scores.services.firewall import Sight, sight_of
from scoring.scores.shown import BOARD
from scoring.systems.forms import AnnForm, BaselineForm
from scoring.systems.selectors import BaselineRow, baseline_rows, jobs_at_work, system_rows
from scoring.systems.services.ann import N_WORST, AnnReport, ann_report
from scoring.systems.services.baselines import JOB_KIND, start_baselines, version_with_texts

SHOWN = ("nDCG@10", "R@100", "Judged@10")
N_ENDED = 6


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SEE_RESULTS)
def baseline_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The page; who edits the benchmark sends its form, and jobs are started."""
    if request.method == "POST":
        require(request.user, Action.EDIT, benchmark)
        return _started(cast(PersonRequest, request), benchmark)  # visitors may not edit
    return _page(request, benchmark, BaselineForm(benchmark=benchmark))


def _started(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    form = BaselineForm(request.POST, benchmark=benchmark)
    if form.is_valid():
        cleaned = form.cleaned_data
        try:
            jobs = start_baselines(
                benchmark=benchmark,
                user=request.user,
                systems=cleaned["systems"],
                language=cleaned["language"],
                depth=cleaned["depth"],
                n_shards=cleaned["shards"],
            )
        except ScoringError as error:
            form.add_error(None, told(error))
        else:
            return _led_on(request, benchmark, jobs)
    return _page(request, benchmark, form, status=422)


@require_POST
@benchmark_view(Action.EDIT)
def baselines_create(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The one button: the lexical systems that have no run of what is here now."""
    jobs = start_baselines(benchmark=benchmark, user=request.user, systems=LEXICAL)
    return _led_on(request, benchmark, jobs)


def _led_on(request: HttpRequest, benchmark: Benchmark, jobs: list[Job]) -> HttpResponse:
    if jobs:
        names = ", ".join(job.parameters["system"] for job in jobs)
        messages.success(request, _("Being made: {names}.").format(names=names))
    else:
        messages.info(request, _("Nothing to make: these runs are there, or are being made."))
    return redirect("scoring:baseline-list", benchmark.slug)


def _page(
    request: HttpRequest, benchmark: Benchmark, form: BaselineForm, status: int = 200
) -> HttpResponse:
    release = newest_release(benchmark)
    sight = sight_of(request.user, release) if release else Sight()
    board = _board(request, release, sight)
    rows = baseline_rows(benchmark, request.user, board)
    threshold = relevance_threshold(release) if release else 1
    columns = [measure.on(threshold) for measure in BOARD if measure.name in SHOWN]
    chosen = set(form["systems"].value() or ())
    context = {
        "form": form,
        "release": release,
        "digits": sight.digits,
        "rows": rows,
        "timed": [
            (row.run, latency_words(row.latencies.n_queries, row.latencies))
            for row in rows
            if row.latencies
        ],
        "systems": [(row, row.entry.name in chosen) for row in system_rows(rows)],
        "columns": [column for column in columns if sight.tells(column.name)],
        "refusal": _refusal(benchmark),
        "pool_url": _pool_url(benchmark, rows),
        "beside": beside_ours(
            reported_on(benchmark, release),
            board,
            {row.system: row.run.pk for row in reversed(rows)},
            threshold,
        ),
        "corpus_version": benchmark.current_corpus_version,
        **_work(request, benchmark),
    }
    return render(request, "scoring/systems/baseline_list.html", context, status=status)


def _board(request: HttpRequest, release: Release | None, sight: Sight) -> dict[int, BoardRow]:
    """The runs that are scored on a release, by their keys."""
    if release is None:
        return {}
    rows = leaderboard(release=release, user=request.user, sight=sight)
    return {row.run.pk: row for row in rows}


def _refusal(benchmark: Benchmark) -> str:
    """Why nothing can be made here, empty where it can."""
    try:
        version_with_texts(benchmark)
    except ScoringError as error:
        return told(error)
    return ""


def _pool_url(benchmark: Benchmark, rows: list[BaselineRow]) -> str:
    """The form of a new pool with these runs chosen, the fresh ones where there are some."""
    chosen = [row for row in rows if not row.stale] or rows
    query = QueryDict(mutable=True)
    query.setlist("run", [str(row.run.pk) for row in chosen])
    return f"{reverse('annotation:pool-new', args=[benchmark.slug])}?{query.urlencode()}"


# --- progress ------------------------------------------------------------------------------


@never_cache
@require_safe
@benchmark_view(Action.SEE_RESULTS)
def baseline_progress(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The jobs at work; once all have ended, the page is asked to show what they made."""
    context = _work(request, benchmark)
    if not request.htmx:
        return redirect("scoring:baseline-list", benchmark.slug)
    answer = render(request, "scoring/systems/_baseline_progress.html", context)
    if not context["at_work"]:
        answer["HX-Refresh"] = "true"
    return answer


def _work(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any]:
    at_work = list(jobs_at_work(benchmark, JOB_KIND))
    may_edit = may(request.user, Action.EDIT, benchmark)
    waits = any(job.state == Job.State.QUEUED for job in at_work)
    return {
        "at_work": at_work,
        "failed": _lately_failed(benchmark) if may_edit else [],
        "lacks_worker": waits and not has_worker(),
    }


def _lately_failed(benchmark: Benchmark) -> QuerySet[Job]:
    """The newest jobs that failed since the last one that did not."""
    of_kind = benchmark.jobs.filter(kind=JOB_KIND)
    done = of_kind.filter(state=Job.State.DONE).order_by("-pk").values_list("pk", flat=True)
    failed = of_kind.filter(state=Job.State.FAILED, pk__gt=done.first() or 0)
    return failed.order_by("-pk")[:N_ENDED]


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def ann(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Recall of `?approximate=` against `?exact=`; without both, they can be chosen."""
    runs = runs_offered(benchmark, request.user)
    is_asked = "exact" in request.GET or "approximate" in request.GET
    form = AnnForm(request.GET if is_asked else None, runs=runs)
    release = newest_release(benchmark)
    context: dict[str, Any] = {"form": form, "n_runs": runs.count(), "release": release}
    if is_asked and form.is_valid():
        report, n_left_out = _ann(request, release, form)
        context |= {**form.cleaned_data, **shown(benchmark, report), "baseline": USUAL_BASELINE}
        context["n_left_out"] = n_left_out
    return render(request, "scoring/systems/ann.html", context, status=422 if form.errors else 200)


def _ann(request: HttpRequest, release: Release | None, form: AnnForm) -> tuple[AnnReport, int]:
    """The report that a form asks for, and of how many queries it tells no loss."""
    hidden = sight_of(request.user, release).hidden if release else frozenset()
    return ann_report(release=release, hidden=hidden, **form.cleaned_data), len(hidden)


def shown(benchmark: Benchmark, report: AnnReport) -> dict[str, Any]:
    """The report, and the queries of which the index finds least."""
    worst = report.recall.worst(N_WORST)
    rows = Query.objects.filter(benchmark=benchmark, qid__in=[row.qid for row in worst])
    by_qid = {query.qid: query for query in rows.only("pk", "qid", "text", "metadata")}
    return {
        "report": report,
        "recall": report.recall,
        "rows": [(row, row.loss) for row in (report.overall, *report.slices)],
        "loss": report.overall.loss,
        "worst": [
            (row, by_qid.get(row.qid), report.differences.get(row.qid))
            for row in worst
            if row.recall < 1
        ],
    }


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def ann_chart(
    request: HttpRequest, benchmark: Benchmark, k: int, format: str, **numbers: Any
) -> HttpResponse:
    """The chart of two runs by their numbers, and of the page's tolerance."""
    form = AnnForm({**numbers, "k": k}, runs=runs_offered(benchmark, request.user))
    if not form.is_valid():
        raise Http404
    report, _n_left_out = _ann(request, newest_release(benchmark), form)
    if not report.recall.queries:
        raise Http404
    return chart_response(request, recall_chart(report.recall), format)
