"""The pages, endpoints and commands of families."""

import json
import re

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.models import FamilyLink, Job, QueryFamily
from benchmarks_app.navigation import BADGES
from benchwright.families import GroupingOptions
from tests import factories
from tests.benchmarks_app.families.test_grouping import TEXTS, ask, families, group, put, refreshed

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(benchmark, owner):
    """Four queries, grouped: q3 is in doubt."""
    job = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    refreshed(*job.values())
    return job


def url(name, *args):
    return reverse(name, args=["stdlib", *args])


def decide(client, family, **fields):
    return client.post(url("family-decide", family), fields)


def page(response, status=200):
    assert response.status_code == status
    return response.content.decode()


# --- looking ---------------------------------------------------------------------------------


def test_the_list_says_what_waits(signed_in, owner, asked):
    text = page(signed_in(owner).get(url("family-list")))

    assert "1 family waits for review" in text
    assert "do goldfish row" in text
    assert "cost of a house" not in text


def test_the_list_finds_by_words_state_and_split(signed_in, vi, asked):
    client = signed_in(vi)

    assert "cost of a house" in page(client.get(url("family-list"), {"state": "", "q": "house"}))
    assert "No such family" in page(client.get(url("family-list"), {"split": "train"}))
    assert "goldfish" in page(client.get(url("family-list"), {"split": "none", "order": "size"}))


def test_a_benchmark_without_queries_says_what_to_do(signed_in, owner):
    assert "Import queries" in page(signed_in(owner).get(url("family-list")))


def test_the_sidebar_counts_what_waits(benchmark, asked):
    assert BADGES["family-list"](benchmark) == 1


def test_a_family_shows_links_as_drawing_and_as_table(signed_in, vi, asked):
    text = page(signed_in(vi).get(url("family-detail", asked["q1"].family_id)))

    assert "3 wordings with 1 sure and 1 doubtful links" in text
    assert "equal after normalising" in text and "similar wording" in text
    assert "Take ticked out" not in text


def test_links_by_relevant_documents_are_for_those_who_see_grades(signed_in, vi, owner, benchmark):
    a, b, other = ask(benchmark, a="aaaa", b="bbbb", other="cccc").values()
    put(a.family, a, b)
    factories.linked(a, b, 0.73, reason="relevant")
    factories.linked(a, other, 0.61, reason="relevant")

    def told(person):
        client = signed_in(person)
        text = page(client.get(url("family-detail", a.family_id)))
        return (
            [number in text for number in ("0.730", "0.61")],
            client.get(api("family-links")).json()["count"],
            len(client.get(api("family-detail", a.family_id)).json()["links"]),
        )

    assert told(vi) == ([False, False], 0, 0)
    assert told(owner) == ([True, True], 2, 1)


def test_a_query_names_its_family(signed_in, vi, asked):
    text = page(signed_in(vi).get(url("query-detail", asked["q1"].pk)))

    assert url("family-detail", asked["q1"].family_id) in text


# --- reviewing -------------------------------------------------------------------------------


def test_the_review_shows_the_doubtful_pair_and_marks_what_differs(signed_in, owner, asked):
    text = page(signed_in(owner).get(url("family-review")))

    assert "<mark>row</mark>" in text
    assert "Similar wording: 0.6" in text or "Similar wording: 0.7" in text


def test_saying_different_takes_apart_and_goes_on(signed_in, owner, benchmark, asked):
    client = signed_in(owner)
    family = asked["q1"].family_id

    response = decide(client, family, act="different", a=asked["q1"].pk, b=asked["q3"].pk)

    assert response.status_code == 302
    assert families(benchmark) == [["q1", "q2"]]
    assert "Nothing waits for review" in page(client.get(url("family-review")))


def test_confirming_splitting_and_undoing_work_as_plain_forms(signed_in, owner, benchmark, asked):
    client = signed_in(owner)
    family = asked["q1"].family_id

    decide(client, family, act="confirm")
    assert not QueryFamily.objects.get(pk=family).is_flagged
    decide(client, family, act="split", queries=[asked["q2"].pk])
    assert families(benchmark) == [["q1", "q3"]]
    client.post(url("family-undo"))
    assert families(benchmark) == [["q1", "q2", "q3"]]


