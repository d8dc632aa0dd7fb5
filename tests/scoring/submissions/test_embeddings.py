"""Embeddings that are sent in: checked, searched exactly, and scored as any submission is."""

import io
import json
import zipfile
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.common.selectors.reading import corpus_reader, run_path
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Role, Run
from benchmarks_app.people.services.api_tokens import create_api_token
from benchwright.retrieval.dense.bundles import Settings
from scoring.models import Phase, ScoreSet, Submission
from scoring.scores.services.errors import DailyLimitError, SubmittedBeforeError
from scoring.submissions.services.embedding_submitting import EmbeddingFiles, submit_embeddings
from tests import factories

State = Submission.State


@pytest.fixture
def benchmark(db):
    """`fixtures/tiny_benchmark` with a release; its corpus has eight documents."""
    return factories.tiny_benchmark()


@pytest.fixture
def phase(benchmark) -> Phase:
    release = factories.release(benchmark.qrel_sets.get(name="tiny"))
    return Phase.objects.get(release=release, split="test")


@pytest.fixture
def docids(benchmark) -> list[str]:
    reader = corpus_reader(benchmark.current_corpus_version)
    return [document.docid for document in reader.iterate()]


@pytest.fixture
def qids(benchmark) -> list[str]:
    return sorted(benchmark.queries.committed().values_list("qid", flat=True))


def file(content: bytes, name: str = "file") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def npy(array) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(ids, vectors, *, is_packed: bool = False, **more) -> bytes:
    out = io.BytesIO()
    save = np.savez_compressed if is_packed else np.savez
    save(out, ids=np.array(ids), vectors=vectors, **more)
    return out.getvalue()


def lines(ids) -> bytes:
    return "".join(f"{id_}\n" for id_ in ids).encode()


def parquet(ids, vectors) -> bytes:
    out = io.BytesIO()
    pl.DataFrame({"id": ids, "vector": [list(map(float, row)) for row in vectors]}).write_parquet(
        out
    )
    return out.getvalue()


@pytest.fixture
def vectors(docids, qids):
    """Vectors of queries and documents, and the results they have by arithmetic of our own."""
    rng = np.random.default_rng(4)
    queries = rng.standard_normal((len(qids), 6)).astype(np.float32)
    documents = rng.standard_normal((len(docids), 6)).astype(np.float32)
    documents[1] = documents[0]  # a tie
    return queries, documents


@pytest.fixture
def send(phase, sam, vectors, docids, qids):
    """A function that submits; whatever is given replaces what would be right."""

    def send(user=None, how=None, approximate=None, name="mine", **files) -> Submission:
        queries, documents = vectors
        right = {
            "query_embeddings": file(npz(qids, queries)),
            "document_embeddings": file(npz(docids, documents)),
        }
        return submit_embeddings(
            phase=phase,
            user=user or sam,
            files=EmbeddingFiles(**{**right, **files}),
            name=name,
            how=how or Settings("dot", 5),
            approximate=approximate,
        )

    return send


def refreshed(submission: Submission) -> Submission:
    return Submission.objects.select_related("run", "job").get(pk=submission.pk)


def rows_of(run: Run) -> dict[str, list[tuple[str, float]]]:
    results: dict[str, list[tuple[str, float]]] = {}
    for row in pl.read_parquet(run_path(run)).sort("qid", "rank").iter_rows(named=True):
        results.setdefault(row["qid"], []).append((row["docid"], row["score"]))
    return results


def expected(vectors, docids, qids, k=5, similarity="dot"):
    queries, documents = (vector.astype(np.float64) for vector in vectors)
    if similarity == "cosine":
        queries, documents = (
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            for vectors in (queries, documents)
        )
    scores = (queries[:, np.newaxis] * documents).sum(axis=2)
    return {
        qid: [
            (docid, pytest.approx(score, rel=1e-12))
            for score, _, docid in sorted(
                ((score, docid.encode(), docid) for score, docid in zip(row, docids, strict=True)),
                reverse=True,
            )[:k]
        ]
        for qid, row in zip(qids, scores.tolist(), strict=True)
    }


# --- what comes of them --------------------------------------------------------------------------


