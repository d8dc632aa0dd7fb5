"""The steps of the overview that the shared nouns know: corpus, queries, runs, release."""

from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse

from benchmarks_app.families.selectors import n_waiting
from benchmarks_app.models import Benchmark, Run, Unit
from benchmarks_app.navigation import badge
from benchmarks_app.overview import Step, step
from benchmarks_app.permissions import Action

# Families that wait for somebody to look at them.
badge("family-list")(n_waiting)


@step
def corpus_step(benchmark: Benchmark, user: Any) -> Step:
    version = benchmark.current_corpus_version
    ids_only = not benchmark.corpus.has_texts
    if version:
        rows = "passages" if benchmark.corpus.unit == Unit.PASSAGE else "documents"
        cut = ", cut" if version.cut else ""
        detail = f"{intcomma(version.n_documents)} {rows}{cut}"
    else:
        detail = "ids only: nothing to import" if ids_only else "no documents yet"
    url = reverse("corpus-detail" if version else "import-new", args=[benchmark.slug])
    return Step(10, "Corpus", bool(version) or ids_only, detail, url, "Import a corpus")


@step
def queries_step(benchmark: Benchmark, user: Any) -> Step:
    n = benchmark.queries.committed().count()
    detail = f"{intcomma(n)} queries" if n else "no queries yet"
    view = "query-list" if n else "import-new"
    return Step(
        20, "Queries", n > 0, detail, reverse(view, args=[benchmark.slug]), "Import queries"
    )


@step
def runs_step(benchmark: Benchmark, user: Any) -> Step:
    n = Run.objects.visible_to(user).filter(benchmark=benchmark).count()
    detail = f"{n} run{'s' if n != 1 else ''}" if n else "no runs yet"
    url = reverse("run-list", args=[benchmark.slug])
    return Step(30, "Runs", n > 0, detail, url, "Add runs", Action.SEE_RESULTS)


@step
def release_step(benchmark: Benchmark, user: Any) -> Step:
    newest = benchmark.releases.published().newest_first().first()
    detail = f"{newest.version} published" if newest else "nothing published yet"
    url = reverse("release-list", args=[benchmark.slug])
    call = "Publish a release"
    return Step(70, "Release", newest is not None, detail, url, call, Action.SEE_RESULTS)
