"""A benchmark is made by API as on the page: the same rules, and the caller owns it."""

import pytest

from benchmarks_app.models import Benchmark, Corpus, Role
from tests import factories

pytestmark = pytest.mark.django_db
URL = "/api/v1/benchmarks/"


@pytest.fixture
def ann(signed_in):
    return signed_in(factories.user("ann"))


def made(client, **fields):
    return client.post(URL, {"name": "Help pages", **fields}, content_type="application/json")


def test_a_name_is_enough_and_its_maker_owns_it(ann):
    answer = made(ann)

    benchmark = Benchmark.objects.get(slug="help-pages")
    assert (answer.status_code, answer.json()["slug"]) == (201, "help-pages")
    (member,) = benchmark.memberships.all()
    assert (member.user.username, member.role) == ("ann", Role.OWNER)
    assert (benchmark.unit, benchmark.corpus.lang) == ("document", "en")
    assert benchmark.grades.count() > 1
    assert benchmark.guidelines.count() == 1


def test_all_that_the_page_asks_for_can_be_told(ann):
    made(ann, slug="shop", unit="passage", lang="de", tie_rule="trec9", scale="0 = Bad\n1 = Good *")

    benchmark = Benchmark.objects.get(slug="shop")
    grades = list(benchmark.grades.order_by("value").values_list("value", "name", "is_relevant"))
    assert (benchmark.unit, benchmark.corpus.lang) == ("passage", "de")
    assert grades == [(0, "Bad", False), (1, "Good", True)]


@pytest.mark.parametrize(
    ("fields", "field", "why"),
    [
        ({"name": ""}, "name", "blank"),
        ({"name": "!!"}, "slug", "Give a short name"),
        ({"slug": "taken"}, "slug", "'taken' is taken"),
        ({"scale": "good"}, "scale", "good"),
        ({"unit": "planet"}, "unit", "planet"),
        ({"corpus_of": "taken"}, "corpus_of", "you keep none"),
    ],
    ids=str,
)
def test_what_the_page_refuses_is_refused_and_nothing_is_made(ann, fields, field, why):
    factories.benchmark(slug="taken")

    answer = made(ann, **fields)

    assert answer.status_code == 400
    assert why in str(answer.json()["errors"][field])
    assert Benchmark.objects.count() == 1


def test_who_is_second_to_take_a_short_name_is_told_and_nothing_is_made(ann, monkeypatch):
    """Both were told that it is free, as neither had been made."""
    made(ann)
    monkeypatch.setattr("django.db.models.query.QuerySet.exists", lambda rows: False)
    answer = made(ann, slug="help-pages")
    monkeypatch.undo()

    assert (answer.status_code, answer.json()["code"]) == (409, "benchmark-slug-taken")
    assert (Benchmark.objects.count(), Corpus.objects.count()) == (1, 1)


def test_the_corpus_of_a_benchmark_that_one_keeps_is_shared(ann):
    made(ann, name="First")
    factories.benchmark(slug="taken")

    shared = made(ann, name="Second", corpus_of="first")
    foreign = made(ann, name="Third", corpus_of="taken")

    first, second = (Benchmark.objects.get(slug=slug) for slug in ("first", "second"))
    assert (shared.status_code, foreign.status_code) == (201, 400)
    assert second.corpus == first.corpus
