"""Machine judges: campaigns on pools, for who keeps the benchmark.

Who may still be asked to judge sees none of it: what a machine says must not be known before.
"""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns.drawing import (
    agreement_forest,
    bias_forest,
    change_rows,
    confusion_rows,
)
from annotation.campaigns.forms import CampaignForm, GoOnForm
from annotation.campaigns.selectors import (
    FAILED_SHOWN,
    campaigns_of,
    conflicts_of,
    counts_of,
    failed_pairs,
    newest_labels,
    peoples_grades,
)
from annotation.campaigns.services.calibrating import calibration_of
from annotation.campaigns.services.drafting import (
    delete_campaign,
    draft_campaign,
    estimate_of,
    estimate_wanted,
)
from annotation.campaigns.services.improving import improvement_of
from annotation.campaigns.services.publishing import models_of, publish_labels
from annotation.campaigns.services.running import (
    cancel_campaign,
    is_being_tried,
    pause_campaign,
    start_campaign,
    start_trial,
)
from annotation.common.selectors.pools import pools_of
from annotation.models import Campaign
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import is_withheld
from benchmarks_app.judges.selectors import judges_of
from benchmarks_app.judges.services.keys import missing_packages, origin_or_text
from benchmarks_app.models import Benchmark, Query
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError

PAGE_SIZE = 50
LABELS_SHOWN = 20
FIELD_OF = {
    "campaign-name": "name",
    "campaign-prices": "cost_cap",
    "campaign-no-pairs": "choice",
    "campaign-runs": "runs",
    "campaign-conflict": "judge",
    "grading-template": "template",
}


@require_safe
@benchmark_view(Action.EDIT)
def campaign_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    context = {
        "page": page_of(request, campaigns_of(benchmark), PAGE_SIZE),
        "judges": list(judges_of(benchmark)),
        "n_pools": pools_of(benchmark).count(),
        "missing": missing_packages(),
    }
    return render(request, "annotation/campaigns/campaign_list.html", context)


# --- new -------------------------------------------------------------------------------------


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def campaign_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """What it would take is shown before anything is made; `?judge=…` shows it without script."""
    is_posted = request.method == "POST"
    form = _form(benchmark, request.POST if is_posted else request.GET, is_sent=is_posted)
    if is_posted and form.is_valid():
        campaign = _drafted(request, form)
        if campaign is not None:
            messages.success(request, "Drafted. Nobody was asked yet: try it, or start it.")
            return redirect(campaign)
    context = {"form": form, "missing": missing_packages(), **_estimated(form)}
    context |= {
        "n_judges": judges_of(benchmark).count(),
        "n_pools": pools_of(benchmark).count(),
        "n_examples": benchmark.grade_examples.standing().count(),
    }
    status = 422 if is_posted and form.errors else 200
    return render(request, "annotation/campaigns/campaign_new.html", context, status=status)


def _form(benchmark: Benchmark, data: QueryDict, *, is_sent: bool = False) -> CampaignForm:
    """Bound where something was said of it; a first look has the form's own values."""
    judges, pools = judges_of(benchmark), pools_of(benchmark).order_by("-pk")
    is_said = is_sent or "choice" in data
    initial = {name: data[name] for name in ("pool", "judge") if name in data}
    return CampaignForm(
        data if is_said else None, initial=initial, benchmark=benchmark, judges=judges, pools=pools
    )


def _drafted(request: PersonRequest, form: CampaignForm) -> Campaign | None:
    try:
        return draft_campaign(
            pool=form.cleaned_data["pool"],
            judge=form.cleaned_data["judge"],
            user=request.user,
            **asdict(form.wanted),
        )
    except BenchmarkError as error:
        field = FIELD_OF.get(error.code)
        form.add_error(field if field in form.fields else None, str(error))
        return None


def _estimated(form: CampaignForm) -> dict[str, Any]:
    """What the form would ask for; nothing where it says nothing, or what cannot be."""
    if not (form.is_bound and form.is_valid()):
        return {"estimate": None}
    pool, judge = form.cleaned_data["pool"], form.cleaned_data["judge"]
    context = {"judge": judge, "pool": pool, "origin": origin_or_text(judge.base_url)}
    context["conflicts"] = conflicts_of(judge, pool)
    try:
        return {**context, "estimate": estimate_wanted(pool, judge, form.wanted)}
    except BenchmarkError as error:
        return {**context, "estimate": None, "why_not": str(error)}