def test_skipping_shows_the_next_family_in_doubt(signed_in, owner, benchmark):
    job = ask(benchmark, **TEXTS, h1="cost of a new house", h2="cost of a new horse")
    group(benchmark, owner)
    first, second = QueryFamily.objects.filter(is_flagged=True).order_by("-doubt", "pk")

    client = signed_in(owner)

    assert f"family {first.pk}" in page(client.get(url("family-review")))
    assert f"family {second.pk}" in page(client.get(url("family-review"), {"after": first.pk}))
    assert job


def test_a_merge_over_two_splits_asks_which_one(signed_in, owner, benchmark):
    a, b = ask(benchmark, a="aaaa", b="bbbb").values()
    put(a.family, a, split="train")
    put(b.family, b, split="dev")
    client = signed_in(owner)

    text = page(decide(client, a.family_id, act="merge", other="b"), 409)
    assert "Which split does the merged family take?" in text
    decide(client, a.family_id, act="merge", other="b", split="dev")

    assert families(benchmark) == [["a", "b"]]
    assert refreshed(a)[0].family.split == "dev"


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        ({"act": "same"}, 422, "choose both"),
        ({"act": "merge"}, 422, "Name the family to merge with"),
        ({"act": "merge", "other": "q1"}, 422, "cannot be merged with itself"),
        ({"act": "merge", "other": "nobody"}, 422, "neither a family nor a query of Standard"),
        ({"act": "split"}, 422, "at least one of its 3 queries"),
        ({"act": "split", "queries": "999"}, 422, "not in this family any more"),
        ({"act": "confirm", "seen": "1.2"}, 409, "changed by somebody else"),
    ],
)
def test_what_is_wrong_with_a_decision_is_said(signed_in, owner, asked, fields, status, words):
    family = asked["q1"].family_id

    assert words in page(decide(signed_in(owner), family, **fields), status)


# --- grouping --------------------------------------------------------------------------------


def form(**fields):
    values = {
        "merge_at": "0.8", "review_at": "0.6", "relevant_at": "0.5", "embedding_at": "0.9",
        "largest": "20", "least_similarity": "0.45", "recut_by": "average", "recut_at": "0.4",
    }  # fmt: skip
    return {**values, **fields}


def test_the_form_starts_a_job(signed_in, owner, benchmark, do_jobs):
    ask(benchmark, **TEXTS)

    response = signed_in(owner).post(url("family-group"), form())
    (job,) = do_jobs()

    assert response.url == job.get_absolute_url()
    assert job.state == Job.State.DONE
    assert families(benchmark) == [["q1", "q2", "q3"]]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"review_at": "0.9"}, "expected at most merge_at"),
        ({"largest": "1"}, "Expected a whole number from 2 to 1,000,000."),
        ({"embeddings": SimpleUploadedFile("e.npy", b"x")}, "add the file that lists them"),
        ({"ids": SimpleUploadedFile("ids.txt", b"x")}, "ids and no embeddings"),
        ({"embeddings": SimpleUploadedFile("e.npz", b"x")}, "cannot be read as numbers"),
    ],
)
def test_what_is_wrong_with_the_form_is_said(signed_in, owner, benchmark, fields, words):
    ask(benchmark, **TEXTS)

    for file in fields.values():
        if hasattr(file, "seek"):
            file.seek(0)

    assert words in page(signed_in(owner).post(url("family-group"), form(**fields)), 422)


def test_the_form_of_an_empty_benchmark_says_so(signed_in, owner, benchmark):
    text = page(signed_in(owner).post(url("family-group"), form()), 422)

    assert "Import queries first" in text


# --- the API ---------------------------------------------------------------------------------


def api(name, *args):
    return reverse(f"api:{name}", args=["stdlib", *args])


def send(client, name, *args, **body):
    return client.post(api(name, *args), json.dumps(body), content_type="application/json")


