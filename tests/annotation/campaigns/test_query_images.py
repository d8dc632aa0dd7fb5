"""Images of queries and thumbnails of documents, where people and machines judge."""

import base64
import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from django.db import connection
from django.template import Context, Template
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from PIL import Image

from annotation.campaigns.services.running import judge_here
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Corpus, Job
from tests import factories
from tests.annotation import making
from tests.annotation.campaigns.making import draft
from tests.judge_stub import IMAGE

COLOURS = ("red", "blue")


def take_in(benchmark: Benchmark, folder: Path, **tables: list[dict]) -> None:
    """Import a zip of JSON lines beside two squares, red and blue."""
    keeper = factories.user("keeper")
    with zipfile.ZipFile(folder / "squares.zip", "w") as archive:
        for name, rows in tables.items():
            archive.writestr(f"{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        for colour in COLOURS:
            Image.new("RGB", (40, 20), colour).save(folder / f"{colour}.png")
            archive.write(folder / f"{colour}.png", f"{colour}.png")
    upload = uploading.receive_path(benchmark=benchmark, owner=keeper, path=folder / "squares.zip")
    arguments = importing.import_arguments(upload=upload)
    job = jobs.run_here(benchmark=benchmark, user=keeper, **arguments)
    assert job.state == Job.State.DONE, (job.error, job.problems)


def digest(folder: Path, colour: str) -> str:
    return hashlib.sha256((folder / f"{colour}.png").read_bytes()).hexdigest()


def image_benchmark(slug: str) -> Benchmark:
    corpus = Corpus.objects.create(name=slug, owner=factories.user("keeper"), unit="image")
    return factories.benchmark(slug, corpus=corpus, unit="image")


@pytest.fixture
def benchmark(db, tmp_path) -> Benchmark:
    """A query that is a red image beside a text, and one that is a blue image alone."""
    bench = image_benchmark("squares")
    take_in(
        bench,
        tmp_path,
        docs=[{"id": "d1", "title": "A blue square", "image": "blue.png"}],
        queries=[
            {"qid": "both", "text": "the same in blue", "image": "red.png"},
            {"qid": "seen", "image": "blue.png", "alt": "a blue square"},
        ],
    )
    return bench


def test_labeling_page_shows_the_images_of_the_query_beside_the_document(
    benchmark, tmp_path, client
):
    pool = making.pool(benchmark, {"seen": ["d1"]})
    client.force_login(factories.member(benchmark, "ada", "annotator"))

    page = client.get(reverse("annotation:judge", args=[pool.pk]), follow=True)
    answer = client.post(
        reverse("annotation:judge-exchange", args=[pool.pk]),
        {"events": [], "want": 1},
        content_type="application/json",
    )

    address = reverse("document-image", args=["squares", digest(tmp_path, "blue")])
    text = page.content.decode() + answer.content.decode()
    assert text.count(address) >= 2
    assert "a blue square" in text
    assert "both" not in text


def test_judge_is_sent_the_images_of_the_query_before_the_document(
    benchmark, tmp_path, judge, stub
):
    pool = making.pool(benchmark, {"both": ["d1"], "seen": ["d1"]})

    judge_here(campaign=draft(pool, judge), user=pool.created_by)

    red, blue = (digest(tmp_path, colour) for colour in COLOURS)
    sent = {
        tuple(hashlib.sha256(base64.b64decode(url.partition(",")[2])).hexdigest() for url in of)
        for of in (asked.images for asked in stub.requests)
    }
    assert sent == {(red, blue), (blue, blue)}
    texts = [
        "".join(str(part.get("text", IMAGE)) for part in request.user) for request in stub.requests
    ]
    (with_words,) = [text for text in texts if "the same in blue" in text]
    assert with_words.index(IMAGE) < with_words.index("the same in blue")


def test_query_without_an_image_is_asked_as_before(db, judge, stub):
    benchmark = factories.texts_benchmark("texts")
    pool = making.pool(benchmark, {"q1": ["d1"]})

    judge_here(campaign=draft(pool, judge), user=pool.created_by)

    assert all(isinstance(request.user, str) or not request.images for request in stub.requests)


@pytest.mark.parametrize("n", [2, 20])
def test_thumbnails_of_a_list_cost_the_same_however_many(db, tmp_path, n):
    bench = image_benchmark("many")
    rows = [
        {"id": f"d{number}", "title": f"square {number}", "image": f"{COLOURS[number % 2]}.png"}
        for number in range(n)
    ]
    take_in(bench, tmp_path, docs=rows)
    source = (
        '{% thumbnails benchmark rows "docid" as small %}{% for row in rows %}'
        '{% include "_thumbnail.html" with image=small|at:row.docid only %}{% endfor %}'
    )
    context = {"benchmark": Benchmark.objects.get(), "rows": [{"docid": r["id"]} for r in rows]}
    Template(source).render(Context({"benchmark": bench, "rows": []}))

    with CaptureQueriesContext(
        connection,
    ) as captured:
        page = Template(source).render(Context(context))

    assert page.count('loading="lazy"') == page.count('width="48" height="48"') == n
    assert 'alt="square 1"' in page
    assert len(captured) == 3  # corpus, its version, the images


def test_lists_of_texts_ask_for_no_thumbnail(db):
    bench = factories.texts_benchmark("texts")
    source = Template('{% thumbnails benchmark rows "docid" as small %}{{ small|length }}')
    bench = Benchmark.objects.select_related("corpus").get(pk=bench.pk)

    with CaptureQueriesContext(connection) as captured:
        page = source.render(Context({"benchmark": bench, "rows": [{"docid": "d1"}]}))

    assert (page, len(captured)) == ("0", 0)


def test_pages_that_list_documents_have_their_thumbnails(benchmark, tmp_path, client):
    client.force_login(factories.member(benchmark, "owner", "owner"))
    small = reverse("document-thumbnail", args=["squares", digest(tmp_path, "blue")])

    page = client.get(reverse("corpus-detail", args=["squares"])).content.decode()

    assert (
        f'<img class="thumbnail" src="{small}" width="48" height="48" alt="A blue square"' in page
    )
