"""Bringing a collection by its name, from the command and the page to what was imported."""

import hashlib
import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.importing.services import fetching
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Job
from benchwright.fetching import bringing
from benchwright.fetching.errors import CollectionNameError, ExtraMissingError
from tests import factories
from tests.benchwright.fetching.conftest import Served, server  # noqa: F401  # a fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
def mirror(server, settings, monkeypatch):  # noqa: F811  # the fixture of that name
    """BEIR's scifact is the tiny benchmark, on a server of this machine that may be asked."""
    content = factories.tiny_zip()
    server.served["/scifact.zip"] = Served(content)
    settings.BEIR_URL = server.address + "/{name}.zip"
    settings.FETCH_PRIVATE_ADDRESSES = True
    md5 = hashlib.md5(content, usedforsecurity=False).hexdigest()
    monkeypatch.setitem(bringing.KNOWN_BEIR, "scifact", md5)
    return server


@pytest.fixture
def texts():
    bench = factories.texts_benchmark("texts")
    factories.member(bench, "olga", "owner")
    return bench


def test_the_command_fetches_and_imports(mirror, texts, capsys, settings):
    call_command("fetch_collection", "texts", "beir:scifact", max_docs="3")

    text = capsys.readouterr().out
    assert "imported beir:scifact" in text
    assert "corpus version 1" in text
    assert texts.qrel_sets.get().n_qrels
    assert texts.uploads.get().name == "beir-scifact.zip"
    assert not list((settings.STAGING_DIR / "downloads").iterdir())


def test_a_failed_fetch_says_why_and_can_be_started_again(mirror, texts, capsys):
    content = mirror.served.pop("/scifact.zip")

    with pytest.raises(CommandError, match="404 Not Found"):
        call_command("fetch_collection", "texts", "beir:scifact")

    mirror.served["/scifact.zip"] = content
    Job.objects.update(state=Job.State.QUEUED)
    jobs.run_queued()
    assert texts.current_corpus_version is not None


def test_a_private_address_is_refused_where_it_is_not_allowed(mirror, texts, settings):
    settings.FETCH_PRIVATE_ADDRESSES = False

    with pytest.raises(CommandError, match="is not in the public network"):
        call_command("fetch_collection", "texts", "beir:scifact")

    assert not mirror.asked


def test_the_page_starts_a_job_and_writes_it_down(texts, signed_in, mirror):
    olga = factories.user("olga")
    asked = {"collection": "beir:scifact", "max_docs": "10"}

    response = signed_in(olga).post(reverse("fetch-new", args=["texts"]), asked)

    job = Job.objects.get(kind="fetch-collection")
    assert response.url == job.get_absolute_url()
    assert job.parameters["corpus"]["max_docs"] == 10
    assert AuditEvent.objects.get(action="fetch").target == "beir:scifact"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"collection": "scifact"}, "write beir:scifact, hub:owner/name or irds:vaswani"),
        ({"collection": "beir:nothing"}, "BEIR has arguana"),
        ({"collection": "beir:scifact", "max_docs": "few"}, "expected a whole number from 1"),
        ({"max_docs": "3"}, "This field is required"),
    ],
)
def test_the_page_says_what_is_wrong_with_a_name(texts, signed_in, asked, words):
    response = signed_in(factories.user("olga")).post(reverse("fetch-new", args=["texts"]), asked)

    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Job.objects.exists()


@pytest.mark.parametrize(("name", "extra"), [("hub:a/b", "hub"), ("irds:vaswani", "catalog")])
def test_without_its_library_the_extra_to_install_is_named(texts, monkeypatch, name, extra):
    monkeypatch.setattr(fetching, "find_spec", lambda module: None)

    with pytest.raises(ExtraMissingError, match=rf"pip install 'benchwright\[{extra}\]'"):
        fetching.fetch_arguments(collection=name)


def test_the_api_answers_with_the_job_or_what_is_wrong(texts, signed_in):
    client = signed_in(factories.user("olga"))
    url = reverse("api:fetch-list", args=["texts"])

    def post(**asked):
        return client.post(url, json.dumps(asked), content_type="application/json")

    assert post(collection="beir:scifact").json()["kind"] == "fetch-collection"
    refused = post(collection="beir:nothing")
    assert (refused.status_code, refused.json()["code"]) == (422, CollectionNameError.code)