def test_embeddings_become_a_run_with_scores(send, vectors, docids, qids, phase, do_jobs):
    submission = send()
    assert submission.state == State.RECEIVED

    do_jobs()

    submission = refreshed(submission)
    run = submission.run
    assert (submission.state, submission.job.state) == (State.SCORED, Job.State.DONE)
    assert (run.kind, run.depth, run.n_queries) == (Run.Kind.SUBMITTED, 5, len(qids))
    assert rows_of(run) == expected(vectors, docids, qids)
    assert run.metadata == {
        "type": "dense",
        "index": "exact",
        "method": "dot product of vectors of 6 float32 numbers",
    }
    assert ScoreSet.objects.filter(run=run, release=phase.release).exists()
    assert submission.job.result["notes"] == []


def test_scores_are_those_of_the_same_run_sent_as_a_file(send, phase, sam, do_jobs):
    answer = send()
    do_jobs()
    dense = refreshed(answer).run
    text = "".join(
        f"{qid} Q0 {docid} 0 {score!r} s\n"
        for qid, ranking in rows_of(dense).items()
        for docid, score in ranking
    )

    plain = factories.submission(phase, text, sam, "plain").run

    assert plain.n_rows == dense.n_rows
    ours, theirs = (
        dict(ScoreSet.objects.get(run=run).scores.values_list("measure", "mean"))
        for run in (dense, plain)
    )
    assert ours == theirs


def test_every_form_of_file_gives_one_run(send, vectors, docids, qids, do_jobs):
    queries, documents = vectors
    forms = {
        "npy": (npy(queries), lines(qids), npy(np.asfortranarray(documents)), lines(docids)),
        "packed": (npz(qids, queries, is_packed=True), None, npz(docids, documents), None),
        "parquet": (parquet(qids, queries), None, parquet(docids, documents), None),
        "json": (
            npy(queries),
            json.dumps(qids).encode(),
            npy(documents),
            npy(np.array(docids)),
        ),
    }
    made = []
    for name, (of_queries, query_ids, of_documents, document_ids) in forms.items():
        made.append(
            send(
                name=name,
                query_embeddings=file(of_queries),
                query_ids=query_ids and file(query_ids),
                document_embeddings=file(of_documents),
                document_ids=document_ids and file(document_ids),
            )
        )
    do_jobs()

    for submission in made:
        submission = refreshed(submission)
        assert submission.state == State.SCORED, submission.problems
        assert rows_of(submission.run) == expected(vectors, docids, qids)


def test_cosine_and_depth_are_what_was_asked_for(send, vectors, docids, qids, do_jobs):
    submission = send(how=Settings("cosine", 3))

    do_jobs()

    run = refreshed(submission).run
    assert rows_of(run) == expected(vectors, docids, qids, 3, "cosine")


def test_documents_without_vector_and_other_queries_are_counted(
    send, vectors, docids, qids, do_jobs
):
    queries, documents = vectors
    submission = send(
        query_embeddings=file(npz([*qids[:-1], "other"], queries)),
        document_embeddings=file(npz(docids[:3], documents[:3])),
    )

    do_jobs()

    submission = refreshed(submission)
    assert submission.job.result["notes"] == [
        "5 of the 8 documents of tiny texts have no vector: they could not be found for any query.",
        "1 query vectors are of queries that the benchmark lacks.",
    ]
    assert submission.run.metadata["Documents without a vector"] == "5"
    assert ScoreSet.objects.get(run=submission.run).n_extra == 1
    assert refreshed(submission).run.n_queries == len(qids) - 1


def test_run_that_was_sent_before_does_not_tell_whose_an_anonymous_one_is(
    send, qids, docids, do_jobs, sam, benchmark, signed_in
):
    """The approximate run of an earlier submission has a name, and so has its sender."""
    ranked = "".join(f"{qid} Q0 {docids[0]} 1 1.0 hnsw\n" for qid in qids).encode()
    send(name="known", approximate=file(ranked, "hnsw.run"))
    do_jobs()

    exact = send(
        name="secret",
        approximate=file(ranked, "hnsw.run"),
        how=Settings("dot", 3),
    )
    do_jobs()

    run = refreshed(exact).run
    Run.objects.filter(pk=run.pk).update(anonymous_until=timezone.now() + timedelta(days=1))
    assert run.metadata["Approximate run"] == "known (approximate)"
    vi = factories.member(benchmark, "vi", "viewer")
    for person, is_told in ((sam, True), (vi, False)):
        page = signed_in(person).get(reverse("run-detail", args=["tiny", run.pk]))
        assert ("known (approximate)" in page.content.decode()) == is_told


