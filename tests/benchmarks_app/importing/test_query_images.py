"""Queries that are asked with images: imported, kept, shown, and carried by an export."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from django.urls import reverse

from benchmarks_app.families.selectors import texts_to_group
from benchmarks_app.models import Corpus, CorpusImage, Job, QrelSet, Query
from benchmarks_app.releases.services.exporting import IMAGES_LEFT_OUT, offers, write_folder
from benchwright.exports import EXPORTERS
from tests import factories
from tests.benchmarks_app.importing.test_images import (
    BLUE,
    RED,
    cell,
    parquet,
    picture,
    problems_of,
    two,
)

DIGEST = {data: hashlib.sha256(data).hexdigest() for data in (RED, BLUE)}
QRELS = b"query-id\tcorpus-id\tscore\nboth\ta\t1\nseen\tb\t1\nsaid\ta\t1\n"
QUERIES = [
    {"qid": "both", "text": "the same in blue", "image": "img/red.png", "alt": "a red square"},
    {"qid": "seen", "image": "img/blue.png"},
    {"qid": "said", "text": "a red square"},
]


def lines(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def asked(benchmark) -> dict[str, tuple[str, list[str]]]:
    """What each query says, and the digests of its images."""
    rows = Query.objects.filter(benchmark=benchmark)
    return {row.qid: (row.text, row.metadata.get("image_sha256", [])) for row in rows}


def graded(benchmark, qid: str):
    """A set in which one document is relevant for a query."""
    qrels = factories.qrel_set(benchmark, {(qid, "a"): 1})
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=1)
    return QrelSet.objects.get(pk=qrels.pk)


EXPECTED = {
    "both": ("the same in blue", [DIGEST[RED]]),
    "seen": ("", [DIGEST[BLUE]]),
    "said": ("a red square", []),
}


@pytest.fixture
def texts(db):
    """A benchmark whose documents are texts."""
    bench = factories.texts_benchmark("texts")
    rows = [{"_id": docid, "title": "", "text": f"text {docid}"} for docid in "ab"]
    factories.done(factories.imported(bench, lines(rows), "corpus.jsonl"))
    return bench


def test_queries_of_json_lines_have_images_beside_a_text_or_alone(images, take_in):
    job = take_in(images, two(**{"queries.jsonl": lines(QUERIES)}))

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert asked(images) == EXPECTED
    assert CorpusImage.objects.count() == 2  # those of the documents, which are the same


def test_queries_of_texts_have_images_in_parquet_cells(texts, tmp_path, take_in):
    path = tmp_path / "queries.parquet"
    cells = [cell(RED, "red.png"), cell(BLUE), None]
    words = ["the same in blue", None, "a red square"]
    path.write_bytes(parquet(id=["both", "seen", "said"], image=cells, text=words))

    job = take_in.path(texts, path)

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert asked(texts) == EXPECTED
    # Of a cell the path is kept that it tells, and nothing else.
    assert Query.objects.get(qid="both").metadata["image"] == "red.png"
    assert "image" not in Query.objects.get(qid="seen").metadata
    assert CorpusImage.objects.count() == 2


def test_tables_of_mteb_have_queries_that_are_images(images, take_in):
    corpus = parquet(id=["a", "b"], modality=["image"] * 2, image=[cell(RED), cell(BLUE)])
    queries = parquet(id=["q1"], modality=["image"], image=[cell(BLUE)])
    qrels = parquet(**{"query-id": ["q1"], "corpus-id": ["b"], "score": [1]})

    job = take_in(
        images,
        {
            "corpus/test-00000-of-00001.parquet": corpus,
            "queries/test-00000-of-00001.parquet": queries,
            "qrels/test-00000-of-00001.parquet": qrels,
        },
    )

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert asked(images) == {"q1": ("", [DIGEST[BLUE]])}
    assert images.current_corpus_version.n_documents == 2


def test_query_is_told_its_line_where_its_image_is_not_there_and_nothing_stays(texts, take_in):
    rows = [
        {"qid": "q1", "image": "gone.png"},
        {"qid": "q2", "text": "", "image": None},
        {"qid": "q3", "image": "text.png"},
    ]

    job = take_in(texts, {"queries.jsonl": lines(rows), "text.png": b"no image"})

    assert job.state == Job.State.FAILED
    assert sorted(problems_of(job)) == [
        "queries.jsonl:1: image 'gone.png' is not there; expected the path of a PNG, JPEG, GIF, "
        "WebP or TIFF inside the same zip",
        "queries.jsonl:2: text is empty; a query needs words, or an image",
        "text.png:0: it is no PNG, JPEG, GIF, WebP or TIFF image. Convert it to one of them.",
    ]
    assert not CorpusImage.objects.exists()
    assert not Query.objects.exists()


def test_image_of_a_query_is_limited_like_that_of_a_document(texts, take_in, settings):
    settings.CASE_IMAGE_MEGAPIXELS = 1
    rows = [{"qid": "q1", "image": "large.png"}]

    job = take_in(texts, {"queries.jsonl": lines(rows), "large.png": picture("red", (1200, 1000))})

    (problem,) = problems_of(job)
    assert problem == "large.png:0: it is 1200 x 1000; expected at most 1,000,000 pixels."


def test_column_of_addresses_is_no_image(texts, tmp_path, take_in):
    path = tmp_path / "queries.csv"
    path.write_text("qid,text,image\nq1,words,https://example.org/a.png\nq2,others,\n")

    job = take_in.path(texts, path)

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert asked(texts) == {"q1": ("words", []), "q2": ("others", [])}
    assert Query.objects.get(qid="q1").metadata == {"image": "https://example.org/a.png"}


def test_query_that_comes_again_with_another_image_is_refused_as_with_another_text(texts, take_in):
    def take(name: str, **row: str) -> Job:
        return take_in(texts, {name: lines([{"qid": "q1", **row}]), "r.png": RED, "b.png": BLUE})

    take("queries.jsonl", image="r.png")
    again = take("queries-2.jsonl", image="./r.png")
    other = take("queries-3.jsonl", image="b.png")

    assert "1 query was here already." in again.result["notes"][0]
    (problem,) = problems_of(other)
    assert problem.startswith("queries-3.jsonl:1: query 'q1' is in the benchmark already, with ")
    assert "other images" in problem
    assert asked(texts) == {"q1": ("", [DIGEST[RED]])}


def test_same_words_with_other_images_are_other_needs(texts, take_in):
    rows = [{"qid": f"q{n}", "text": "larger", "image": f"{n}.png"} for n in (1, 2)]
    rows += [{"qid": "q3", "image": "1.png"}, {"qid": "q4", "image": "2.png"}]
    take_in(texts, {"queries.jsonl": lines(rows), "1.png": RED, "2.png": BLUE})

    _, words = texts_to_group(texts, None)

    assert len({word.text for word in words}) == 4
    assert all(word.text for word in words)


def test_grades_of_words_alone_are_not_of_the_same_words_beside_an_image(texts, take_in):
    rows = [{"qid": "q1", "text": "red shoe", "image": "1.png"}]
    take_in(texts, {"queries.jsonl": lines(rows), "1.png": RED})

    factories.done(factories.imported(texts, b"query,docid,rating\nred shoe,a,1\n", "rated.csv"))

    assert texts.qrel_sets.get().qrels.get().query.qid != "q1"


@pytest.mark.parametrize("most", [1, 2])
def test_repository_holds_the_images_of_queries_and_gives_an_equal_set(
    images, take_in, tmp_path, most
):
    import polars as pl

    rows = [dict(row) for row in QUERIES]
    if most > 1:
        for row in rows[:2]:
            row["images"] = [row.pop("image")]
        rows[1]["images"].append("img/red.png")
    take_in(images, two(**{"queries.jsonl": lines(rows), "qrels/test.tsv": QRELS}))
    release = factories.release(images.qrel_sets.get())

    folder = tmp_path / "hub"
    write_folder(release, EXPORTERS["hub"], folder)

    queries = pl.read_parquet(folder / "queries" / "queries-00000.parquet")
    cells = dict(zip(queries["_id"], queries[{1: "image", 2: "images"}[most]], strict=True))
    if most == 1:
        assert {qid: image and image["bytes"] for qid, image in cells.items()} == {
            "both": RED,
            "seen": BLUE,
            "said": None,
        }
    else:
        packed = {qid: [image["bytes"] for image in of] for qid, of in cells.items()}
        assert packed == {"both": [RED], "seen": [BLUE, RED], "said": []}
    again = factories.benchmark(
        "again",
        corpus=Corpus.objects.create(name="again", owner=factories.user("keeper"), unit="image"),
        unit="image",
    )
    job = take_in.path(again, Path(shutil.make_archive(str(tmp_path / "hub"), "zip", folder)))
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert asked(again) == asked(images)
    other = factories.release(again.qrel_sets.get())
    assert other.manifest["content_sha256"] == release.manifest["content_sha256"]


def test_texts_with_image_queries_say_which_formats_leave_them_out(texts, take_in):
    take_in(texts, {"queries.jsonl": lines(QUERIES[:1]), "img/red.png": RED})
    release = factories.release(graded(texts, "both"))

    carried = {
        offer.exporter.name for offer in offers(release) if IMAGES_LEFT_OUT not in offer.loses
    }

    assert carried == {"hub"}


def test_pages_of_a_query_show_its_image_and_call_it_by_what_stands_for_it(images, take_in, client):
    rows = [{**QUERIES[1], "alt": "a blue square"}, {"qid": "plain", "image": "img/red.png"}]
    take_in(images, two(**{"queries.jsonl": lines(rows)}))
    client.force_login(factories.member(images, "owner", "owner"))
    query = images.queries.get(qid="seen")

    listed = client.get(reverse("query-list", args=["images"])).content.decode()
    page = client.get(reverse("query-detail", args=["images", query.pk])).content.decode()

    assert ">a blue square</a>" in listed
    assert ">plain</a>" in listed
    address = reverse("document-image", args=["images", DIGEST[BLUE]])
    assert f'src="{address}" width="400" height="200" alt="a blue square"' in page


def test_digests_of_queries_without_images_are_what_they_were(texts):
    """Nothing of an image stands in a row, a file or a digest where there is none."""
    factories.done(factories.imported(texts, b"qid\ttext\nq1\twords\n", "queries.tsv"))
    release = factories.release(graded(texts, "q1"))

    assert Query.objects.get().metadata == {}
    assert "image_sha256" not in release.manifest["query_metadata_kinds"]
    assert IMAGES_LEFT_OUT not in {loss for offer in offers(release) for loss in offer.loses}
