"""Pairs of embeddings in the site: sending in, measuring, seeing, deleting."""

import io
import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, Job, Role
from benchwright.contrastive import contrastive_accuracy_score
from scoring.contrastive.selectors import ranks_of_pair, state_of_pair
from scoring.contrastive.services import contrastive
from scoring.contrastive.services.contrastive import delete_pair, submit_pair
from scoring.contrastive.services.errors import NotDeletableError
from scoring.models import EmbeddingPair
from tests import factories

pytestmark = pytest.mark.django_db


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def file(name, content):
    return SimpleUploadedFile(name, content)


def matrices(n=40, d=6, noise=1.5):
    rng = np.random.default_rng(5)
    z1 = rng.standard_normal((n, d)).astype(np.float32)
    return z1, (z1 + noise * rng.standard_normal((n, d))).astype(np.float32)


def files(z1=None, z2=None, **more):
    first, second = matrices()
    fields = {"z1": first if z1 is None else z1, "z2": second if z2 is None else z2}
    return {
        **{name: file(f"{name}.npy", npy(array)) for name, array in fields.items()},
        **{name: file(f"{name}.txt", content) for name, content in more.items()},
    }


IDS = "".join(f"q{row}\n" for row in range(40)).encode()


@pytest.fixture
def sam(benchmark):
    return factories.member(benchmark, "sam", Role.SUBMITTER)


@pytest.fixture
def send(benchmark, sam):
    """A function that sends a pair in, and measures it."""

    def send(by=None, name="mine", is_measured=True, given=None, **choices):
        pair = submit_pair(
            benchmark=benchmark, user=by or sam, uploads=given or files(), name=name, **choices
        )
        if is_measured:
            jobs.run_queued()
        pair.refresh_from_db()
        return pair

    return send


@pytest.fixture
def page(client, sam):
    client.force_login(sam)

    def ask(view, *args, **query):
        return client.get(reverse(f"scoring:contrastive-{view}", args=args), query)

    return ask


def stored_files(settings):
    return {str(path) for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()}


# --- measuring -----------------------------------------------------------------------------


def test_pair_is_measured_as_the_function_measures_it(send):
    pair = send(given=files(ids=IDS, slices=b"q1\tfirst\nq2\tfirst\nz\0z\tfirst\n"))
    z1, z2 = matrices()

    assert (pair.n_pairs, pair.n_features) == (40, 6)
    whole, first = pair.report["parts"]
    for of in whole["accuracy"]:
        assert of["mean"] == pytest.approx(contrastive_accuracy_score(z1, z2, topk=of["k"]))
        assert of["low"] <= of["mean"] <= of["high"]
    assert (first["name"], first["n"]) == ("first", 2)
    # As every database takes it.
    unknown = "z\N{REPLACEMENT CHARACTER}z"
    assert pair.report["notes"] == [f"The slices name 1 id that no pair has: {unknown}"]
    assert len(pair.report["worst"]) == 25


def test_ranks_of_every_pair_are_kept(send):
    pair = send(given=files(ids=IDS))
    z1, z2 = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in matrices())
    similarities = z1 @ z2.T

    rows = list(ranks_of_pair(pair))

    assert [row.id for row in rows] == IDS.decode().split()
    above = (similarities > similarities.diagonal()[:, None]).sum(1)
    assert [row.forward_rank for row in rows] == (above + 1).tolist()


def test_choices_reach_the_numbers(send):
    z1, z2 = np.ones((8, 3)), np.ones((8, 3))

    means = [
        send(name=rule, given=files(z1, z2), ties=rule).report["parts"][0]["accuracy"][0]["mean"]
        for rule in EmbeddingPair.Ties.values
    ]

    assert means == [0.125, 1.0, 0.0]


def test_own_slices_take_pairs_apart_by_query_id(benchmark, send):
    queries = [factories.query(benchmark, f"q{number}") for number in (3, 4, 5, 99)]
    factories.query_slice(benchmark, "tail", *queries)
    factories.query_slice(benchmark, "elsewhere", queries[-1])

    pair = send(given=files(ids=IDS), takes_own_slices=True)

    assert [(part["name"], part["n"]) for part in pair.report["parts"]] == [("", 40), ("tail", 3)]