def test_the_approximate_run_has_a_name_that_a_run_can_have(send, qids, docids):
    ranked = "".join(f"{qid} Q0 {docids[0]} 1 1.0 hnsw\n" for qid in qids).encode()

    send(name="m" * 120, approximate=file(ranked, "hnsw.run"))

    names = set(Submission.objects.values_list("name", flat=True))
    assert names == {"m" * 120, f"{'m' * 106} (approximate)"}


def test_the_approximate_run_is_a_submission_of_its_own(
    send, qids, docids, do_jobs, sam, signed_in, phase
):
    ranked = "".join(f"{qid} Q0 {docids[0]} 1 1.0 hnsw\n" for qid in qids).encode()

    exact = send(approximate=file(ranked, "hnsw.run"))
    do_jobs()

    exact = refreshed(exact)
    beside = Run.objects.get(name="mine (approximate)")
    assert exact.run.metadata["Approximate run"] == beside.name
    assert beside.metadata["index"] == "ann"
    assert Submission.objects.filter(state=State.SCORED).count() == 2
    page = signed_in(sam).get(exact.get_absolute_url()).content.decode()
    address = reverse("scoring:ann", args=["tiny"])
    assert f"{address}?exact={exact.run_id}&amp;approximate={beside.pk}" in page
    assert (
        signed_in(sam).get(f"{address}?exact={exact.run_id}&approximate={beside.pk}").status_code
        == 200
    )


def test_limit_of_the_day_takes_both_or_neither(send, qids, docids, phase):
    Phase.objects.update(daily_limit=1)
    stored = factories.stored_below("uploads")

    with pytest.raises(DailyLimitError):
        send(approximate=file(f"{qids[0]} Q0 {docids[0]} 1 1.0 hnsw\n".encode()))

    assert not Submission.objects.exists()
    assert factories.stored_below("uploads") == stored


def test_same_files_with_the_same_settings_are_one_submission(send, vectors, docids, qids, do_jobs):
    first = send()

    with pytest.raises(SubmittedBeforeError) as refused:
        send(name="another", query_embeddings=file(npz(qids, vectors[0]), "other-name.npz"))
    assert refused.value.submission == first
    # Settings are part of it, for they make another run.
    assert send(name="cosine", how=Settings("cosine", 5)) != first


def test_worker_that_was_lost_leaves_one_run(send, do_jobs, monkeypatch):
    submission = send()
    results = []

    def lost(*args, **options):
        results.append(1)
        raise RuntimeError("killed")

    from scoring.submissions.services import scoring_submission

    with monkeypatch.context() as patch:
        patch.setattr(scoring_submission.scoring, "scored_run", lost)
        job = submission.job
        Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED)
        jobs.execute(job.pk, has_heartbeat=False)
    assert refreshed(submission).state == State.FAILED
    assert not Run.objects.filter(kind=Run.Kind.SUBMITTED).exists()
    assert results == [1]


# --- what is refused -----------------------------------------------------------------------------


