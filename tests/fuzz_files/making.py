"""The benchmark that files are sent to: a corpus, queries, qrels, a release open for runs."""

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Corpus
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.releases.services import releasing
from scoring.models import Phase
from scoring.submissions.services import phases
from tests import factories
from tests.fuzz_files.seeds import collection, tarred


def make_fuzzed(slug: str) -> str:
    """The benchmark, owned by Olga; returns a token of hers."""
    olga = factories.user("olga")
    corpus = Corpus.objects.create(name=slug, owner=olga, kind=Corpus.Kind.TEXTS)
    benchmark = factories.benchmark(slug, corpus=corpus)
    factories.member(benchmark, "olga", "owner")
    # Other bytes than a case has: those are imported once.
    members = {**collection(), "README.md": b"Made for files that are damaged.\n"}
    factories.done(factories.imported(benchmark, tarred(members), "made.tar"))
    arguments = releasing.release_arguments(qrel_set=benchmark.qrel_sets.get(), version="1.0.0")
    factories.done(jobs.run_here(benchmark=benchmark, user=olga, **arguments))
    phases.open_submissions(release=benchmark.releases.get())
    # As many as one likes, for the whole site is one person's.
    Phase.objects.filter(benchmark=benchmark).update(daily_limit=1_000_000)
    return create_api_token(user=olga, name="fuzz", days=1).secret
