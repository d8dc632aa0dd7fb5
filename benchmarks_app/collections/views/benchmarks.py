"""A benchmark's overview, settings and activity."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app.collections.forms.benchmarks import BenchmarkForm, SettingsForm
from benchmarks_app.collections.services.benchmarks import change_settings, create_benchmark
from benchmarks_app.errors import BlindError
from benchmarks_app.homes import home_asked, homes_of
from benchmarks_app.language import speak, translated
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.requests import PersonRequest
from benchwright.errors import BenchmarkError


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def benchmark_new(request: PersonRequest) -> HttpResponse:
    form = BenchmarkForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            benchmark = create_benchmark(owner=request.user, **form.cleaned_data)
        except BenchmarkError as error:
            form.add_error("unit", str(error))
        else:
            message = f"{benchmark} is ready. Import a corpus, queries and runs next."
            messages.success(request, message)
            return redirect("import-new", benchmark.slug)
    status = 422 if form.errors else 200
    return render(
        request, "benchmarks_app/collections/benchmark_new.html", {"form": form}, status=status
    )


@require_safe
@benchmark_view(Action.VIEW)
def benchmark_detail(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """The home of who looks, by what they do here; who has several chooses by `?as=`."""
    homes = homes_of(request.user, benchmark)
    chosen = home_asked(request, homes)
    if chosen.is_translated:
        speak(request)
    context = {
        "homes": homes if len(homes) > 1 else [],
        "home": chosen,
        "why_withheld": ""
        if may(request.user, Action.SEE_RESULTS, benchmark)
        else translated(BlindError.message),
        **chosen.context(request, benchmark),
    }
    return render(request, "benchmarks_app/collections/benchmark_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@benchmark_view(Action.EDIT)
def benchmark_settings(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    newest = benchmark.guidelines.order_by("-version").first()
    form = SettingsForm(
        request.POST or None,
        instance=benchmark,
        initial={
            "guideline": newest.text if newest else "",
            "text_format": benchmark.corpus.text_format,
            "line_breaks": benchmark.corpus.line_breaks,
        },
    )
    if request.method == "POST" and form.is_valid():
        change_settings(
            benchmark=form.save(commit=False),
            actor=request.user,
            guideline=form.cleaned_data["guideline"],
            text_format=form.cleaned_data["text_format"],
            line_breaks=form.cleaned_data["line_breaks"],
        )
        messages.success(request, "Saved.")
        return redirect("benchmark-settings", benchmark.slug)
    context = {"form": form, "guideline": newest, "grades": benchmark.grades.all()}
    status = 422 if form.errors else 200
    return render(
        request, "benchmarks_app/collections/benchmark_settings.html", context, status=status
    )
