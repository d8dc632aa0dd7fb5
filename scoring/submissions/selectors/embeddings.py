"""Reads of submitted embeddings."""

from benchmarks_app.models import Benchmark, Run, User

APPROXIMATE_RUN = "Approximate run"
"""The fact of a run that names the run of an approximate index by the same model."""


def corpus_size(benchmark: Benchmark) -> int:
    """How many documents can have a vector; 0 where nobody knows them."""
    version = benchmark.current_corpus_version
    return version.n_documents if version else 0


def approximate_run_of(run: Run | None, user: User) -> Run | None:
    """The run of an approximate index that was submitted beside a run, where the person sees it."""
    name = run.metadata.get(APPROXIMATE_RUN) if run else None
    if run is None or not isinstance(name, str):
        return None
    seen = Run.objects.visible_to(user).filter(benchmark=run.benchmark_id)
    return seen.filter(name=name).exclude(pk=run.pk).first()
