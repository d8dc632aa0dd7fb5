"""The steps of the overview's stepper between runs and a release: pool, judge, qrels."""

from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Sum
from django.urls import reverse

from annotation.common.selectors.questions import n_open_questions
from annotation.labels.services.counting_labels import labelled_documents, n_labels_of
from annotation.models import Pool, Slot
from benchmarks_app.collections.services.snapshots import LABELS, Labels
from benchmarks_app.models import Benchmark
from benchmarks_app.navigation import badge
from benchmarks_app.overview import Step, step

badge("annotation:question-list")(n_open_questions)
LABELS.append(Labels(docids=labelled_documents, count=n_labels_of))


@step
def pool_step(benchmark: Benchmark, user: Any) -> Step:
    n_entries = _built(benchmark).aggregate(n=Sum("n_entries"))["n"] or 0
    detail = f"{intcomma(n_entries)} documents to judge" if n_entries else "no pool yet"
    view = "pool-list" if n_entries else "pool-new"
    url = reverse(f"annotation:{view}", args=[benchmark.slug])
    return Step(40, "Pool", n_entries > 0, detail, url, "Build a pool")


@step
def judge_step(benchmark: Benchmark, user: Any) -> Step:
    n_wanted = _built(benchmark).aggregate(n=Sum("n_wanted"))["n"] or 0
    done = Slot.objects.filter(pool__in=_built(benchmark), state=Slot.State.DONE)
    n_done = done.count() if n_wanted else 0
    detail = f"{intcomma(n_done)} of {intcomma(n_wanted)} labels" if n_wanted else "needs a pool"
    url = reverse("annotation:judge-benchmark", args=[benchmark.slug])
    return Step(50, "Judge", 0 < n_wanted <= n_done, detail, url, "Judge documents")


@step
def qrels_step(benchmark: Benchmark, user: Any) -> Step:
    n = benchmark.qrel_sets.ready().count()
    detail = f"{n} set{'s' if n != 1 else ''} of qrels" if n else "no qrels yet"
    view = "qrels-list" if n else "annotation:qrels-publish"
    return Step(60, "Qrels", n > 0, detail, reverse(view, args=[benchmark.slug]), "Publish qrels")


def _built(benchmark: Benchmark) -> Any:
    return Pool.objects.built().filter(benchmark=benchmark)