def bad(vectors, row):
    wrong = vectors.copy()
    wrong[row, 2] = np.nan
    return wrong


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda q, d, qids, docids: {"document_embeddings": npz(docids, bad(d, 3))},
            "document embeddings: row 3 (from 0), '{docids[3]}', holds nan",
        ),
        (
            lambda q, d, qids, docids: {"query_embeddings": npz(qids, bad(q, 1))},
            "query embeddings: row 1 (from 0), '{qids[1]}', holds nan",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npz(docids, d[:, :4])},
            "query embeddings have 6 dimensions and document embeddings 4",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npz(docids[:-1], d)},
            "document embeddings: 7 ids for 8 rows",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npz([docids[0]] * 8, d)},
            "is the id of 8 rows",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npz(["no1", "no2", *docids[2:]], d)},
            "2 of the 8 ids of the document embeddings are not in the corpus ('no1', 'no2')",
        ),
        (
            lambda q, d, qids, docids: {"query_embeddings": npz(["x", "y"], q[:2])},
            "query embeddings and the benchmark share no query id",
        ),
        (
            lambda q, d, qids, docids: {"query_embeddings": npz(["a b", "y"], q[:2])},
            "query embeddings: the id of row 0 (from 0), 'a b'",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npz(np.array([], dtype=str), d[:0])},
            "hold no row",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npz(docids, d.astype(int))},
            "holds ids (<U",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": npy(d)},
            "document embeddings: holds no ids",
        ),
        (
            lambda q, d, qids, docids: {
                "document_embeddings": npy(d)[:-5],
                "document_ids": lines(docids),
            },
            "expected 192 for its shape 8 x 6",
        ),
        (
            lambda q, d, qids, docids: {
                "document_embeddings": npz(np.array(docids, dtype=object), d)
            },
            "Python objects, which are never read",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": b"d1 0.5 0.25\n"},
            "neither .npy, .npz nor Parquet",
        ),
        (
            lambda q, d, qids, docids: {"document_embeddings": parquet(docids, d)[:-9]},
            "Parquet",
        ),
        (
            lambda q, d, qids, docids: {"document_ids": lines(docids)},
            "holds ids itself",
        ),
    ],
)
def test_wrong_embeddings_are_invalid_and_say_why(
    send, vectors, docids, qids, do_jobs, make, words, sam, phase
):
    wrong = make(*vectors, qids, docids)
    submission = send(**{name: file(content) for name, content in wrong.items()})

    do_jobs()

    submission = refreshed(submission)
    assert submission.state == State.INVALID, submission.job.error
    wanted = words.replace("{docids[3]}", docids[3]).replace("{qids[1]}", qids[1])
    assert wanted in submission.problems[0]["text"]
    assert not Run.objects.filter(kind=Run.Kind.SUBMITTED).exists()
    assert send(name="again").pk != submission.pk  # it took no place


def test_matrix_larger_than_allowed_is_refused_before_it_is_read(
    send, docids, vectors, do_jobs, settings
):
    settings.EMBEDDINGS_LIMIT_BYTES = 100

    submission = send()
    do_jobs()

    assert "expected at most 0 MB" in refreshed(submission).problems[0]["text"]


def test_zip_that_inflates_beyond_reason_is_refused(send, do_jobs):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        header = npy(np.zeros((1, 1)))[:128].replace(b"(1, 1)", b"(9, 9)")
        archive.writestr("vectors.npy", header + bytes(40 << 20))
        archive.writestr("ids.npy", npy(np.array(["d"])))

    submission = send(document_embeddings=file(bomb.getvalue()))
    do_jobs()

    submission = refreshed(submission)
    assert submission.state == State.INVALID
    assert "inflates to more than" in submission.problems[0]["text"]


def test_zip_that_climbs_out_of_its_folder_is_refused(send, do_jobs, vectors, docids):
    climbing = io.BytesIO()
    with zipfile.ZipFile(climbing, "w") as archive:
        archive.writestr("../vectors.npy", npy(vectors[1]))
        archive.writestr("ids.npy", npy(np.array(docids)))

    submission = send(document_embeddings=file(climbing.getvalue()))
    do_jobs()

    assert "climbs out of the folder" in refreshed(submission).problems[0]["text"]


def test_files_larger_than_the_site_takes_are_refused_at_once(send, settings):
    settings.UPLOAD_LIMIT_BYTES = 300

    from benchmarks_app.collections.services.uploading import EmptyUploadError, UploadTooLargeError

    with pytest.raises(UploadTooLargeError):
        send()
    with pytest.raises(EmptyUploadError):
        send(document_embeddings=file(b""))
    assert not Submission.objects.exists()


# --- page and API --------------------------------------------------------------------------------


@pytest.fixture
def page(benchmark) -> str:
    return reverse("scoring:embedding-new", args=[benchmark.slug])


