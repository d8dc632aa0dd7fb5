"""A benchmark of texts with its owner, one of images, and a zip that is imported."""

import zipfile

import pytest
from django.test import Client

from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Corpus, Job
from tests import factories


@pytest.fixture
def texts(db) -> Benchmark:
    """A benchmark whose corpus holds texts."""
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))
    return factories.benchmark(slug="texts", corpus=corpus)


@pytest.fixture
def olga(texts) -> Client:
    """Who owns it is signed in."""
    client = Client()
    client.force_login(
        factories.member(texts, "olga", "owner"),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return client


@pytest.fixture
def images(db):
    """A benchmark whose documents are images."""
    corpus = Corpus.objects.create(name="images", owner=factories.user("keeper"), unit="image")
    return factories.benchmark(slug="images", corpus=corpus, unit="image")


@pytest.fixture
def take_in(tmp_path):
    """A function that imports members as one zip, or alone where there is one, and waits."""

    def take(benchmark, members: dict[str, bytes]) -> Job:
        path = tmp_path / "images.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return take_path(benchmark, path)

    def take_path(benchmark, path) -> Job:
        keeper = factories.user("keeper")
        upload = uploading.receive_path(benchmark=benchmark, owner=keeper, path=path)
        arguments = importing.import_arguments(upload=upload)
        return jobs.run_here(benchmark=benchmark, user=keeper, **arguments)

    take.path = take_path
    return take
