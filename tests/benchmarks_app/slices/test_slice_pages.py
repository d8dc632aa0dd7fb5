"""Slices as pages, commands and files show them."""

import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.models import Slice, SliceMember
from benchmarks_app.slices.services import changes, members, records
from tests import factories
from tests.open_pages import opened

pytestmark = pytest.mark.django_db
TEXTS = {"q1": "short", "q2": "how is this done", "q3": "why"}


@pytest.fixture
def benchmark():
    bench = factories.benchmark("bench")
    for qid, text in TEXTS.items():
        factories.query(bench, qid, text)
    return bench


@pytest.fixture
def olga(benchmark, client):
    person = factories.member(benchmark, "olga", "owner")
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return person


def at(view: str, *args: str) -> str:
    return reverse(view, args=["bench", *args])


def test_without_queries_the_list_leads_to_an_import(client, olga, benchmark):
    benchmark.queries.all().delete()

    page = client.get(at("slice-list")).content.decode()

    assert "No queries to slice" in page
    assert at("import-new") in page


def test_the_list_says_size_and_what_is_visible(client, olga, benchmark):
    factories.rule_slice(benchmark, "questions", {"kind": "length", "to": 1})

    page = client.get(at("slice-list")).content.decode()

    # Two queries, a standard deviation of 0.2 assumed: 2.80 x 0.2 / root 2.
    assert "±0.396" in page
    assert "28 missing" in page
    assert "assume a standard deviation of 0.20" in page


def test_a_preview_is_a_part_of_the_page_and_a_page_without_htmx(client, olga):
    part = client.get(at("slice-preview"), {"kind": "length", "shortest": "2"}).content.decode()
    whole = client.post(
        at("slice-new"),
        {"kind": "length", "name": "x", "shortest": "2", "minimum": "30", "preview": "1"},
    )

    for text in (part, whole.content.decode()):
        assert "<strong>1</strong> of 3 queries (33 %)" in text
    assert not Slice.objects.exists()


def test_a_preview_says_what_is_wrong_with_the_rule(client, olga):
    asked = {"kind": "expression", "expression": "length >"}

    part = client.get(at("slice-preview"), asked).content.decode()

    assert "Column 9: found the end; expected a number" in part


def test_a_slice_is_made_from_its_form(client, olga):
    fields = {"kind": "informational", "name": "questions", "minimum": "30"}

    done = client.post(at("slice-new"), fields)

    assert (done.status_code, done.url) == (302, at("slice-detail", "questions"))
    assert Slice.objects.get().members.count() == 2


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "length", "name": "all"}, "the word has a meaning of its own"),
        ({"kind": "length", "name": "x"}, "needs &#x27;from&#x27; or &#x27;to&#x27;"),
        ({"kind": "length", "name": "x", "longest": "0"}, "takes none of the 3 queries"),
        ({"kind": "frequency", "name": "x", "band": "head"}, "This field is required"),
        (
            {
                "kind": "frequency",
                "name": "x",
                "band": "head",
                "head_percent": 5,
                "tail_percent": 50,
            },
            "No query has a count",
        ),
        ({"kind": "hand", "name": "x", "qids": "q1\nnope"}, "query &#x27;nope&#x27; is not in"),
        (
            {"kind": "length", "name": "x", "longest": "3", "minimum": "3"},
            "Expected a whole number from 30 to 2,147,483,647.",
        ),
        ({"kind": "colour", "name": "x"}, "Choose a kind of slice first"),
    ],
)
def test_what_is_wrong_with_a_form_is_said_on_it(client, olga, fields, words):
    page = client.post(at("slice-new"), {"minimum": "30", **fields})

    assert page.status_code == 422
    assert words in page.content.decode()
    assert not Slice.objects.exists()


def test_a_suggestion_is_confirmed_by_its_own_button_and_its_row_comes_back(
    client, olga, benchmark
):
    factories.rule_slice(benchmark, "questions", {"kind": "informational"})
    member = SliceMember.objects.order_by("pk").first()
    fields = {"verdict": f"confirm:{member.pk}", "show": "suggestions"}

    part = client.post(at("slice-decide", "questions"), fields, headers={"HX-Request": "true"})

    member.refresh_from_db()
    assert member.state == "member"
    assert part.content.decode().count("<tr") == 1
    assert "confirmed" in part.content.decode()


def test_ticked_suggestions_are_rejected_and_nothing_ticked_changes_nothing(
    client, olga, benchmark
):
    factories.rule_slice(benchmark, "questions", {"kind": "informational"})
    keys = list(SliceMember.objects.values_list("pk", flat=True))

    none = client.post(at("slice-decide", "questions"), {"verdict": "reject"}, follow=True)
    client.post(at("slice-decide", "questions"), {"verdict": "reject", "member": keys})

    assert "Nothing was ticked" in none.content.decode()
    assert set(SliceMember.objects.values_list("state", flat=True)) == {"rejected"}


