"""Sending in embeddings, which are searched here."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from scoring import selectors
from scoring.forms.embeddings import EmbeddingForm
from scoring.selectors.embeddings import corpus_size
from scoring.selectors.phases import scope_of
from scoring.services import embedding_submitting
from scoring.services.errors import NameInUseError, SubmittedBeforeError
from scoring.services.submitting import n_left_today
from scoring.views.submissions import submissions_closed


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def embedding_new(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    phases = list(selectors.open_phases(benchmark))
    if not phases:
        return submissions_closed(request, benchmark)
    form = EmbeddingForm(
        request.POST or None,
        request.FILES or None,
        benchmark=benchmark,
        phases=phases,
        teams=list(request.user.teams.order_by("name")),
        initial={"phase": request.GET.get("phase") or phases[0].pk},
    )
    if request.method == "POST" and form.is_valid():
        answer = _submit(request, form)
        if answer is not None:
            return answer
    context = {
        "form": form,
        "phases": [
            (one, scope_of(one), n_left_today(phase=one, user=request.user)) for one in phases
        ],
        "phase": phases[0],
        "n_documents": corpus_size(benchmark),
    }
    status = 422 if form.errors else 200
    return render(request, "scoring/embedding_new.html", context, status=status)


def _submit(request: HttpRequest, form: EmbeddingForm) -> HttpResponse | None:
    """Where to go next, or None with the reason on the form."""
    try:
        submission = embedding_submitting.submit_embeddings(
            phase=form.chosen_phase,
            user=request.user,
            team=form.chosen_team,
            files=form.files_given(),
            how=form.how(),
            approximate=form.cleaned_data["approximate"] or None,
            name=form.cleaned_data["name"],
            **form.terms(),
        )
    except SubmittedBeforeError as error:
        messages.warning(request, str(error))
        return redirect(error.submission)
    except NameInUseError as error:
        form.add_error("name", str(error))
        return None
    except BenchmarkError as error:
        form.add_error(None, str(error))
        return None
    messages.success(request, f"“{submission.name}” is received.")
    return redirect(submission)