WRONG = {
    "no matrix": (files(z1=np.ones(40)), "z1.npy: it holds an array of shape (40,)"),
    "shapes": (files(z1=np.ones((39, 6))), "z1 has shape (39, 6) and z2 (40, 6)"),
    "nan": (files(z1=np.full((40, 6), np.nan)), "z1, row 0: column 0 is nan"),
    "objects": (
        {**files(), "z1": file("z1.npy", npy(np.array([{}], dtype=object)))},
        "holds Python objects, which are never read",
    ),
    "text": ({**files(), "z2": file("z2.txt", b"1 2 3\n")}, "z2.txt: is neither .npy, .npz nor"),
    "slices without ids": (files(slices=b"q1\tx\n"), "Slices name pairs by their ids"),
    "too few ids": (files(ids=b"q1\n"), "1 ids for 40 rows"),
}


@pytest.mark.parametrize(("given", "words"), WRONG.values(), ids=WRONG)
def test_wrong_files_fail_with_what_to_mend(page, send, benchmark, given, words):
    for value in given.values():
        value.seek(0)
    pair = send(given=given)

    html = page("detail", benchmark.slug, pair.pk).content.decode()

    assert state_of_pair(pair) == "failed"
    assert not pair.is_measured
    assert words in html.replace("&#x27;", "'")


def test_lines_of_ids_that_are_wrong_are_listed(page, send, benchmark):
    pair = send(given=files(ids=b"q1\n\nq1\n"))

    html = page("detail", benchmark.slug, pair.pk).content.decode()

    assert "ids.txt:2" in html
    assert "was in line 1 already" in html


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("CONTRASTIVE_MAX_PAIRS", 39, "at most 39 are taken")],
)
def test_more_rows_than_the_site_takes_are_refused(settings, send, name, value, words):
    setattr(settings, name, value)

    pair = send()

    assert words in pair.job.error


def test_lost_attempt_is_measured_again(send):
    pair = send(is_measured=False)
    Job.objects.filter(pk=pair.job_id).update(attempt=1)

    jobs.run_queued()
    pair.refresh_from_db()

    assert pair.is_measured
    assert pair.places.startswith(f"contrastive/job-{pair.job_id}-2/")


def test_pair_deleted_while_it_is_measured_leaves_nothing(settings, send, sam, monkeypatch):
    measure = contrastive._measured

    def measured_then_gone(job, pair):
        result = measure(job, pair)
        EmbeddingPair.objects.filter(pk=pair.pk).delete()
        return result

    monkeypatch.setattr(contrastive, "_measured", measured_then_gone)
    job = send(is_measured=False).job
    before = stored_files(settings)

    jobs.run_queued()
    job.refresh_from_db()

    assert job.state == Job.State.DONE
    assert stored_files(settings) == before


# --- taking in -----------------------------------------------------------------------------


def post(client, benchmark, given=None, **more):
    body = {"name": "mine", "visibility": "benchmark", "ties": "expected", "normalize": "on"}
    url = reverse("scoring:contrastive-new", args=[benchmark.slug])
    return client.post(url, {**body, **(files() if given is None else given), **more})


def test_form_sends_a_pair_and_leads_to_it(client, benchmark, sam):
    client.force_login(sam)

    answer = post(client, benchmark)

    pair = EmbeddingPair.objects.get()
    assert answer.url == pair.get_absolute_url()
    assert (pair.owner, pair.normalize, pair.ties) == (sam, True, "expected")
    assert set(pair.files) == {"z1", "z2"}
    assert AuditEvent.objects.filter(action="upload-embeddings", target="mine").exists()


def test_name_that_is_taken_is_refused_and_nothing_kept(client, settings, benchmark, sam, send):
    send(is_measured=False)
    before = stored_files(settings)
    client.force_login(sam)

    answer = post(client, benchmark)

    assert answer.status_code == 422
    assert "Choose another name" in answer.content.decode()
    assert stored_files(settings) == before


