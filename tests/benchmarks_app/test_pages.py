"""Pages of benchmarks, imports, queries, runs, qrels and releases: what works, and what is said."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template import Context, Template
from django.urls import reverse

from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import AuditEvent, Benchmark, Corpus, Job, QrelSet, Release, Run, Upload
from benchmarks_app.templatetags.benchwright import deed, minus, score
from benchwright.qrels.scales import DEFAULT_SCALE
from benchwright.releases.options import ReleaseOptions
from tests import factories
from tests.open_pages import opened

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.fixture
def texts(db) -> Benchmark:
    """`fixtures/tiny_benchmark`, kept by Olga."""
    bench = factories.tiny_benchmark("texts")
    factories.member(bench, "olga", "owner")
    return bench


@pytest.fixture
def olga(texts, signed_in):
    """The client of the owner of both `texts` and, where it is asked for, `benchmark`."""
    return signed_in(factories.user("olga"))


def test_negative_numbers_have_one_sign_on_pages():
    assert (score(-0.25), score(0.25), score(None)) == (
        "\N{MINUS SIGN}0.2500",
        "0.2500",
        "\N{EN DASH}",
    )
    assert minus("bm25-2 is -0.1 (-.05 to 0.1) on 2026-01-02, t-5") == (
        "bm25-2 is \N{MINUS SIGN}0.1 (\N{MINUS SIGN}.05 to 0.1) on 2026-01-02, t-5"
    )


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        ("score_beside 0.7996 0.6 0.8 digits=2", "0.7996"),
        ("score_beside 0.8 0.6 0.8 digits=2", "0.80"),
        ("percent_beside 0.9496 0.8 0.95 digits=1", "94.96 %"),
        ("percent_beside 0.1004 0.1", "10.04 %"),
        ("percent_beside None 0.1", "\N{EN DASH}"),
    ],
)
def test_number_is_not_rounded_to_the_limit_beside_it(tag, written):
    assert Template("{% " + tag + " %}").render(Context()) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [("0.9996|percent:1", "99.96 %"), ("0.996|percent", "99.6 %"), ("0.0004|percent:1", "0.04 %")],
)
def test_share_of_nearly_all_is_not_all_and_of_nearly_none_not_none(value, written):
    assert Template("{{ " + value + " }}").render(Context()) == written


def page_of(client, name: str, *arguments: object, status: int = 200, **query: str) -> str:
    response = client.get(reverse(name, args=arguments), query)
    assert response.status_code == status, response.content
    return response.content.decode()


# --- a new benchmark, and its settings -----------------------------------------------------------


def new(**changes: str) -> dict[str, str]:
    return {
        "name": "My Benchmark",
        "corpus_kind": "texts",
        "unit": "passage",
        "lang": "sw",
        "scale": DEFAULT_SCALE,
        **changes,
    }


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_the_address_of_a_form_leads_on_where_it_is_opened(client, olga, texts, is_signed_in):
    visitor = olga if is_signed_in else client
    address = reverse("split-hide", args=[texts.slug])

    answer = visitor.get(address, headers={"Accept-Language": "de"})

    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Unter dieser Adresse wird nichts gezeigt" in answer.content.decode()
    assert 'href="/"' in answer.content.decode()
    assert visitor.head(address).content == b""


def test_new_benchmark_has_grades_a_guideline_and_its_maker_as_owner(signed_in, cy):
    response = signed_in(cy).post(reverse("benchmark-new"), new())

    record = Benchmark.objects.get(slug="my-benchmark")
    assert response.headers["Location"] == reverse("import-new", args=["my-benchmark"])
    assert [grade.value for grade in record.grades.filter(is_relevant=True)] == [2, 3]
    assert record.grades.get(value=1).anchor == "on the topic, but no help"
    assert record.guidelines.get().version == 1
    assert record.memberships.get().role == "owner"
    assert (record.corpus.kind, record.unit, record.corpus.lang) == ("texts", "passage", "sw")
    assert record.audit_events.get().action == "create-benchmark"


@pytest.mark.parametrize(("asked", "kept"), [("", "trec"), ("trec9", "trec9")])
def test_the_rule_of_equal_scores_is_chosen_with_the_benchmark(signed_in, cy, asked, kept):
    signed_in(cy).post(reverse("benchmark-new"), new(tie_rule=asked))

    assert Benchmark.objects.get(slug="my-benchmark").tie_rule == kept


@pytest.mark.parametrize(
    ("name", "second"),
    [("My Benchmark", "My Benchmark (2)"), ("M" * 120, "M" * 116 + " (2)")],
    ids=["usual", "as long as a name may be"],
)
def test_two_benchmarks_of_one_name_get_corpora_of_their_own(signed_in, cy, name, second):
    for slug in ("one", "two"):
        signed_in(cy).post(reverse("benchmark-new"), new(slug=slug, name=name))

    assert list(cy.corpora.order_by("pk").values_list("name", flat=True)) == [name, second]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "This field is required."),
        ({"slug": "other"}, "&#x27;other&#x27; is taken; choose another short name."),
        ({"slug": "a b"}, "Enter a valid “slug”"),
        ({"name": "日本"}, "Give a short name of letters, digits and hyphens."),
        ({"scale": "0 = No\nyes"}, "Line 2: &#x27;yes&#x27; is not"),
        ({"scale": "0 = No\n10 = Yes *"}, "Line 2: &#x27;10 = Yes *&#x27; is not"),
        ({"scale": "0 = No\n1 = Yes *\n1 = Again *"}, "A grade stands there twice."),
        ({"scale": "1 = No\n2 = Yes *"}, "A scale has grade 0 and at least one more."),
        ({"scale": "0 = No"}, "A scale has grade 0 and at least one more."),
        ({"scale": "0 = No\n1 = Yes"}, "Mark the relevant grades with a * at the end"),
        ({"scale": "0 = No *\n1 = Yes *"}, "Grade 0 means judged and not relevant"),
        ({"scale": f"0 = {SCRIPT}\nno"}, "Line 2"),
        ({"unit": "sound"}, "Select a valid choice."),
        ({"tie_rule": "random"}, "Select a valid choice."),
    ],
)
def test_wrong_form_of_a_new_benchmark_says_what_is_wrong(signed_in, cy, changes, words):
    before = Benchmark.objects.count()

    response = signed_in(cy).post(reverse("benchmark-new"), new(**changes))

    assert response.status_code == 422
    assert words in response.content.decode()
    assert SCRIPT not in response.content.decode()
    assert Benchmark.objects.count() == before


def settings_form(**changes: str) -> dict[str, str]:
    return {
        "name": "Tiny",
        "description": "",
        "visibility": "private",
        "guideline": "Read it.",
        **changes,
    }


def test_changed_guideline_is_a_new_version_and_the_same_is_none(olga, texts):
    url = reverse("benchmark-settings", args=["texts"])
    for text in ("Read it.", "Read it.", "Read it twice."):
        assert olga.post(url, settings_form(guideline=text)).status_code == 302

    assert list(texts.guidelines.order_by("version").values_list("version", "text")) == [
        (1, "Read it."),
        (2, "Read it twice."),
    ]


def test_a_guideline_of_several_lines_is_no_new_version_when_it_is_sent_as_it_was(olga, texts):
    url = reverse("benchmark-settings", args=["texts"])
    for lines in ("Read it.\r\n\r\n- Twice.", "Read it.\r\n\r\n- Twice."):
        assert olga.post(url, settings_form(guideline=lines)).status_code == 302

    assert [guideline.text for guideline in texts.guidelines.all()] == ["Read it.\n\n- Twice."]


def test_what_was_not_changed_on_a_page_of_settings_stays_as_it_is_by_now(olga, texts):
    url = reverse("benchmark-settings", args=["texts"])
    form = olga.get(url).context["form"]
    opened = {form[name].html_initial_name: form[name].initial for name in form.fields}
    olga.post(url, settings_form(name="Newer", visibility="public", guideline="Newer."))

    sent = {name: form[name].initial for name in form.fields} | {"description": "Mine."}
    assert olga.post(url, {**opened, **sent}).status_code == 302

    texts.refresh_from_db()
    assert (texts.name, texts.visibility, texts.description) == ("Newer", "public", "Mine.")
    assert texts.guidelines.get().text == "Newer."


def test_a_guideline_that_another_has_changed_meanwhile_is_not_overwritten(olga, texts):
    url = reverse("benchmark-settings", args=["texts"])
    olga.post(url, settings_form(guideline="Read it.\r\nTwice."))
    form = olga.get(url).context["form"]
    opened = {form[name].html_initial_name: form[name].initial for name in form.fields}
    olga.post(url, settings_form(guideline="Newer."))

    answer = olga.post(url, {**opened, **settings_form(guideline="Mine.")})

    assert answer.status_code == 422
    assert "Another version of the guideline was saved while you wrote" in answer.content.decode()
    assert "Mine." in answer.content.decode()
    assert texts.guidelines.order_by("-version").first().text == "Newer."


def test_corpus_that_another_has_withdrawn_meanwhile_is_not_passed_on_again(olga, texts):
    Corpus.objects.filter(pk=texts.corpus_id).update(may_be_passed_on=True)
    url = reverse("corpus-detail", args=["texts"])
    form = olga.get(url).context["form"]
    values = {name: form[name].initial for name in form.fields}
    opened = {form[name].html_initial_name: value for name, value in values.items()}
    Corpus.objects.filter(pk=texts.corpus_id).update(may_be_passed_on=False)

    answer = olga.post(url, {**opened, **values, "lang": "de"})

    texts.corpus.refresh_from_db()
    assert answer.status_code == 302
    assert (texts.corpus.lang, texts.corpus.may_be_passed_on) == ("de", False)


def test_settings_change_name_and_visibility_and_are_audited(olga, texts):
    olga.post(reverse("benchmark-settings", args=["texts"]), settings_form(visibility="public"))

    texts.refresh_from_db()
    assert (texts.name, texts.visibility) == ("Tiny", "public")
    assert texts.audit_events.filter(action="change-settings").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"name": ""}, "This field is required."), ({"visibility": "all"}, "Select a valid choice.")],
)
def test_wrong_settings_are_refused_and_change_nothing(olga, texts, changes, words):
    response = olga.post(reverse("benchmark-settings", args=["texts"]), settings_form(**changes))

    assert response.status_code == 422
    assert words in response.content.decode()
    assert Benchmark.objects.get(slug="texts").name == "texts"
    assert not texts.guidelines.exists()


def test_overview_tells_a_viewer_no_activity(texts, olga, signed_in):
    olga.post(reverse("benchmark-settings", args=["texts"]), settings_form())
    result = deed("change-settings")
    assert result in page_of(olga, "activity-list", "texts")
    assert result in page_of(olga, "benchmark-detail", "texts")

    viewer = signed_in(factories.member(texts, "vi", "viewer"))

    assert result not in page_of(viewer, "benchmark-detail", "texts")


# --- imports -------------------------------------------------------------------------------------

RUN = b"1 Q0 d-tab 1 2.5 s\n1 Q0 d-line 2 1.5 s\n"


def send(client, *files: tuple[str, bytes], slug: str = "texts"):
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(reverse("import-new", args=[slug]), {"files": sent})


def start(client, upload: Upload, **fields: str):
    url = reverse("import-preview", args=[upload.benchmark.slug, upload.pk])
    return client.post(url, {"import": "1", **fields})


def test_one_file_leads_to_its_preview_then_to_its_job_and_becomes_a_run(olga, texts, do_jobs):
    put = send(olga, ("bm25.run", RUN))
    upload = Upload.objects.latest("pk")
    response = start(olga, upload, name="My BM25")

    (job,) = do_jobs()
    assert put.headers["Location"] == reverse("import-preview", args=["texts", upload.pk])
    assert response.headers["Location"] == job.get_absolute_url()
    assert job.state == Job.State.DONE, job.problems
    run = Run.objects.get()
    assert (run.name, run.n_queries, run.depth, run.owner.username) == ("My BM25", 1, 2, "olga")
    assert job.result_url == reverse("run-detail", args=["texts", run.pk])
    assert texts.audit_events.filter(action="import", target="bm25.run").exists()


def test_several_runs_lead_to_the_list_of_jobs(olga, do_jobs):
    put = send(olga, ("a.run", RUN), ("b.run", RUN.replace(b"2.5", b"3.5")))
    response = olga.post(reverse("import-all", args=["texts"]))

    assert put.headers["Location"] == reverse("import-new", args=["texts"])
    assert response.headers["Location"] == reverse("job-list", args=["texts"])
    assert [job.state for job in do_jobs()] == ["done", "done"]
    assert list(Run.objects.values_list("name", flat=True)) == ["a", "b"]


def test_upload_is_kept_byte_for_byte(olga):
    from benchmarks_app.collections.services import uploading

    send(olga, ("../bm 25.run", RUN))

    upload = Upload.objects.latest("pk")
    assert uploading.local(upload).read_bytes() == RUN
    assert uploading.local(upload).name == "bm_25.run"


def test_an_empty_file_is_refused_on_the_page(olga):
    response = send(olga, ("empty.run", b""))

    assert response.status_code == 422
    assert "empty" in response.content.decode()
    assert not Upload.objects.filter(name="empty.run").exists()


def test_a_file_of_no_known_kind_waits_for_somebody_to_say_what_it_is(olga):
    send(olga, ("notes.txt", b"some words of mine\nand others\n"))

    response = start(olga, Upload.objects.latest("pk"))

    assert response.status_code == 422
    assert "Say what the file is: choose it below." in response.content.decode()
    assert not Job.objects.filter(state="queued").exists()


def test_same_bytes_are_recognised_whatever_their_name(olga, do_jobs):
    send(olga, ("a.run", RUN))
    start(olga, Upload.objects.latest("pk"))
    do_jobs()

    response = send(olga, ("b.run", RUN))

    assert response.status_code == 422
    text = response.content.decode()
    assert "b.run was imported here before, as run &#x27;a&#x27; of 1 query: same bytes" in text
    assert Run.objects.count() == 1


def test_file_among_several_that_is_not_known_does_not_hold_up_the_others(olga, do_jobs):
    send(
        olga,
        ("a.run", RUN),
        ("notes.txt", b"some words of mine\nand more\n"),
        ("b.run", RUN + b"\n"),
    )
    olga.post(reverse("import-all", args=["texts"]))

    assert [job.title for job in do_jobs()] == ["Import a.run", "Import b.run"]
    assert "notes.txt" in page_of(olga, "import-new", "texts")


def test_file_over_the_limit_is_refused_and_not_kept(olga, settings):
    settings.UPLOAD_LIMIT_BYTES = 1 << 20

    response = send(olga, ("big.run", RUN * (1 << 15)))

    assert response.status_code == 422
    assert "big.run has more than 1 MB" in response.content.decode()
    assert not Upload.objects.filter(name="big.run").exists()
    assert list(settings.STAGING_DIR.iterdir()) == []


def test_name_of_a_file_is_escaped(olga):
    send(olga, (f"{SCRIPT}.run".replace("/", "|"), RUN))
    upload = Upload.objects.latest("pk")
    waiting = page_of(olga, "import-new", "texts") + page_of(
        olga, "import-preview", "texts", upload.pk
    )
    start(olga, upload)

    for page in (
        waiting,
        page_of(olga, "job-list", "texts"),
        page_of(olga, "activity-list", "texts"),
    ):
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


# --- queries and documents -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("BREAD", {"1"}), ("1", {"1"}), ("寿司", {"q-cjk"}), ("no such words", set())],
)
def test_queries_are_found_by_words_or_id(olga, texts, wanted, found):
    page = page_of(olga, "query-list", "texts", q=wanted)

    links = {q.qid for q in texts.queries.all() if f"/queries/{q.pk}/" in page}
    assert links == found


def test_grades_that_were_not_released_are_for_keepers_only(texts, olga, signed_in):
    query = texts.queries.get(qid="1")
    sets = texts.qrel_sets.get()
    sets.name = "kept back"
    sets.save()
    assert "kept back" in page_of(olga, "query-detail", "texts", query.pk)

    viewer = signed_in(factories.member(texts, "vi", "viewer"))

    assert "kept back" not in page_of(viewer, "query-detail", "texts", query.pk)


@pytest.mark.parametrize(("n_letters", "is_long"), [(200, False), (201, True)])
def test_a_long_query_is_set_as_text_and_no_heading_of_a_screen(olga, texts, n_letters, is_long):
    query = factories.query(texts, text="w" * n_letters)

    heading = page_of(olga, "query-detail", "texts", query.pk).partition("<h1")[2].partition(">")[0]

    assert ("is-long" in heading) == is_long


def test_staged_query_is_on_no_page(texts, olga):
    job = Job.objects.create(kind="import-file", title="t", benchmark=texts)
    family = texts.queries.order_by("pk")[0].family
    shared = {"family": family, "staged_by": job}
    query = factories.query(texts, "staged", text="not yet to be seen", **shared)

    response = olga.get(reverse("query-list", args=["texts"]))
    assert "not yet to be seen" not in response.content.decode()
    assert response.context["page"][0].n_wordings == 1
    page_of(olga, "query-detail", "texts", query.pk, status=404)


def test_document_of_the_corpus_is_shown(olga):
    page = page_of(olga, "document-detail", "texts", "d-quote")

    assert "The &quot;proof&quot; of bread" in page


@pytest.mark.parametrize(
    ("docid", "status"),
    [
        *((docid, 404) for docid in ("d-nothing", "../../secret_key", "..%2f..%2fsecret_key")),
        *(("/etc/passwd", 404), ("d-quote\x00", 400)),
    ],
)
def test_what_is_not_in_the_corpus_is_no_document(olga, docid, status):
    assert olga.get(f"/b/texts/documents/{docid}/").status_code == status


TAKEN = {"take": True}  # without looking at what it would change


def test_document_whose_id_has_slashes_is_found(texts, olga):
    corpus = b'{"_id": "a/b/../c", "title": "Slashes", "text": "t"}\n'
    factories.done(factories.imported(texts, corpus, "corpus.jsonl", corpus=TAKEN))

    assert "Slashes" in page_of(olga, "document-detail", "texts", "a/b/../c")


def test_ids_only_corpus_shows_no_document(benchmark, owner, signed_in):
    factories.done(factories.imported(benchmark, b"d1\nd2\n", "ids.txt", kind="ids"))

    page_of(signed_in(owner), "document-detail", benchmark.slug, "d1", status=404)


def test_what_files_say_is_escaped(texts, olga):
    docid = f"d-{SCRIPT}".replace(" ", "")
    corpus = f'{{"_id": "{docid}", "title": "{SCRIPT}", "text": "{SCRIPT}"}}\n'
    queries = f'{{"_id": "q-{SCRIPT}", "text": "what is {SCRIPT}"}}\n'
    run_line = f"q-{SCRIPT} Q0 {docid} 1 1.0 tag"
    factories.done(factories.imported(texts, corpus.encode(), "corpus.jsonl", corpus=TAKEN))
    factories.done(factories.imported(texts, queries.encode(), "queries.jsonl"))
    run = factories.run(texts, run_line, name=f"run {SCRIPT}", description=SCRIPT)
    query = texts.queries.get(qid__startswith="q-<")
    factories.qrel_set(texts, {(query.qid, docid): 3}, name=f"set {SCRIPT}")

    for name, *arguments in [
        ("document-detail", docid),
        ("query-list",),
        ("query-detail", query.pk),
        ("run-list",),
        ("run-detail", run.pk),
        ("qrels-list",),
        ("release-new",),
        ("annotation:pool-new",),
    ]:
        page = page_of(olga, name, "texts", *arguments)
        assert SCRIPT not in page, name
        assert ESCAPED in page, name


# --- runs ----------------------------------------------------------------------------------------


def test_runs_are_filtered_by_kind(texts, olga):
    factories.run(texts, RUN.decode(), name="mine")
    factories.run(texts, RUN.decode(), name="bm25", kind=Run.Kind.BASELINE)

    assert "bm25" in page_of(olga, "run-list", "texts")
    page = page_of(olga, "run-list", "texts", kind="baseline")

    assert "bm25" in page
    assert "mine" not in page
    assert "mine" in page_of(olga, "run-list", "texts", kind="no such kind")


def test_ticked_runs_lead_to_their_comparison_without_any_script(texts, olga):
    first, second = (factories.run(texts, RUN.decode(), name=name) for name in ("one", "two"))
    assert 'id="compare"' not in page_of(olga, "run-list", "texts")

    factories.release(texts.qrel_sets.get())
    page = page_of(olga, "run-list", "texts")

    url = reverse("scoring:comparison", args=["texts"])
    assert f'<form id="compare" method="get" action="{url}"></form>' in page
    for run in (first, second):
        box = f'<input type="checkbox" name="runs" value="{run.pk}" form="compare" '
        assert f'{box}aria-label="Compare {run.name}">' in page
    # What the browser sends: both have no scores yet, so both are named.
    answer = olga.get(url, {"runs": [first.pk, second.pk]})
    assert answer.status_code == 409
    assert "No scores on release 1.0.0" in answer.content.decode()


def test_run_of_another_owner_is_seen_by_them_and_the_keepers_only(texts, olga, signed_in):
    sam = factories.member(texts, "sam", "submitter")
    run = factories.run(
        texts, RUN.decode(), name="secret", owner=sam, visibility=Run.Visibility.OWNER
    )
    assert "secret" in page_of(olga, "run-list", "texts")

    viewer = signed_in(factories.member(texts, "vi", "viewer"))

    assert "secret" not in page_of(viewer, "run-list", "texts")
    page_of(viewer, "run-detail", "texts", run.pk, status=404)
    assert "secret" in page_of(signed_in(sam), "run-detail", "texts", run.pk)


# --- qrels ---------------------------------------------------------------------------------------


def test_qrels_are_downloaded_as_trec_and_the_download_is_audited(olga, texts):
    record = texts.qrel_sets.get()

    response = olga.get(reverse("qrels-download", args=["texts", record.pk]))

    assert response.streaming
    assert response["Content-Disposition"] == f'attachment; filename="texts-{record.pk}.qrels"'
    lines = b"".join(response).decode().split("\n")
    assert lines[:2] == ["1 0 123 0", "1 0 d-empty-title 3"]
    assert len(lines) == 12
    assert AuditEvent.objects.filter(action="download-qrels", target=record.name).count() == 1


def test_unfinished_set_of_qrels_is_on_no_page(olga, texts):
    building = texts.qrel_sets.create(name="half done", kind="imported")

    assert "half done" not in page_of(olga, "qrels-list", "texts")
    page_of(olga, "qrels-download", "texts", building.pk, status=404)
    assert "half done" not in page_of(olga, "release-new", "texts")


# --- releases ------------------------------------------------------------------------------------


def release_form(of: QrelSet, **changes: str) -> dict[str, object]:
    return {"qrel_set": of.pk, "version": "1.0.0", "notes": "The first.", **changes}


def test_release_form_leads_to_a_draft_and_the_draft_to_a_release(olga, texts, do_jobs):
    response = olga.post(
        reverse("release-new", args=["texts"]), release_form(texts.qrel_sets.get())
    )
    (job,) = do_jobs()
    assert response.headers["Location"] == job.get_absolute_url()
    draft = Release.objects.get()
    assert job.result_url == reverse("release-draft", args=["texts", draft.pk])

    page = olga.get(job.result_url)
    assert "There is no licence" in page.content.decode()
    refused = olga.post(job.result_url, {"accepted": ["release-size"]})
    assert refused.status_code == 422
    assert "Read and tick every warning first" in refused.content.decode()
    response = olga.post(job.result_url, {"accepted": page.context["form"].codes})

    (job,) = do_jobs()
    assert response.headers["Location"] == job.get_absolute_url()
    assert job.result_url == reverse("release-detail", args=["texts", "1.0.0"])
    assert "The first." in page_of(olga, "release-detail", "texts", "1.0.0")
    files = page_of(olga, "release-files", "texts", "1.0.0")
    assert Release.objects.get().manifest["files"]["qrels.trec"]["sha256"] in files
    assert "1.0.0" in page_of(olga, "release-list", "texts")


def test_card_is_shown_with_nothing_in_it_that_runs(olga, texts, do_jobs):
    form = release_form(texts.qrel_sets.get(), description=f"{SCRIPT} ![x](https://example.org/x)")
    olga.post(reverse("release-new", args=["texts"]), form)
    do_jobs()
    draft = Release.objects.get()
    codes = olga.get(reverse("release-draft", args=["texts", draft.pk])).context["form"].codes
    olga.post(reverse("release-draft", args=["texts", draft.pk]), {"accepted": codes})
    do_jobs()

    page = page_of(olga, "release-card", "texts", "1.0.0")

    assert SCRIPT not in page
    assert "https://example.org/x" not in page
    assert "<h3>Splits</h3>" in page
    assert page.count("<h1") == 1


def test_draft_is_changed_checked_again_and_thrown_away(olga, texts, do_jobs):
    qrels = texts.qrel_sets.get()
    olga.post(reverse("release-new", args=["texts"]), release_form(qrels))
    draft = Release.objects.get()
    address = [texts.slug, draft.pk]

    changed = release_form(qrels, licence="CC0-1.0", version="", formats=["trec"])
    response = olga.post(reverse("release-draft-edit", args=address), changed)
    *_, job = do_jobs()

    draft.refresh_from_db()
    assert response.headers["Location"] == job.get_absolute_url()
    assert (draft.version, draft.options["licence"]) == ("0.1.0", "CC0-1.0")
    assert "beir" in draft.options["left_out"]
    assert "release-licence-missing" not in {finding["code"] for finding in draft.findings}
    olga.post(reverse("release-draft-delete", args=address))
    assert not Release.objects.exists()


def test_a_draft_open_for_a_while_does_not_put_back_what_another_has_changed(olga, texts, do_jobs):
    qrels = texts.qrel_sets.get()
    olga.post(reverse("release-new", args=["texts"]), release_form(qrels, formats=["trec"]))
    edit = reverse("release-draft-edit", args=["texts", Release.objects.get().pk])
    initials = opened(olga.get(edit).content.decode())
    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    fields.pop("drops_all_zero")
    newer = factories.qrel_set(texts, {("q1", "d1"): 1}, "newer")
    others = {"licence": "CC0-1.0", "threshold": "1", "version": "", "drops_all_zero": "on"}
    olga.post(edit, {**fields, **others, "qrel_set": newer.pk, "formats": ["beir", "trec"]})

    olga.post(edit, {**initials, **fields, "notes": "The second."})

    draft = Release.objects.get()
    options = ReleaseOptions.from_json(draft.options)
    assert (draft.qrel_set, draft.notes) == (newer, "The second.")
    assert (options.licence, options.threshold, options.drops_all_zero) == ("CC0-1.0", 1, True)
    assert options.is_version_proposed
    assert not {"beir", "trec"} & set(options.left_out)


def test_drafts_are_listed_for_keepers_alone(olga, texts, signed_in):
    olga.post(reverse("release-new", args=["texts"]), release_form(texts.qrel_sets.get()))
    assert "1.0.0" in page_of(olga, "release-list", "texts")

    viewer = signed_in(factories.member(texts, "vi", "viewer"))

    assert "1.0.0" not in page_of(viewer, "release-list", "texts")


def test_deprecated_release_says_so_everywhere(olga, released):
    newer = factories.release(released.qrel_set, "1.1.0")
    address = [released.benchmark.slug, released.version]

    olga.post(
        reverse("release-deprecate", args=address),
        {"reason": "The grades of q1 were swapped.", "successor": newer.pk},
    )

    page = page_of(olga, "release-detail", *address)
    assert "The grades of q1 were swapped." in page
    assert "release 1.1.0" in page
    assert "deprecated" in page_of(olga, "release-list", address[0])
    assert "Deprecate</a>" not in page


def test_taken_version_is_refused_on_the_form(olga, texts):
    qrels = texts.qrel_sets.get()
    factories.release(qrels, "1.0.0")

    response = olga.post(reverse("release-new", args=["texts"]), release_form(qrels))

    assert response.status_code == 422
    assert "Version 1.0.0 is published already" in response.content.decode()


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "1.0.0-beta", "../..", f"1.{SCRIPT}.0"[:20]])
def test_bad_version_is_refused_on_the_form(olga, texts, version):
    response = olga.post(
        reverse("release-new", args=["texts"]),
        release_form(texts.qrel_sets.get(), version=version),
    )

    assert response.status_code == 422
    assert "is not a version; write three whole numbers such as 1.0.0." in response.content.decode()
    assert not Job.objects.filter(state="queued").exists()


def test_grades_without_a_relevant_one_are_refused_on_the_form(olga, texts):
    zeros = factories.qrel_set(texts, {("1", "123"): 0}, name="zeros")

    response = olga.post(reverse("release-new", args=["texts"]), release_form(zeros))

    assert response.status_code == 422
    assert "hold no relevant document" in response.content.decode()


def test_grades_of_another_benchmark_are_refused_on_the_form(olga, texts, benchmark):
    foreign = factories.qrel_set(benchmark, {("q1", "d1"): 3}, name="foreign")

    response = olga.post(reverse("release-new", args=["texts"]), release_form(foreign))

    assert response.status_code == 422
    assert "Select a valid choice." in response.content.decode()
    assert "foreign" not in response.content.decode()


def test_benchmark_without_qrels_says_what_to_do_first(signed_in, benchmark, owner):
    page = page_of(signed_in(owner), "release-new", benchmark.slug)

    assert "No qrels to release" in page
    assert reverse("import-new", args=[benchmark.slug]) in page


@pytest.fixture
def released(texts) -> Release:
    return factories.release(texts.qrel_sets.get(), "1.0.0")


def test_beir_zip_is_streamed_and_named(olga, released):
    response = olga.get(reverse("release-export", args=["texts", "1.0.0"]))

    assert response.streaming
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == 'attachment; filename="texts-1.0.0.zip"'
    with zipfile.ZipFile(io.BytesIO(b"".join(response))) as archive:
        assert archive.testzip() is None
        assert "texts-1.0.0/corpus.jsonl" in archive.namelist()


@pytest.mark.parametrize(
    ("name", "kind", "saved_as"),
    [
        ("queries.jsonl", "application/jsonlines", "texts-1.0.0-queries.jsonl"),
        ("qrels.trec", "text/plain; charset=utf-8", "texts-1.0.0-qrels.trec"),
        (
            "qrels/test.tsv",
            "text/tab-separated-values; charset=utf-8",
            "texts-1.0.0-qrels-test.tsv",
        ),
    ],
)
def test_file_of_a_release_is_streamed_and_named(olga, released, name, kind, saved_as):
    response = olga.get(reverse("release-file", args=["texts", "1.0.0", name]))

    assert response.streaming
    assert (response["Content-Type"], response["Content-Disposition"]) == (
        kind,
        f'attachment; filename="{saved_as}"',
    )
    assert b"".join(response) == release_file_path(released, name).read_bytes()


def test_manifest_is_downloaded(olga, released):
    response = olga.get(reverse("release-file", args=["texts", "1.0.0", "manifest.json"]))

    assert response["Content-Type"] == "application/json"
    assert response.json() == released.manifest


@pytest.mark.parametrize(
    "name",
    [
        "../../../secret_key",
        "..%2f..%2f..%2fsecret_key",
        "qrels/../qrels.trec",
        "./qrels.trec",
        "/etc/passwd",
        "qrels",
        "qrels.trec/",
        "qrels.trec%00",
    ],
)
def test_no_other_path_of_a_release_is_looked_at(olga, released, name):
    status = 400 if "%00" in name else 404
    assert olga.get(f"/b/texts/releases/1.0.0/files/{name}").status_code == status


@pytest.mark.parametrize("version", ["2.0.0", "latest", "1.0", "01.0.0", "1.0.0 or 1=1", "9" * 30])
def test_version_that_is_not_there_is_not_found(olga, released, version):
    for name in ("release-detail", "release-export"):
        page_of(olga, name, "texts", version, status=404)


def test_ids_only_benchmark_has_no_beir_zip_and_says_why(benchmark, owner, signed_in):
    client = signed_in(owner)
    qrels = factories.qrel_set(benchmark, {("q1", "d1"): 1})
    QrelSet.objects.filter(pk=qrels.pk).update(n_relevant=1)
    qrels.refresh_from_db()
    factories.release(qrels, "1.0.0")

    page = page_of(client, "release-detail", benchmark.slug, "1.0.0")
    refusal = page_of(client, "release-export", benchmark.slug, "1.0.0", status=409)

    assert reverse("release-export", args=[benchmark.slug, "1.0.0"]) not in page
    assert "corpus holds ids only, so there is no BEIR zip" in page
    assert "Download the TREC qrels instead, or the flavour with qrels and ids." in refusal
    assert (
        b"".join(client.get(reverse("release-file", args=[benchmark.slug, "1.0.0", "qrels.trec"])))
        == b"q1 0 d1 1\n"
    )


@pytest.mark.parametrize("path", ["/", "/api/v1/benchmarks/"])
def test_name_that_the_site_does_not_answer_to_is_told_what_to_do(client, path):
    answer = client.get(path, headers={"host": "bench.example.org"})

    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "bad-request")
    assert "can name it in ALLOWED_HOSTS" in answer.content.decode()
    assert "bench.example.org" not in answer.content.decode()
