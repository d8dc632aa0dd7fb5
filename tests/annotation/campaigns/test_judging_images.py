"""A machine judge is sent the images of a document, as people are shown them."""

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from annotation.campaigns.services.drafting import estimate_of
from annotation.campaigns.services.running import judge_here
from annotation.models import Pool
from benchmarks_app.collections.services import uploading
from benchmarks_app.importing.services import importing
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Corpus, Document, DocumentContent, Job
from tests import factories
from tests.annotation import making
from tests.annotation.campaigns.making import draft, labels
from tests.judge_stub import IMAGE

COLOURS = {"red": (400, 200), "blue": (30, 30)}
# The stub's grade of a document is how many images it has, and how often it says "useful".
TABLE = """\
{"id": "both", "images": ["red.png", "blue.png"]}
{"id": "one", "title": "A useful square", "images": ["blue.png"]}
"""


@pytest.fixture
def pictures(tmp_path) -> dict[str, bytes]:
    from PIL import Image

    for colour, size in COLOURS.items():
        Image.new("RGB", size, colour).save(tmp_path / f"{colour}.png")
    return {colour: (tmp_path / f"{colour}.png").read_bytes() for colour in COLOURS}


def take_in(benchmark: Benchmark, folder: Path, pictures: dict[str, bytes]) -> None:
    keeper = factories.user("keeper")
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        archive.writestr("images.jsonl", TABLE)
        for name, content in pictures.items():
            archive.writestr(f"{name}.png", content)
    upload = uploading.receive_path(benchmark=benchmark, owner=keeper, path=folder / "images.zip")
    arguments = importing.import_arguments(upload=upload, corpus={"take": True})
    job = jobs.run_here(benchmark=benchmark, user=keeper, **arguments)
    assert job.state == Job.State.DONE, job.problems


@pytest.fixture
def benchmark(db, tmp_path, pictures):
    corpus = Corpus.objects.create(name="images", owner=factories.user("keeper"), unit="image")
    bench = factories.benchmark(slug="images", corpus=corpus, unit="image")
    take_in(bench, tmp_path, pictures)
    return bench


@pytest.fixture
def pool(benchmark) -> Pool:
    small_pool = making.pool(benchmark, {"q1": ["both", "one"]})
    for docid, title in (("both", ""), ("one", "A useful square")):
        document = Document.objects.get(docid=docid)
        DocumentContent.objects.filter(document=document).update(title=title, text="")
    return small_pool


def test_judge_is_sent_each_image_of_a_document_in_order(pool, judge, stub, pictures):
    campaign = draft(pool, judge)

    judge_here(campaign=campaign, user=pool.created_by)

    assert labels() == [("q1", "both", 2), ("q1", "one", 2)]
    sent = {asked.document(): [_digest(url) for url in asked.images] for asked in stub.requests}
    red, blue = (hashlib.sha256(pictures[colour]).hexdigest() for colour in COLOURS)
    assert sent == {
        f"{IMAGE}\n{IMAGE}\n": [red, blue],
        f"{IMAGE}\nA useful square\n": [blue],
    }


def test_image_that_changes_is_asked_about_anew_and_no_other(
    pool, judge, stub, benchmark, tmp_path, pictures
):
    judge_here(campaign=draft(pool, judge), user=pool.created_by)
    judge_here(campaign=draft(pool, judge, name="again"), user=pool.created_by)
    assert len(stub.requests) == 2  # nothing is asked, nor paid, twice

    take_in(benchmark, tmp_path, {"red": pictures["blue"], "blue": pictures["blue"]})
    judge_here(campaign=draft(pool, judge, name="later"), user=pool.created_by)

    assert len(stub.requests) == 3
    blue = hashlib.sha256(pictures["blue"]).hexdigest()
    assert [_digest(url) for url in stub.requests[-1].images] == [blue, blue]


def test_estimate_counts_images(pool, judge, benchmark):
    with_images = estimate_of(draft(pool, judge))
    benchmark.corpus.images.all().delete()
    without = estimate_of(draft(pool, judge, name="without"))

    assert with_images.tokens_in - without.tokens_in == pytest.approx(3_000, abs=50)


def _digest(url: str) -> str:
    head, _, packed = url.partition(",")
    assert head == "data:image/png;base64"
    return hashlib.sha256(base64.b64decode(packed)).hexdigest()
