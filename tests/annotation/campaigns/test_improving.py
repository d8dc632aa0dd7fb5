"""Whether another prompt helped: which campaigns and pairs are held beside each other."""

import pytest
from django.urls import reverse

from annotation.campaigns.services.improving import improvement_of
from annotation.contradictions.services import make_example
from annotation.models import Campaign
from tests.annotation import making_machines
from tests.annotation.campaigns.making import say

pytestmark = pytest.mark.django_db

PEOPLE = {("q1", "d1"): 2, ("q1", "d2"): 1, ("q2", "d4"): 0}
BEFORE = {("q1", "d1"): 0, ("q1", "d2"): 0, ("q2", "d4"): 3}
AFTER = {("q1", "d1"): 2, ("q1", "d2"): 1, ("q2", "d4"): 1, ("q1", "d3"): 1}


def campaign(pool, grades, template="{query} {document}", **values) -> Campaign:
    prompt = making_machines.prompt(pool.benchmark, template)
    campaign = making_machines.campaign(pool, prompt=prompt, **values)
    for number, ((qid, docid), grade) in enumerate(grades.items(), start=1):
        query = pool.benchmark.queries.get(qid=qid)
        label = making_machines.label(campaign, query, docid, grade)
        making_machines.pair(campaign, query, docid, number, state="graded", judgment=label)
    return campaign


@pytest.fixture
def people(pool, ada):
    for (_, docid), grade in PEOPLE.items():
        say(ada, docid, grade, pool)


@pytest.fixture
def before(pool, people):
    return campaign(pool, BEFORE)


@pytest.fixture
def after(pool, before):
    return campaign(pool, AFTER, "Look. {query} {document}")


def exact(grades) -> float:
    return sum(grades[key] == grade for key, grade in PEOPLE.items()) / len(PEOPLE)


def test_later_prompt_is_held_beside_the_earlier_on_common_pairs(before, after):
    improved = improvement_of(after)

    measured = improved.improvement
    assert improved.earlier == before
    assert (measured.n_pairs, measured.n_queries, measured.n_shown) == (3, 2, 0)
    assert (measured.exact_before, measured.exact_after) == (exact(BEFORE), exact(AFTER))
    assert improved.differences == ["another template"]
    assert "graded 3 pairs of 2 queries without an example" in improved.sentence


def test_pairs_of_a_query_that_either_prompt_has_an_example_of_are_left_out(before, after):
    of = after.benchmark
    query = of.queries.get(qid="q1")
    example = make_example(
        benchmark=of, query=query, docid="d1", text="It is.", actor=after.created_by
    )

    for prompt in (after.prompt, before.prompt):
        prompt.examples.add(example)
        # Kept until there are more labels: a prompt never gets other examples.
        making_machines.label(after, query, f"beside {prompt.pk}", 1)

        measured = improvement_of(after).improvement

        assert (measured.n_pairs, measured.n_shown) == (1, 2)
        prompt.examples.clear()


def test_examples_that_are_new_are_told(pool, people, before):
    later = campaign(pool, AFTER, "{query} {document} {scale}")
    scale = [{**grade, "examples": ["one", "two"]} for grade in later.prompt.scale[:1]]
    later.prompt.scale = [*scale, *later.prompt.scale[1:]]

    assert improvement_of(later).differences[0] == "2 examples instead of 0"


@pytest.mark.parametrize(
    "change",
    [{"model": "another"}, {"judge_name": "another"}, {"choice": Campaign.Choice.UNJUDGED}],
)
def test_another_judge_model_or_documents_that_were_not_drawn_are_no_comparison(
    before, after, change
):
    Campaign.objects.filter(pk=before.pk).update(**change)

    assert improvement_of(after) is None


def test_earlier_prompt_is_not_held_beside_a_later(before, after):
    assert improvement_of(before) is None


def test_more_labels_of_people_count_at_once(before, after, pool, ada):
    first = improvement_of(after).improvement.n_pairs
    for qid in ("q1", "q2"):
        for of in (before, after):
            making_machines.label(of, pool.benchmark.queries.get(qid=qid), "d3", 1)

    say(ada, "d3", 1, pool)

    assert (first, improvement_of(after).improvement.n_pairs) == (3, 4)


def test_newest_earlier_prompt_with_common_pairs_is_chosen(before, pool):
    campaign(pool, {}, "Nothing. {query} {document}")
    later = campaign(pool, AFTER, "Last. {query} {document}")

    assert improvement_of(later).earlier == before


def test_page_and_api_say_what_became_of_it(before, after, owner, signed_in):
    client = signed_in(owner)
    of = [after.benchmark.slug, after.pk]

    page = client.get(reverse("annotation:campaign-calibration", args=of)).content.decode()
    improvement = client.get(reverse("api:campaign-calibration", args=of)).json()["improvement"]

    assert "Did prompt 2 help?" in page
    assert improvement["sentence"] in page
    assert (improvement["campaign"], improvement["prompt_version"]) == (before.pk, 1)
    assert (improvement["measured"]["n_pairs"], improvement["measured"]["outcome"]) == (3, "")
    of = [before.benchmark.slug, before.pk]
    assert client.get(reverse("api:campaign-calibration", args=of)).json()["improvement"] is None