@require_safe
@benchmark_view(Action.EDIT)
def campaign_estimate(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The part of the page that says what it would take."""
    context = _estimated(_form(benchmark, request.GET))
    return render(request, "annotation/campaigns/_campaign_estimate.html", context)


# --- one campaign ----------------------------------------------------------------------------


def campaign_in(benchmark: Benchmark, pk: int) -> Campaign:
    """The campaign of that number in this benchmark; 404 where there is none."""
    return get_object_or_404(campaigns_of(benchmark), pk=pk)


def state_of(campaign: Campaign) -> dict[str, Any]:
    """How far it is, for the page and for the part that changes."""
    counts = counts_of(campaign)
    cap = campaign.cost_cap
    is_begun = campaign.state == Campaign.State.RUNNING
    return {
        "campaign": campaign,
        "job": campaign.job,
        "counts": counts,
        "is_trying": is_being_tried(campaign),
        "is_cap_spent": cap is not None and counts.cost >= cap,
        "share_spent": min(1.0, counts.cost / cap) if cap else None,
        "asking": f"asking {campaign.judge_name}" if is_begun else "waiting for a worker",
    }


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def campaign_detail(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    campaign = campaign_in(benchmark, pk)
    context = state_of(campaign)
    labels = newest_labels(campaign, LABELS_SHOWN)
    people = peoples_grades(benchmark, [(row.query_id, row.docid) for row in labels])
    _say_read(request, benchmark, campaign, labels)
    context |= {
        "labels": [(row, people.get((row.query_id, row.docid), [])) for row in labels],
        "failed": list(failed_pairs(campaign)[:FAILED_SHOWN]),
        "estimate": estimate_of(campaign) if not campaign.is_under_way else None,
        "origin": origin_or_text(campaign.judge.base_url) if campaign.judge else "",
        "conflicts": conflicts_of(campaign.judge, campaign.pool) if campaign.judge else [],
        "go_on_form": GoOnForm(),
        "missing": missing_packages(),
        "models": models_of(campaign),
        "grades": dict(benchmark.grades.values_list("value", "name")),
    }
    return render(request, "annotation/campaigns/campaign_detail.html", context)


def _say_read(
    request: PersonRequest, benchmark: Benchmark, campaign: Campaign, labels: list[Any]
) -> None:
    """Write down who read grades that may have to be hidden one day."""
    queries = {row.query for row in labels}
    tried = [row["query"] for row in campaign.trial.get("rows", ())]
    queries |= set(Query.objects.filter(pk__in=tried).select_related("family"))
    if any(is_withheld(benchmark, query) for query in queries):
        target = f"campaign {campaign.name}"
        audit.record(
            actor=request.user, action="read-judgments", benchmark=benchmark, target=target
        )


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def campaign_calibration(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How far the judge can be trusted, on documents that people graded too."""
    campaign = campaign_in(benchmark, pk)
    calibrated = calibration_of(campaign)
    # Agreement is worked out from grades that may have to be hidden one day.
    target = f"calibration of {campaign.name}"
    audit.record(actor=request.user, action="read-judgments", benchmark=benchmark, target=target)
    calibration = calibrated.calibration
    improved = improvement_of(campaign)
    context = {
        "campaign": campaign,
        "calibrated": calibrated,
        "calibration": calibration,
        "rows": confusion_rows(calibration),
        "agreement": agreement_forest(calibration) if calibration else None,
        "bias": bias_forest(calibration) if calibration else None,
        "improved": improved,
        "changes": change_rows(improved.improvement) if improved else [],
        "grades": dict(benchmark.grades.values_list("value", "name")),
        "counts": counts_of(campaign),
    }
    return render(request, "annotation/campaigns/campaign_calibration.html", context)


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def campaign_progress(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """How far it is; once it has ended, the page is loaded as a whole."""
    campaign = campaign_in(benchmark, pk)
    context = state_of(campaign)
    response = render(request, "annotation/campaigns/_campaign_progress.html", context)
    if request.htmx and not (campaign.is_under_way or context["is_trying"]):
        response["HX-Refresh"] = "true"
    return response


@require_POST
@benchmark_view(Action.EDIT)
def campaign_start(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Begin, or go on: with those that failed if asked, and a higher limit if one is given."""
    campaign, form = campaign_in(benchmark, pk), GoOnForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["cost_cap"][0]))
        return redirect(campaign)
    start_campaign(campaign=campaign, user=request.user, **form.cleaned_data)
    return redirect(campaign)


@require_POST
@benchmark_view(Action.EDIT)
def campaign_pause(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    campaign = campaign_in(benchmark, pk)
    pause_campaign(campaign=campaign, user=request.user)
    messages.success(request, "It begins no further document; what is under way is kept.")
    return redirect(campaign)


@require_POST
@benchmark_view(Action.EDIT)
def campaign_cancel(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    campaign = campaign_in(benchmark, pk)
    cancel_campaign(campaign=campaign, user=request.user)
    messages.success(request, "It was cancelled; what is graded stays.")
    return redirect(campaign)


@require_POST
@benchmark_view(Action.EDIT)
def campaign_try(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    campaign = campaign_in(benchmark, pk)
    start_trial(campaign=campaign, user=request.user)
    return redirect(campaign)


@require_POST
@benchmark_view(Action.EDIT)
def campaign_publish(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """Its grades as a set of qrels of a machine's."""
    campaign = campaign_in(benchmark, pk)
    chosen = {name: request.POST.get(name, "") for name in ("name", "model")}
    qrel_set = publish_labels(campaign=campaign, user=request.user, **chosen)
    messages.success(request, f"“{qrel_set.name}” holds {qrel_set.n_qrels:,} grades of a machine.")
    return redirect("qrels-list", benchmark.slug)


@require_POST
@benchmark_view(Action.EDIT)
def campaign_delete(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    campaign = campaign_in(benchmark, pk)
    delete_campaign(campaign=campaign, user=request.user)
    messages.success(request, f"The campaign “{campaign.name}” was deleted.")
    return redirect("annotation:campaign-list", benchmark.slug)
