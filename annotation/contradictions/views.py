"""Contradictions of a campaign and the examples made of them, for who keeps the benchmark.

Who may still be asked to judge sees none of it, as of campaigns.
"""

from collections.abc import Iterable
from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.agreement.services.adjudicating import adjudicate
from annotation.campaigns.selectors import campaigns_of, contents_by_docid
from annotation.contradictions.errors import NoWordError
from annotation.contradictions.forms import ContradictionFilterForm, ExampleForm, LookAgainForm
from annotation.contradictions.selectors import (
    contradictions_of,
    counts_of,
    examples_of,
    least_apart,
    proposed_text,
    shown,
    word_on,
)
from annotation.contradictions.services import (
    MOST_OF_GRADE,
    make_example,
    record_read,
    withdraw_example,
)
from annotation.models import Campaign, CampaignPair, Judgment
from benchmarks_app.common.services.exposure import is_withheld
from benchmarks_app.models import Benchmark, Query
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError

PAGE_SIZE = 20


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def contradiction_list(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    campaign = get_object_or_404(campaigns_of(benchmark), pk=pk)
    form = ContradictionFilterForm(request.GET)
    page = page_of(request, contradictions_of(campaign, **form.wanted), PAGE_SIZE)
    record_read(benchmark, request.user, f"contradictions of {campaign.name}")
    context = {
        "campaign": campaign,
        "page": page,
        "contradictions": [
            (row, uuid4()) for row in shown(campaign, list(page.object_list), request.user)
        ],
        "counts": counts_of(campaign),
        "form": ContradictionFilterForm(form.wanted),
        "least": least_apart(benchmark),
        "grades": dict(benchmark.grades.values_list("value", "name")),
        "n_examples": benchmark.grade_examples.standing().count(),
    }
    return render(request, "annotation/contradictions/contradiction_list.html", context)


@require_POST
@benchmark_view(Action.EDIT)
def contradiction_settle(
    request: PersonRequest, benchmark: Benchmark, pk: int, pair: int
) -> HttpResponse:
    """Ask another person, or note that the guideline is unclear; back to the list as it was."""
    campaign = get_object_or_404(campaigns_of(benchmark), pk=pk)
    row = pair_of(campaign, pair)
    form = LookAgainForm(request.POST)
    address = reverse("annotation:contradiction-list", args=[benchmark.slug, pk])
    back = f"{address}?{request.GET.urlencode()}" if request.GET else address
    if not form.is_valid():
        messages.error(request, "Choose what is to become of it, with one of the two buttons.")
        return redirect(back)
    try:
        decision = adjudicate(
            benchmark=benchmark,
            query=row.query,
            docid=row.docid,
            actor=request.user,
            **form.cleaned_data,
        )
    except BenchmarkError as error:
        messages.error(request, str(error))
        return redirect(back)
    is_asked = decision.outcome == Judgment.Outcome.THIRD_OPINION
    noted = "Another person will be asked." if is_asked else "Noted: the guideline is unclear here."
    messages.success(request, f"{noted} It is among the decided ones.")
    return redirect(back)


def pair_of(campaign: Campaign, pk: int) -> CampaignPair:
    """A pair that the campaign graded; 404 where there is none."""
    graded = campaign.pairs.filter(state=CampaignPair.State.GRADED)
    return get_object_or_404(graded.select_related("query__family"), pk=pk)


# --- examples --------------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def example_new(request: PersonRequest, benchmark: Benchmark, pk: int, pair: int) -> HttpResponse:
    """The words of an example, proposed from what people said."""
    campaign = get_object_or_404(campaigns_of(benchmark), pk=pk)
    row = pair_of(campaign, pair)
    word = word_on(benchmark, row.query, row.docid)
    if word is None:
        raise NoWordError(document=row.docid, query=row.query.qid)
    content = contents_by_docid(benchmark, [row.docid]).get(row.docid)
    form = ExampleForm(
        request.POST or None, initial={"text": proposed_text(word, content, _label(word))}
    )
    if request.method == "POST" and form.is_valid():
        text = form.cleaned_data["text"]
        try:
            make_example(
                benchmark=benchmark,
                query=row.query,
                docid=row.docid,
                text=text,
                actor=request.user,
            )
        except BenchmarkError as error:
            form.add_error("text" if error.code == "example-text" else None, str(error))
        else:
            advice = "The next campaign's prompt has it, and is a version of its own."
            messages.success(request, f"Kept as an example of grade {word.grade}. {advice}")
            return redirect("annotation:contradiction-list", benchmark.slug, pk)
    _say_read(request, benchmark, [row.query])
    context = {
        "campaign": campaign,
        "pair": row,
        "word": word,
        "content": content,
        "form": form,
        "grades": dict(benchmark.grades.values_list("value", "name")),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "annotation/contradictions/example_new.html", context, status=status)


def _label(word: Judgment) -> Judgment:
    """The label whose evidence and reasons an example takes: of a decision, the first that fits."""
    if word.kind != Judgment.Kind.ADJUDICATE:
        return word
    labels = (
        Judgment.objects.current()
        .wanted()
        .filter(
            benchmark=word.benchmark_id, query=word.query_id, docid=word.docid, grade=word.grade
        )
    )
    return labels.exclude(pk=word.pk).order_by("pk").first() or word


@never_cache
@require_safe
@benchmark_view(Action.EDIT)
def example_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, examples_of(benchmark))
    _say_read(request, benchmark, [example.judgment.query for example in page])
    context = {
        "page": page,
        "n_standing": benchmark.grade_examples.standing().count(),
        "most": MOST_OF_GRADE,
        "grades": dict(benchmark.grades.values_list("value", "name")),
        "campaigns": list(campaigns_of(benchmark)[:1]),
    }
    return render(request, "annotation/contradictions/example_list.html", context)


@require_POST
@benchmark_view(Action.EDIT)
def example_withdraw(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    example = get_object_or_404(examples_of(benchmark), pk=pk)
    withdraw_example(example=example, actor=request.user)
    messages.success(request, "Withdrawn: no further prompt has it. Those that had it keep it.")
    return redirect("annotation:example-list", benchmark.slug)


def _say_read(request: PersonRequest, benchmark: Benchmark, queries: Iterable[Query]) -> None:
    if any(is_withheld(benchmark, query) for query in queries):
        record_read(benchmark, request.user, "examples")
