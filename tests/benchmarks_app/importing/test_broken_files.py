"""Files of other tools, broken on purpose and imported: refused, and nothing of them stays."""

import pytest

from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Corpus, CorpusVersion, Job, Qrel, QrelSet, Query, Run
from benchwright.errors import BenchmarkError
from tests import factories
from tests.benchwright.uploads.breaking import MADE, WAYS

# A file of each form of reading, and a way in which the reader meets what is wrong only on its way.
BROKEN = [
    ("argilla-rating.json", "wrong_type"),
    ("doccano.jsonl", "nested"),
    ("elasticsearch-bulk.ndjson", "cut"),
    ("esci-products.parquet", "wrong_type"),
    ("label-studio.csv", "cut"),
    ("letor.txt", "wrong_type"),
    ("pandas-openpyxl.xlsx", "wrong_type"),
    ("pandas-utf-16.csv", "cut"),
    ("ranx-qrels.trec", "cut"),
    ("ranx-run.trec", "cut"),
    ("smart.all", "wrong_type"),
]


def test_of_a_broken_file_nothing_stays(db, tmp_path):
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))
    benchmark = factories.benchmark(slug="texts", corpus=corpus)
    for qid in ("q-tea", "q-cjk", "10", "11"):
        factories.query(benchmark, qid)
    queries = set(Query.objects.values_list("qid", flat=True))
    taken = []
    for name, way in BROKEN:
        path = tmp_path / name
        path.write_bytes(WAYS[way](name, (MADE / name).read_bytes()))
        refusal = refusal_of(benchmark, path)

        if not refusal:
            taken.append((name, way))
        assert name in refusal
        assert set(Query.objects.values_list("qid", flat=True)) == queries
        for model in (QrelSet, Qrel, Run):
            assert not model.objects.exists(), (name, way)
        assert not CorpusVersion.objects.exclude(n_documents=0).exists(), (name, way)
        benchmark.refresh_from_db()
        assert benchmark.current_corpus_version is None

    assert taken == []


def refusal_of(benchmark, path) -> str:
    """What the import of a file says that takes nothing of it; '' where it takes it."""
    keeper = factories.user("keeper")
    upload = uploading.receive_path(benchmark=benchmark, owner=keeper, path=path)
    try:
        arguments = importing.import_arguments(upload=upload)
        job = jobs.run_here(benchmark=benchmark, user=keeper, **arguments)
    except BenchmarkError as error:
        return f"{path.name}: {error}"
    if job.state == Job.State.DONE:
        return ""
    return " ".join(
        [job.error, *(f"{problem['file']}:{problem['line']}" for problem in job.problems)]
    )


@pytest.mark.parametrize(("name", "n"), [("quepid-ratings.csv", 3), ("doccano.jsonl", 4)])
def test_the_same_files_whole_are_taken(db, name, n):
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))
    benchmark = factories.benchmark(slug="texts", corpus=corpus)
    keeper = factories.user("keeper")
    upload = uploading.receive_path(benchmark=benchmark, owner=keeper, path=MADE / name)
    words = "relevant=2, partially relevant=1, not relevant=0" if "doccano" in name else ""

    job = jobs.run_here(
        benchmark=benchmark,
        user=keeper,
        **importing.import_arguments(upload=upload, grade_map=words),
    )

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert Qrel.objects.count() == n
