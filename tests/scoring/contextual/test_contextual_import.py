"""Case sets: taken in whole, with their images, or not at all."""

import io
import zipfile

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks_app.models import Job
from scoring.contextual.services.errors import CaseImagesError, CaseSetNameError
from scoring.contextual.services.images import receive_images
from scoring.contextual.services.importing import delete_case_set, remove_staged_set
from scoring.models import CaseImage, CaseSet, ContextualCase
from tests.scoring.making_contextual import CASES, case, case_set, import_job, lines, png

pytestmark = pytest.mark.django_db


def told(job: Job) -> list[tuple[str, int]]:
    return [(problem["file"], problem["line"]) for problem in job.problems]


def stored_bytes(image: CaseImage) -> bytes:
    with default_storage.open(image.stored) as content:
        return content.read()


def test_cases_are_kept_in_their_order_with_what_they_hold(benchmark, owner):
    cases = case_set(benchmark, owner)

    assert (cases.name, cases.n_cases, cases.n_nodes) == ("cases", 4, 9)
    assert cases.slices == {"easy": 2, "hard": 2, "short": 1}
    assert list(cases.cases.order_by("number").values_list("case_id", "n_nodes")) == [
        ("c1", 2),
        ("c2", 2),
        ("c3", 2),
        ("c4", 3),
    ]


def test_every_wrong_line_is_named_and_nothing_is_taken(benchmark, owner):
    content = b"\n".join([lines(CASES), b"{", b'{"id": "x", "input": ""}', lines([case(1)])])

    job = import_job(benchmark, owner, content)

    assert job.state == "failed"
    assert {line for _, line in told(job)} == {5, 6, 7}
    assert not CaseSet.objects.exists()
    assert not ContextualCase.objects.exists()


def test_images_are_found_by_name_and_stored_as_they_are(benchmark, owner):
    cases = [case(1, [{"image": "a.png"}, "and a text"], {"image": "folder/b.jpg"})]
    images = {"a.png": png("red"), "b.jpg": png("blue", kind="JPEG")}

    cases_in = case_set(benchmark, owner, cases, images)

    rows = {row.name: row for row in cases_in.images.all()}
    assert set(rows) == {"a.png", "b.jpg"}
    assert (rows["a.png"].media_type, rows["a.png"].width, rows["a.png"].height) == (
        "image/png",
        8,
        6,
    )
    assert stored_bytes(rows["a.png"]) == images["a.png"]
    content = cases_in.cases.get().content
    assert content["retrieval_context"] == [
        [{"image": "a.png"}, "and a text"],
        [{"image": "b.jpg"}],
    ]


def test_a_zip_of_images_may_have_folders(benchmark, owner):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("pictures/one/a.png", png("red"))
        archive.writestr("pictures/two/a.png", png("blue"))
    cases = [case(1, {"image": "one/a.png"}, {"image": "two/a.png"})]

    made = case_set(benchmark, owner, cases, {"images.zip": packed.getvalue()})

    assert set(made.images.values_list("name", flat=True)) == {"one/a.png", "two/a.png"}


def test_a_zip_that_climbs_out_is_refused(benchmark, owner):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../a.png", png())

    job = import_job(benchmark, owner, CASES, {"images.zip": packed.getvalue()})

    assert job.state == "failed"
    assert "climbs out of the folder" in job.error
    assert not CaseSet.objects.exists()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n and then nothing of use"),
        ("a.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("a.png", png()[:45]),
    ],
    ids=["broken", "svg", "cut"],
)
def test_an_image_that_is_none_is_named_once(benchmark, owner, name, data):
    cases = [case(1, {"image": "a.png"}), case(2, {"image": "a.png"})]

    job = import_job(benchmark, owner, cases, {name: data})

    assert job.state == "failed"
    assert told(job) == [("a.png", 0)]
    assert not CaseImage.objects.exists()


def test_an_image_larger_than_the_site_takes_is_named(benchmark, owner, settings):
    settings.CASE_IMAGE_MEGAPIXELS = 1
    cases = [case(1, {"image": "a.png"})]

    job = import_job(benchmark, owner, cases, {"a.png": png(size=(1200, 1000))})

    assert told(job) == [("a.png", 0)]