def test_who_only_looks_sees_members_but_no_guesses_nor_reasons(client, benchmark):
    factories.rule_slice(benchmark, "questions", {"kind": "informational"})
    members.decide_members(
        of=Slice.objects.get(),
        actor=factories.user("olga"),
        verdict="confirm",
        members=[SliceMember.objects.get(query__qid="q2").pk],
    )
    viewer = factories.member(benchmark, "vi", "viewer")
    client.force_login(viewer, backend="django.contrib.auth.backends.ModelBackend")

    page = client.get(at("slice-detail", "questions") + "?show=suggestions").content.decode()

    assert "how is this done" in page
    assert ">why<" not in page
    assert "begins with" not in page
    queries = at("api:slice-members", "questions")
    rows = client.get(f"{queries}?state=suggested").json()["results"]
    assert [(row["query"], row["state"], row["reason"]) for row in rows] == [("q2", "member", "")]


def test_registering_a_small_slice_is_refused_with_what_it_lacks(client, olga, benchmark):
    factories.rule_slice(benchmark, "short", {"kind": "length", "to": 1})

    page = client.post(at("slice-register", "short"))

    assert (page.status_code, page["X-Error-Code"]) == (422, "slice-too-small")
    assert "add 28 more queries" in page.content.decode()


def test_the_page_of_a_registered_slice_says_what_was_seen_and_offers_no_change(
    client, olga, benchmark
):
    query_slice = factories.rule_slice(benchmark, "short", {"kind": "length", "to": 1})
    Slice.objects.update(minimum=1)
    changes.register_slice(of=query_slice, actor=olga)
    Slice.objects.update(n_results_before=3)

    page = client.get(at("slice-detail", "short")).content.decode()

    assert "Registered after 3 results had been seen" in page
    assert at("slice-refresh", "short") not in page
    assert at("slice-decide", "short") not in page


def test_of_a_registered_slice_the_description_alone_can_be_typed(client, olga, benchmark):
    query_slice = factories.rule_slice(benchmark, "short", {"kind": "length", "to": 1})
    Slice.objects.update(minimum=1)
    changes.register_slice(of=query_slice, actor=olga)
    Slice.objects.update(minimum=30)
    edit = at("slice-edit", "short")

    form = client.get(edit).context["form"]
    client.post(edit, {"name": "other", "minimum": "40", "description": "of one word"})

    assert [field.name for field in form if not field.field.disabled] == ["description"]
    row = Slice.objects.get()
    assert (row.name, row.minimum, row.description) == ("short", 30, "of one word")


def test_another_rule_is_applied_when_it_is_saved(client, olga, benchmark):
    factories.rule_slice(benchmark, "short", {"kind": "length", "to": 1})
    fields = {"name": "longer", "minimum": "30", "shortest": "2", "longest": ""}

    client.post(at("slice-edit", "short"), fields)

    record = Slice.objects.get()
    assert (record.name, record.rule) == ("longer", {"kind": "length", "from": 2})
    assert records.members_of(record) == ["q2"]


def test_a_page_open_for_a_while_does_not_put_back_what_another_has_changed(
    client, olga, benchmark
):
    factories.rule_slice(benchmark, "short", {"kind": "length", "to": 1})
    edit = at("slice-edit", "short")
    initials = opened(client.get(edit).content.decode())
    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    client.post(edit, {"name": "short", "minimum": "40", "shortest": "2", "longest": "9"})

    client.post(edit, {**initials, **fields, "shortest": "", "description": "of one word"})

    row = Slice.objects.get()
    assert (row.rule, row.minimum) == ({"kind": "length", "from": 2, "to": 9}, 40)
    assert row.description == "of one word"


def test_a_file_is_imported_by_a_job_of_its_page(client, olga, do_jobs):
    file = SimpleUploadedFile("s.tsv", b"q1\tmine\nq3\tmine\n")

    client.post(at("slice-import"), {"file": file})
    do_jobs()

    assert records.members_of(Slice.objects.get(name="mine")) == ["q1", "q3"]


# --- commands --------------------------------------------------------------------------------


def run(*args: str, **options: object) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


def test_commands_make_and_register(benchmark, olga):
    previewed = run("make_slice", "bench", "x", "--expression", "length = 1", "--preview")
    small_run = run("make_slice", "bench", "x", "--rule", '{"kind": "length", "to": 1}')
    Slice.objects.update(minimum=2)
    registered = run("register_slice", "bench", "x")

    assert previewed.startswith("2 of 3 queries")
    assert small_run == "slice 'x' made: 2 queries\n"
    assert "registered before any result was seen: members " in registered


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("make_slice", "bench", "x", "--expression", "size = 1"), "Column 1: found 'size'"),
        (("make_slice", "bench", "x", "--rule", "{"), "--rule is no JSON"),
        (("make_slice", "bench", "x", "--rule", "[1]"), "--rule is no object"),
        (("register_slice", "bench", "x"), "No slice 'x'. There are: none yet."),
        (("import_slices", "bench", "/no/file"), "/no/file: no such file."),
    ],
)
def test_commands_say_what_is_wrong(benchmark, olga, args, words):
    with pytest.raises(CommandError) as caught:
        run(*args)

    assert words in str(caught.value)


def test_the_import_command_tells_every_wrong_line(benchmark, olga, tmp_path):
    file = tmp_path / "s.tsv"
    file.write_text("q1\n\nq9\tmine\n")

    with pytest.raises(CommandError) as caught:
        run("import_slices", "bench", str(file))

    assert "s.tsv:1: 1 column; expected 2" in str(caught.value)
    assert "s.tsv:3: query 'q9' is not in the benchmark" in str(caught.value)