def test_the_api_lists_families_and_links(signed_in, vi, asked):
    client = signed_in(vi)

    listed = client.get(api("family-list"), {"state": "review"}).json()
    links = client.get(api("family-links"), {"reason": "exact"}).json()
    family = client.get(api("family-detail", asked["q1"].family_id)).json()

    assert [row["n_queries"] for row in listed["results"]] == [3]
    assert [(row["query_a"], row["query_b"]) for row in links["results"]] == [("q1", "q2")]
    assert [query["id"] for query in family["queries"]] == ["q1", "q2", "q3"]
    assert len(family["links"]) == 2


def test_the_api_groups_changes_and_undoes(signed_in, owner, benchmark, do_jobs):
    job = ask(benchmark, **TEXTS)
    client = signed_in(owner)

    assert send(client, "family-group", review_at=0.5).status_code == 202
    do_jobs()
    q1, _, _, q4 = refreshed(*job.values())
    merged = send(client, "family-merge", q1.family_id, other=q4.family_id).json()
    send(client, "family-split", q1.family_id, queries=["q4"])
    fields = {"query_a": "q1", "query_b": "q3", "verdict": "different"}
    send(client, "family-verdict", q1.family_id, **fields)
    assert families(benchmark) == [["q1", "q2"]]
    undone = send(client, "family-undo").json()
    send(client, "family-confirm", q1.family_id)

    assert merged["after"] == {str(q1.family_id): ["q1", "q2", "q3", "q4"]}
    assert undone["kind"] == "undo"
    assert families(benchmark) == [["q1", "q2", "q3"]]


@pytest.mark.parametrize(
    ("name", "body", "status", "code"),
    [
        ("family-split", {"queries": []}, 422, "family-empty-part"),
        ("family-split", {"queries": ["q4"]}, 422, "family-member"),
        ("family-confirm", {"queries_seen": ["q1"]}, 409, "family-changed"),
        (
            "family-verdict",
            {"query_a": "q1", "query_b": "q1", "verdict": "same"},
            422,
            "family-pair",
        ),
    ],
)
def test_the_api_says_what_is_wrong(signed_in, owner, asked, name, body, status, code):
    response = send(signed_in(owner), name, asked["q1"].family_id, **body)

    assert (response.status_code, response.json()["code"]) == (status, code)


def test_the_api_refuses_families_of_two_benchmarks(signed_in, owner, asked):
    elsewhere = factories.benchmark("elsewhere")
    factories.member(elsewhere, "olga", "owner")
    other = factories.query(elsewhere).family

    response = send(signed_in(owner), "family-merge", asked["q1"].family_id, other=other.pk)

    assert response.json()["code"] == "families-of-two-benchmarks"


# --- commands --------------------------------------------------------------------------------


def test_the_command_groups_a_benchmark(benchmark, owner, tmp_path, capsys):
    ask(benchmark, **TEXTS, a="car", b="automobile")
    vectors = tmp_path / "vectors.npz"
    np.savez(vectors, ids=np.array(["a", "b"]), embeddings=np.array([[1, 0], [1, 0.01]]))

    call_command("group_queries", "stdlib", embeddings=vectors)

    assert families(benchmark) == [["a", "b"], ["q1", "q2", "q3"]]
    assert "families of 6 queries" in capsys.readouterr().out
    assert FamilyLink.objects.filter(reason="embedding").count() == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"review_at": 0.9}, "expected at most merge_at"),
        ({"qrels": "none"}, "No set of qrels 'none'"),
        ({"embeddings": "nowhere.npz"}, "no such file"),
    ],
)
def test_the_command_says_what_is_wrong(benchmark, owner, fields, words, tmp_path):
    ask(benchmark, **TEXTS)
    if "embeddings" in fields:
        fields = {"embeddings": tmp_path / fields["embeddings"]}

    with pytest.raises(CommandError, match=words):
        call_command("group_queries", "stdlib", **fields)


# --- how many reviews, and one answer for many ------------------------------------------------


