"""One's own work: judgments to find and change again, and hours."""

import csv
import uuid
from collections.abc import Iterator
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.common.selectors.screen import content_of
from annotation.judging.forms import CANT_JUDGE_REASONS, JudgmentChangeForm, OwnJudgmentFilterForm
from annotation.judging.selectors import own_work
from annotation.judging.services.judging import change_own_judgment
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.paging import page_of
from benchmarks_app.requests import PersonRequest
from benchwright.files.cells import Echo, safe_cell
from benchwright.texts.directions import direction_of
from benchwright.texts.presenting import presented

PAGE_SIZE = 50
COLUMNS = (
    "day",
    "benchmark",
    "pool",
    "active_minutes",
    "grades",
    "cant_judge",
    "extra_labels",
    "practice",
)


@never_cache
@login_required
@require_safe
def my_judgment_list(request: PersonRequest) -> HttpResponse:
    form = OwnJudgmentFilterForm(request.GET, pools=own_work.pools_judged_by(request.user))
    judgments = own_work.searched(own_work.own_judgments(request.user), **form.asked)
    page = page_of(request, judgments, PAGE_SIZE)
    titles = own_work.titles_as_judged(page.object_list)
    machines = own_work.machine_grades(page.object_list)
    rows = [
        (
            judgment,
            titles.get((judgment.slot.entry.document_id, judgment.content_hash), ""),
            machines.get(judgment.pk, ()),
        )
        for judgment in page
    ]
    is_filtered = any(value not in ("", None) for value in form.asked.values())
    context = {"form": form, "page": page, "rows": rows, "is_filtered": is_filtered}
    return render(request, "annotation/judging/my_judgment_list.html", context)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def my_judgment_detail(request: PersonRequest, pk: int) -> HttpResponse:
    """One of my judgments with its document; while the pool is open it can be changed."""
    judgment = get_object_or_404(own_work.own_judgments(request.user), pk=pk)
    form = JudgmentChangeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        changed = change_own_judgment(judgment=judgment, actor=request.user, **form.cleaned_data)
        messages.success(request, _("Changed. The judgment before stays on record."))
        return redirect("annotation:my-judgment-detail", changed.pk)
    grades = list(judgment.benchmark.grades.all())
    context = {
        "judgment": judgment,
        "grade": next((grade for grade in grades if grade.value == judgment.grade), None),
        "grades": grades,
        "machines": own_work.machine_grades([judgment]).get(judgment.pk, ()),
        "reasons": CANT_JUDGE_REASONS,
        "is_open": cast(Pool, judgment.pool).state == Pool.State.OPEN,
        "form": form,
        "client_id": uuid.uuid4(),
        **_document(judgment),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/judging/my_judgment_detail.html", context, status=status)


def _document(judgment: Judgment) -> dict[str, Any]:
    """The document as it is today, since a change is about that, and whether it was another."""
    corpus, query = judgment.benchmark.corpus, judgment.query
    content = content_of(cast(Slot, judgment.slot))  # one judges in slots, of pools
    title, text = (content.title, content.text) if content else ("", "")
    lang = (content.lang if content else "") or corpus.lang
    return {
        "has_changed": content is not None and content.content_hash != judgment.content_hash,
        "lang": lang,
        "dir": direction_of(lang, text or title),
        "document": presented(
            query=query.text,
            title=title,
            text=text,
            text_format=corpus.text_format,
            lang=lang,
            line_breaks=corpus.line_breaks,
        ),
    }


# --- hours ---------------------------------------------------------------------------------------


@never_cache
@login_required
@require_safe
def my_hours(request: PersonRequest) -> HttpResponse:
    hours = own_work.hours_of(request.user)
    context = {"hours": hours, "page": page_of(request, hours.days, PAGE_SIZE)}
    return render(request, "annotation/judging/my_hours.html", context)


@never_cache
@login_required
@require_safe
def my_hours_csv(request: PersonRequest) -> StreamingHttpResponse:
    days = own_work.hours_of(request.user).days
    response = StreamingHttpResponse(_lines(days), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="my-hours.csv"'
    return response


def _lines(days: list[own_work.WorkDay]) -> Iterator[str]:
    writer = csv.writer(Echo())
    yield writer.writerow(COLUMNS)
    for day in days:
        yield writer.writerow(
            [
                day.day.isoformat(),
                day.pool.benchmark.slug,
                safe_cell(day.pool.name),
                f"{day.minutes:.1f}",
                day.n_grades,
                day.n_cant_judge,
                day.n_extra,
                day.n_practice,
            ]
        )