def test_too_large_and_empty_files_are_refused_and_nothing_kept(client, settings, benchmark, sam):
    settings.CONTRASTIVE_LIMIT_MB = 1
    client.force_login(sam)
    large = files(z2=np.zeros((300_000,), dtype=np.float32))
    empty = {**files(), "z2": file("z2.npy", b"")}

    answers = [post(client, benchmark, fields).content.decode() for fields in (large, empty)]

    assert "z2.npy has more than 1 MB" in answers[0]
    assert "z2.npy is empty" in answers[1]
    assert not EmbeddingPair.objects.exists()
    assert not stored_files(settings)


def test_form_says_what_does_not_go_together(client, benchmark, sam):
    client.force_login(sam)
    result = files(slices=b"q1\tx\n")

    html = post(client, benchmark, result, takes_own_slices="on", name="a\x00b").content.decode()

    assert "choose one of both" in html
    assert not EmbeddingPair.objects.exists()


# --- seeing --------------------------------------------------------------------------------


def test_page_shows_numbers_slices_and_worst_pairs(page, send, benchmark):
    query = factories.query(benchmark, "q7", text="where is <b>it</b>")
    pair = send(given=files(ids=IDS, slices=b"q7\tone\nq8\tone\n"))

    html = page("detail", benchmark.slug, pair.pk).content.decode()

    assert f"{pair.report['parts'][0]['accuracy'][0]['mean']:.4f}" in html
    assert "Pairs that find each other last" in html
    assert "&lt;b&gt;it" in html
    assert reverse("query-detail", args=[benchmark.slug, query.pk]) in html


def test_page_without_ids_lists_no_pairs(page, send, benchmark):
    html = page("detail", benchmark.slug, send().pk).content.decode()

    assert "find each other last" not in html


def test_waiting_pair_asks_for_itself(page, send, benchmark):
    pair = send(is_measured=False)

    html = page("state", benchmark.slug, pair.pk).content.decode()

    assert 'hx-trigger="every 1s"' in html
    assert page("ranks-csv", benchmark.slug, pair.pk).status_code == 404
    assert page("chart", benchmark.slug, pair.pk, "accuracy", "csv").status_code == 404


def test_charts_and_csv_hold_the_numbers(page, send, benchmark):
    ids = b"=evil()\n" + IDS.split(b"\n", 1)[1]
    pair = send(given=files(ids=ids, slices=b"q1\tone\nq2\tone\n"))

    curve = page("chart", benchmark.slug, pair.pk, "accuracy", "csv").content.decode()
    slices = page("chart", benchmark.slug, pair.pk, "slices", "csv").content.decode()
    ranks = b"".join(page("ranks-csv", benchmark.slug, pair.pk).streaming_content).decode()

    assert curve.splitlines()[0] == "direction,k,accuracy"
    assert curve.splitlines()[-1] == "z2 → z1,40,1.0"
    assert [line.split(",")[:2] for line in slices.splitlines()[1:]] == [
        ["all pairs", "40"],
        ["one", "2"],
    ]
    assert ranks.splitlines()[:2] == ["id,rank_in_z2,rank_in_z1", ranks.splitlines()[1]]
    assert ranks.splitlines()[1].startswith("'=evil(),")
    assert page("chart", benchmark.slug, pair.pk, "nothing", "csv").status_code == 404


def test_empty_list_teaches(page, benchmark):
    html = page("list", benchmark.slug).content.decode()

    assert "No pair of embeddings yet" in html
    assert "np.savez" in html


def test_who_sees_what(client, benchmark, send, sam):
    others = {"owner": "mine", "team": "ours", "benchmark": "everybody's"}
    team = factories.user("tess").teams.create(name="Team")
    team.members.add(sam)
    for visibility, name in others.items():
        chosen = {"team": team} if visibility == "team" else {}
        send(name=name, is_measured=False, visibility=visibility, **chosen)
    ada = factories.member(benchmark, "ada", Role.ANNOTATOR)
    mia = factories.member(benchmark, "mia", Role.MAINTAINER)
    tim = factories.member(benchmark, "tim", Role.VIEWER)
    team.members.add(tim)
    cy = factories.member(factories.benchmark("other"), "cy", Role.OWNER)

    def seen_by(person):
        client.force_login(person)
        answer = client.get(reverse("scoring:contrastive-list", args=[benchmark.slug]))
        if answer.status_code != 200:
            return answer.status_code
        return {pair.name for pair, _, _ in answer.context["rows"]}

    assert seen_by(sam) == seen_by(mia) == set(others.values())
    assert seen_by(tim) == {"ours", "everybody's"}
    assert seen_by(ada) == {"everybody's"}
    assert seen_by(cy) == 404
    hidden = EmbeddingPair.objects.get(name="mine")
    client.force_login(ada)
    assert client.get(hidden.get_absolute_url()).status_code == 404


