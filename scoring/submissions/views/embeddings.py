"""Sending in embeddings, which are searched here."""

from functools import partial

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest
from scoring.models import Submission
from scoring.scores.selectors.releases import open_phases
from scoring.submissions.forms.embeddings import EmbeddingForm
from scoring.submissions.selectors.submissions import corpus_size
from scoring.submissions.services import embedding_submitting
from scoring.submissions.views.submissions import of_form, of_phases, sent, submissions_closed


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.SUBMIT)
def embedding_new(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    phases = list(open_phases(benchmark))
    if not phases:
        return submissions_closed(request, benchmark)
    form = EmbeddingForm(**of_form(request, benchmark, phases))
    if request.method == "POST" and form.is_valid():
        answer = sent(request, form, partial(_submit, request, form))
        if answer is not None:
            return answer
    context = {
        "form": form,
        **of_phases(phases, request.user),
        "n_documents": corpus_size(benchmark),
    }
    status = 422 if form.errors else 200
    return render(request, "scoring/submissions/embedding_new.html", context, status=status)


def _submit(request: PersonRequest, form: EmbeddingForm) -> Submission:
    return embedding_submitting.submit_embeddings(
        phase=form.chosen_phase,
        user=request.user,
        team=form.chosen_team,
        files=form.files_given(),
        how=form.how(),
        approximate=form.cleaned_data["approximate"] or None,
        name=form.cleaned_data["name"],
        **form.terms(),
    )