def test_reviews_are_counted_before_a_threshold_is_chosen(signed_in, owner, asked):
    client = signed_in(owner)
    fields = {"merge_at": 0.8, "review_at": 0.6, "relevant_at": 0.5, "embedding_at": 0.9}
    chains = {"largest": 20, "least_similarity": 0.45, "recut_at": 0.4, "recut_by": "average"}
    before = Job.objects.count()

    answer = client.post(url("family-group"), {**fields, **chains, "preview": "1"})
    text = page(answer)

    assert "What it costs in reviews" in text
    costs = {cost.merge_at: cost for cost in answer.context["costs"]}
    assert (costs[0.8].n_families, costs[0.8].n_pairs, costs[0.6].n_families) == (1, 1, 0)
    assert Job.objects.count() == before
    group_url = "/api/v1/benchmarks/stdlib/families/group/"
    rows = client.post(group_url, {"preview": True}, content_type="application/json").json()
    assert [row["n_families"] for row in rows if row["merge_at"] == 0.8] == [1]


def test_command_says_what_each_threshold_costs(asked, capsys):
    call_command("group_queries", "stdlib", "--reviews", "--user", "olga")

    lines = capsys.readouterr().out.splitlines()
    assert "merge at 0.80: 1 family of 3 queries waits for review, 1 pair in doubt" in lines


def test_too_many_queries_are_not_previewed_on_a_page(signed_in, owner, asked, monkeypatch):
    monkeypatch.setattr(
        "benchmarks_app.families.services.grouping.review_preview.__kwdefaults__", MOST_2
    )

    answer = signed_in(owner).post(
        "/api/v1/benchmarks/stdlib/families/group/",
        {"preview": True},
        content_type="application/json",
    )

    assert answer.status_code == 422
    assert "`benchwright families FILE --reviews`" in answer.json()["message"]


MOST_2 = {"qrel_set": None, "most": 2}


def waiting(benchmark, owner):
    """Two families that wait, each of two wordings."""
    job = ask(
        benchmark,
        a1="where can i renew my passport",
        a2="where can i renew a pasport",
        b1="opening hours of the library",
        b2="opening hour of a library",
    )
    group(benchmark, owner, options=GroupingOptions(merge_at=0.99, review_at=0.5))
    refreshed(*job.values())
    return [QueryFamily.objects.get(pk=job[qid].family_id) for qid in ("a1", "b1")]


def test_one_answer_confirms_the_ticked_families_and_is_undone_at_once(signed_in, owner, benchmark):
    families = waiting(benchmark, owner)
    client = signed_in(owner)
    text = page(client.get(url("family-list"), {"state": "review"}))
    ticks = TICK.findall(text)
    assert len(ticks) == 2

    page(client.post(url("family-confirm-several"), {"family": ticks}, follow=True))
    refreshed(*families)
    assert [(family.is_flagged, family.reviewed_by) for family in families] == [(False, owner)] * 2
    assert set(FamilyLink.objects.values_list("verdict", flat=True)) == {"same"}

    client.post(url("family-undo"))
    refreshed(*families)
    assert [family.is_flagged for family in families] == [True, True]


def test_a_family_that_changed_meanwhile_is_not_confirmed_with_others(signed_in, owner, benchmark):
    one, other = waiting(benchmark, owner)
    client = signed_in(owner)
    ticks = TICK.findall(page(client.get(url("family-list"), {"state": "review"})))
    decide(client, one.pk, act="split", queries=[one.queries.order_by("pk")[1].pk])

    text = page(client.post(url("family-confirm-several"), {"family": ticks}, follow=True))

    assert "was changed by somebody else meanwhile" in text
    refreshed(other)
    assert other.is_flagged
    assert "No family was chosen" in page(client.post(url("family-confirm-several"), follow=True))


def test_the_endpoint_confirms_several_or_none(signed_in, owner, benchmark):
    families = waiting(benchmark, owner)
    client = signed_in(owner)
    at = "/api/v1/benchmarks/stdlib/families/confirm/"
    keys = [family.pk for family in families]

    unknown = client.post(at, {"families": [*keys, 10**6]}, content_type="application/json")
    refreshed(*families)
    assert (unknown.status_code, families[0].is_flagged) == (422, True)

    done = client.post(at, {"families": keys}, content_type="application/json")
    refreshed(*families)
    assert done.json()["kind"] == "confirm"
    assert not any(family.is_flagged for family in families)


TICK = re.compile(r'name="family" value="([^"]+)"')