def test_a_missing_image_is_named_by_line(benchmark, owner):
    job = import_job(benchmark, owner, [case(1, "text"), case(2, {"image": "b.png"})])

    assert told(job) == [("cases.jsonl", 2)]


def test_an_image_inside_the_file_is_stored_too(benchmark, owner):
    import base64

    data = base64.b64encode(png("green")).decode()

    cases = case_set(benchmark, owner, [case(1, {"data": data})])

    image = cases.images.get()
    assert stored_bytes(image) == png("green")
    assert cases.cases.get().content["retrieval_context"] == [[{"image": image.name}]]


def test_text_that_looks_like_an_image_stays_text(benchmark, owner):
    words = "[DEEPEVAL:IMAGE:/etc/passwd]"

    cases = case_set(benchmark, owner, [case(1, words)])

    assert cases.cases.get().content["retrieval_context"] == [[words]]
    assert cases.n_images == 0


def test_images_that_no_case_shows_are_told(benchmark, owner):
    cases = case_set(benchmark, owner, CASES, {"a.png": png()})

    assert cases.notes == ["No case shows 1 of the images: a.png."]
    assert not cases.images.exists()


def test_a_name_is_given_once(benchmark, owner):
    case_set(benchmark, owner)

    with pytest.raises(CaseSetNameError):
        import_job(benchmark, owner)


def test_two_images_of_one_name_are_refused(benchmark, owner):
    images = [SimpleUploadedFile("a.png", png()), SimpleUploadedFile("a.png", png("blue"))]

    with pytest.raises(CaseImagesError, match=r"Two images are called a\.png"):
        receive_images(benchmark=benchmark, owner=owner, images=images)


def test_what_a_lost_import_has_staged_is_removed(benchmark, owner):
    cases = case_set(benchmark, owner, CASES)
    CaseSet.objects.update(is_ready=False, staged_by=77)

    while remove_staged_set(77):
        pass

    assert not CaseSet.objects.filter(pk=cases.pk).exists()


def test_a_set_goes_with_its_files(benchmark, owner, django_capture_on_commit_callbacks):
    cases = case_set(benchmark, owner, [case(1, {"image": "a.png"})], {"a.png": png()})
    stored = cases.images.get().stored

    with django_capture_on_commit_callbacks(execute=True):
        delete_case_set(case_set=cases, user=owner)

    assert not default_storage.exists(stored)


def test_too_many_cases_are_refused(benchmark, owner, settings):
    settings.CASES_MAX = 3

    job = import_job(benchmark, owner)

    assert told(job) == [("cases.jsonl", 4)]


# --- the page --------------------------------------------------------------------------------


def sent(benchmark, **files):
    return {"cases": SimpleUploadedFile("mine.jsonl", lines(CASES)), "name": "", **files}


def test_page_imports_and_leads_to_the_set(benchmark, owner, signed_in, do_jobs):
    client, url = signed_in(owner), reverse("scoring:contextual-import", args=[benchmark.slug])

    response = client.post(url, sent(benchmark))
    (job,) = do_jobs()

    assert response.url == job.get_absolute_url()
    assert CaseSet.objects.get().name == "mine"
    assert job.result_url == CaseSet.objects.get().get_absolute_url()


def test_page_says_what_is_wrong_with_the_images(benchmark, owner, signed_in):
    client, url = signed_in(owner), reverse("scoring:contextual-import", args=[benchmark.slug])
    images = [SimpleUploadedFile("a.zip", b"PK"), SimpleUploadedFile("a.png", png())]

    response = client.post(url, sent(benchmark, images=images))

    assert response.status_code == 422
    assert "not both" in response.content.decode()


def test_an_image_is_served_as_what_it_is(benchmark, owner, signed_in):
    cases = case_set(benchmark, owner, [case(1, {"image": "a.png"})], {"a.png": png()})

    response = signed_in(owner).get(cases.images.get().get_absolute_url())

    assert b"".join(response) == png()
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"].startswith("inline; filename=")


def test_text_of_a_case_is_escaped(benchmark, owner, signed_in):
    cases = [case(1, "<script>alert(1)</script>", input="<img src=x onerror=alert(1)>")]
    made = case_set(benchmark, owner, cases)

    page = signed_in(owner).get(made.get_absolute_url()).content.decode()

    assert "<img src=x" not in page
    assert "&lt;img src=x" in page
