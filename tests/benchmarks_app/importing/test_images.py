"""Documents that are images: imported with their table, kept once, shown to those who may see."""

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from django.urls import reverse
from PIL import Image

from benchmarks_app import files
from benchmarks_app.common.selectors.images import images_shown
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.models import Corpus, CorpusImage, Job
from benchmarks_app.releases.services.exporting import IMAGES_LEFT_OUT, offers, write_folder
from benchwright.exports import EXPORTERS
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.services.scoring import Target, score_run
from tests import factories

TABLE = (
    "doc_id\tfile\ttitle\tgroup\na\timg/red.png\tred square\tx\nb\timg/blue.png\tblue square\ty\n"
)


def picture(colour: str, size: tuple[int, int] = (400, 200), kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


RED, BLUE = picture("red"), picture("blue")


def two(**more: bytes) -> dict[str, bytes]:
    return {"images.tsv": TABLE.encode(), "img/red.png": RED, "img/blue.png": BLUE} | more


def images_of(benchmark, docid: str) -> list[dict]:
    return images_shown(benchmark, benchmark_documents(benchmark, [docid]).values())[docid]


def problems_of(job: Job) -> list[str]:
    return [f"{p['file']}:{p['line']}: {p['text']}" for p in job.problems]


def test_zip_of_images_with_a_table_becomes_documents(images, take_in):
    job = take_in(images, two())

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert images.current_corpus_version.n_documents == 2
    (image,) = images_of(images, "a")
    digest = hashlib.sha256(RED).hexdigest()
    assert image["url"] == reverse("document-image", args=["images", digest])
    assert (image["width"], image["height"], image["alt"]) == (400, 200, "red square")
    assert "2 images, 2 new" in job.result["made"]


def test_json_lines_with_paths_give_several_images_in_order(images, take_in):
    rows = [{"id": "a", "title": "both", "images": ["img/blue.png", "img/red.png"]}]
    rows += [{"id": "b", "title": "one", "images": ["img/red.png"]}]
    lines = "\n".join(map(json.dumps, rows)).encode()

    job = take_in(images, {"docs.jsonl": lines, "img/red.png": RED, "img/blue.png": BLUE})

    assert job.state == Job.State.DONE, (job.error, job.problems)
    digests = [hashlib.sha256(data).hexdigest() for data in (BLUE, RED)]
    urls = [image["url"] for image in images_of(images, "a")]
    assert urls == [reverse("document-image", args=["images", digest]) for digest in digests]


@pytest.mark.parametrize("name", ["corpus.jsonl", "documents.jsonl", "d.jsonl"])
def test_json_lines_as_of_beir_may_have_images_and_no_text(images, take_in, name):
    rows = [{"_id": "a", "title": "red", "image": "img/red.png"}]
    rows += [{"_id": "b", "title": "blue", "image": "img/blue.png"}]
    lines = "\n".join(map(json.dumps, rows)).encode()

    job = take_in(images, {name: lines, "img/red.png": RED, "img/blue.png": BLUE})

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert images.current_corpus_version.n_documents == 2


def test_each_of_several_images_has_its_own_words(images, take_in):
    row = {"_id": "a", "image": ["img/red.png", "img/blue.png"], "alt": ["a red one", "a blue one"]}
    files = {name: content for name, content in two().items() if name != "images.tsv"}

    job = take_in(images, {"documents.jsonl": json.dumps(row).encode(), **files})

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert [image["alt"] for image in images_of(images, "a")] == ["a red one", "a blue one"]


def test_equal_images_are_kept_once(images, take_in):
    take_in(images, two(**{"img/blue.png": RED}))

    assert CorpusImage.objects.filter(corpus=images.corpus).count() == 1


def test_stored_files_are_known_to_backups_and_the_check_of_the_store(images, take_in):
    take_in(images, two())

    image = CorpusImage.objects.get(sha256=hashlib.sha256(RED).hexdigest())
    for name in (image.stored, image.thumbnail):
        (kept,) = files.stored_files(name)
        assert files.digest_of(name) == kept.sha256
        assert "benchmark Images" in files.dependents_of(name) or files.dependents_of(name)


def test_wrong_images_are_told_with_their_line_and_nothing_stays(images, take_in):
    table = TABLE + "c\tgone.png\tgone\tz\nd\timg/text.png\ttext\tz\n"

    job = take_in(images, two(**{"images.tsv": table.encode(), "img/text.png": b"no image"}))

    assert job.state == Job.State.FAILED
    assert problems_of(job) == [
        "img/text.png:0: it is no PNG, JPEG, GIF, WebP or TIFF image. Convert it to one of them.",
        "images.tsv:4: image 'gone.png' is not there; expected the path of a PNG, JPEG, GIF, WebP "
        "or TIFF inside the same zip",
    ]
    assert not CorpusImage.objects.exists()
    assert images.current_corpus_version is None


def test_image_of_another_folder_is_not_taken_for_one_that_lacks(images, take_in):
    table = b"doc_id\timage\na\ttrain/1.png\n"

    job = take_in(images, {"images.tsv": table, "test/1.png": RED})

    assert problems_of(job) == [
        "images.tsv:2: image 'train/1.png' is not there; expected the path of a PNG, JPEG, GIF, "
        "WebP or TIFF inside the same zip"
    ]


@pytest.mark.parametrize(
    "path", ["1.png", "./test/1.png", "test\\1.png", "/home/kim/test/1.png", "C:\\kim\\test\\1.png"]
)
def test_image_is_found_by_the_end_of_its_path(images, take_in, path):
    table = f"doc_id\timage\na\t{path}\n".encode()

    job = take_in(images, {"images.tsv": table, "test/1.png": RED})

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert len(images_of(images, "a")) == 1


def test_image_beyond_a_limit_is_refused(images, take_in, settings):
    settings.CASE_IMAGE_MEGAPIXELS = 1

    job = take_in(images, two(**{"img/red.png": picture("red", (1200, 1000))}))

    (problem,) = problems_of(job)
    assert problem == "img/red.png:0: it is 1200 x 1000; expected at most 1,000,000 pixels."


def test_table_without_its_images_says_to_pack_them(images, take_in, tmp_path):
    path = tmp_path / "images.tsv"
    path.write_text(TABLE)

    job = take_in.path(images, path)

    assert "came without its images; expected one zip" in job.error


def test_images_are_refused_by_a_corpus_of_texts(db, take_in):
    corpus = Corpus.objects.create(name="texts", owner=factories.user("keeper"))

    job = take_in(factories.benchmark(slug="texts", corpus=corpus), two())

    assert "Make a benchmark whose unit is image" in job.error


def test_image_and_thumbnail_are_served_as_what_they_are(images, take_in, client):
    take_in(images, two())
    client.force_login(factories.user("keeper"))
    factories.member(images, factories.user("keeper"), "owner")
    digest = hashlib.sha256(RED).hexdigest()

    original = client.get(reverse("document-image", args=["images", digest]))
    small = client.get(reverse("document-thumbnail", args=["images", digest]))

    assert original.content == RED
    assert Image.open(io.BytesIO(small.content)).size == (256, 128)
    for response in (original, small):
        assert response["Content-Type"] == "image/png"
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Cache-Control"] == "private, no-cache"


# --- real collections ----------------------------------------------------------------------------


def packed(folder, path, *, inside: str = ""):
    """A zip of a folder, as somebody would send it."""
    with zipfile.ZipFile(path, "w") as archive:
        for member in sorted(folder.rglob("*")):
            if member.is_file():
                archive.write(member, f"{inside}{member.relative_to(folder)}")
    return path


@pytest.mark.data
def test_a_collection_of_icons_goes_from_its_zip_to_a_board(images, take_in, data, tmp_path):
    """One zip, with columns as they came: images, their table, queries and qrels."""
    source = data / "images_openmoji"

    path = packed(source, tmp_path / "openmoji.zip", inside="openmoji/")
    job = take_in.path(images, path)
    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert (images.current_corpus_version.n_documents, CorpusImage.objects.count()) == (300, 300)
    assert images_of(images, "1F435")[0]["alt"] == "monkey face"
    qrels = images.qrel_sets.get()
    release = factories.release(qrels)
    lines = (source / "qrels_derived.txt").read_text().splitlines()
    rows = sorted((line.split() for line in lines), key=lambda row: (row[0], -int(row[3])))
    best = "\n".join(f"{q} Q0 {docid} {n + 1} {-n} best" for n, (q, _, docid, _) in enumerate(rows))
    run = factories.run(images, best, name="best")
    score_run(run=run, target=Target.of(release), folder=tmp_path / "scores")
    (row,) = leaderboard(release=release, user=images.corpus.owner)
    assert row.scores["nDCG@10"] == pytest.approx(1)
    carried = {
        offer.exporter.name for offer in offers(release) if IMAGES_LEFT_OUT not in offer.loses
    }
    assert carried == {"hub"}


@pytest.mark.data
def test_photographs_of_every_kind_are_taken(images, take_in, data, tmp_path):
    """Grey and colour, JPEG, an animated GIF, and a TIFF, which no browser shows, as a PNG."""
    job = take_in.path(images, packed(data / "images_photos", tmp_path / "photos.zip"))

    assert job.state == Job.State.DONE, (job.error, job.problems)
    kinds = CorpusImage.objects.values_list("media_type", flat=True)
    assert (len(kinds), set(kinds)) == (10, {"image/png", "image/jpeg", "image/gif"})


# --- images in the cells of Parquet --------------------------------------------------------------


def parquet(**columns: list) -> bytes:
    import polars as pl

    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


def cell(content: bytes | None, path: str | None = None) -> dict:
    """As the library `datasets` writes an image."""
    return {"bytes": content, "path": path}


def test_tables_of_mteb_become_documents_queries_and_qrels(images, take_in):
    corpus = parquet(id=["a", "b"], modality=["image"] * 2, image=[cell(RED), cell(BLUE, "b.png")])
    queries = parquet(id=["q1"], modality=["text"], text=["a red square"])
    qrels = parquet(**{"query-id": ["q1"], "corpus-id": ["a"], "score": [1]})

    job = take_in(
        images,
        {
            "corpus/test-00000-of-00001.parquet": corpus,
            "queries/test-00000-of-00001.parquet": queries,
            "qrels/test-00000-of-00001.parquet": qrels,
        },
    )

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert [image["url"] for image in images_of(images, "a") + images_of(images, "b")] == [
        reverse("document-image", args=["images", hashlib.sha256(content).hexdigest()])
        for content in (RED, BLUE)
    ]
    assert images.queries.get().text == "a red square"
    assert images.qrel_sets.get().n_qrels == 1
    # Beside the digests of what is kept, nothing of the cell stays in a row of the corpus.
    assert benchmark_documents(images, ["a"])["a"].metadata.keys() == {"image_sha256", "modality"}


@pytest.mark.parametrize("how", ["bytes", "lists"])
def test_parquet_file_alone_holds_the_images_of_its_rows(images, tmp_path, take_in, how):
    cells = {"bytes": [RED, BLUE], "lists": [[cell(RED), cell(BLUE)], [cell(RED)]]}[how]
    path = tmp_path / "pictures.parquet"
    path.write_bytes(parquet(doc_id=["a", "b"], title=["one", "two"], image=cells))

    job = take_in.path(images, path)

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert len(images_of(images, "a")) == {"bytes": 1, "lists": 2}[how]
    assert CorpusImage.objects.count() == 2  # the same image of two rows is kept once


def test_cell_that_is_no_image_is_told_with_its_row(images, tmp_path, take_in):
    path = tmp_path / "pictures.parquet"
    path.write_bytes(parquet(doc_id=["a", "b"], image=[RED, b"no image"]))

    job = take_in.path(images, path)

    assert job.state == Job.State.FAILED
    (problem,) = problems_of(job)
    assert problem.startswith("pictures.parquet:2: ")
    assert "no PNG, JPEG, GIF, WebP or TIFF" in problem
    assert not CorpusImage.objects.exists()


def test_table_of_paths_finds_its_images_in_the_same_zip(images, take_in):
    table = parquet(doc_id=["a", "b"], image=[cell(None, "img/red.png"), cell(None, "blue.png")])

    job = take_in(images, {"t.parquet": table, "img/red.png": RED, "img/blue.png": BLUE})

    assert job.state == Job.State.DONE, (job.error, job.problems)
    assert len(images_of(images, "a") + images_of(images, "b")) == 2


def test_images_of_cells_are_limited_together(images, tmp_path, take_in, settings):
    settings.CASE_IMAGES_BYTES = len(RED) + len(BLUE) - 1
    path = tmp_path / "pictures.parquet"
    path.write_bytes(parquet(doc_id=["a", "b"], image=[RED, BLUE]))

    job = take_in.path(images, path)

    assert job.state == Job.State.FAILED
    assert "come to more than" in job.error


@pytest.mark.parametrize("most", [1, 2])
def test_repository_of_a_release_holds_its_images_and_gives_an_equal_corpus(
    images, take_in, tmp_path, most
):
    import polars as pl

    docs = [{"id": "a", "images": ["img/red.png"]}, {"id": "b", "images": ["img/blue.png"]}]
    if most > 1:
        docs[0]["images"].append("img/blue.png")
    lines = "\n".join(json.dumps(row) for row in docs).encode()
    qrels = b"query-id\tcorpus-id\tscore\nq1\ta\t1\n"
    members = {"t.jsonl": lines, "img/red.png": RED, "img/blue.png": BLUE, "qrels/test.tsv": qrels}
    take_in(images, members | {"queries.tsv": b"qid\ttext\nq1\ta red square\n"})
    release = factories.release(images.qrel_sets.get())

    folder = tmp_path / "hub"
    write_folder(release, EXPORTERS["hub"], folder)

    corpus = pl.read_parquet(folder / "corpus" / "corpus-00000.parquet")
    column = {1: "image", 2: "images"}[most]
    cells = corpus[column].to_list()
    packed = [cells[0]["bytes"]] if most == 1 else [cell["bytes"] for cell in cells[0]]
    assert packed == [RED, BLUE][:most]
    assert f"name: {column}" in (folder / "README.md").read_text()
    assert [offer.loses for offer in offers(release) if offer.exporter.has_images] == [()]
    again = factories.benchmark(
        "again",
        corpus=Corpus.objects.create(name="again", owner=factories.user("keeper"), unit="image"),
        unit="image",
    )
    job = take_in.path(again, Path(shutil.make_archive(str(tmp_path / "hub"), "zip", folder)))
    assert job.state == Job.State.DONE, (job.error, job.problems)
    before, after = images.current_corpus_version, again.current_corpus_version
    assert (after.sha256, after.n_documents) == (before.sha256, 2)