def posted(vectors, docids, qids, **more):
    fields = {
        "query_embeddings": file(npy(vectors[0]), "q.npy"),
        "query_ids": file(lines(qids), "q.txt"),
        "document_embeddings": file(npz(docids, vectors[1]), "d.npz"),
        "similarity": "dot",
        "depth": "5",
        "name": "from the page",
        "visibility": "benchmark",
        **more,
    }
    return {name: value for name, value in fields.items() if value is not None}


def test_page_takes_embeddings_and_shows_their_scores(
    signed_in, sam, phase, page, vectors, docids, qids, do_jobs
):
    client = signed_in(sam)
    text = client.get(page).content.decode()
    assert "The corpus has 8 documents" in text

    answer = client.post(page, posted(vectors, docids, qids), follow=True)
    assert "is received" in answer.content.decode()
    do_jobs()

    submission = Submission.objects.get()
    assert submission.state == State.SCORED
    assert "nDCG@10" in client.get(submission.get_absolute_url()).content.decode()
    assert rows_of(submission.run) == expected(vectors, docids, qids)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"query_ids": None}, "An .npy file holds no ids"),
        ({"document_embeddings": None}, "This field is required"),
        ({"depth": "5000"}, "Expected a whole number from 1 to 1,000."),
        ({"similarity": "l2"}, "Select a valid choice"),
        ({"name": ""}, "This field is required"),
    ],
)
def test_wrong_form_is_shown_again(signed_in, sam, phase, page, vectors, docids, qids, more, words):
    answer = signed_in(sam).post(page, posted(vectors, docids, qids, **more))

    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Submission.objects.exists()


def test_page_is_linked_from_where_runs_are_submitted(signed_in, sam, phase, page, benchmark):
    address = reverse("scoring:submission-new", args=[benchmark.slug])

    assert page in signed_in(sam).get(address).content.decode()


def test_page_without_open_phase_says_why(signed_in, sam, benchmark, page):
    answer = signed_in(sam).get(page)

    assert "Submit embeddings" not in answer.content.decode()
    assert answer.status_code == 200


def test_same_files_again_lead_to_the_submission(
    signed_in, sam, phase, page, vectors, docids, qids
):
    client = signed_in(sam)
    first = client.post(page, posted(vectors, docids, qids))
    again = client.post(page, posted(vectors, docids, qids, name="other"))

    assert first["Location"] == again["Location"]
    assert Submission.objects.count() == 1


@pytest.fixture
def api(sam) -> Client:
    issued = create_api_token(user=sam, name="test", days=1)
    return Client(headers={"Authorization": f"Bearer {issued.secret}"})


OF = "/api/v1/benchmarks/tiny/submissions/embeddings/"


def test_api_takes_embeddings_once(api, phase, vectors, docids, qids, do_jobs):
    first = api.post(OF, posted(vectors, docids, qids, visibility=None))
    again = api.post(OF, posted(vectors, docids, qids, name="other", visibility=None))
    do_jobs()

    assert (first.status_code, again.status_code) == (201, 200), first.content
    assert first.json()["id"] == again.json()["id"]
    answer = api.get(f"/api/v1/benchmarks/tiny/submissions/{first.json()['id']}/").json()
    assert answer["state"] == "scored"
    assert answer["scores"]["nDCG@10"] is not None


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"document_embeddings": None}, 400, "invalid"),
        ({"document_embeddings": file(b"")}, 422, "upload-empty"),
        ({"similarity": "l2"}, 400, "invalid"),
        ({"depth": "0"}, 400, "invalid"),
        ({"depth": "1001"}, 400, "invalid"),
        ({"phase": "999999"}, 409, "phase-choice"),
        ({"team": "nobody's"}, 403, "not-in-team"),
    ],
)
def test_api_refuses_with_codes(api, phase, vectors, docids, qids, more, status, code):
    answer = api.post(OF, posted(vectors, docids, qids, **{"visibility": None, **more}))

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not Submission.objects.exists()


def test_who_may_not_submit_may_not_send_embeddings(signed_in, phase, page, benchmark, cy, vi):
    viewer = vi
    assert signed_in(viewer).get(page).status_code == 403
    assert signed_in(cy).get(page).status_code in (403, 404)
    assert benchmark.memberships.get(user=viewer).role == Role.VIEWER
