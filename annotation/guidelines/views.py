"""The guideline with its versions, and what annotators ask about it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.common.selectors import questions as selectors
from annotation.common.selectors.screen import contents_of, current_guideline
from annotation.guidelines.forms import AnswerForm, GuidelineForm
from annotation.guidelines.services import answer_question, save_guideline
from annotation.judging.protocol.errors import GuidelineChangedError
from benchmarks_app.models import Benchmark, Guideline
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from benchwright.texts.differences import line_changes
from benchwright.texts.directions import direction_of
from benchwright.texts.presenting import presented
from benchwright.texts.rendering import guideline_html

PAGE_SIZE = 20


@require_safe
@benchmark_view(Action.VIEW)
def guideline_detail(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """A version of the guideline, the newest by default, beside what changed since another."""
    versions = list(benchmark.guidelines.order_by("-version"))
    version = _named(versions, request.GET.get("version", "")) or (
        versions[0] if versions else None
    )
    since = _named(versions, request.GET.get("since", ""))
    context = {
        "versions": versions,
        "shown": version,
        "since": since,
        "changes": line_changes(since.text, version.text) if since and version else [],
        "guideline": guideline_html(version.text) if version else "",
        "grades": benchmark.grades.all(),
    }
    return render(request, "annotation/guidelines/guideline_detail.html", context)


def _named(versions: list[Guideline], version: str) -> Guideline | None:
    return next((guideline for guideline in versions if str(guideline.version) == version), None)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def guideline_edit(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    """Write the next version; a preview first, where it is asked for."""
    newest = current_guideline(benchmark)
    initial: dict[str, Any] = {
        "text": newest.text if newest else "",
        "written_upon": newest.version if newest else 0,
    }
    grades = list(benchmark.grades.all())
    form = GuidelineForm(request.POST or None, initial=initial, grades=grades)
    is_preview = "preview" in request.POST
    wants_save = request.method == "POST" and not is_preview and form.is_valid()
    if wants_save and _saved(request, benchmark, form):
        return redirect("annotation:guideline-detail", benchmark.slug)
    text = form["text"].value() or ""
    context = {
        "form": form,
        "newest": newest,
        "preview": guideline_html(text) if is_preview else "",
        "changes": line_changes(initial["text"], text.strip()) if is_preview else [],
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/guidelines/guideline_edit.html", context, status=status)


def _saved(request: PersonRequest, benchmark: Benchmark, form: GuidelineForm) -> bool:
    """Save what was written; what stands against it is said on the form, which keeps the text."""
    cleaned = form.cleaned_data
    try:
        guideline = save_guideline(
            benchmark=benchmark,
            text=cleaned["text"],
            actor=request.user,
            written_upon=cleaned["written_upon"],
            anchors=form.anchors,
        )
    except GuidelineChangedError as error:
        form.add_error(None, str(error))
        return False
    messages.success(
        request, f"Saved: version {guideline.version} is in force." if guideline else "Saved."
    )
    return True


# --- questions -----------------------------------------------------------------------------------


@require_safe
@benchmark_view(Action.EDIT)
def question_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, selectors.questions_in(benchmark), PAGE_SIZE)
    context = {"page": page, "rows": _rows(page.object_list), "form": AnswerForm()}
    return render(request, "annotation/guidelines/question_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def question_answer(request: PersonRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """One question; an answer sends its document back to who asked."""
    questions = selectors.questions_in(benchmark)
    question = get_object_or_404(questions, pk=pk)
    form = AnswerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        answered = answer_question(question=question, actor=request.user, **form.cleaned_data)
        message = "Answered: the document goes back to who asked."
        if answered.guideline:
            message = f"{message} The guideline is at version {answered.guideline.version}."
        messages.success(request, message)
        return redirect("annotation:question-list", benchmark.slug)
    context = {"row": _rows([question])[0], "form": form}
    status = 422 if form.errors else 200
    return render(request, "annotation/guidelines/question_answer.html", context, status=status)


@never_cache
@login_required
@require_safe
def my_question_list(request: PersonRequest) -> HttpResponse:
    """What I asked, and what was answered."""
    page = page_of(request, selectors.questions_of(request.user), PAGE_SIZE)
    context = {"page": page, "rows": _rows(page.object_list)}
    return render(request, "annotation/guidelines/my_question_list.html", context)


def _rows(questions: Any) -> list[dict[str, Any]]:
    """Each question with its document as annotators see it."""
    questions = list(questions)
    contents = contents_of([question.entry.document_id for question in questions])
    rows = []
    for question in questions:
        corpus = question.entry.pool.benchmark.corpus
        content = contents.get(question.entry.document_id)
        title, text = (content.title, content.text) if content else ("", "")
        lang = (content.lang if content else "") or corpus.lang
        rows.append(
            {
                "question": question,
                "query": question.entry.query,
                "lang": lang,
                "dir": direction_of(lang, text or title),
                "document": presented(
                    query=question.entry.query.text,
                    title=title,
                    text=text,
                    text_format=corpus.text_format,
                    lang=lang,
                    line_breaks=corpus.line_breaks,
                ),
            }
        )
    return rows