# --- deleting ------------------------------------------------------------------------------


def test_owner_deletes_a_pair_with_its_files(
    client, settings, send, sam, benchmark, django_capture_on_commit_callbacks
):
    pair = send(given=files(ids=IDS))
    assert len(stored_files(settings)) == 4
    client.force_login(sam)

    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("scoring:contrastive-delete", args=[benchmark.slug, pair.pk]))

    assert answer.status_code == 302
    assert not EmbeddingPair.objects.exists()
    assert not stored_files(settings)


def test_deleting_cancels_the_job(send, sam, django_capture_on_commit_callbacks):
    pair = send(is_measured=False)

    with django_capture_on_commit_callbacks(execute=True):
        delete_pair(pair=pair, user=sam)

    assert Job.objects.get(pk=pair.job_id).state == Job.State.CANCELLED


def test_others_cannot_delete_it_and_keepers_can(benchmark, send):
    pair = send(is_measured=False)
    other = factories.member(benchmark, "sue", Role.SUBMITTER)
    mia = factories.member(benchmark, "mia", Role.MAINTAINER)

    with pytest.raises(NotDeletableError, match="'mine' is of somebody else"):
        delete_pair(pair=pair, user=other)
    delete_pair(pair=pair, user=mia)

    assert not EmbeddingPair.objects.exists()


# --- the API -------------------------------------------------------------------------------


@pytest.fixture
def api(client, benchmark, sam):
    client.force_login(sam)
    return f"/api/v1/benchmarks/{benchmark.slug}/contrastive/"


def test_api_takes_measures_tells_and_deletes(client, api):
    created = client.post(api, {**files(ids=IDS), "name": "mine", "ties": "pessimistic"})
    jobs.run_queued()
    url = f"{api}{created.json()['id']}/"
    answer = client.get(url).json()
    ranks = client.get(f"{url}ranks/", {"page_size": 3}).json()

    assert (created.status_code, created.json()["state"]) == (201, "queued")
    assert (answer["state"], answer["n_pairs"], answer["ties"]) == ("measured", 40, "pessimistic")
    assert answer["parts"][0]["accuracy"][0]["k"] == 1
    assert [file["what"] for file in answer["files"]] == ["z1", "z2", "ids"]
    assert "stored" not in json.dumps(answer)
    assert (ranks["count"], ranks["results"][0]["id"]) == (40, "q0")
    assert client.get(api).json()["results"][0]["name"] == "mine"
    assert client.delete(url).status_code == 204
    assert client.get(url).status_code == 404


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"name": ""}, 400, "invalid"),
        ({"ties": "middle"}, 400, "invalid"),
        ({"visibility": "team"}, 400, "invalid"),
        ({"team": "nobody"}, 403, "not-in-team"),
        ({"z1": SimpleUploadedFile("z1.npy", b"")}, 422, "contrastive-file-empty"),
    ],
)
def test_api_refuses_with_a_code(client, api, more, status, code):
    answer = client.post(api, {**files(), "name": "mine", **more})

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not EmbeddingPair.objects.exists()


def test_api_tells_why_a_pair_failed(client, api):
    record = client.post(api, {**files(z1=np.ones((3, 6))), "name": "mine"}).json()
    jobs.run_queued()

    answer = client.get(f"{api}{record['id']}/").json()

    assert (answer["state"], answer["parts"]) == ("failed", [])
    assert "z1 has shape (3, 6)" in answer["problems"][0]["text"]
