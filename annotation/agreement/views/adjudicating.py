"""Settling disagreements: the inbox, one case, and the rule that all of it follows.

Who settles a case sees what was said of a document, and nothing of who said it.
"""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.agreement.forms import NO_GRADE, AdjudicationForm
from annotation.agreement.selectors import adjudication as selectors
from annotation.agreement.services.adjudicating import adjudicate as settle
from annotation.agreement.services.adjudicating import case_to_settle
from annotation.common.forms import PolicyForm
from annotation.common.selectors.policies import policy_of
from annotation.common.selectors.screen import current_guideline
from annotation.common.services.policies import set_policy
from annotation.models import Judgment
from benchmarks_app.common.services import audit
from benchmarks_app.common.services.exposure import is_withheld
from benchmarks_app.models import Benchmark, Query
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError
from benchwright.qrels.rules import RULES
from benchwright.texts.directions import direction_of
from benchwright.texts.presenting import presented
from benchwright.texts.rendering import guideline_html

PAGE_SIZE = 25
SETTLED_MEANWHILE = "Somebody else has settled this document since you opened it."
CHOSEN_TOO_LATE = f"{SETTLED_MEANWHILE} Your choice was not recorded."
OPENED_TOO_LATE = "Somebody else has settled that document."
# The keys of the outcomes without a grade; digits are the grades.
KEYS = {"third_opinion": "t", "query_ambiguous": "q", "guideline_unclear": "u"}


@never_cache
@require_safe
@benchmark_view(Action.ADJUDICATE)
def adjudicate(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The inbox: documents whose labels lie apart, the most consequential first."""
    inbox = selectors.inbox_of(benchmark, request.user)
    context = {
        "inbox": inbox,
        "page": page_of(request, inbox.cases, PAGE_SIZE),
        "policy": policy_of(benchmark),
        "inbox_rule": selectors.RULE,
    }
    return render(request, "annotation/agreement/adjudicate.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.ADJUDICATE)
def adjudicate_item(
    request: PersonRequest, benchmark: Benchmark, pk: int, docid: str
) -> HttpResponse:
    queries = Query.objects.committed().select_related("family")
    query = get_object_or_404(queries, benchmark=benchmark, pk=pk)
    case = case_to_settle(benchmark, query, docid, request.user)
    if case is None:
        if selectors.decision_on(benchmark, query.pk, docid) is None:
            raise Http404
        is_choice = request.method == "POST"
        messages.warning(request, CHOSEN_TOO_LATE if is_choice else OPENED_TOO_LATE)
        return _next(request, benchmark, (query.pk, docid))
    form = AdjudicationForm(request.POST or None, grades=case.pair.grades)
    status = 200
    if request.method == "POST":
        if form.is_valid() and _is_settled_meanwhile(request, case):
            form.add_error(None, f"{SETTLED_MEANWHILE} Choose again to replace what they chose.")
        elif form.is_valid() and _settled(request, benchmark, query, docid, form):
            return _next(request, benchmark, (query.pk, docid))
        status = 422
    if is_withheld(benchmark, query):
        # Labels of test queries may have to stay hidden: who looks at them is recorded.
        target = f"{query.qid} {docid}"
        audit.record(
            actor=request.user, action="read-judgments", benchmark=benchmark, target=target
        )
    context = _shown(request, benchmark, case)
    return render(
        request,
        "annotation/agreement/adjudicate_item.html",
        {**context, "form": form},
        status=status,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def policy_edit(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """The rule that the inbox and the next qrels follow."""
    form = PolicyForm(request.POST or None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        policy = set_policy(benchmark=benchmark, actor=request.user, **form.arguments())
        messages.success(request, f"The next qrels follow the rule {policy.rule}.")
        return redirect("annotation:policy-edit", benchmark.slug)
    context = {"form": form, "rules": RULES}
    status = 422 if form.errors else 200
    return render(request, "annotation/agreement/policy_edit.html", context, status=status)


# --- parts -------------------------------------------------------------------------------------


def _is_settled_meanwhile(request: PersonRequest, case: selectors.CaseDetail) -> bool:
    """Whether a word of somebody else stands that the page did not show when it was opened."""
    decision = case.decision
    if decision is None or decision.actor_id == request.user.pk:
        return False
    return request.POST.get("decision", str(decision.pk)) != str(decision.pk)


def _settled(
    request: PersonRequest, benchmark: Benchmark, query: Query, docid: str, form: AdjudicationForm
) -> bool:
    cleaned = form.cleaned_data
    try:
        decision = settle(
            benchmark=benchmark,
            query=query,
            docid=docid,
            actor=request.user,
            outcome=cleaned["outcome"],
            grade=cleaned["grade"],
            reason=cleaned["reason"],
            client_id=cleaned["client_id"],
        )
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return False
    messages.success(request, _said(decision))
    return True


def _said(judgment: Judgment) -> str:
    if judgment.grade is not None:
        return f"Settled: grade {judgment.grade}."
    if judgment.outcome == Judgment.Outcome.THIRD_OPINION:
        return "Another person will be asked. The case comes back if that settles nothing."
    return f"Noted: {judgment.get_outcome_display()}. The document stays open."


def _next(request: PersonRequest, benchmark: Benchmark, key: selectors.Key) -> HttpResponse:
    following = selectors.inbox_of(benchmark, request.user).after(key)
    if following is None:
        return redirect("annotation:adjudicate", benchmark.slug)
    return redirect("annotation:adjudicate-item", benchmark.slug, following.query, following.docid)


def _shown(
    request: PersonRequest, benchmark: Benchmark, case: selectors.CaseDetail
) -> dict[str, Any]:
    inbox = selectors.inbox_of(benchmark, request.user)
    key = (case.query.pk, case.docid)
    guideline = current_guideline(benchmark)
    own_case = next((c for c in inbox.cases if (c.query, c.docid) == key), None)
    return {
        "case": case,
        "known": own_case,
        "inbox": inbox,
        "following": inbox.after(key),
        "document": presented(
            query=case.query.text,
            title=case.title,
            text=case.text,
            text_format=benchmark.corpus.text_format,
            lang=case.lang,
            line_breaks=benchmark.corpus.line_breaks,
        ),
        "dir": direction_of(case.lang, case.text or case.title),
        "grades": list(benchmark.grades.all()),
        "given": set(case.pair.grades),
        "names": dict(benchmark.grades.values_list("value", "name")),
        "endings": [(outcome, outcome.label, KEYS[outcome]) for outcome in NO_GRADE],
        "guideline": guideline,
        "guideline_text": guideline_html(guideline.text) if guideline else "",
    }
