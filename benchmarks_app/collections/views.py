"""A benchmark's overview, settings and activity; its runs; the images of its documents."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from benchmarks_app.collections.forms import BenchmarkForm, SettingsForm
from benchmarks_app.collections.services.benchmarks import change_settings, create_benchmark
from benchmarks_app.common.selectors.images import image_bytes
from benchmarks_app.common.selectors.naming import facts_told, is_anonymous_to
from benchmarks_app.errors import BlindError
from benchmarks_app.homes import home_asked, homes_of
from benchmarks_app.language import speak, translated
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
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
            changed=form.changed_columns,
            guideline=form.changed_guideline,
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


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    kind = request.GET.get("kind", "")
    runs = Run.objects.visible_to(request.user).standing().filter(benchmark=benchmark)
    runs = runs.select_related("owner", "team", "benchmark").order_by("name", "pk")
    if kind in Run.Kind.values:
        runs = runs.filter(kind=kind)
    context = {
        "page": page_of(request, runs),
        "kind": kind,
        "kinds": Run.Kind.choices,
        "n_queries": benchmark.queries.committed().count(),
        # Runs are compared on a release.
        "may_compare": benchmark.releases.published().exists(),
        "has_corpus": benchmark.current_corpus_version is not None and benchmark.corpus.has_texts,
    }
    return render(request, "benchmarks_app/collections/run_list.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    runs = Run.objects.visible_to(request.user).select_related(
        "owner", "team", "upload", "benchmark"
    )
    run = get_object_or_404(runs, benchmark=benchmark, pk=pk)
    context = {
        "run": run,
        "is_anonymous": is_anonymous_to(run, request.user),
        "facts": facts_told(run, request.user),
    }
    return render(request, "benchmarks_app/collections/run_detail.html", context)


@require_safe
@benchmark_view(Action.VIEW)
def document_image(request: HttpRequest, benchmark: Benchmark, sha256: str) -> HttpResponse:
    """The original, of the kind it was seen to be."""
    image = get_object_or_404(benchmark.corpus.images, sha256=sha256)
    extension = image.stored.rpartition(".")[2]
    return image_bytes(image.stored, image.media_type, f"image-{image.pk}.{extension}")


@require_safe
@benchmark_view(Action.VIEW)
def document_thumbnail(request: HttpRequest, benchmark: Benchmark, sha256: str) -> HttpResponse:
    image = get_object_or_404(benchmark.corpus.images, sha256=sha256)
    return image_bytes(image.thumbnail, "image/png", f"thumbnail-{image.pk}.png")
